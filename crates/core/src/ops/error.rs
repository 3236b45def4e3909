//! What can be wrong with the text of an event sequence.

use alloc::string::String;
use core::fmt;

use crate::registry::{self, BuildError};
use crate::tunables::TunableError;

/// A line that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line's number; the first is 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Something else was wanted in this word's place.
    Word(String, Wanted),
    /// The line ends where this was wanted.
    Missing(Wanted),
    /// The line continues with this word after its end.
    Surplus(String),
    /// An event comes before the `scheduler` line.
    NoScheduler,
    /// The queue is described after its first event.
    TooLate,
    /// The sequence lasts longer than 73 years.
    TooLong,
    /// The scheduler cannot be built.
    Build(BuildError),
    /// The tunable cannot be set.
    Tunable(TunableError),
}

/// What a line wants in some place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The first word of a line, or the word after a time.
    Verb,
    /// A request id.
    Id,
    /// The letter of an operation.
    Operation,
    /// First sector and length.
    Extent,
    /// A property of a request.
    Property,
    /// A time.
    Time,
    /// The number of a process.
    Issuer,
    /// A weight.
    Weight,
    /// How many requests.
    Count,
    /// The number of request ids.
    QueueSize,
    /// The name of a scheduler.
    Scheduler,
    /// The name of a tunable.
    Tunable,
    /// The value of a tunable.
    Value,
    /// `name=value`.
    Setting,
    /// A property of a device.
    DeviceProperty,
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wanted::Verb => {
                "an event: insert dispatch complete requeue cancel gone weight set switch \
                 begin carry, or before the first: device queue scheduler explain"
            }
            Wanted::Id => "a request id, such as 3",
            Wanted::Operation => "R (read), W (write), D (discard) or F (flush)",
            Wanted::Extent => "first sector and length, such as 1024+8",
            Wanted::Property => "one of by=7 group=2 sync async prio=be/4 (rt, be or idle; 0 to 7) meta more",
            Wanted::Time => "a time, such as 0, 250us, 3ms or 1s",
            Wanted::Issuer => "the number of a process, such as 7",
            Wanted::Weight => "a weight, from 1 to 10000",
            Wanted::Count => "a number of requests, such as 3",
            Wanted::QueueSize => "the number of request ids, from 1 to 65536",
            Wanted::Scheduler => {
                f.write_str("a scheduler, one of")?;
                return registry::all().iter().try_for_each(|entry| write!(f, " {}", entry.name));
            }
            Wanted::Tunable => "the name of a tunable",
            Wanted::Value => "the value of the tunable",
            Wanted::Setting => "a setting, such as read_expire=500",
            Wanted::DeviceProperty => {
                "one of rotational=on|off depth=1 queues=1 capacity=SECTORS merging=all|last|off \
                 max_sectors=2560 max_parts=128 curve=DISTANCE:TIME,…"
            }
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Word(word, wanted) => write!(f, "`{word}` is not {wanted}"),
            Problem::Missing(wanted) => write!(f, "the line ends too early: add {wanted}"),
            Problem::Surplus(word) => write!(f, "`{word}` is too much: take it away"),
            Problem::NoScheduler => {
                f.write_str("no scheduler yet: put a line such as `scheduler noop` above")
            }
            Problem::TooLate => f.write_str(
                "the queue has had events: put this line above them, or replace the scheduler with `switch`",
            ),
            Problem::TooLong => f.write_str("the times add up to more than 73 years: choose smaller ones"),
            Problem::Build(error) => error.fmt(f),
            Problem::Tunable(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl core::error::Error for Error {}

impl From<BuildError> for Problem {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Tunable(error) => Problem::Tunable(error),
            BuildError::OutOfMemory => Problem::Build(error),
        }
    }
}

impl From<TunableError> for Problem {
    fn from(error: TunableError) -> Self {
        Problem::Tunable(error)
    }
}
