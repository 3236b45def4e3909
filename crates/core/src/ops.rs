//! `.ops`: operations on a queue and what came of them, as text. Goldens, fuzz corpora, bug reports and the web page
//! share the format. (`.loops` files, which `tests/kernel_loops.rs` reads, hold what a
//! kernel gave processes that wait for each request before issuing the next.)
//!
//! One event a line, with the time since the line before. What came of it stands behind ` = `, so
//! that a file is both the input and the expectation.
//!
//! ```text
//! device rotational=on depth=2 merging=off   # all as in `Device`, which has the defaults
//! queue 64                                   # request ids are below this; 64 by default
//! scheduler c-look                           # then its settings: name=value
//! explain                                    # decisions are written with their reasons
//!
//! insert 3 R 1024+8 by=7 group=2 = queued    # read 8 sectors at 1024, for process 7 of group 2
//! +100us insert 4 W 2048+8 prio=idle/7 sync meta more = queued
//! dispatch = 3
//! +3ms complete 3
//! cancel 4
//! switch noop
//! dispatch = idle
//! ```
//!
//! | event | result |
//! |---|---|
//! | `insert ID R\|W\|D\|F START+LENGTH …` | `queued`, `merged back into ID`, `merged front into ID` |
//! | `dispatch` | the id, `wait TIME`, `idle` |
//! | `complete ID`, `requeue ID`, `cancel ID`, `gone ISSUER`, `weight ISSUER WEIGHT` | |
//! | `set TUNABLE VALUE`, `switch SCHEDULER NAME=VALUE…` | |
//! | `begin SCHEDULER NAME=VALUE…`: a switch in steps; `carry COUNT`: a step | |
//!
//! A call that the queue refuses says so: `= refused: …`. Reads are sync and all else is async
//! unless the line says otherwise. `past` sends a request past the scheduler; what the device then makes durable is not
//! written. Times are whole numbers of `ns`, `us`, `ms` or `s`.
//!
//! ```
//! let mut text = String::new();
//! idlewise_core::ops::run("scheduler noop\ninsert 0 R 8+8\n+1ms dispatch", &mut text).unwrap();
//! assert_eq!(text, "scheduler noop\ninsert 0 R 8+8 = queued\n+1ms dispatch = 0\n");
//! ```

mod error;
mod parse;
mod runner;

use alloc::string::ToString;
use core::fmt;

pub use error::{Error, Problem, Wanted};
pub use parse::{Line, Settings};
pub use runner::{Runner, run};

use crate::device::{Device, Merging};
use crate::queue::{HostError, Inserted, Queue};
use crate::request::{Class, Operation, Priority, Request};
use crate::scheduler::{Decision, Scheduler};
use crate::units::{Duration, Group, Instant, Issuer, RequestId, Weight};
use crate::why::Why;

/// Something that a host does to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A request arrives, under an id that the host chose.
    Insert {
        /// The request's id.
        id: RequestId,
        /// The request. The event's time is its arrival time.
        request: Request,
    },
    /// The device has room.
    Dispatch,
    /// The device has finished a request.
    Complete(RequestId),
    /// The device gives a request back.
    Requeue(RequestId),
    /// A waiting request is withdrawn.
    Cancel(RequestId),
    /// A process has exited.
    Gone(Issuer),
    /// A process gets a weight.
    Weigh(Issuer, Weight),
    /// A tunable changes.
    Set {
        /// The tunable's name.
        tunable: &'a str,
        /// The tunable's value, in its unit or with a unit of its own.
        value: &'a str,
    },
    /// Another scheduler takes over.
    Switch {
        /// The scheduler's name.
        scheduler: &'a str,
        /// The scheduler's settings.
        settings: Settings<'a>,
    },
    /// Another scheduler begins to take over, in steps.
    Begin {
        /// The scheduler's name.
        scheduler: &'a str,
        /// The scheduler's settings.
        settings: Settings<'a>,
    },
    /// At most this number of requests is handed to the scheduler that takes over.
    Carry(u32),
}

/// What came of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The event was applied; there is nothing to say.
    Done,
    /// A request was inserted.
    Inserted {
        /// What became of it.
        how: Inserted,
        /// The request filled a gap: the requests on both sides became one.
        joined: bool,
    },
    /// The device gets this request.
    Dispatch(RequestId),
    /// The scheduler wants to be asked again after this time.
    Wait(Duration),
    /// The scheduler has nothing to do.
    Idle,
    /// The queue refused the call.
    Refused(HostError),
}

impl Event<'_> {
    /// Does it to `queue`. `None` for what needs the registry: `set`, `switch` and `begin`.
    pub fn apply<S: Scheduler>(&self, queue: &mut Queue<S>, now: Instant) -> Option<Outcome> {
        let done = |result: Result<(), HostError>| result.map_or_else(Outcome::Refused, |()| Outcome::Done);
        Some(match *self {
            Event::Insert { id, request } => {
                let merges = queue.merges();
                match queue.insert_as(now, id, request) {
                    Ok(how) => {
                        let joined = queue.merges() > merges + 1;
                        Outcome::Inserted { how, joined }
                    }
                    Err(error) => Outcome::Refused(error),
                }
            }
            Event::Dispatch => match queue.dispatch(now) {
                Ok(Decision::Dispatch(id)) => Outcome::Dispatch(id),
                Ok(Decision::WaitUntil(until)) => Outcome::Wait(until.since(now)),
                Ok(Decision::Idle) => Outcome::Idle,
                Err(error) => Outcome::Refused(error),
            },
            Event::Complete(id) => done(queue.complete(now, id)),
            Event::Requeue(id) => done(queue.requeue(now, id)),
            Event::Cancel(id) => done(queue.cancel(now, id)),
            Event::Gone(who) => done(queue.issuer_gone(now, who)),
            Event::Weigh(who, weight) => done(queue.set_weight(now, who, weight)),
            Event::Carry(count) => done(queue.carry(now, count as usize).map(drop)),
            Event::Set { .. } | Event::Switch { .. } | Event::Begin { .. } => return None,
        })
    }
}

/// A time as the format has it: a whole number of the largest unit that fits, or 0.
#[derive(Clone, Copy)]
pub(crate) struct Time(pub(crate) Duration);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.0;
        for (unit, scale) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)] {
            if ns > 0 && ns.is_multiple_of(scale) {
                return write!(f, "{}{unit}", ns / scale);
            }
        }
        if ns == 0 { f.write_str("0") } else { write!(f, "{ns}ns") }
    }
}

const OPERATIONS: [(&str, Operation); 4] =
    [("R", Operation::Read), ("W", Operation::Write), ("D", Operation::Discard), ("F", Operation::Flush)];
const CLASSES: [(&str, Class); 3] =
    [("rt", Class::RealTime), ("be", Class::BestEffort), ("idle", Class::Idle)];
const MERGING: [(&str, Merging); 3] =
    [("all", Merging::All), ("last", Merging::LastOnly), ("off", Merging::Off)];

/// The word for `value`.
fn word<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
    words.iter().find(|(_, meaning)| meaning == value).map_or("?", |(word, _)| word)
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Insert { id, request } => fmt_insert(f, *id, request),
            Event::Dispatch => f.write_str("dispatch"),
            Event::Complete(id) => write!(f, "complete {}", id.0),
            Event::Requeue(id) => write!(f, "requeue {}", id.0),
            Event::Cancel(id) => write!(f, "cancel {}", id.0),
            Event::Gone(who) => write!(f, "gone {}", who.0),
            Event::Weigh(who, weight) => write!(f, "weight {} {}", who.0, weight.get()),
            Event::Set { tunable, value } => write!(f, "set {tunable} {value}"),
            Event::Switch { scheduler, settings } => write!(f, "switch {scheduler}{settings}"),
            Event::Begin { scheduler, settings } => write!(f, "begin {scheduler}{settings}"),
            Event::Carry(count) => write!(f, "carry {count}"),
        }
    }
}

fn fmt_insert(f: &mut fmt::Formatter<'_>, id: RequestId, request: &Request) -> fmt::Result {
    let operation = word(&OPERATIONS, &request.operation);
    write!(f, "insert {} {operation} {}+{}", id.0, request.start.0, request.length.0)?;
    if request.issuer != Issuer::UNKNOWN {
        write!(f, " by={}", request.issuer.0)?;
    }
    if request.group != Group::UNKNOWN {
        write!(f, " group={}", request.group.0)?;
    }
    if request.sync != (request.operation == Operation::Read) {
        f.write_str(if request.sync { " sync" } else { " async" })?;
    }
    if request.priority != Priority::default() {
        let Priority { class, level } = request.priority;
        write!(f, " prio={}/{level}", word(&CLASSES, &class))?;
    }
    f.write_str(if request.metadata { " meta" } else { "" })?;
    f.write_str(if request.more_follows { " more" } else { "" })?;
    f.write_str(if request.past { " past" } else { "" })
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Done => Ok(()),
            Outcome::Inserted { how, joined } => {
                match how {
                    Inserted::Queued(_) => f.write_str("queued"),
                    Inserted::MergedBack { into, .. } => write!(f, "merged back into {}", into.0),
                    Inserted::MergedFront { into, .. } => write!(f, "merged front into {}", into.0),
                }?;
                f.write_str(if *joined { ", neighbours joined" } else { "" })
            }
            Outcome::Dispatch(id) => id.0.fmt(f),
            Outcome::Wait(time) => write!(f, "wait {}", Time(*time)),
            Outcome::Idle => f.write_str("idle"),
            // A number sign would begin a comment.
            Outcome::Refused(HostError::WrongState(id, state)) => write!(f, "refused: {} is {state}", id.0),
            Outcome::Refused(HostError::BeyondCapacity(id)) => {
                write!(f, "refused: {} is beyond the queue's capacity", id.0)
            }
            Outcome::Refused(HostError::NotHandedOver(id)) => {
                write!(f, "refused: {} is not handed over yet", id.0)
            }
            Outcome::Refused(error) => write!(f, "refused: {error}"),
        }
    }
}

/// An event after a span of time, with what came of it, as a line of text without its end.
pub struct Logged<'a> {
    /// The time since the line before.
    pub after: Duration,
    /// The event.
    pub event: Event<'a>,
    /// What came of it.
    pub outcome: Outcome,
    /// Why.
    pub why: Option<Why>,
}

impl fmt::Display for Logged<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.after > Duration::ZERO {
            write!(f, "+{} ", Time(self.after))?;
        }
        self.event.fmt(f)?;
        match self.outcome {
            Outcome::Done => {}
            outcome => write!(f, " = {outcome}")?,
        }
        // A number sign would begin a comment.
        let Some(why) = self.why else { return Ok(()) };
        why.to_string()
            .split('#')
            .enumerate()
            .try_for_each(|(index, piece)| write!(f, "{}{piece}", if index == 0 { ": " } else { "request " }))
    }
}

/// A device as a `device` line: what differs from the default. Its curve is left out.
pub struct Described<'a>(pub &'a Device);

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, usual) = (self.0, Device::default());
        f.write_str("device")?;
        if device.rotational != usual.rotational {
            write!(f, " rotational={}", if device.rotational { "on" } else { "off" })?;
        }
        let numbers = [
            ("depth", device.depth as u64, usual.depth as u64),
            ("queues", device.hardware_queues as u64, usual.hardware_queues as u64),
            ("capacity", device.capacity.0, usual.capacity.0),
            ("max_sectors", device.max_sectors.0 as u64, usual.max_sectors.0 as u64),
            ("max_parts", device.max_parts as u64, usual.max_parts as u64),
        ];
        for (name, value, usual) in numbers {
            if value != usual {
                write!(f, " {name}={value}")?;
            }
        }
        if device.merging != usual.merging {
            write!(f, " merging={}", word(&MERGING, &device.merging))?;
        }
        Ok(())
    }
}
