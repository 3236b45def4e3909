//! A scheduler written in Python, as the simulator has it.
//!
//! Python is attached once for a whole run. What Python raises ends all runs of the comparison. A run that is to stop asks Python
//! no more: what waits is dispatched in order of arrival until the engine ends it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use idlewise::library::Following;
use idlewise_core::{Cx, Decision, Instant, Issuer, RequestId, Scheduler, Setup};
use idlewise_sim::experiment::{Foreign, Hosted};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::request::{Device, Request, State, WaitUntil};

/// What makes a scheduler for a run: called with the device, it gives the methods that the scheduler has.
pub(crate) struct Maker {
    make: Py<PyAny>,
    following: Arc<Following>,
    /// What Python raised.
    raised: Arc<Mutex<Option<PyErr>>>,
}

/// The methods of a scheduler; those that it need not have may be missing.
type Methods<'py> = (
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
);

impl Maker {
    pub(crate) fn new(
        make: Py<PyAny>,
        following: &Arc<Following>,
        raised: &Arc<Mutex<Option<PyErr>>>,
    ) -> Maker {
        Maker { make, following: Arc::clone(following), raised: Arc::clone(raised) }
    }

    /// Keeps the first error, and stops the runs.
    fn fail(&self, error: PyErr) {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.following.control.stop.store(true, Relaxed);
    }
}

impl Foreign for Maker {
    fn host(&self, setup: Setup<'_>, run: Hosted<'_>) -> Result<(), String> {
        Python::attach(|py| {
            let made = Device::of(setup.device, setup.capacity)
                .into_pyobject(py)
                .and_then(|device| self.make.bind(py).call1((device,))?.extract::<Methods<'_>>());
            match made {
                Ok(methods) => run(Box::new(Own::new(py, self, methods, setup.capacity))),
                Err(error) => self.fail(error),
            }
        });
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.as_ref().map_or(Ok(()), |error| Err(error.to_string()))
    }
}

/// Runs so far.
static RUNS: AtomicU64 = AtomicU64::new(0);

/// A scheduler in Python during a run.
struct Own<'py, 'a> {
    /// The number of the run.
    run: u64,
    py: Python<'py>,
    maker: &'a Maker,
    methods: Methods<'py>,
    /// The requests by id. One that is done stays until another has its id.
    requests: Vec<Option<Bound<'py, Request>>>,
    waiting: usize,
    /// Requests so far.
    number: u64,
    /// Python is asked no more.
    ended: bool,
}

impl<'py, 'a> Own<'py, 'a> {
    fn new(py: Python<'py>, maker: &'a Maker, methods: Methods<'py>, capacity: usize) -> Own<'py, 'a> {
        let requests = std::iter::repeat_with(|| None).take(capacity).collect();
        let run = RUNS.fetch_add(1, Relaxed);
        Own { run, py, maker, methods, requests, waiting: 0, number: 0, ended: false }
    }

    fn fail(&mut self, error: PyErr) {
        self.ended = true;
        self.maker.fail(error);
    }

    /// Whether Python is asked no more: it has raised something, or the runs are to stop. Looking costs less than a call of Python.
    fn has_ended(&mut self) -> bool {
        self.ended |= self.maker.following.control.stop.load(Relaxed);
        self.ended
    }

    /// Calls `method` with the time and a request, unless the run is to end.
    fn tell(&mut self, method: Option<Bound<'py, PyAny>>, now: Instant, id: RequestId) {
        let ended = self.has_ended();
        if let (Some(method), Some(request), false) = (method, &self.requests[id.0 as usize], ended)
            && let Err(error) = method.call1((now.0, request))
        {
            self.fail(error);
        }
    }

    /// A waiting request is gone.
    fn forget(&mut self, now: Instant, id: RequestId) {
        self.waiting -= 1;
        let told = self.methods.3.clone();
        let state = if told.is_some() { State::Gone } else { State::Absorbed };
        if let Some(request) = &self.requests[id.0 as usize] {
            request.get().becomes(state);
        }
        self.tell(told, now, id);
    }

    /// The waiting request that came first.
    fn first(&self) -> Decision {
        let waiting = self.requests.iter().flatten().map(Bound::get);
        let first = waiting
            .filter(|request| request.state() == State::Waiting)
            .min_by_key(|request| request.number());
        first.map_or(Decision::Idle, |request| {
            request.becomes(State::Dispatched);
            Decision::Dispatch(RequestId(request.id))
        })
    }

    /// What Python wants to be dispatched.
    fn asked(&self, now: Instant) -> PyResult<Decision> {
        loop {
            let answer = self.methods.1.call1((now.0,))?;
            if answer.is_none() {
                return Ok(Decision::Idle);
            }
            if let Ok(request) = answer.cast::<Request>() {
                let request = request.get();
                match request.state() {
                    _ if request.run != self.run => return Err(wrong(FOREIGN, request)),
                    State::Waiting => {
                        request.becomes(State::Dispatched);
                        return Ok(Decision::Dispatch(RequestId(request.id)));
                    }
                    // Who does not want to be told learns it here, once.
                    State::Absorbed => request.becomes(State::Gone),
                    State::Dispatched => return Err(wrong(TWICE, request)),
                    State::Gone => return Err(wrong(ABSORBED, request)),
                }
            } else if let Ok(wait) = answer.cast::<WaitUntil>() {
                let time = wait.get().time;
                if time <= now.0 {
                    let text = format!("dispatch() wants to wait until {time}, and it is {} already", now.0);
                    return Err(PyValueError::new_err(text));
                }
                return Ok(Decision::WaitUntil(Instant(time)));
            } else {
                let text = format!(
                    "dispatch() returned {}: return a request that insert() was given, None, or WaitUntil(time)",
                    answer.repr()?
                );
                return Err(PyTypeError::new_err(text));
            }
        }
    }
}

const TWICE: &str = "which was dispatched before: forget a request when you return it";
const ABSORBED: &str = "which has become a part of another request: remove() says so";
const FOREIGN: &str = "which is of another run: a scheduler keeps its requests in itself";

/// `request` cannot be dispatched.
fn wrong(why: &str, request: &Request) -> PyErr {
    PyValueError::new_err(format!("dispatch() returned request {}, {why}", request.number()))
}

impl Scheduler for Own<'_, '_> {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.waiting += 1;
        let request = Bound::new(self.py, Request::new(self.run, self.number, id.0, &cx[id]));
        self.number += 1;
        match request {
            Ok(request) => self.requests[id.0 as usize] = Some(request),
            Err(error) => self.fail(error),
        }
        let insert = Some(self.methods.0.clone());
        self.tell(insert, cx.now, id);
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        if self.waiting == 0 {
            return Decision::Idle;
        }
        let decision = if self.has_ended() {
            self.first()
        } else {
            self.asked(cx.now).unwrap_or_else(|error| {
                self.fail(error);
                self.first()
            })
        };
        if matches!(decision, Decision::Dispatch(_)) {
            self.waiting -= 1;
        }
        decision
    }

    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        let complete = self.methods.2.clone();
        self.tell(complete, cx.now, id);
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.forget(cx.now, id);
    }

    fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
        if let Some(request) = &self.requests[id.0 as usize] {
            request.get().grow(&cx[id]);
        }
        let grown = self.methods.4.clone();
        self.tell(grown, cx.now, id);
    }

    fn issuer_gone(&mut self, cx: Cx<'_>, who: Issuer) {
        let ended = self.has_ended();
        if let (Some(exited), false) = (&self.methods.5, ended)
            && let Err(error) = exited.call1((cx.now.0, who.0))
        {
            self.fail(error);
        }
    }

    /// A request whose beginning moves would be in the wrong place of whoever is not told.
    fn front_merges(&self) -> bool {
        self.methods.4.is_some()
    }
}
