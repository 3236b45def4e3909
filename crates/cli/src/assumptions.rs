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
    let Load::Trace { open_loop, speed, .. } = prepared.experiment.load else { return Ok(Vec::new()) };
    if prepared.missing.is_none() || about.len() < 2 {
        return Ok(Vec::new());
    }
    let schedulers = about.iter().map(|index| prepared.experiment.schedulers[*index].clone()).collect();
    let all = std::mem::replace(&mut prepared.experiment.schedulers, schedulers);
    let mut variants = Vec::new();
    for open in [false, true] {
        for (factor, disk) in
            [(1.0, ""), (ERROR, " on a disk 10 % slower"), (1.0 / ERROR, " on a disk 10 % faster")]
        {
            let waits = if open { "in open loop" } else { "in closed loop" };
            set(&mut prepared.experiment.load, open, speed * factor);
            // The first variant of the kind that was asked for is what was run already, and a part of the answer.
            let done = execute(prepared)?;
            let summaries = summarise(&done.outcomes, about.len())?;
            let (name, interrupted) = (format!("{waits}{disk}"), done.interrupted);
            variants.push(Variant { name, open_loop: open, summaries, interrupted });
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
