//! Calls that take their time: Python runs on meanwhile, is told how far they are, and can stop them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use idlewise::library::{self, Following};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::keywords::told;

create_exception!(
    idlewise,
    Error,
    PyRuntimeError,
    "The work failed: a file could not be read, or a run broke off."
);

/// So often signals are looked for and progress is told.
const EVERY: Duration = Duration::from_millis(50);

/// `error` as Python raises it.
pub(crate) fn raised(error: library::Error) -> PyErr {
    match error {
        library::Error::Usage(message) => PyValueError::new_err(told(&message)),
        library::Error::Failed(message) => Error::new_err(told(&message)),
        library::Error::Interrupted => PyKeyboardInterrupt::new_err(()),
    }
}

/// Does `work` on another thread, while this one lets Python run, tells `progress` the share that is done and how many
/// requests are, and looks for Ctrl-C. Work that is stopped returns what it has.
///
/// # Errors
/// What Ctrl-C or `progress` raised. `progress` may also return false, which stops the work and is no error.
pub(crate) fn follow<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    following: &Arc<Following>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let control = &following.control;
    let look = || {
        Python::attach(|py| {
            py.check_signals()?;
            tell(py, progress, following)
        })
    };
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, is_done) = channel::<()>();
            let worker = scope.spawn(move || {
                let value = work();
                drop(done);
                value
            });
            let mut outcome = Ok(());
            while let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(EVERY) {
                if outcome.is_ok() {
                    outcome = look();
                    if outcome.is_err() {
                        control.stop.store(true, Ordering::Relaxed);
                    }
                }
            }
            let value = worker.join().map_err(|panic| {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                Error::new_err(format!("idlewise has a bug: {}", text.unwrap_or_default()))
            });
            outcome?;
            Python::attach(|py| tell(py, progress, following))?;
            value
        })
    })
}

/// Tells `progress` how far the runs are.
fn tell(py: Python<'_>, progress: Option<&Py<PyAny>>, following: &Following) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let completed = following.control.completed.load(Ordering::Relaxed);
    let answer = progress.call1(py, (following.share(), completed))?;
    if answer.bind(py).is(pyo3::types::PyBool::new(py, false)) {
        following.control.stop.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// Carries out a command of the program; gives what it prints, and its messages.
#[pyfunction]
#[pyo3(signature = (words, progress=None))]
#[expect(clippy::needless_pass_by_value, reason = "Python hands over what was made of its arguments")]
pub(crate) fn command(
    py: Python<'_>,
    words: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String)> {
    let following = Arc::new(Following::default());
    let printed = follow(py, progress.as_ref(), &following, || library::command(&words, &following))?;
    printed.map(|printed| (printed.text, printed.messages)).map_err(raised)
}
