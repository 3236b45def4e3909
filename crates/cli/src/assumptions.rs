//! Repeats a comparison with other assumptions about what the trace leaves out.
//!
//! A trace without issuers or completions does not show what waited for what. Replay can infer it, or let every request
//! come at its recorded time. Neither is true, and the truth lies between. The disk's model errs, too: by [`ERROR`], where
//! nothing better is known. A disk that takes a tenth longer for everything sees a trace as one that comes a tenth
//! faster, so that the replay's speed stands for it.

use std::sync::atomic::Ordering;

use idlewise_sim::experiment::Load;

use crate::execution::execute;
use crate::failure::Failure;
use crate::input::setup::Prepared;
use crate::progress::interruptible;
use crate::report::comparison::Variant;
use crate::report::summary::summarise;

/// How much slower or faster than its model the disk may be.
const ERROR: f64 = 1.1;

/// Runs the schedulers at `about` under every assumption, the one that was asked for included; none if the load tells
/// all. `None`: interrupted.
pub(crate) fn variants(prepared: &mut Prepared, about: &[usize]) -> Result<Option<Vec<Variant>>, Failure> {
    if prepared.missing.is_none() { Ok(Some(Vec::new())) } else { under(prepared, about, ERROR) }
}

/// The same on a disk that may be `error` times slower or faster than its model; in closed loop alone if the load tells
/// all.
pub(crate) fn under(
    prepared: &mut Prepared,
    about: &[usize],
    error: f64,
) -> Result<Option<Vec<Variant>>, Failure> {
    let Load::Trace { open_loop, speed, .. } = prepared.experiment.load else { return Ok(Some(Vec::new())) };
    if about.len() < 2 {
        return Ok(Some(Vec::new()));
    }
    let schedulers = about.iter().map(|index| prepared.experiment.schedulers[*index].clone()).collect();
    let all = std::mem::replace(&mut prepared.experiment.schedulers, schedulers);
    let variants = in_turn(prepared, speed, error);
    set(&mut prepared.experiment.load, open_loop, speed);
    prepared.experiment.schedulers = all;
    variants
}

/// Runs the experiment under one assumption after the other.
fn in_turn(prepared: &mut Prepared, speed: f64, error: f64) -> Result<Option<Vec<Variant>>, Failure> {
    let loops: &[(bool, &str)] = match prepared.missing {
        Some(_) => &[(false, "in closed loop"), (true, "in open loop")],
        None => &[(false, "in closed loop")],
    };
    let percent = 100.0 * (error - 1.0);
    let mut variants = Vec::new();
    for &(open_loop, waits) in loops {
        for (factor, disk) in [
            (1.0, String::new()),
            (error, format!(" on a disk {percent:.0} % slower")),
            (1.0 / error, format!(" on a disk {percent:.0} % faster")),
        ] {
            set(&mut prepared.experiment.load, open_loop, speed * factor);
            let done = execute(prepared);
            if interruptible()?.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let summaries = summarise(&done?.outcomes, prepared.experiment.schedulers.len())?;
            variants.push(Variant { name: format!("{waits}{disk}"), open_loop, summaries });
        }
    }
    Ok(Some(variants))
}

fn set(load: &mut Load, open: bool, factor: f64) {
    if let Load::Trace { open_loop, speed, .. } = load {
        (*open_loop, *speed) = (open, factor);
    }
}
