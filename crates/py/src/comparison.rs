//! Comparing schedulers.

use std::sync::Arc;

use idlewise::library::{self, Compared, Following};
use pyo3::prelude::*;

use crate::call::{follow, raised};
use crate::table::Table;

/// A finished comparison.
#[pyclass(frozen, module = "idlewise._native")]
pub(crate) struct Comparison(Compared);

/// Compares schedulers as the command `compare` does with these words behind it.
#[pyfunction]
#[pyo3(signature = (words, progress=None))]
pub(crate) fn compare(
    py: Python<'_>,
    words: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Comparison> {
    let following = Arc::new(Following::default());
    let compared = follow(py, progress, &following, || library::compare(&words, Vec::new(), &following))?;
    compared.map(Comparison).map_err(raised)
}

#[pymethods]
impl Comparison {
    #[getter]
    fn verdict(&self) -> String {
        self.0.verdict()
    }

    #[getter]
    fn title(&self) -> String {
        self.0.title()
    }

    #[getter]
    fn messages(&self) -> &str {
        self.0.messages()
    }

    #[getter]
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }

    fn summary(&self) -> PyResult<Table> {
        Table::of(&self.0.summary())
    }

    fn runs(&self) -> PyResult<Table> {
        Table::of(&self.0.runs())
    }

    fn processes(&self) -> PyResult<Table> {
        Table::of(&self.0.processes())
    }

    fn text(&self) -> String {
        self.0.text()
    }

    fn html(&self) -> String {
        self.0.html()
    }

    fn csv(&self) -> String {
        self.0.csv()
    }

    fn json(&self) -> PyResult<String> {
        self.0.json().map_err(raised)
    }
}
