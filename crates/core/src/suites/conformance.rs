//! The invariants, each as a check that any scheduler can be put through.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::driver::Driver;
use super::driver::ExtraCalls;
use super::log::Log;
use super::scene::{Scene, hold_all};
use super::subject::Make;
use crate::ops::Outcome;
use crate::units::{Instant, RequestId, Sector, Sectors};
use crate::{Admission, Decision, Device, HostError, Inserted, Merging, Queue, Request, registry};

/// Conservation and Promise: the driver's record comes out even and its promises are kept.
pub(super) fn conserves(make: &dyn Make, scene: &Scene, log: &mut Log) -> Result<(), String> {
    Driver::new(make, scene, Instant::ZERO, log).play(scene)
}

/// Plays the scene at time `start`; returns all answers.
fn answers(
    make: &dyn Make,
    scene: &Scene,
    start: Instant,
    extra_calls: ExtraCalls,
    log: &mut Log,
) -> Result<Vec<Outcome>, String> {
    let mut driver = Driver::new(make, scene, start, log).with_extra_calls(extra_calls);
    driver.play(scene)?;
    Ok(driver.outcomes)
}

/// Fails at the first answer that differs.
fn same(plain: &[Outcome], other: &[Outcome], what: &str) -> Result<(), String> {
    let differ = plain.iter().zip(other).position(|(a, b)| a != b);
    match differ {
        Some(at) => Err(format!("event {}: `{}`, but {what} `{}`", at + 1, plain[at], other[at])),
        None if plain.len() != other.len() => Err(format!("{what} it ends elsewhere")),
        None => Ok(()),
    }
}

/// Asking is free: calls that yield nothing change no later decision.
pub(super) fn asking_is_free(make: &dyn Make, scene: &Scene, log: &mut Log) -> Result<(), String> {
    let plain = answers(make, scene, Instant::ZERO, ExtraCalls::None, log)?;
    let asked = answers(make, scene, Instant::ZERO, ExtraCalls::Asks, &mut Log::off())?;
    same(&plain, &asked, "asked more often")
}

/// Time flows: a shifted run makes the same decisions.
pub(super) fn time_flows(make: &dyn Make, scene: &Scene, log: &mut Log) -> Result<(), String> {
    let plain = answers(make, scene, Instant::ZERO, ExtraCalls::None, log)?;
    for start in [Instant(1), Instant(999_999_937), Instant((1 << 60) + 7)] {
        let shifted = answers(make, scene, start, ExtraCalls::None, &mut Log::off())?;
        same(&plain, &shifted, &format!("{} ns later", start.0))?;
    }
    Ok(())
}

/// Deterministic: another instance, and one built while others live, decide the same.
pub(super) fn deterministic(make: &dyn Make, scene: &Scene, log: &mut Log) -> Result<(), String> {
    let first = answers(make, scene, Instant::ZERO, ExtraCalls::None, log)?;
    let second = answers(make, scene, Instant::ZERO, ExtraCalls::None, &mut Log::off())?;
    same(&first, &second, "run again")
}

/// Host mistakes are refused and change nothing.
pub(super) fn misuse_changes_nothing(make: &dyn Make, scene: &Scene, log: &mut Log) -> Result<(), String> {
    let plain = answers(make, scene, Instant::ZERO, ExtraCalls::None, log)?;
    let misused = answers(make, scene, Instant::ZERO, ExtraCalls::Misuse, &mut Log::off())?;
    same(&plain, &misused, "with refused calls between")
}

#[test]
fn every_request_is_dispatched_and_completed_once_and_promises_are_kept() {
    hold_all("conformance: conservation and promise", conserves, 300, 300);
}

#[test]
fn asking_changes_nothing() {
    hold_all("conformance: asking is free", asking_is_free, 200, 200);
}

#[test]
fn a_shifted_run_decides_the_same() {
    hold_all("conformance: time flows", time_flows, 100, 200);
}

#[test]
fn the_same_events_give_the_same_decisions() {
    hold_all("conformance: deterministic", deterministic, 100, 200);
}

#[test]
fn refused_calls_change_nothing() {
    hold_all("conformance: misuse", misuse_changes_nothing, 100, 200);
}

#[test]
fn a_queue_without_room_refuses_and_idles() {
    for entry in super::subject::all() {
        let mut queue = Queue::new(0, Device::default(), entry, &[]).unwrap();
        let request = Request::read(Sector(8), Sectors(8));
        assert_eq!(queue.insert(Instant::ZERO, request), Err(HostError::Full), "{}", entry.name);
        assert_eq!(queue.dispatch(Instant::ZERO), Ok(Decision::Idle), "{}", entry.name);
    }
}

#[test]
fn an_id_that_the_host_chose_is_given_to_nobody_else() {
    let device = Device { merging: Merging::Off, ..Device::default() };
    let mut queue = Queue::new(4, device, &registry::all()[0], &[]).unwrap();
    let (now, request) = (Instant::ZERO, Request::read(Sector(8), Sectors(8)));
    for chosen in [3, 0] {
        queue.insert_as(now, RequestId(chosen), request).unwrap();
    }
    let mut given = [0; 2].map(|_| queue.insert(now, request).unwrap().id().0);
    given.sort();
    assert_eq!(given, [1, 2]);
    assert_eq!(queue.insert(now, request), Err(HostError::Full));
    for free in [1, 3] {
        queue.cancel(now, RequestId(free)).unwrap();
        assert_eq!(queue.insert(now, request), Ok(Inserted::Queued(RequestId(free))));
    }
}

#[test]
fn an_empty_queue_has_room_for_all() {
    let sizes = |entry| [1, 2, 3, 64].map(|size| (entry, size));
    for (entry, size) in super::subject::all().flat_map(sizes) {
        let mut queue = Queue::new(size, Device::default(), entry, &[]).unwrap();
        assert_eq!(queue.admission(), Admission::ALL, "{} of {size}", entry.name);
        let write = Request::write(Sector(8), Sectors(8));
        let id = queue.insert(Instant::ZERO, write).unwrap().id();
        queue.cancel(Instant::ZERO, id).unwrap();
        assert_eq!(queue.admission(), Admission::ALL, "{} of {size}, empty again", entry.name);
    }
}
