//! `idlewise._native`: the half of the Python package that is in Rust. Its users are the files of `python/idlewise`.
//!
//! What a comparison is, and what commands do, is in the package `idlewise`; here it is handed to Python. Tables go out, and
//! come in, by Arrow's C data interface, without a copy.

mod call;
mod comparison;
mod request;
mod scheduler;
mod table;

use pyo3::prelude::*;

/// What `idlewise._native` holds.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", module.py().get_type::<call::Error>())?;
    module.add_function(wrap_pyfunction!(call::command, module)?)?;
    module.add_function(wrap_pyfunction!(comparison::compare, module)?)?;
    module.add_class::<comparison::Comparison>()?;
    module.add_class::<request::Request>()?;
    module.add_class::<request::WaitUntil>()?;
    module.add_class::<request::Device>()?;
    module.add_class::<table::Table>()
}
