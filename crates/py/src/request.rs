//! What a scheduler in Python sees: requests, the device, and a way to say when to be asked again.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use idlewise_core::{Device as Traits, Operation};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Where a request is.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// In the scheduler's hands.
    Waiting,
    /// At the disk, or done.
    Dispatched,
    /// A part of another one, which the scheduler was not told.
    Absorbed,
    /// The scheduler was told that it is gone, or should know.
    Gone,
}

/// A request of the queue. Merging may make it longer while it waits.
#[pyclass(frozen, module = "idlewise")]
pub(crate) struct Request {
    /// Counts requests of a run in order of arrival, from 0.
    #[pyo3(get)]
    number: u64,
    /// The process that issued it.
    #[pyo3(get)]
    issuer: u32,
    /// What the process belongs to, such as the one that started it; 0 if that is unknown.
    #[pyo3(get)]
    group: u32,
    /// Somebody waits for it: every read, and some writes.
    #[pyo3(get)]
    synchronous: bool,
    operation: Operation,
    pub(crate) id: u32,
    /// The number of its run.
    pub(crate) run: u64,
    arrival: AtomicU64,
    start: AtomicU64,
    sectors: AtomicU32,
    state: AtomicU8,
}

impl Request {
    pub(crate) fn new(run: u64, number: u64, id: u32, of: &idlewise_core::Request) -> Request {
        Request {
            number,
            issuer: of.issuer.0,
            group: of.group.0,
            synchronous: of.sync,
            operation: of.operation,
            id,
            run,
            arrival: of.arrival.0.into(),
            start: of.start.0.into(),
            sectors: of.length.0.into(),
            state: (State::Waiting as u8).into(),
        }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// A merge has changed it.
    pub(crate) fn grow(&self, into: &idlewise_core::Request) {
        self.arrival.store(into.arrival.0, Relaxed);
        self.start.store(into.start.0, Relaxed);
        self.sectors.store(into.length.0, Relaxed);
    }

    pub(crate) fn state(&self) -> State {
        match self.state.load(Relaxed) {
            0 => State::Waiting,
            1 => State::Dispatched,
            2 => State::Absorbed,
            _ => State::Gone,
        }
    }

    pub(crate) fn becomes(&self, state: State) {
        self.state.store(state as u8, Relaxed);
    }
}

#[pymethods]
impl Request {
    /// When it reached the queue, in nanoseconds of the run.
    #[getter]
    fn arrival(&self) -> u64 {
        self.arrival.load(Relaxed)
    }

    /// Its first sector.
    #[getter]
    fn start(&self) -> u64 {
        self.start.load(Relaxed)
    }

    /// Its length in sectors of 512 bytes; zero only for a flush.
    #[getter]
    fn sectors(&self) -> u32 {
        self.sectors.load(Relaxed)
    }

    /// The sector after its last one.
    #[getter]
    fn end(&self) -> u64 {
        self.start() + u64::from(self.sectors())
    }

    /// What it asks for: `read`, `write`, `discard` or `flush`.
    #[getter]
    fn operation<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.operation {
            Operation::Read => intern!(py, "read"),
            Operation::Write => intern!(py, "write"),
            Operation::Discard => intern!(py, "discard"),
            Operation::Flush => intern!(py, "flush"),
        }
    }

    /// It is a read.
    #[getter]
    fn is_read(&self) -> bool {
        self.operation == Operation::Read
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (start, sectors) = (self.start(), self.sectors());
        let (number, issuer) = (self.number, self.issuer);
        format!("<Request {number}: {} {start}+{sectors} by {issuer}>", self.operation(py))
    }
}

/// The answer of a scheduler that lets the disk wait although requests do.
#[pyclass(frozen, module = "idlewise")]
pub(crate) struct WaitUntil {
    /// When the scheduler wants to be asked again, in nanoseconds of the run; it is also asked after any event.
    #[pyo3(get)]
    pub(crate) time: u64,
}

#[pymethods]
impl WaitUntil {
    #[new]
    fn new(time: &Bound<'_, PyAny>) -> PyResult<WaitUntil> {
        let error = match time.extract() {
            Ok(time) => return Ok(WaitUntil { time }),
            Err(error) => error,
        };
        let text = format!("time takes whole nanoseconds of the run, 0 or more, not {}", time.repr()?);
        let too_far = error.is_instance_of::<PyOverflowError>(time.py());
        Err(if too_far { PyValueError::new_err(text) } else { PyTypeError::new_err(text) })
    }

    fn __repr__(&self) -> String {
        format!("WaitUntil({})", self.time)
    }
}

/// What a scheduler may know of the device below it.
#[pyclass(frozen, get_all, module = "idlewise")]
pub(crate) struct Device {
    /// Sectors of 512 bytes.
    sectors: u64,
    /// Commands that it takes at once.
    depth: u32,
    /// Distance costs time.
    rotational: bool,
    /// Requests that the queue holds at once, waiting or at the disk.
    queue_size: usize,
}

impl Device {
    pub(crate) fn of(traits: &Traits, queue_size: usize) -> Device {
        Device { sectors: traits.capacity.0, depth: traits.depth, rotational: traits.rotational, queue_size }
    }
}
