//! Repeats a comparison with other assumptions about what the trace leaves out.
//!
//! A trace without issuers or completions does not show what waited for what. Replay can infer it, or let every request
//! come at its recorded time. Neither is true, and the truth lies between. The disk's model errs, too: as its profile says, or
//! by [`UNKNOWN`]. A disk that takes a tenth longer for everything sees a trace as one that comes a tenth
//! faster, so that the replay's speed stands for it.

use std::sync::atomic::Ordering;

use idlewise_sim::experiment::Load;

use crate::execution::execute;
use crate::failure::Failure;
use crate::input::setup::Prepared;
use crate::progress::interruptible;
use crate::report::comparison::Variant;
use crate::report::summary::summarise;

/// How far a model may be from its disk, as a share, if nobody has measured it.
const UNKNOWN: f64 = 0.1;
/// Every model is off by this at least: a difference that this much turns round is chance.
pub(crate) const LEAST: f64 = 0.05;

/// Runs the schedulers at `about` under every assumption, the one that was asked for included; none if the load tells
/// all. `None`: interrupted.
pub(crate) fn variants(prepared: &mut Prepared, about: &[usize]) -> Result<Option<Vec<Variant>>, Failure> {
    let measured = prepared.experiment.disk.demerit_permille;
    let error = measured.map_or(UNKNOWN, |permille| f64::from(permille) / 1000.0);
    if prepared.missing.is_none() { Ok(Some(Vec::new())) } else { under(prepared, about, error) }
}

/// The same on a disk that may be slower or faster than its model by the share `error`; in closed loop alone if the load
/// tells all.
pub(crate) fn under(
    prepared: &mut Prepared,
    about: &[usize],
    error: f64,
) -> Result<Option<Vec<Variant>>, Failure> {
    let error = 1.0 + error.max(LEAST);
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

#[cfg(test)]
mod tests {
    use idlewise_disk::Profile;

    use super::*;
    use crate::input::args::Reading;
    use crate::input::{names, setup};

    #[test]
    fn a_slower_disk_sees_a_trace_that_comes_faster() {
        // A read each tenth of a second, of a disk that takes 5 ms for each.
        let row = |n: u64| {
            format!("{},d,0,Read,{},4096,50000\n", 128_166_372_003_061_629 + n * 1_000_000, n * 8192)
        };
        let file = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
        std::fs::write(file.path(), (0..101).map(row).collect::<String>()).unwrap();
        let reading = Reading { format: None, devices: Vec::new(), lenient: false };
        let schedulers = names::schedulers(&["noop".to_owned(), "c-scan".to_owned()]).unwrap().0;
        let disk = Profile::named("fixed").unwrap();
        let mut prepared = setup::replay(file.path(), &reading, disk, schedulers).unwrap();
        let variants = under(&mut prepared, &[0, 1], 0.25).unwrap().unwrap();
        let open: Vec<_> = variants.iter().filter(|variant| variant.open_loop).collect();
        let (closed, of_open) = (variants.len() - open.len(), open.len());
        assert_eq!((closed, of_open), (3, 3));
        let seconds = |variant: &Variant| variant.summaries[0].figure("elapsed_ns").mean / 1e9;
        for (variant, (name, expected)) in open.iter().zip([
            ("in open loop", 10.0),
            ("in open loop on a disk 25 % slower", 8.0),
            ("in open loop on a disk 25 % faster", 12.5),
        ]) {
            assert_eq!(variant.name, name);
            assert!((seconds(variant) - expected).abs() < 0.02, "{name}: {} s", seconds(variant));
        }
        // What was asked for is as it was.
        let Load::Trace { open_loop, speed, .. } = prepared.experiment.load else {
            panic!("this is a trace")
        };
        assert!(!open_loop && (speed - 1.0).abs() < 1e-12 && prepared.experiment.schedulers.len() == 2);
    }
}
