//! Running the units of a plan on this machine, on all its cores.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use idlewise_sim::engine::Control;
use rayon::prelude::*;

use super::unit::Unit;
use super::{columns, dataset};
use crate::failure::Failure;
use crate::progress::Progress;

/// What came of running units.
pub(crate) struct Done {
    /// Results written.
    pub(crate) written: u64,
    /// Units that failed, and why.
    pub(crate) failed: Vec<(String, String)>,
}

/// Carries a unit out; its result as a file's content, or nothing if `control` ended it before its end.
pub(crate) fn result(unit: &Unit, control: &Control) -> Result<Option<Vec<u8>>, Failure> {
    unit.run(control)?.map(|outcome| columns::file(unit, &outcome)).transpose()
}

/// How much of the work each unit is: requests, where they are known.
fn weights(units: &[&Unit]) -> Vec<u64> {
    let known: Vec<u64> = units.iter().filter_map(|unit| unit.rows).collect();
    let usual = known.iter().sum::<u64>() / known.len().max(1) as u64;
    units.iter().map(|unit| unit.rows.unwrap_or(usual).max(1)).collect()
}

/// Runs `units`, a number of them at a time, and writes each result when it is there. A unit that fails hinders no other; what cannot
/// be written ends all.
///
/// # Errors
/// A result cannot be written.
pub(crate) fn run(
    units: &[&Unit],
    output: &Path,
    jobs: usize,
    control: &Arc<Control>,
) -> Result<Done, Failure> {
    let weights = weights(units);
    let all: u64 = weights.iter().sum();
    let (done, written) = (Arc::new(AtomicU64::new(0)), AtomicU64::new(0));
    let failed = Mutex::new(Vec::new());
    let mut order: Vec<usize> = (0..units.len()).collect();
    // The longest come first, so that all cores end at about the same time.
    order.sort_by_key(|&index| std::cmp::Reverse(weights[index]));
    let told = Arc::clone(&done);
    // Of a workload nobody knows how many requests there will be.
    let are_known = units.iter().all(|unit| unit.rows.is_some());
    let _progress = Progress::follow_by(Arc::clone(control), units.len() as u64, move |control| {
        let requests = if are_known { control.completed.load(Ordering::Relaxed).min(all) } else { 0 };
        told.load(Ordering::Relaxed).max(requests) as f64 / all.max(1) as f64
    });
    let one = |index: usize| -> Result<(), Failure> {
        if control.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        match result(units[index], control) {
            Ok(Some(content)) => {
                dataset::write(output, units[index], &content)?;
                written.fetch_add(1, Ordering::Relaxed);
            }
            Ok(None) => {}
            Err(Failure::Usage(text) | Failure::Failed(text)) => {
                failed.lock().unwrap_or_else(PoisonError::into_inner).push((units[index].words(), text));
            }
            Err(other) => return Err(other),
        }
        done.fetch_add(weights[index], Ordering::Relaxed);
        Ok(())
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build().map_err(Failure::failed)?;
    pool.install(|| order.into_iter().par_bridge().try_for_each(one))?;
    let mut failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.sort();
    Ok(Done { written: written.into_inner(), failed })
}
