//! How the scheduler is switched: waiting requests carried over, or the queue drained first as Linux does.

use idlewise_core::{Duration, Instant};

/// How the scheduler is switched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Switching {
    /// Waiting requests move over, requests in flight complete into the successor. Nobody waits.
    #[default]
    Carry,
    /// Linux 2.6.11: nothing enters the queue until the old scheduler has dispatched all that it has and
    /// all is done; then the new one takes over (IOAZ §3.2).
    Drain,
    /// Linux since blk-mq: submitters sleep while everything drains, and then for this long: an RCU grace period,
    /// and building the new scheduler with its tags.
    Freeze(Duration),
}

/// What RCU's grace period and building a scheduler take on an idle machine, to within a few times.
const GRACE: Duration = Duration::from_ms(10);

impl Switching {
    /// The methods by name.
    pub const NAMES: [&'static str; 3] = ["carry", "drain", "freeze"];

    /// The method called `name`.
    pub fn named(name: &str) -> Option<Switching> {
        match name {
            "carry" => Some(Switching::Carry),
            "drain" => Some(Switching::Drain),
            "freeze" => Some(Switching::Freeze(GRACE)),
            _ => None,
        }
    }

    /// How long nothing enters an empty queue.
    pub(super) fn grace(self) -> Duration {
        match self {
            Switching::Freeze(grace) => grace,
            Switching::Carry | Switching::Drain => Duration::ZERO,
        }
    }
}

/// A switch that waits for the queue to drain.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// The candidate that takes over.
    pub to: usize,
    /// When it began.
    pub began: Instant,
    /// When the queue was empty, and the grace is over.
    pub ready: Option<Instant>,
}
