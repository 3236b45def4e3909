//! Sweeps in steps: Python deals the units out, Rust plans and runs them.
#![allow(clippy::needless_pass_by_value, reason = "Python hands over values of its own")]

use std::path::PathBuf;
use std::sync::Arc;

use idlewise::library::sweeps;
use idlewise::library::{Error, Following};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::call::{follow, raised};

/// What a TOML file asks for, as JSON.
#[pyfunction]
pub(crate) fn sweep_file(path: PathBuf) -> PyResult<String> {
    sweeps::file(&path).map_err(raised)
}

/// The traces of a sweep, once all else is checked.
#[pyfunction]
pub(crate) fn sweep_sources(sweep: &str) -> PyResult<String> {
    sweeps::sources(sweep).map_err(raised)
}

/// Does `work` while Python runs on.
fn meanwhile<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Arc<Following>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let following = Arc::new(Following::default());
    follow(py, progress.as_ref(), &following, || work(&following))?.map_err(raised)
}

/// What is known of a trace, which is split by device if `cut`.
#[pyfunction]
#[pyo3(signature = (sweep, source, work, cut, progress=None))]
pub(crate) fn sweep_portions(
    py: Python<'_>,
    sweep: &str,
    source: &str,
    work: PathBuf,
    cut: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    meanwhile(py, progress, |following| sweeps::portions(sweep, source, &work, cut, following))
}

/// The units of a sweep.
#[pyfunction]
pub(crate) fn sweep_plan(sweep: &str, portions: Vec<String>, work: &str) -> PyResult<String> {
    sweeps::plan(sweep, &portions, work).map_err(raised)
}

/// The content of a unit's result; None if it was stopped.
#[pyfunction]
#[pyo3(signature = (unit, progress=None))]
pub(crate) fn sweep_run<'py>(
    py: Python<'py>,
    unit: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let content = meanwhile(py, progress, |following| sweeps::run(unit, following))?;
    Ok(content.map(|content| PyBytes::new(py, &content)))
}

/// Writes a unit's result into a dataset in a folder.
#[pyfunction]
pub(crate) fn sweep_write(output: PathBuf, unit: &str, content: &[u8]) -> PyResult<()> {
    sweeps::write(&output, unit, content).map_err(raised)
}

/// The ids of the results in a folder.
#[pyfunction]
pub(crate) fn sweep_present(output: PathBuf) -> PyResult<Vec<String>> {
    sweeps::present(&output).map_err(raised)
}

/// What units would cost.
#[pyfunction]
pub(crate) fn sweep_estimate(py: Python<'_>, units: &str, jobs: usize) -> PyResult<String> {
    meanwhile(py, None, |_| sweeps::estimate(units, jobs))
}
