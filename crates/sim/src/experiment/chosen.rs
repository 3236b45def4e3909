//! What stands where a scheduler's name stands: a scheduler, a selector, or a scheduler of the program's own.

use idlewise_core::registry::{self, Entry, TAKEN_PREFIX};
use idlewise_core::selectors;
use idlewise_core::tunables::Tunable;

/// A scheduler, or a selector that chooses one.
#[derive(Clone, Copy)]
pub enum Chosen {
    /// A scheduler.
    Scheduler(&'static Entry),
    /// A selector.
    Selector(&'static selectors::Entry),
    /// A scheduler that the program brings along, by its place in
    /// [`Experiment::foreign`](super::Experiment::foreign). Its label is its name.
    Foreign(usize),
}

/// The name here of a scheduler that the kernel modules may call otherwise: `iw-bfq` is `bfq`.
pub fn own_name(name: &str) -> &str {
    match name.split_at_checked(TAKEN_PREFIX.len()) {
        Some((prefix, own)) if prefix.eq_ignore_ascii_case(TAKEN_PREFIX) => own,
        _ => name,
    }
}

impl Chosen {
    /// What is called `name`, here or by the kernel modules.
    pub fn find(name: &str) -> Option<Chosen> {
        let name = own_name(name);
        let selector = || selectors::registry::find(name).map(Chosen::Selector);
        registry::find(name).map(Chosen::Scheduler).or_else(selector)
    }

    /// All schedulers, then all selectors.
    pub fn all() -> impl Iterator<Item = Chosen> {
        let selectors = selectors::registry::all().iter().map(Chosen::Selector);
        registry::all().iter().map(Chosen::Scheduler).chain(selectors)
    }

    /// The name of the scheduler or selector.
    pub fn name(self) -> &'static str {
        match self {
            Chosen::Scheduler(entry) => entry.name,
            Chosen::Selector(entry) => entry.name,
            Chosen::Foreign(_) => "foreign",
        }
    }

    /// What it is, in a sentence.
    pub fn summary(self) -> &'static str {
        match self {
            Chosen::Scheduler(entry) => entry.summary,
            Chosen::Selector(entry) => entry.summary,
            Chosen::Foreign(_) => "a scheduler of the program that runs it",
        }
    }

    /// Where its rules come from.
    pub fn source(self) -> &'static str {
        match self {
            Chosen::Scheduler(entry) => entry.source,
            Chosen::Selector(entry) => entry.source,
            Chosen::Foreign(_) => "the program that runs it",
        }
    }

    /// The tunables of the scheduler or selector.
    pub fn tunables(self) -> &'static [Tunable] {
        match self {
            Chosen::Scheduler(entry) => entry.tunables,
            Chosen::Selector(entry) => entry.tunables,
            Chosen::Foreign(_) => &[],
        }
    }
}

impl From<&'static Entry> for Chosen {
    fn from(entry: &'static Entry) -> Chosen {
        Chosen::Scheduler(entry)
    }
}

/// A scheduler or selector with its settings.
#[derive(Clone)]
pub struct Choice {
    /// What the report calls it.
    pub label: String,
    /// The scheduler or selector.
    pub entry: Chosen,
    /// Settings that differ from the defaults.
    pub settings: Vec<(String, u64)>,
}
