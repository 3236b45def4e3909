//! `policy = auto`: a selector watches a queue and says which scheduler it should have.
//!
//! The selector is `auto-matrix`, IOAZ's. A [`Host`] tells it of every request; the shim asks it at the end of each
//! period, from a thread that may sleep, and builds what it wants. Its time begins when it is made.

use core::ffi::c_int;
use core::{fmt, slice};

use idlewise_core::registry::{self, Assignment, BuildError};
use idlewise_core::selectors::{self, Chooser, ChooserError, Decision, Setup};
use idlewise_core::{Group, Instant, Request, RequestId};

use crate::border::{INVALID, NO_MEMORY, put};
use crate::catalogue::text;
use crate::host::{Host, keep, take};

/// The selector.
const SELECTOR: &str = "auto-matrix";

/// At most so many settings can be given at a time.
const SETTINGS_MAX: usize = 16;

/// What `iw_auto_tick` answers for a queue without a selector.
const NOBODY: u32 = u32::MAX;

/// A selector at work.
pub struct Auto {
    chooser: Chooser,
    begun: u64,
    last: Option<Decision>,
}

/// Why there is no selector.
enum Fault<'a> {
    Chooser(ChooserError),
    /// Not `NAME=VALUE` with the name of a setting.
    Setting(&'a str),
    TooMany,
}

impl fmt::Display for Fault<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Chooser(error) => error.fmt(f),
            Fault::Setting(word) => write!(f, "{word} is not NAME=VALUE with a setting of {SELECTOR}"),
            Fault::TooMany => write!(f, "more than {SETTINGS_MAX} settings"),
        }
    }
}

impl Auto {
    /// A selector with the settings that `words` give, for a queue of so many ids. It begins at `now`.
    fn new(now: u64, ids: usize, words: &str) -> Result<Auto, Fault<'_>> {
        let Some(entry) = selectors::registry::find(SELECTOR) else { unreachable!("it is in the registry") };
        let mut settings: [Assignment<'_>; SETTINGS_MAX] = [("", 0); SETTINGS_MAX];
        let mut count = 0;
        for word in words.split_ascii_whitespace() {
            let found = word.split_once('=').and_then(|(name, value)| {
                let tunable = entry.tunables.iter().find(|tunable| tunable.name == name)?;
                Some(tunable.parse(value).map(|value| (name, value)))
            });
            let setting = found.ok_or(Fault::Setting(word))?;
            let place = settings.get_mut(count).ok_or(Fault::TooMany)?;
            *place = setting.map_err(|error| Fault::Chooser(BuildError::from(error).into()))?;
            count += 1;
        }
        let candidates = entry.field().map_err(|error| Fault::Chooser(error.into()))?;
        let setup = Setup { candidates: &candidates, cells: None, ranks: &[] };
        let chooser = Chooser::new(entry, ids, setup, &settings[..count]).map_err(Fault::Chooser)?;
        Ok(Auto { chooser, begun: now, last: None })
    }

    /// Its own time.
    #[inline]
    fn at(&self, now: Instant) -> Instant {
        Instant(now.0.saturating_sub(self.begun))
    }

    /// `request`, which arrived at `arrival`, as the selector is told of it. Each process counts by itself: the
    /// parent, which is the group here, is often a shell or init and its children have nothing in common.
    #[inline]
    fn told(&self, arrival: Instant, request: &Request) -> Request {
        Request { arrival: self.at(arrival), group: Group::UNKNOWN, ..*request }
    }

    /// A request came.
    #[inline]
    pub(crate) fn inserted(&mut self, now: Instant, id: RequestId, request: &Request) {
        self.chooser.inserted(id, &self.told(now, request), false);
    }

    /// `piece` became part of a request that waits.
    pub(crate) fn joined(&mut self, now: Instant, piece: &Request) {
        self.chooser.joined(&self.told(now, piece));
    }

    /// A request goes away without being done, or became part of another one.
    pub(crate) fn left(&mut self, request: &Request) {
        self.chooser.left(&self.told(request.arrival, request));
    }

    /// A request is done.
    #[inline]
    pub(crate) fn completed(&mut self, now: Instant, id: RequestId, request: &Request) {
        self.chooser.completed(self.at(now), id, &self.told(request.arrival, request));
    }

    /// Decides, if a period is over. Returns the number of the scheduler that should be in use.
    fn tick(&mut self, now: Instant) -> u32 {
        let at = self.at(now);
        if self.chooser.next_tick() <= at {
            self.last = Some(self.chooser.tick(at).1);
        }
        let wanted = self.chooser.candidates()[self.chooser.current()].entry.name;
        registry::all().iter().position(|entry| entry.name == wanted).map_or(NOBODY, |number| number as u32)
    }
}

impl fmt::Display for Auto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = self.chooser.candidates()[self.chooser.current()].entry.name;
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
    words: *const u8,
    length: usize,
    failure: *mut c_int,
    room: *mut u8,
    size: usize,
) -> *mut Auto {
    // SAFETY: all are the shim's.
    let (words, failure) = unsafe { (text(words, length), &mut *failure) };
    *failure = NO_MEMORY;
    match Auto::new(now, ids as usize, words) {
        Ok(auto) => keep(auto),
        Err(fault) => {
            if !matches!(fault, Fault::Chooser(ChooserError::Build(BuildError::OutOfMemory))) {
                *failure = INVALID;
            }
            // SAFETY: as above.
            put(unsafe { slice::from_raw_parts_mut(room, size) }, format_args!("{fault}\0"));
            core::ptr::null_mut()
        }
    }
}

/// Frees a selector that watches no queue; null is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_auto_free(auto: *mut Auto) {
    if !auto.is_null() {
        // SAFETY: it came from `iw_auto_new`.
        unsafe { drop(take(auto)) }
    }
}

/// From now on `auto` watches the queue; null: nobody. Returns who did.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_queue_watch(host: *mut Host, auto: *mut Auto) -> *mut Auto {
    // SAFETY: both are the shim's.
    unsafe { (*host).watch(auto) }
}

/// The number of the scheduler that the queue's selector wants now, and when to ask again; [`NOBODY`] without one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_auto_tick(host: *mut Host, now: u64, next: *mut u64) -> u32 {
    // SAFETY: both are the shim's.
    let (host, next) = unsafe { (&mut *host, &mut *next) };
    let now = host.at(now);
    let Some(auto) = host.auto() else { return NOBODY };
    let wanted = auto.tick(now);
    *next = auto.begun.saturating_add(auto.chooser.next_tick().0);
    wanted
}

/// Writes what the queue's selector last saw and decided; returns the length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_auto_show(host: *mut Host, room: *mut u8, size: usize) -> usize {
    // SAFETY: both are the shim's.
    let (host, room) = unsafe { (&mut *host, slice::from_raw_parts_mut(room, size)) };
    host.auto().map_or(0, |auto| put(room, format_args!("{auto}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use idlewise_core::{Issuer, Operation, Sector, Sectors};

    fn seen(auto: &mut Auto, from: u64, processes: u32, operation: Operation) -> &'static str {
        for number in 0..100 {
            let now = Instant(from + u64::from(number));
            let (start, issuer) =
                (Sector(u64::from(number) * 7919 % 5000 * 8), Issuer(1 + number % processes));
            let request = Request {
                start,
                length: Sectors(8),
                issuer,
                group: Group(7),
                operation,
                arrival: now,
                ..Request::default()
            };
            auto.inserted(now, RequestId(number), &request);
            auto.completed(Instant(now.0 + 1), RequestId(number), &request);
        }
        let next = auto.begun + auto.chooser.next_tick().0;
        registry::all()[auto.tick(Instant(next)) as usize].name
    }

    #[test]
    fn the_matrix_is_followed_from_when_it_was_made() {
        let begun = 1 << 50;
        let mut auto = Auto::new(begun, 256, "period=100 goal=highest").ok().unwrap();
        assert_eq!(auto.tick(Instant(begun)), 0, "noop, until a period is over");
        assert_eq!(seen(&mut auto, begun + 5, 1, Operation::Write), "deadline-2.6.11");
        assert_eq!(seen(&mut auto, begun + 100_000_005, 8, Operation::Read), "as-2.6.11");
        let said = std::format!("{auto}");
        assert!(said.contains("\ncategory 8 random reads\n") && said.contains("\nswitches 2\n"), "{said}");
    }

    #[test]
    fn small_requests_that_are_merged_are_sequential() {
        let mut auto = Auto::new(0, 256, "period=100").ok().unwrap();
        let piece = |start| Request {
            start: Sector(start),
            length: Sectors(8),
            issuer: Issuer(1),
            ..Request::default()
        };
        for n in 0..20u64 {
            let now = Instant(n * 1000);
            auto.inserted(now, RequestId(0), &piece(n * 32));
            (1..4).for_each(|part| auto.joined(now, &piece(n * 32 + part * 8)));
            auto.inserted(now, RequestId(1), &piece(n * 32 + 5000));
            auto.left(&piece(n * 32 + 5000));
            auto.completed(now, RequestId(0), &Request { length: Sectors(32), ..piece(n * 32) });
        }
        auto.tick(Instant(100_000_000));
        let said = std::format!("{auto}");
        assert!(said.contains("\ncategory 1 sequential reads\n"), "{said}");
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let wrong = |words| Auto::new(0, 16, words).err().map(|fault| std::format!("{fault}")).unwrap();
        assert!(wrong("goal").contains("goal is not NAME=VALUE"));
        assert!(wrong("gaol=mean").contains("gaol=mean is not NAME=VALUE"));
        assert!(wrong("goal=best").contains("lowest"), "{}", wrong("goal=best"));
        assert!(wrong("manual=5").contains("manual=5, but there are 4 candidates"), "{}", wrong("manual=5"));
    }

    #[test]
    fn it_fits_on_the_kernels_stack() {
        assert!(size_of::<Auto>() < 3072, "{}", size_of::<Auto>());
    }
}
