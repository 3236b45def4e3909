//! `policy = auto`: a selector follows a queue and says which scheduler it should have.
//!
//! The selector is `auto-matrix`, IOAZ's. The shim asks it at the end of each period, from a thread that may sleep,
//! and builds what it wants.

use alloc::boxed::Box;
use core::ffi::{c_char, c_int};
use core::fmt;

use idlewise_core::host::{self, Follower};
use idlewise_core::registry::BuildError;
use idlewise_core::selectors::{self, Chooser, ChooserError, Decision};
use idlewise_core::{Group, Inserted, Instant, Request, RequestId};

use crate::border::{INVALID, NO_MEMORY, keep, text};
use crate::catalogue::{MESSAGE, number, tell};

/// The selector.
const SELECTOR: &str = "auto-matrix";

/// A selector at work.
pub struct Auto {
    chooser: Chooser,
    last: Option<Decision>,
}

/// Each process counts by itself: the parent, which is the group here, is often a shell or init and its children have
/// nothing in common.
#[inline]
fn alone(request: &Request) -> Request {
    Request { group: Group::UNKNOWN, ..*request }
}

impl Follower for Auto {
    #[inline]
    fn inserted(&mut self, inserted: Inserted, request: &Request) {
        Follower::inserted(&mut self.chooser, inserted, &alone(request));
    }
    fn joined(&mut self, piece: &Request) {
        self.chooser.joined(&alone(piece));
    }
    fn left(&mut self, request: &Request) {
        self.chooser.left(&alone(request));
    }
    #[inline]
    fn completed(&mut self, now: Instant, id: RequestId, request: &Request) {
        self.chooser.completed(now, id, &alone(request));
    }
}

impl Auto {
    /// A selector with the settings that `words` give, for a queue of `ids` request ids. Its first period begins at `now`.
    fn new(now: Instant, ids: usize, words: &str) -> Result<Auto, ChooserError> {
        let Some(entry) = selectors::registry::find(SELECTOR) else { unreachable!("it is in the registry") };
        Ok(Auto { chooser: host::chooser(entry, ids, now, words)?, last: None })
    }

    /// Decides, if a period is over. Returns the number of the scheduler that should be in use.
    pub(crate) fn tick(&mut self, now: Instant) -> u32 {
        self.last = self.chooser.due(now).map(|(_, decision)| decision).or(self.last);
        number(self.chooser.candidate().entry.name).unwrap_or(0)
    }

    /// When the period ends.
    pub(crate) fn next_tick(&self) -> Instant {
        self.chooser.next_tick()
    }
}

impl fmt::Display for Auto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = self.chooser.candidate().entry.name;
        writeln!(f, "selector {SELECTOR}\nscheduler {wanted}\nswitches {}", self.chooser.switches())?;
        let Some(decision) = self.last else { return Ok(()) };
        match decision.category {
            Some(category) => writeln!(f, "category {category}")?,
            None => writeln!(f, "category none")?,
        }
        writeln!(f, "reason {}", decision.why)
    }
}

/// A selector with settings as `NAME=VALUE` between spaces. Null, an error number and what is wrong, ended by a
/// zero byte, if it cannot be had. May sleep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_auto_new(
    now: u64,
    ids: u32,
    words: *const c_char,
    length: usize,
    failure: &mut c_int,
    wrong: &mut [c_char; MESSAGE],
) -> Option<Box<Auto>> {
    *failure = NO_MEMORY;
    match Auto::new(Instant(now), ids as usize, unsafe { text(words, length) }) {
        Ok(auto) => keep(auto),
        Err(error) => {
            if error != ChooserError::Build(BuildError::OutOfMemory) {
                *failure = INVALID;
            }
            tell(wrong, format_args!("{error}"));
            None
        }
    }
}

/// Frees a selector that follows no queue; null is none.
#[unsafe(no_mangle)]
pub extern "C" fn iw_auto_free(selector: Option<Box<Auto>>) {
    drop(selector);
}

#[cfg(test)]
mod tests {
    use super::*;
    use idlewise_core::registry;
    use idlewise_core::{Issuer, Operation, Sector, Sectors};

    fn seen(auto: &mut Auto, from: u64, processes: u32, operation: Operation) -> &'static str {
        for number in 0..100 {
            let (id, arrival) = (RequestId(number), Instant(from + u64::from(number)));
            let (start, issuer) =
                (Sector(u64::from(number) * 7919 % 5000 * 8), Issuer(1 + number % processes));
            let request = Request { operation, arrival, group: Group(7), ..Request::read(start, Sectors(8)) };
            auto.inserted(Inserted::Queued(id), &request.by(issuer));
            auto.completed(Instant(arrival.0 + 1), id, &request.by(issuer));
        }
        let next = auto.chooser.next_tick();
        registry::all()[auto.tick(next) as usize].name
    }

    #[test]
    fn the_matrix_is_followed_from_when_it_was_made() {
        let begun = 1 << 50;
        let mut auto = Auto::new(Instant(begun), 256, "period=100 goal=highest").unwrap();
        assert_eq!(auto.tick(Instant(begun)), 0, "noop, until a period is over");
        assert_eq!(seen(&mut auto, begun + 5, 1, Operation::Write), "deadline-2.6.11");
        assert_eq!(seen(&mut auto, begun + 100_000_005, 8, Operation::Read), "as-2.6.11");
        let said = std::format!("{auto}");
        assert!(said.contains("\ncategory 8 random reads\n") && said.contains("\nswitches 2\n"), "{said}");
    }

    #[test]
    fn small_requests_that_are_merged_are_sequential() {
        let mut auto = Auto::new(Instant(0), 256, "period=100").unwrap();
        let piece =
            |now, start| Request { arrival: now, ..Request::read(Sector(start), Sectors(8)).by(Issuer(1)) };
        for n in 0..20u64 {
            let (now, id) = (Instant(n * 1000), RequestId);
            auto.inserted(Inserted::Queued(id(0)), &piece(now, n * 32));
            (1..4).for_each(|part| auto.joined(&piece(now, n * 32 + part * 8)));
            auto.inserted(Inserted::Queued(id(1)), &piece(now, n * 32 + 5000));
            auto.left(&piece(now, n * 32 + 5000));
            auto.completed(now, id(0), &Request { length: Sectors(32), ..piece(now, n * 32) });
        }
        auto.tick(Instant(100_000_000));
        let said = std::format!("{auto}");
        assert!(said.contains("\ncategory 1 sequential reads\n"), "{said}");
    }

    #[test]
    fn it_fits_on_the_kernels_stack() {
        assert!(size_of::<Auto>() < 3072, "{}", size_of::<Auto>());
    }
}
