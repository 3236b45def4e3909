//! Repeats a comparison with other assumptions about what the trace leaves out.
//!
//! A trace without issuers or completions does not show what waited for what. Replay can infer it, or let every request
//! come at its recorded time. Neither is true, and the truth lies between. Where nobody is known to have issued anything,
//! neighbouring requests may be a process's, or all of them the same one's, such as a virtual machine's. The disk's model
//! errs, too: by as much as it is off the recording, if it stands for the recorded disk; else as its profile says, or by
//! [`UNKNOWN_ERROR`]. A disk that takes a tenth longer for everything sees a trace as one that comes a tenth faster, so that
//! the replay's speed stands for it.

use std::sync::atomic::Ordering;

use idlewise_sim::experiment::Load;
use idlewise_sim::replay::Mode;

use crate::execution::execute;
use crate::failure::Failure;
use crate::input::recorded::UNKNOWN_ERROR;
use crate::input::setup::Prepared;
use crate::progress::interruptible;
use crate::report::comparison::Variant;
use crate::report::summary::{Summary, summarise};
use crate::report::verdict::Assumption;

/// Every model is off by this at least: a difference that this much turns round is chance.
const LEAST: f64 = 0.05;

/// What a verdict is to hold under.
#[derive(Default)]
pub(crate) struct Doubts {
    pub(crate) variants: Vec<Variant>,
    /// The verdict's figures are means of replays on several disks: which, in words.
    pub(crate) means: Option<String>,
}

impl Doubts {
    /// A remark on the verdict's figures.
    pub(crate) fn note(&self) -> Option<String> {
        let means = self.means.as_ref()?;
        Some(format!("note: the verdict's figures are {means}; tables and plots show the first"))
    }
}

/// What a verdict on `summaries` is to hold under, for the schedulers at `about`. Where the trace tells all and the model
/// stands for its disk, the runs on other disks become runs of the summaries instead. `None`: interrupted.
pub(crate) fn doubts(
    prepared: &mut Prepared,
    about: &[usize],
    summaries: &mut [Summary],
) -> Result<Option<Doubts>, Failure> {
    let tells_all = prepared.missing.is_none();
    let measured = prepared.experiment.disk.demerit_permille;
    let error = match prepared.off {
        Some(off) => off.error(),
        None if tells_all => None,
        None => Some(measured.map_or(UNKNOWN_ERROR, |permille| f64::from(permille) / 1000.0)),
    };
    let Some(error) = error else { return Ok(Some(Doubts::default())) };
    // What others would add is compared with the same disks.
    let all: Vec<usize> = (0..prepared.experiment.schedulers.len()).collect();
    let variants = under(prepared, if tells_all { &all } else { about }, error)?;
    let Some(mut variants) = variants else { return Ok(None) };
    let mut means = None;
    if let (true, [_, others @ ..]) = (tells_all, &variants[..]) {
        add_runs(summaries, others);
        let percent = 100.0 * error.max(LEAST);
        means = Some(format!(
            "means of three replays: on the disk as it is modelled, and on one {percent:.0} % slower and faster"
        ));
        variants.clear();
    }
    Ok(Some(Doubts { variants, means }))
}

/// Counts the runs of `others`, which are of the same schedulers on other disks, as further runs of each summary's
/// scheduler.
fn add_runs(summaries: &mut [Summary], others: &[Variant]) {
    for summary in summaries {
        let same =
            others.iter().flat_map(|other| &other.summaries).filter(|other| other.name() == summary.name());
        let runs: Vec<_> = same.flat_map(|other| other.runs.clone()).collect();
        summary.runs.extend(runs);
        summary.disks = true;
    }
}

/// Runs the schedulers at `about` on a disk that may be slower or faster than its model by the share `error`, in closed and
/// in open loop, or as it was asked for if the load tells all. `None`: interrupted.
fn under(prepared: &mut Prepared, about: &[usize], error: f64) -> Result<Option<Vec<Variant>>, Failure> {
    let Load::Trace { mode, speed, .. } = prepared.experiment.load else { return Ok(Some(Vec::new())) };
    if about.len() < 2 {
        return Ok(Some(Vec::new()));
    }
    let schedulers = about.iter().map(|index| prepared.experiment.schedulers[*index].clone()).collect();
    let all = std::mem::replace(&mut prepared.experiment.schedulers, schedulers);
    let variants = in_turn(prepared, mode, speed, 1.0 + error.max(LEAST));
    set(&mut prepared.experiment.load, mode, speed);
    prepared.experiment.schedulers = all;
    variants
}

/// Runs the experiment under one assumption after the other.
fn in_turn(
    prepared: &mut Prepared,
    asked: Mode,
    speed: f64,
    error: f64,
) -> Result<Option<Vec<Variant>>, Failure> {
    let modes: &[Mode] = match &prepared.trace {
        _ if prepared.missing.is_none() => &[asked],
        Some(trace) if !trace.survey().tells_issuers() => &[Mode::Closed, Mode::OneProcess, Mode::Open],
        _ => &[Mode::Closed, Mode::Open],
    };
    let percent = 100.0 * (error - 1.0);
    let mut variants = Vec::new();
    for &mode in modes {
        let waits = match mode {
            Mode::Closed => "in closed loop",
            Mode::OneProcess => "in closed loop with one process",
            Mode::Open => "in open loop",
        };
        for (factor, disk) in [
            (1.0, None),
            (error, Some(format!("{percent:.0} % slower"))),
            (1.0 / error, Some(format!("{percent:.0} % faster"))),
        ] {
            set(&mut prepared.experiment.load, mode, speed * factor);
            let done = execute(prepared);
            if interruptible()?.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let summaries = summarise(&done?.outcomes, prepared.experiment.schedulers.len())?;
            variants.push(Variant { assumption: Assumption { waits, disk }, mode, summaries });
        }
    }
    Ok(Some(variants))
}

fn set(load: &mut Load, wanted: Mode, factor: f64) {
    if let Load::Trace { mode, speed, .. } = load {
        (*mode, *speed) = (wanted, factor);
    }
}

#[cfg(test)]
mod tests {
    use idlewise_disk::Profile;

    use super::*;
    use crate::input::args::Reading;
    use crate::input::recorded::Off;
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
        let mut prepared = setup::replay(file.path(), &reading, (disk, Off::Unknown), schedulers).unwrap();
        let variants = under(&mut prepared, &[0, 1], 0.25).unwrap().unwrap();
        let open: Vec<_> = variants.iter().filter(|variant| variant.mode == Mode::Open).collect();
        let (closed, of_open) = (variants.len() - open.len(), open.len());
        assert_eq!((closed, of_open), (6, 3));
        let seconds = |variant: &Variant| variant.summaries[0].figure("elapsed_ns").mean / 1e9;
        for (variant, (name, expected)) in open.iter().zip([
            ("in open loop", 10.0),
            ("in open loop on a disk 25 % slower", 8.0),
            ("in open loop on a disk 25 % faster", 12.5),
        ]) {
            assert_eq!(variant.assumption.to_string(), name);
            assert!((seconds(variant) - expected).abs() < 0.02, "{name}: {} s", seconds(variant));
        }
        // What was asked for is as it was.
        let Load::Trace { mode, speed, .. } = prepared.experiment.load else { panic!("this is a trace") };
        assert!(
            mode == Mode::Closed && (speed - 1.0).abs() < 1e-12 && prepared.experiment.schedulers.len() == 2
        );
    }
}
