//! What a sweep will cost, before it begins: a sample of each kind of run is carried out and timed. Samples run one after the
//! other. A sample costs the processor time that this process takes meanwhile: threads that a selector begins count, and other
//! programs do not.
//!
//! A kind is a load, a disk and a scheduler; all traces are one load, of which the device with the most requests stands for
//! the rest. A sample of a trace tells requests in a second, and the traces' rows what follows from that. A sample of a
//! workload tells which share of its run it was.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;

use idlewise_sim::engine::{Control, WHOLE_RUN};
use indicatif::{HumanCount, HumanDuration};
use rustix::time::{ClockId, clock_gettime};

use super::unit::{Load, Unit};
use crate::failure::Failure;

/// What one sample may take, and all of them together.
const SAMPLE: Duration = Duration::from_millis(500);
const SAMPLES: Duration = Duration::from_secs(30);

/// The shortest sample that tells anything: building a disk takes milliseconds.
const SHORTEST: Duration = Duration::from_millis(50);

/// Kinds that are sampled at most; the others are taken for as fast as these are on average.
const MOST_KINDS: usize = 500;

/// How many failures are told in full.
const TOLD: usize = 5;

/// What units have in common that take as long for each request.
type Kind<'a> = (Option<&'a str>, &'a str, &'a str);

/// What a sample says of its kind.
#[derive(Clone, Copy)]
enum Told {
    /// Seconds for each request of a trace.
    ByRow(f64),
    /// Seconds for a run of a workload.
    ByRun(f64),
}

/// What a sweep will cost.
pub(crate) struct Estimate {
    /// Seconds on one core.
    pub(crate) seconds: f64,
    /// How many samples were timed.
    pub(crate) samples: usize,
    /// Samples that failed, and why: their units will fail too.
    pub(crate) failed: Vec<(String, String)>,
    /// The slowest and the fastest kind of run of a trace, in requests a second, and its disk and scheduler.
    pub(crate) rates: Option<[(f64, String); 2]>,
}

impl Estimate {
    /// The estimate in words, for this number of runs at a time.
    pub(crate) fn words(&self, jobs: usize) -> String {
        let passes = HumanDuration(Duration::from_secs_f64(self.seconds / jobs as f64));
        let mut text = format!(
            "about {}; with {jobs} at a time about {passes}\nmeasured on {} sample{}",
            core_time(self.seconds),
            self.samples,
            if self.samples == 1 { "" } else { "s" }
        );
        if let Some([(slow, slowest), (fast, fastest)]) = &self.rates {
            let count = |rate: f64| HumanCount(rate as u64);
            text += &format!(
                ": {} requests/s ({slowest}) to {} requests/s ({fastest}) on one core",
                count(*slow),
                count(*fast)
            );
        }
        for (unit, error) in self.failed.iter().take(TOLD) {
            text += &format!("\nwill fail: {unit}: {error}");
        }
        text
    }
}

/// Time on one core.
fn core_time(seconds: f64) -> String {
    match seconds {
        s if s >= 2.0 * 3600.0 => format!("{} core-hours", HumanCount((s / 3600.0).round() as u64)),
        s if s >= 120.0 => format!("{} core-minutes", (s / 60.0).round()),
        s => format!("{} core-seconds", s.ceil().max(1.0)),
    }
}

fn kind(unit: &Unit) -> Kind<'_> {
    let load = (!matches!(unit.load, Load::Trace { .. })).then_some(unit.trace.as_str());
    (load, &unit.disk, &unit.scheduler)
}

/// One unit of each kind: of traces the one with the most requests. Of too many kinds only some.
fn samples<'a>(units: &[&'a Unit]) -> Vec<&'a Unit> {
    let mut chosen: HashMap<Kind<'_>, &Unit> = HashMap::new();
    let mut order = Vec::new();
    for &unit in units {
        let known = chosen.entry(kind(unit)).or_insert_with(|| {
            order.push(kind(unit));
            unit
        });
        if unit.rows > known.rows {
            *known = unit;
        }
    }
    let step = order.len().div_ceil(MOST_KINDS).max(1);
    order.iter().step_by(step).map(|kind| chosen[kind]).collect()
}

/// The processor time that this process has taken until now.
fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

/// Times `unit` for as long as `time`.
fn sample(unit: &Unit, time: Duration) -> Result<Told, Failure> {
    let control = Control::default();
    let (done, waiting) = mpsc::channel::<()>();
    let begun = processor_time();
    let taken = || processor_time().saturating_sub(begun);
    let followed = &control;
    let (elapsed, requests, share) = std::thread::scope(|scope| {
        let seen = scope.spawn(move || {
            let ended = waiting.recv_timeout(time).is_ok();
            let share = followed.millionths.load(Ordering::Relaxed) as f64 / WHOLE_RUN as f64;
            let seen = (taken(), followed.completed.load(Ordering::Relaxed), share);
            followed.stop.store(true, Ordering::Relaxed);
            (!ended).then_some(seen)
        });
        let run = unit.run_some(&control, u64::MAX);
        let whole = (taken(), control.completed.load(Ordering::Relaxed), 1.0);
        // Nobody waits any more where the time is up.
        let _ = done.send(());
        let seen = seen.join().expect("the timer does not panic");
        run.map(|_| seen.filter(|(_, requests, _)| *requests > 0).unwrap_or(whole))
    })?;
    let seconds = elapsed.as_secs_f64();
    Ok(match unit.load {
        Load::Trace { .. } => Told::ByRow(seconds / requests.max(1) as f64),
        _ => Told::ByRun(seconds / share.max(1.0 / WHOLE_RUN as f64)),
    })
}

/// What `units` will cost, from samples.
pub(crate) fn estimate(units: &[&Unit]) -> Result<Estimate, Failure> {
    let chosen = samples(units);
    let time = (SAMPLES / chosen.len().max(1) as u32).clamp(SHORTEST, SAMPLE);
    let (mut known, mut failed) = (HashMap::new(), Vec::new());
    for unit in chosen {
        match sample(unit, time) {
            Ok(told) => drop(known.insert(kind(unit), told)),
            Err(Failure::Usage(text) | Failure::Failed(text)) => failed.push((unit.words(), text)),
            Err(other) => return Err(other),
        }
    }
    let mean = |pick: fn(&Told) -> Option<f64>| {
        let all: Vec<f64> = known.values().filter_map(pick).collect();
        all.iter().sum::<f64>() / all.len().max(1) as f64
    };
    let by_row = mean(|told| if let Told::ByRow(seconds) = told { Some(*seconds) } else { None });
    let by_run = mean(|told| if let Told::ByRun(seconds) = told { Some(*seconds) } else { None });
    let cost = |unit: &&Unit| match (known.get(&kind(unit)), unit.rows) {
        (Some(Told::ByRow(seconds)), Some(rows)) => seconds * rows as f64,
        (Some(Told::ByRun(seconds)), _) => *seconds,
        (_, Some(rows)) => by_row * rows as f64,
        (_, None) => by_run,
    };
    let mut rates: Vec<(f64, String)> = known
        .iter()
        .filter_map(|((_, disk, scheduler), told)| match told {
            Told::ByRow(seconds) => Some((1.0 / seconds, format!("{scheduler} on {disk}"))),
            Told::ByRun(_) => None,
        })
        .collect();
    rates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ends = rates.first().cloned().zip(rates.last().cloned());
    Ok(Estimate {
        seconds: units.iter().map(cost).sum(),
        samples: known.len(),
        failed,
        rates: ends.map(|(slowest, fastest)| [slowest, fastest]),
    })
}
