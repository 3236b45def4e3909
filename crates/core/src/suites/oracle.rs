//! Each scheduler against its slow, obvious reference: the same events, the same decisions.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use super::driver::Driver;
use super::log::Log;
use super::scene::{Scene, Step, hold};
use super::subject::{Make, Subject, all, settings};
use crate::registry::Entry;
use crate::scheduler::Setup;
use crate::units::Instant;

/// The reference of a scheduler in the registry.
pub(super) struct Reference<'a>(pub(super) &'a Entry);

impl Make for Reference<'_> {
    fn name(&self) -> &str {
        self.0.name
    }
    fn build(&self, setup: Setup<'_>, seed: u64) -> Box<dyn Subject> {
        Box::new((self.0.reference)(setup, &settings(self.0, seed)).unwrap())
    }
}

/// Plays the scene on both, step by step, until they differ.
pub(super) fn agree(
    make: &dyn Make,
    reference: &dyn Make,
    scene: &Scene,
    log: &mut Log,
) -> Result<(), String> {
    let mut silent = Log::off();
    let mut fast = Driver::new(make, scene, Instant::ZERO, log);
    let mut slow = Driver::new(reference, scene, Instant::ZERO, &mut silent);
    for step in &scene.steps {
        // A reference has no settings to change while it runs.
        if !matches!(step, Step::Set(..)) {
            fast.step(step)?;
            compare(&fast, &slow.step(step), &slow)?;
        }
    }
    fast.drain()?;
    compare(&fast, &slow.drain(), &slow)
}

/// Whether both have decided alike so far. `result`: what the reference's last step gave.
pub(super) fn compare(
    fast: &Driver<'_>,
    result: &Result<(), String>,
    slow: &Driver<'_>,
) -> Result<(), String> {
    let differ = fast.outcomes.iter().zip(&slow.outcomes).find(|(a, b)| a != b);
    match (differ, result) {
        (Some((fast, slow)), _) => Err(format!("decides `{fast}`, its reference `{slow}`")),
        (None, Err(error)) => Err(format!("the reference fails: {error}")),
        (None, Ok(())) if fast.outcomes.len() != slow.outcomes.len() => Err("one of both goes on".into()),
        (None, Ok(())) => Ok(()),
    }
}

fn against_its_reference(make: &dyn Make, scene: &Scene, log: &mut Log) -> Result<(), String> {
    let entry = all().find(|entry| entry.name == make.name()).unwrap();
    agree(make, &Reference(entry), scene, log)
}

#[test]
fn every_scheduler_decides_like_its_reference() {
    const CASES: u32 = 1500;
    let mut failures = alloc::vec::Vec::new();
    for entry in all() {
        match hold(entry, against_its_reference, CASES, 250) {
            Ok(()) => std::println!("oracle: {} agrees on {CASES} scenes", entry.name),
            Err(failure) => failures.push(failure),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
