//! How much goes before what is overdue.

use crate::units::Instant;

use super::settings::{SPARED, SPARED_BELOW, Settings};

/// What has gone since something of a kind went.
#[derive(Default)]
pub(super) struct Passed {
    /// Requests.
    pub(super) count: u64,
    /// When it went, if it ever did.
    last: Option<Instant>,
}

impl Passed {
    /// A request goes, of that kind if `such`.
    pub(super) fn goes(&mut self, now: Instant, such: bool) {
        self.count += 1;
        if such {
            *self = Passed { count: 0, last: Some(now) };
        }
    }

    /// Whether enough has gone of higher classes. `sends`: more of them would.
    pub(super) fn is_enough(&self, now: Instant, sends: bool, tunables: &Settings) -> bool {
        let long = self.last.is_none_or(|last| now.since(last) >= tunables.longest());
        sends && long && self.count >= SPARED || self.count >= SPARED_BELOW
    }
}
