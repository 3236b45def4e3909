//! `policy = auto-…`: a selector follows a queue and says which scheduler it should have.
//!
//! The shim asks the selector at the end of each period, from a thread that may sleep, and builds what it wants. All
//! selectors are there but those that ask for predictions: the kernel has no model of its disks.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::{c_char, c_int};
use core::fmt;

use idlewise_core::collections::{OutOfMemory, TryBox};
use idlewise_core::host::{self, Follower};
use idlewise_core::registry::BuildError;
use idlewise_core::selectors::contract::CANDIDATES_MAX;
use idlewise_core::selectors::matrix::{self, Goal};
use idlewise_core::selectors::{self, Candidate, Chooser, ChooserError, Decision, Entry, Setup};
use idlewise_core::{AnyScheduler, Group, Inserted, Instant, Request, RequestId};

use crate::boundary::{INVALID, NO_MEMORY, keep, put_c, text};
use crate::candidates::{CandidateError, Label, candidate};
use crate::catalogue::{MESSAGE, number, tell};
use crate::tables::{self, Table};

/// `EOPNOTSUPP` of the kernel.
const UNSUPPORTED: c_int = -95;

/// What `auto` alone means: IOAZ's selector.
const USUAL: &str = "auto-matrix";

/// The setting that names other candidates.
const CANDIDATES: &str = "candidates";

/// The settings that choose among the built-in matrices.
const BUILT_IN: [&str; 2] = ["goal", "hints"];

/// The selectors that a kernel can have, in the registry's order.
fn all() -> impl Iterator<Item = &'static Entry> {
    selectors::registry::all().iter().filter(|entry| !entry.predicts)
}

/// What a selector is built for.
#[repr(C)]
pub struct Order<'a> {
    /// The selector's number, as `iw_selector_find` has it.
    pub selector: u32,
    /// Request ids are below this.
    pub ids: u32,
    /// The device has moving heads.
    pub rotational: bool,
    /// Settings as `NAME=VALUE` between spaces.
    pub words: *const c_char,
    /// Their length.
    pub length: usize,
    /// A matrix that was measured for the device.
    pub matrix: Option<&'a Table>,
    /// A ranking that was measured for the device.
    pub ranking: Option<&'a Table>,
}

/// Why there is no selector.
#[derive(Debug, PartialEq, Eq)]
enum Refusal<'a> {
    Chooser(ChooserError),
    /// A candidate is wrong.
    Candidate(CandidateError<'a>),
    /// There are more candidates than a selector can have.
    Many,
    /// The selector's candidates stand in what it looks up.
    Fixed,
    /// The device has no matrix of its own, and the built-in ones are not for it.
    Still,
    /// A setting chooses among the built-in matrices, and the device has its own.
    Own(&'a str),
    /// Nothing was measured for the device.
    Unranked,
}

impl From<ChooserError> for Refusal<'_> {
    fn from(error: ChooserError) -> Self {
        Refusal::Chooser(error)
    }
}

impl From<OutOfMemory> for Refusal<'_> {
    fn from(error: OutOfMemory) -> Self {
        Refusal::Chooser(error.into())
    }
}

impl Refusal<'_> {
    /// The error's number in C.
    fn number(&self) -> c_int {
        match self {
            Refusal::Chooser(ChooserError::Build(BuildError::OutOfMemory)) => NO_MEMORY,
            Refusal::Still => UNSUPPORTED,
            _ => INVALID,
        }
    }
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Chooser(error) => error.fmt(f),
            Refusal::Candidate(error) => error.fmt(f),
            Refusal::Many => write!(f, "at most {CANDIDATES_MAX} candidates"),
            Refusal::Fixed => f.write_str("its candidates are those of its table"),
            Refusal::Still => f.write_str(
                "the built-in matrices are of a disk whose heads move, and nothing moves here: write a matrix for this device to the file matrix",
            ),
            Refusal::Own(setting) => {
                write!(f, "{setting} chooses among the built-in matrices, and this device has its own")
            }
            Refusal::Unranked => f.write_str("write a ranking for this device to the file ranking first"),
        }
    }
}

/// The candidates that `names` has, between commas.
fn field(names: &str) -> Result<Vec<Candidate>, Refusal<'_>> {
    let mut field = Vec::new();
    field.try_reserve_exact(CANDIDATES_MAX).map_err(|_| OutOfMemory)?;
    for word in names.split(',') {
        let wanted = candidate(word).map_err(Refusal::Candidate)?;
        if field.len() == CANDIDATES_MAX {
            return Err(Refusal::Many);
        }
        field.push(wanted);
    }
    Ok(field)
}

/// The names and values of settings.
fn pairs(words: &str) -> impl Iterator<Item = (&str, &str)> {
    words.split_ascii_whitespace().map(|word| word.split_once('=').unwrap_or((word, "")))
}

/// The value of the setting `name` among `words`.
fn setting<'a>(words: &'a str, name: &str) -> Option<&'a str> {
    pairs(words).find(|(own, _)| *own == name).map(|(_, value)| value)
}

/// A selector at work.
pub struct Auto {
    entry: &'static Entry,
    /// In memory of its own: it is large, and the kernel's stack is small.
    chooser: TryBox<Chooser>,
    last: Option<Decision>,
    /// The place of the candidate that was put in place last.
    placed: Option<usize>,
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
        Follower::inserted(&mut *self.chooser, inserted, &alone(request));
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
    /// The selector `entry` with the settings that `words` give, whose first period begins at `now`.
    #[inline(never)]
    fn new<'a>(
        now: Instant,
        entry: &'static Entry,
        order: &Order<'a>,
        words: &'a str,
    ) -> Result<Auto, Refusal<'a>> {
        let candidates = setting(words, CANDIDATES);
        let table = match () {
            () if entry.matrix => order.matrix,
            () if entry.ranks => Some(order.ranking.ok_or(Refusal::Unranked)?),
            () => None,
        };
        if candidates.is_some() && (entry.matrix || entry.ranks) {
            return Err(Refusal::Fixed);
        }
        if entry.matrix
            && table.is_some()
            && let Some(choice) = BUILT_IN.into_iter().find(|name| setting(words, name).is_some())
        {
            return Err(Refusal::Own(choice));
        }
        if entry.matrix && table.is_none() && !order.rotational {
            return Err(Refusal::Still);
        }
        let field = match candidates {
            Some(names) => field(names)?,
            None => entry.field()?,
        };
        let usual = Setup { candidates: &field, cells: None, ranks: &[] };
        let own = pairs(words).filter(|(name, _)| *name != CANDIDATES);
        let settings = host::settings(entry.tunables, own).map_err(ChooserError::from)?;
        let setup = table.map_or(usual, Table::setup);
        let room = TryBox::room()?;
        let mut chooser = room.keep(Chooser::new(entry, order.ids as usize, setup, &settings)?)?;
        chooser.begin(now);
        Ok(Auto { entry, chooser, last: None, placed: None })
    }

    /// Decides, if a period is over. Returns the number of the scheduler that takes over from the one called `current`, if
    /// one is to.
    pub(crate) fn tick(&mut self, now: Instant, current: &str) -> Option<u32> {
        self.last = self.chooser.due(now).map(|(_, decision)| decision).or(self.last);
        let Candidate { entry, settings } = self.chooser.candidate();
        // Two candidates may be the same scheduler with other settings.
        let tuned = self.placed.map_or(!settings.is_empty(), |place| place != self.chooser.current());
        if entry.name == current && !tuned { None } else { number(entry.name) }
    }

    /// The wanted candidate takes over as `successor`, which has default settings.
    pub(crate) fn place(&mut self, successor: &mut AnyScheduler) {
        self.placed = Some(self.chooser.current());
        for (name, value) in &self.chooser.candidate().settings {
            // They were checked when they were read.
            let _ = successor.set(name, *value);
        }
    }

    /// When the period ends.
    pub(crate) fn next_tick(&self) -> Instant {
        self.chooser.next_tick()
    }
}

impl fmt::Display for Auto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = Label(self.chooser.candidate());
        let (name, switches) = (self.entry.name, self.chooser.switches());
        writeln!(f, "selector {name}\nscheduler {wanted}\nswitches {switches}")?;
        let Some(decision) = self.last else { return Ok(()) };
        match decision.category {
            Some(category) => writeln!(f, "category {category}")?,
            None => writeln!(f, "category none")?,
        }
        writeln!(f, "reason {}", decision.why)
    }
}

/// The number of the selector called `name`, of which `auto` is the first, or -`EINVAL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_selector_find(name: *const c_char, length: usize) -> c_int {
    let name = match unsafe { text(name, length) } {
        "auto" => USUAL,
        name => name,
    };
    all().position(|entry| entry.name == name).map_or(INVALID, |number| number as c_int)
}

/// Writes the name of the selector with this number; returns its length, which is 0 if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_selector_name(selector: u32, room: *mut c_char, size: usize) -> usize {
    let name = all().nth(selector as usize).map_or("", |entry| entry.name);
    unsafe { put_c(room, size, format_args!("{name}")) }
}

/// A selector. Null, an error number and what is wrong, ended by a zero byte, if it cannot be had. May sleep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_auto_new(
    order: &Order<'_>,
    now: u64,
    failure: &mut c_int,
    wrong: &mut [c_char; MESSAGE],
) -> Option<Box<Auto>> {
    *failure = INVALID;
    let entry = all().nth(order.selector as usize)?;
    match Auto::new(Instant(now), entry, order, unsafe { text(order.words, order.length) }) {
        Ok(auto) => {
            *failure = NO_MEMORY;
            keep(auto)
        }
        Err(refusal) => {
            *failure = refusal.number();
            tell(wrong, format_args!("{}: {refusal}", entry.name));
            None
        }
    }
}

/// Writes the built-in matrix that `words`, which settings of a selector may be among, choose; returns the length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_built_in_matrix(
    words: *const c_char,
    length: usize,
    room: *mut c_char,
    size: usize,
) -> usize {
    let words = unsafe { text(words, length) };
    let goal = match setting(words, BUILT_IN[0]) {
        Some("lowest") => Goal::Lowest,
        Some("highest") => Goal::Highest,
        _ => Goal::Mean,
    };
    let names = matrix::built_in(goal, !matches!(setting(words, BUILT_IN[1]), Some("off" | "0")));
    unsafe { put_c(room, size, format_args!("{}", tables::Rows(|index| names[index]))) }
}

/// Frees a selector that follows no queue; null is none.
#[unsafe(no_mangle)]
pub extern "C" fn iw_auto_free(selector: Option<Box<Auto>>) {
    drop(selector);
}

#[cfg(test)]
mod tests {
    use super::*;
    use idlewise_core::{Issuer, Operation, Sector, Sectors};

    const ORDER: Order<'_> = Order {
        selector: 0,
        ids: 256,
        rotational: true,
        words: core::ptr::null(),
        length: 0,
        matrix: None,
        ranking: None,
    };

    fn find(name: &str) -> &'static Entry {
        all().find(|entry| entry.name == name).unwrap()
    }

    fn auto(begun: u64, words: &str) -> Auto {
        Auto::new(Instant(begun), find(USUAL), &ORDER, words).ok().unwrap()
    }

    fn refused<'a>(name: &str, order: &Order<'a>, words: &'a str) -> (c_int, std::string::String) {
        let refusal = Auto::new(Instant(0), find(name), order, words).err().unwrap();
        (refusal.number(), std::format!("{refusal}"))
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let still = Order { rotational: false, ..ORDER };
        assert_eq!(refused(USUAL, &still, "").0, UNSUPPORTED);
        assert_eq!(
            refused("auto-ranking", &ORDER, "").1,
            "write a ranking for this device to the file ranking first"
        );
        assert!(
            refused("auto-explore", &ORDER, "candidates=noop,best")
                .1
                .starts_with("there is no scheduler best")
        );
        assert_eq!(refused(USUAL, &ORDER, "candidates=noop").1, "its candidates are those of its table");
        let own = Table::matrix("1 as as as as\n4 as as as as\n8 as as as as\n16 as as as as").ok().unwrap();
        let order = Order { matrix: Some(&own), ..still };
        assert!(refused(USUAL, &order, "period=100 goal=lowest").1.starts_with("goal chooses among"));
        let auto = Auto::new(Instant(0), find(USUAL), &order, "period=100").ok().unwrap();
        assert_eq!(auto.chooser.candidate().entry.name, "as", "its own matrix will do");
    }

    #[test]
    fn explore_draws_another_when_throughput_drops() {
        let words = "period=100 candidates=noop,cfq absolute=1000000000 grace=0";
        let mut auto = Auto::new(Instant(0), find("auto-explore"), &ORDER, words).ok().unwrap();
        let first = auto.chooser.candidate().entry.name;
        let second = seen(&mut auto, 5, 2, Operation::Read);
        assert!([first, second] == ["noop", "cfq"] || [first, second] == ["cfq", "noop"], "{first} {second}");
    }

    #[test]
    fn candidates_may_differ_in_settings_alone() {
        let own = Table::ranking("4096 as:antic_expire=3\n65536 as").ok().unwrap();
        let order = Order { ranking: Some(&own), ..ORDER };
        let mut auto =
            Auto::new(Instant(0), find("auto-ranking"), &order, "period=100 new=100").ok().unwrap();
        let wanted = number("as");
        assert_eq!(auto.tick(Instant(0), "as"), wanted, "it is there, with other settings");
        let entry = idlewise_core::registry::find("as").unwrap();
        let setup = || idlewise_core::Setup { capacity: 8, device: DEVICE.get_or_init(Default::default) };
        let mut built = entry.build(setup(), &[]).unwrap();
        auto.place(&mut built);
        assert_eq!(built.get("antic_expire"), Ok(3));
        assert_eq!(auto.tick(Instant(1), "as"), None);
        let large = Request { length: Sectors(64), ..Request::read(Sector(0), Sectors(64)) };
        auto.inserted(Inserted::Queued(RequestId(0)), &large);
        assert_eq!(auto.tick(Instant(100_000_000), "as"), wanted, "larger requests, and the usual settings");
        let mut built = entry.build(setup(), &[]).unwrap();
        auto.place(&mut built);
        assert_ne!(built.get("antic_expire"), Ok(3));
    }

    static DEVICE: std::sync::OnceLock<idlewise_core::Device> = std::sync::OnceLock::new();

    #[test]
    fn ranking_goes_by_size() {
        let own = Table::ranking("4096 c-look\n65536 as").ok().unwrap();
        let order = Order { ranking: Some(&own), ..ORDER };
        let mut auto = Auto::new(Instant(0), find("auto-ranking"), &order, "period=100").ok().unwrap();
        assert_eq!(seen(&mut auto, 5, 2, Operation::Read), "c-look");
    }

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
        auto.tick(next, "");
        auto.chooser.candidate().entry.name
    }

    #[test]
    fn the_matrix_is_followed_from_when_it_was_made() {
        let begun = 1 << 50;
        let mut auto = auto(begun, "period=100 goal=highest");
        assert_eq!(auto.tick(Instant(begun), "noop"), None, "noop, until a period is over");
        assert_eq!(seen(&mut auto, begun + 5, 1, Operation::Write), "deadline-2.6.11");
        assert_eq!(seen(&mut auto, begun + 100_000_005, 8, Operation::Read), "as-2.6.11");
        let said = std::format!("{auto}");
        assert!(said.contains("\ncategory 8 random reads\n") && said.contains("\nswitches 2\n"), "{said}");
    }

    #[test]
    fn small_requests_that_are_merged_are_sequential() {
        let mut auto = auto(0, "period=100");
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
        auto.tick(Instant(100_000_000), "noop");
        let said = std::format!("{auto}");
        assert!(said.contains("\ncategory 1 sequential reads\n"), "{said}");
    }

    #[test]
    fn it_fits_on_the_kernels_stack() {
        assert!(size_of::<Auto>() < 3072, "{}", size_of::<Auto>());
    }
}
