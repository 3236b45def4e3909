//! The front: which schedulers nobody beats in throughput and latency at once, load by load.
//!
//! The *unstarving best* of a load is the greatest throughput among the schedulers under which nobody waits longer than
//! a second and twice what `mq-deadline` has somebody wait. A scheduler's *share* is its throughput as a part of that.

mod loads;

pub use loads::{Counts, DISKS, FrontDisk, FrontLoad, LOADS};

use idlewise_core::selectors::Goal;
use idlewise_core::tunables::Tunables as _;
use idlewise_core::{Duration, Instant};
use idlewise_disk::Profile;

use super::{Choice, Experiment, ExperimentError, Load, Outcome};
use crate::engine::{Control, Limits};
use crate::metrics::Report;
use crate::workloads::Spec;

/// Whether the disk called `name` is set aside.
pub fn is_aside(name: &str) -> bool {
    DISKS.iter().any(|disk| disk.aside && disk.name == name)
}

/// The scheduler whose longest wait sets the limit.
pub const YARDSTICK: &str = "mq-deadline";
/// A scheduler's latency is compared with its peers': those that have at least this part of its throughput.
const PEER: f64 = 0.9;

/// One scheduler on one load: means over the seeds.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Its place among the schedulers.
    pub scheduler: usize,
    /// What the load counts, in bytes a second.
    pub throughput: f64,
    /// The same for each seed.
    pub samples: Vec<f64>,
    /// The 99th percentile of reads of the process that has the highest, in ns; 0 without reads.
    pub p99_ns: f64,
    /// The longest time that any request took, those included that waited at the end, in ns.
    pub longest_ns: f64,
    /// Throughput as a part of the unstarving best's.
    pub share: f64,
    /// The same for each seed.
    pub shares: Vec<f64>,
    /// Somebody waited too long.
    pub starves: bool,
    /// Nobody else that starves nobody has more throughput and a lower p99.
    pub front: bool,
    /// The p99 as a multiple of the lowest among peers: those that starve nobody and have at least nine tenths of its
    /// throughput. 1 where there is none, and where its own is the lowest.
    pub p99_ratio: f64,
}

/// One load on one disk.
#[derive(Debug)]
pub struct Panel {
    /// The load.
    pub load: FrontLoad,
    /// The limit of waits, in ns.
    pub limit_ns: f64,
    /// Every scheduler, in the order in which they were given.
    pub standings: Vec<Standing>,
}

/// How to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Runs of each scheduler, each with another seed.
    pub runs: u64,
    /// How long each run lasts at most.
    pub until: Instant,
    /// Bytes count on every load, also where it counts what each party gets.
    pub bytes: bool,
}

/// Measures a load on `disk` under `schedulers`, among which is the yardstick. `None` if it was interrupted.
///
/// # Errors
/// As [`Experiment::run`].
pub fn panel(
    disk: &Profile,
    load: &FrontLoad,
    schedulers: &[Choice],
    effort: Effort,
    control: &Control,
) -> Result<Option<Panel>, ExperimentError> {
    let experiment = Experiment {
        schedulers: schedulers.to_vec(),
        seeds: (1..=effort.runs).collect(),
        limits: Limits { until: effort.until, ..Limits::default() },
        ..Experiment::new(disk.clone(), Load::Workload(Spec::parse(&load.workload)?))
    };
    let outcomes = experiment.run(control)?;
    if control.stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Ok(None);
    }
    let measured = |place: usize| {
        let own: Vec<&Outcome> = outcomes.iter().filter(|run| run.scheduler == place).collect();
        measured(place, if effort.bytes { Counts::Throughput } else { load.counts }, &own)
    };
    let mut standings: Vec<Standing> = (0..schedulers.len()).map(measured).collect();
    let yardstick = schedulers.iter().position(|choice| choice.label == YARDSTICK).unwrap_or(0);
    let usual = Duration(standings[yardstick].longest_ns as u64);
    let limit_ns = Goal::defaults().limit(usual).0 as f64;
    judge(&mut standings, limit_ns);
    Ok(Some(Panel { load: load.clone(), limit_ns, standings }))
}

/// What a load counts of a run, in bytes a second.
fn counted(report: &Report, counts: Counts) -> f64 {
    let seconds = (report.elapsed_ns as f64 / 1e9).max(f64::MIN_POSITIVE);
    match counts {
        Counts::Throughput => report.throughput_bytes_per_s,
        // A party that got nothing counts as one byte: the mean stays above zero, and far below all others.
        Counts::Parties => {
            let rates = report.issuers.iter().map(|one| (one.bytes.max(1) as f64 / seconds).ln());
            (rates.sum::<f64>() / report.issuers.len().max(1) as f64).exp()
        }
    }
}

fn measured(scheduler: usize, counts: Counts, runs: &[&Outcome]) -> Standing {
    let mean = |samples: &[f64]| samples.iter().sum::<f64>() / samples.len().max(1) as f64;
    let samples =
        |of: &dyn Fn(&Report) -> f64| -> Vec<f64> { runs.iter().map(|run| of(&run.report)).collect() };
    let throughputs = samples(&|report| counted(report, counts));
    Standing {
        scheduler,
        throughput: mean(&throughputs),
        samples: throughputs,
        p99_ns: mean(&samples(&|report| report.slowest_read_ns_p99 as f64)),
        longest_ns: mean(&samples(&|report| report.longest_wait_ns as f64)),
        share: 0.0,
        shares: Vec::new(),
        starves: false,
        front: false,
        p99_ratio: 1.0,
    }
}

/// Says of each how it stands among all.
fn judge(standings: &mut [Standing], limit_ns: f64) {
    for one in standings.iter_mut() {
        one.starves = one.longest_ns > limit_ns;
    }
    let all = standings.to_vec();
    let fair = || all.iter().filter(|other| !other.starves);
    let best = fair().max_by(|a, b| a.throughput.total_cmp(&b.throughput));
    let part = |own: f64, best: f64| if best > 0.0 { own / best } else { 1.0 };
    for one in standings.iter_mut() {
        one.share = part(one.throughput, best.map_or(0.0, |best| best.throughput));
        let of_best = best.map_or(&[][..], |best| &best.samples);
        one.shares = one.samples.iter().zip(of_best).map(|(own, best)| part(*own, *best)).collect();
        let beats = |other: &&Standing| {
            let (more, sooner) = (other.throughput >= one.throughput, other.p99_ns <= one.p99_ns);
            more && sooner && (other.throughput > one.throughput || other.p99_ns < one.p99_ns)
        };
        one.front = !one.starves && !fair().any(|other| beats(&other));
        let peers = fair().filter(|other| other.throughput >= PEER * one.throughput);
        let lowest = peers.map(|other| other.p99_ns).fold(one.p99_ns, f64::min);
        one.p99_ratio = if lowest > 0.0 { one.p99_ns / lowest } else { 1.0 };
    }
}

/// One scheduler over many loads.
#[derive(Clone, Debug)]
pub struct Overall {
    /// Geometric mean of the shares.
    pub share: f64,
    /// The same for each seed.
    pub shares: Vec<f64>,
    /// The least share, at most 1, and the load that has it.
    pub least: (f64, String),
    /// Loads in which somebody waited too long.
    pub starved: usize,
    /// Loads in which the scheduler lies on the front.
    pub front: usize,
    /// Geometric mean of the p99 as a multiple of the lowest among peers.
    pub p99_ratio: f64,
}

/// How the scheduler at `place` does over `panels`, of which there is at least one.
pub fn overall(panels: &[Panel], place: usize) -> Overall {
    let own = || panels.iter().map(move |panel| (&panel.standings[place], &panel.load.name));
    // A share of nothing counts as a millionth: a mean over logarithms has no zero.
    let geometric = |of: &dyn Fn(&Standing) -> f64| {
        let sum: f64 = own().map(|(one, _)| of(one).max(1e-6).ln()).sum();
        (sum / panels.len().max(1) as f64).exp()
    };
    let seeds = own().map(|(one, _)| one.shares.len()).min().unwrap_or(0);
    // Who starves others may have more than the best that does not. That is no merit.
    let least = own().map(|(one, load)| (one.share.min(1.0), load)).min_by(|a, b| a.0.total_cmp(&b.0));
    Overall {
        share: geometric(&|one| one.share.min(1.0)),
        shares: (0..seeds).map(|seed| geometric(&|one| one.shares[seed].min(1.0))).collect(),
        least: least.map_or((0.0, String::new()), |(share, load)| (share, load.to_string())),
        starved: own().filter(|(one, _)| one.starves).count(),
        front: own().filter(|(one, _)| one.front).count(),
        p99_ratio: geometric(&|one| one.p99_ratio),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(scheduler: usize, throughput: f64, p99_ns: f64, longest_ns: f64) -> Standing {
        Standing {
            scheduler,
            throughput,
            samples: vec![throughput, 1.2 * throughput],
            p99_ns,
            longest_ns,
            share: 0.0,
            shares: Vec::new(),
            starves: false,
            front: false,
            p99_ratio: 0.0,
        }
    }

    #[test]
    fn who_starves_sets_no_standard() {
        let mut all = vec![
            standing(0, 50.0, 20.0, 1e9),
            standing(1, 100.0, 40.0, 2e9),
            standing(2, 400.0, 5.0, 9e9),
            standing(3, 92.0, 60.0, 1e9),
        ];
        judge(&mut all, 2e9);
        let seen: Vec<_> = all.iter().map(|one| (one.share, one.starves, one.front)).collect();
        assert_eq!(seen, [(0.5, false, true), (1.0, false, true), (4.0, true, false), (0.92, false, false)]);
        // The first is nobody's peer but its own: the others have twice as much, and it has half of theirs.
        assert_eq!((&all[0].shares, &all[1].shares), (&vec![0.5, 0.5], &vec![1.0, 1.0]));
        let ratios: Vec<f64> = all.iter().map(|one| one.p99_ratio).collect();
        assert_eq!(ratios, [1.0, 1.0, 1.0, 1.5]);
    }

    #[test]
    fn a_mean_over_loads_counts_who_starves_at_most_as_the_best() {
        let panel = |share: f64, starves: bool| Panel {
            load: LOADS[0].clone(),
            limit_ns: 1e9,
            standings: vec![Standing {
                share,
                shares: vec![share, 1.0],
                starves,
                ..standing(0, 1.0, 1.0, 1.0)
            }],
        };
        let over = overall(&[panel(0.25, false), panel(3.0, true)], 0);
        assert!((over.share - 0.5).abs() < 1e-9 && over.shares == [0.5, 1.0], "{over:?}");
        assert_eq!((over.least.0, over.starved), (0.25, 1));
        assert!((overall(&[panel(1.08, true), panel(3.0, true)], 0).least.0 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_third_of_the_loads_and_half_of_the_disks_are_set_aside_and_all_can_be_built() {
        let aside = LOADS.iter().filter(|load| load.aside).count();
        assert!(3 * aside + 1 >= LOADS.len(), "{aside} of {}", LOADS.len());
        let kept = DISKS.iter().filter(|disk| disk.aside).count();
        assert!(2 * kept >= DISKS.len(), "{kept} of {}", DISKS.len());
        for disk in DISKS {
            let profile = Profile::named(disk.name).unwrap();
            let capacity = profile.build().unwrap().with_model(Capacity);
            let drawn = (1..=200).map(|number| FrontLoad::drawn(number, Duration::from_s(20)));
            for load in LOADS.iter().cloned().chain(drawn) {
                let spec = Spec::parse(&load.workload).unwrap();
                let ground = crate::workloads::Ground { capacity, depth: 32, seed: 1 };
                if let Err(error) = crate::workloads::build(&spec, ground) {
                    panic!("{} on {}: {error}", load.name, disk.name);
                }
            }
        }
    }

    struct Capacity;
    impl idlewise_disk::WithModel for Capacity {
        type Output = idlewise_core::Sector;
        fn with_model<D: idlewise_disk::DiskModel>(self, disk: &mut D) -> Self::Output {
            disk.capacity()
        }
    }
}
