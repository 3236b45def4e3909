//! `idlewise._native`: the half of the Python package that is in Rust. Its users are the files of `python/idlewise`.
//!
//! What a comparison is, and what commands do, is in the package `idlewise`; here it is handed to Python. Tables go out, and
//! come in, by Arrow's C data interface, without a copy.

mod call;
mod comparison;
mod keywords;
mod request;
mod scheduler;
mod sweeps;
mod table;
mod trace;

use pyo3::prelude::*;

/// What `idlewise._native` holds.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", module.py().get_type::<call::Error>())?;
    module.add_function(wrap_pyfunction!(call::command, module)?)?;
    module.add_function(wrap_pyfunction!(comparison::compare, module)?)?;
    for function in [
        wrap_pyfunction!(keywords::options, module)?,
        wrap_pyfunction!(sweeps::sweep_file, module)?,
        wrap_pyfunction!(sweeps::sweep_sources, module)?,
        wrap_pyfunction!(sweeps::sweep_portions, module)?,
        wrap_pyfunction!(sweeps::sweep_plan, module)?,
        wrap_pyfunction!(sweeps::sweep_run, module)?,
        wrap_pyfunction!(sweeps::sweep_write, module)?,
        wrap_pyfunction!(sweeps::sweep_present, module)?,
        wrap_pyfunction!(sweeps::sweep_estimate, module)?,
    ] {
        module.add_function(function)?;
    }
    module.add_class::<comparison::Comparison>()?;
    module.add_class::<request::Request>()?;
    module.add_class::<request::WaitUntil>()?;
    module.add_class::<request::Device>()?;
    module.add_class::<trace::Batches>()?;
    module.add_class::<table::Table>()
}
