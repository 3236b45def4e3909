//! What the suites test: anything that can build a scheduler, from the registry or broken on purpose.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::device::Device;
use crate::queue::Queue;
use crate::registry::AnyScheduler;
use crate::registry::{self, Assignment, Entry};
use crate::scheduler::{Scheduler, Setup, Starvation, delegate};
use crate::tunables::{Tunable, Unit};

/// A scheduler whose settings may change while it runs.
pub(super) trait Subject: Scheduler {
    fn tunables(&self) -> &'static [Tunable] {
        &[]
    }
    fn set(&mut self, _name: &str, _value: u64) {}
}

impl Subject for AnyScheduler {
    fn tunables(&self) -> &'static [Tunable] {
        AnyScheduler::tunables(self)
    }
    fn set(&mut self, name: &str, value: u64) {
        AnyScheduler::set(self, name, value).unwrap();
    }
}

/// A reference: its settings stay.
impl Subject for Box<dyn Scheduler> {}

macro_rules! boxed {
    ($boxed:ident, $method:ident $(, $argument:ident)*) => { (**$boxed).$method($($argument),*) };
}
delegate!([] Box<dyn Subject>, boxed);

/// The queue that the suites drive.
pub(super) type TestQueue = Queue<Box<dyn Subject>>;

/// Something that builds schedulers. `seed` chooses the settings; 0 is the defaults.
pub(super) trait Make {
    fn name(&self) -> &str;
    fn build(&self, setup: Setup<'_>, seed: u64) -> Box<dyn Subject>;
    fn starvation(&self, _seed: u64) -> Starvation {
        Starvation::Unbounded
    }
    /// The scheduler's settings as the `scheduler` and `switch` lines have them.
    fn settings(&self, _seed: u64) -> String {
        String::new()
    }

    fn queue(&self, size: usize, device: &Device, seed: u64) -> TestQueue {
        let build = |setup: Setup<'_>| Ok::<_, crate::collections::OutOfMemory>(self.build(setup, seed));
        Queue::with(size, device.clone(), build).unwrap()
    }
}

impl Make for Entry {
    fn name(&self) -> &str {
        self.name
    }
    fn build(&self, setup: Setup<'_>, seed: u64) -> Box<dyn Subject> {
        Box::new(Entry::build(self, setup, &settings(self, seed)).unwrap())
    }
    fn starvation(&self, seed: u64) -> Starvation {
        Entry::starvation(self, &settings(self, seed)).unwrap()
    }
    fn settings(&self, seed: u64) -> String {
        let text = |(name, value): &Assignment<'_>| {
            let tunable = self.tunables.iter().find(|tunable| tunable.name == *name).unwrap();
            format!(" {name}={}", as_text(tunable, *value))
        };
        settings(self, seed).iter().map(text).collect()
    }
}

/// A value as the text format takes it: one word.
pub(super) fn as_text(tunable: &Tunable, value: u64) -> String {
    match tunable.unit {
        Unit::Choice(_) => format!("{}", tunable.show(value)),
        _ => format!("{value}"),
    }
}

/// Settings for `entry`: the defaults for seed 0, else some of them changed, often to a limit.
pub(super) fn settings(entry: &Entry, seed: u64) -> Vec<Assignment<'static>> {
    if seed == 0 {
        return Vec::new();
    }
    let mut random = Random(seed);
    let changed = |tunable: &'static Tunable| Some((tunable.name, random.value_of(tunable)?));
    entry.tunables.iter().filter_map(changed).collect()
}

/// A small generator for what need not shrink (splitmix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// A value in the tunable's range, small ones as often as large ones; `None`: the default.
    pub(super) fn value_of(&mut self, tunable: &Tunable) -> Option<u64> {
        let span = tunable.max - tunable.min;
        match self.below(6) {
            0 => Some(tunable.min),
            1 => Some(tunable.max),
            2 | 3 => {
                let bits = self.below(u64::from(64 - span.leading_zeros()) + 1);
                let value = self.next() & (u64::MAX >> (64 - bits.max(1)));
                Some(tunable.min + value.min(span))
            }
            _ => None,
        }
    }
}

/// All schedulers, or those that `IDLEWISE_ONLY` names.
pub(super) fn all() -> impl Iterator<Item = &'static Entry> {
    let only = std::env::var("IDLEWISE_ONLY").ok();
    registry::all().iter().filter(move |entry| {
        only.as_deref().is_none_or(|only| only.split(',').any(|name| name == entry.name))
    })
}
