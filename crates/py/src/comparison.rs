//! Comparing schedulers.

use std::sync::{Arc, Mutex, PoisonError};

use idlewise::library::{self, Compared, Following};
use idlewise_sim::experiment::Foreign;
use pyo3::prelude::*;

use crate::call::{follow, raised};
use crate::scheduler::Maker;
use crate::table::Table;

/// A finished comparison.
#[pyclass(frozen, module = "idlewise._native")]
pub(crate) struct Comparison(Compared);

/// Compares schedulers as the command `compare` does with these words behind it, and `own` ones: each a name, and what
/// makes a scheduler of a device.
#[pyfunction]
#[pyo3(signature = (words, own, progress=None))]
#[expect(clippy::needless_pass_by_value, reason = "Python hands over what was made of its arguments")]
pub(crate) fn compare(
    py: Python<'_>,
    words: Vec<String>,
    own: Vec<(String, Py<PyAny>)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Comparison> {
    let following = Arc::new(Following::default());
    let slot = Arc::new(Mutex::new(None));
    let foreign = |(name, make)| (name, Arc::new(Maker::new(make, &following, &slot)) as Arc<dyn Foreign>);
    let own: Vec<_> = own.into_iter().map(foreign).collect();
    let compared = follow(py, progress.as_ref(), &following, || library::compare(&words, own, &following))?;
    match slot.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => Err(error),
        None => compared.map(Comparison).map_err(raised),
    }
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
