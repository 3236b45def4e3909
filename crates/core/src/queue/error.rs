//! How calls of a queue fail.

use core::fmt;

use crate::request_table::{State, WEIGHTS_MAX};
use crate::units::{Instant, RequestId};

/// A call that the host should not have made. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostError {
    /// All request ids are in use: complete something first, or build a larger queue.
    Full,
    /// The id is at or beyond the queue's capacity.
    BeyondCapacity(RequestId),
    /// The request is not in the state that the call wants.
    WrongState(RequestId, State),
    /// The scheduler that has taken over has not been handed the request yet.
    NotHandedOver(RequestId),
    /// The time lies before an earlier call's.
    TimeWentBack(Instant),
    /// No more issuers can have a weight of their own.
    TooManyWeights,
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostError::Full => {
                f.write_str("the queue is full: complete a request first, or build a larger queue")
            }
            HostError::BeyondCapacity(id) => write!(f, "request {id} is beyond the queue's capacity"),
            HostError::WrongState(id, state) => write!(f, "request {id} is {state}: the call does not fit"),
            HostError::NotHandedOver(id) => {
                write!(
                    f,
                    "request {id} has not been handed to the scheduler that takes over: nothing can join it"
                )
            }
            HostError::TimeWentBack(now) => {
                write!(f, "time went back to {now}: pass times that never decrease")
            }
            HostError::TooManyWeights => {
                write!(f, "{WEIGHTS_MAX} issuers have weights of their own: set some back to the default")
            }
        }
    }
}

impl core::error::Error for HostError {}
