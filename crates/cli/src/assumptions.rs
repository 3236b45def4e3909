//! What a comparison rests on: the same schedulers again, with what a trace does not tell assumed otherwise.
//!
//! A trace without issuers or completions does not show what waited for what. Replay can infer it, or let every request
//! come at its recorded time. Neither is true, and the truth lies between. The disk's model errs, too: by [`ERROR`], where
//! nothing better is known. A disk that takes a tenth longer for everything sees a trace as one that comes a tenth
//! faster, so that the replay's speed stands for it.

use idlewise_sim::experiment::Load;

use crate::execution::execute;
use crate::failure::Failure;
use crate::input::setup::Prepared;
use crate::report::comparison::Variant;
use crate::report::summary::summarise;

/// How much slower or faster than its model the disk may be.
const ERROR: f64 = 1.1;

/// Runs the schedulers at `about` under each other assumption; nothing if the load tells all.
pub(crate) fn variants(prepared: &mut Prepared, about: &[usize]) -> Result<Vec<Variant>, Failure> {
    if prepared.missing.is_none() { Ok(Vec::new()) } else { under(prepared, about, &[false, true], ERROR) }
}

/// Runs the schedulers at `about` on a disk that is as its model has it, and `error` times slower and faster: with what
/// waited for what inferred, and at the recorded times, as `open_loops` says. Nothing if the load is not a trace.
pub(crate) fn under(
    prepared: &mut Prepared,
    about: &[usize],
    open_loops: &[bool],
    error: f64,
) -> Result<Vec<Variant>, Failure> {
    let Load::Trace { open_loop, speed, .. } = prepared.experiment.load else { return Ok(Vec::new()) };
    if about.len() < 2 {
        return Ok(Vec::new());
    }
    let schedulers = about.iter().map(|index| prepared.experiment.schedulers[*index].clone()).collect();
    let all = std::mem::replace(&mut prepared.experiment.schedulers, schedulers);
    let percent = 100.0 * (error - 1.0);
    let mut variants = Vec::new();
    for open in open_loops {
        let waits = match (open, open_loops.len()) {
            (_, 1) => "if the disk is as its model has it",
            (true, _) => "if requests came at their recorded times",
            (false, _) => "if requests waited for each other as inferred",
        };
        for (factor, name) in [
            (1.0, waits.to_owned()),
            (error, format!("{waits} and the disk is {percent:.0} % slower")),
            (1.0 / error, format!("{waits} and the disk is {percent:.0} % faster")),
        ] {
            let name = name.replace("as its model has it and the disk is ", "");
            set(&mut prepared.experiment.load, *open, speed * factor);
            // The first variant of the kind that was asked for is what was run already, and a part of the answer.
            let done = execute(prepared)?;
            let summaries = summarise(&done.outcomes, about.len())?;
            variants.push(Variant { name, open_loop: *open, summaries, interrupted: done.interrupted });
        }
    }
    set(&mut prepared.experiment.load, open_loop, speed);
    prepared.experiment.schedulers = all;
    Ok(variants)
}

fn set(load: &mut Load, open: bool, factor: f64) {
    if let Load::Trace { open_loop, speed, .. } = load {
        (*open_loop, *speed) = (open, factor);
    }
}
