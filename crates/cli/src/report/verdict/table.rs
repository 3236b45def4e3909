//! Results as a table of figures, and what it says of two schedulers: whether one is better, and by how much.
//!
//! A difference counts if it is [`MATTERS`] or more ([`MATTERS_REPLAYED`] of latencies in replays), and, with several
//! seeds, if it is beyond chance: the runs of one seed are compared with one another, so that what a seed does to all of
//! them falls out. Replays of one trace on several disks, of which each may be the real one, do not differ by chance: there
//! a difference counts if all of them show it.

use idlewise_sim::experiment::Load;
use idlewise_sim::metrics::{Better, Kind, Metric, Report};
use idlewise_sim::replay::Mode;

use crate::report::summary::{Figure, Summary};

/// Differences below this share do not matter in practice: models differ from drives by as much.
pub(in crate::report) const MATTERS: f64 = 0.05;
/// The same of latencies in replays. The loads of `docs/advice.md` show why: ratios of mean read latencies that replays
/// predicted for 40 schedulers differed from those that were measured by 6 to 15 % on five loads (root mean square), and by
/// more on four.
const MATTERS_REPLAYED: f64 = 0.15;
/// Work that differs by less is the same: runs end with their last request, not at one instant.
const SAME_WORK: f64 = 0.01;

/// Fewer reads than this are metadata beside a load that writes.
const READS: f64 = 20.0;
/// From this many synchronous writes per read on, people wait for commits. A choice, not a measurement.
const COMMITS: f64 = 5.0;

/// A p99 of fewer requests is made of fewer than ten, and says what chance says.
const P99_REQUESTS: f64 = 1000.0;

/// A request that takes this long is noticed by people.
pub(in crate::report) const LONG_WAIT_NS: f64 = 1e9;
/// The balanced goal refuses a scheduler whose longest request takes longer than that, and this often the longest of
/// [`USUAL`].
const PATIENCE: f64 = 2.0;
/// What most disks have.
const USUAL: &str = "mq-deadline";

/// What people want of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Aim {
    /// Work done in a time.
    Throughput,
    /// Short waits of those who read; of those who write where hardly anybody reads or people wait for commits.
    Latency,
}

/// What makes requests come when they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Arrivals {
    /// Programs that run until their work is done.
    Programs,
    /// A trace, each request after those that it waited for.
    ClosedLoop,
    /// A trace, at the recorded times.
    OpenLoop,
}

impl Arrivals {
    pub(in crate::report) fn of(load: &Load) -> Arrivals {
        match load {
            Load::Trace { mode, .. } => Arrivals::replayed(*mode),
            _ => Arrivals::Programs,
        }
    }

    pub(in crate::report) fn replayed(mode: Mode) -> Arrivals {
        if mode == Mode::Open { Arrivals::OpenLoop } else { Arrivals::ClosedLoop }
    }
}

/// By what the recommendation goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Goal {
    /// Run time or throughput alone
    Throughput,
    /// Mean and p99 latency of reads alone; of writes where hardly anybody reads or people wait for commits
    Latency,
    /// Run time or throughput first, starving nobody; among the fastest, read latency
    #[default]
    Balanced,
}

impl Goal {
    /// Its name.
    pub(in crate::report) fn name(self) -> &'static str {
        match self {
            Goal::Throughput => "throughput",
            Goal::Latency => "latency",
            Goal::Balanced => "balanced",
        }
    }

    fn counts(self, aim: Aim) -> bool {
        self == Goal::Balanced || (self == Goal::Throughput) == (aim == Aim::Throughput)
    }
}

/// One figure of every scheduler.
#[derive(Clone, Debug)]
pub(in crate::report) struct Measured {
    pub(in crate::report) name: &'static str,
    pub(in crate::report) aim: Aim,
    pub(in crate::report) better: Better,
    pub(in crate::report) kind: Kind,
    /// By scheduler, then by seed or by disk.
    pub(in crate::report) samples: Vec<Vec<f64>>,
    /// The samples are replays of a trace.
    pub(in crate::report) replayed: bool,
    /// The samples are of several disks, not seeds.
    pub(in crate::report) disks: bool,
}

impl Measured {
    /// The mean over seeds.
    pub(in crate::report) fn mean(&self, row: usize) -> f64 {
        Figure::of(&self.samples[row]).mean
    }

    /// How many times worse `a` is than `b`; below 1 if better.
    pub(in crate::report) fn ratio(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (self.mean(a), self.mean(b));
        if self.better == Better::More { b / a } else { a / b }
    }

    /// Differences below this share do not matter.
    pub(in crate::report) fn matters(&self) -> f64 {
        if self.replayed && self.aim == Aim::Latency { MATTERS_REPLAYED } else { MATTERS }
    }

    /// Whether `a` is worse than `b` by so much that it matters, and beyond chance.
    pub(in crate::report) fn worse(&self, a: usize, b: usize) -> bool {
        self.exceeds(a, b, self.matters())
    }

    /// Whether `a` is worse than `b` by more than `share`, and beyond chance.
    fn exceeds(&self, a: usize, b: usize, share: f64) -> bool {
        let logarithm = |(a, b): (&f64, &f64)| if self.better == Better::More { b / a } else { a / b }.ln();
        let pairs: Vec<f64> = self.samples[a].iter().zip(&self.samples[b]).map(logarithm).collect();
        let paired = Figure::of(&pairs);
        let beyond =
            if self.disks { pairs.iter().all(|pair| *pair > 0.0) } else { paired.mean > paired.ci95 };
        self.ratio(a, b) > 1.0 + share && beyond
    }

    /// Rows from the best mean to the worst.
    pub(in crate::report) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.samples.len()).collect();
        order.sort_by(|a, b| self.ratio(*a, *b).total_cmp(&1.0));
        order
    }
}

/// The figures by which people choose, of every scheduler.
#[derive(Clone, Debug)]
pub(in crate::report) struct Table {
    pub(in crate::report) schedulers: Vec<String>,
    pub(in crate::report) figures: Vec<Measured>,
    /// The longest request of each, in nanoseconds.
    pub(in crate::report) longest: Vec<f64>,
    /// When the programs that end by themselves had ended, in nanoseconds; empty where all do the same work, or where time
    /// ends the runs.
    pub(in crate::report) ends: Vec<f64>,
    /// Nothing is read or written.
    pub(in crate::report) idle: bool,
    /// The scheduler that the disk has, if one is asked to give it up.
    pub(in crate::report) in_use: Option<String>,
}

/// How long the balanced goal lets a request take.
pub(in crate::report) struct Patience {
    pub(in crate::report) limit_ns: f64,
    /// The row whose longest request the limit is a multiple of, if that is more than a second.
    pub(in crate::report) usual: Option<usize>,
}

impl Table {
    /// The figures that tell something of these runs. Unequal work is judged by throughput, and equal work by its run time.
    /// In a replay what comes last may be a timer's, so that the time to 95 % done says when programs are done; and
    /// arrivals of an open loop do not depend on the disk, so that neither says anything there. Writes count where hardly
    /// anybody reads, or people wait for commits.
    pub(in crate::report) fn of(rows: &[&Summary], arrivals: Arrivals) -> Table {
        let all = |path: &str| rows.iter().map(|row| row.samples(path)).collect::<Vec<_>>();
        let means = |path: &str| rows.iter().map(|row| row.figure(path).mean).collect::<Vec<f64>>();
        let bytes = means("bytes");
        let least = bytes.iter().copied().fold(f64::MAX, f64::min);
        let unequal = bytes.iter().any(|bytes| *bytes > least * (1.0 + SAME_WORK));
        let (read, written) = (means("read.requests"), means("write.requests"));
        let counts = |((reads, writes), commits): ((&f64, &f64), &f64)| {
            (*reads >= READS || reads >= writes) && *commits < COMMITS * reads
        };
        let reads = read.iter().zip(&written).zip(&means("write.synchronous")).any(counts)
            || written.iter().all(|writes| *writes == 0.0);
        let few = |part: &str| means(&format!("{part}.requests")).iter().any(|all| *all < P99_REQUESTS);
        let tells = |metric: &Metric| match metric.path.split('.').next() {
            Some("elapsed_ns") => !unequal && arrivals == Arrivals::Programs,
            Some("mostly_done_ns") => !unequal && arrivals == Arrivals::ClosedLoop,
            Some("throughput_bytes_per_s") => unequal,
            Some(part @ ("read" | "write")) => {
                reads == (part == "read") && !(metric.path.ends_with("p99") && few(part))
            }
            _ => true,
        };
        let measured = |metric: Metric| {
            let (name, samples) = (metric.column.goal?, all(&metric.path));
            let aim = if matches!(metric.kind, Kind::Millis) { Aim::Latency } else { Aim::Throughput };
            // A scheduler of which nothing was measured cannot be compared.
            let whole = samples.iter().flatten().all(|value| *value > 0.0);
            let (better, kind) = (metric.column.better, metric.kind);
            let (replayed, disks) = (arrivals != Arrivals::Programs, rows.iter().any(|row| row.disks));
            whole.then_some(Measured { name, aim, better, kind, samples, replayed, disks })
        };
        Table {
            schedulers: rows.iter().map(|row| row.name().to_owned()).collect(),
            figures: Report::GROUP.metrics().filter(tells).filter_map(measured).collect(),
            longest: means("latency_ns.max"),
            ends: if unequal && arrivals == Arrivals::Programs { means("elapsed_ns") } else { Vec::new() },
            idle: read.iter().chain(&written).all(|requests| *requests == 0.0),
            in_use: None,
        }
    }

    /// The figures that the goal looks at.
    pub(in crate::report) fn weighed(&self, goal: Goal) -> impl Iterator<Item = &Measured> {
        self.figures.iter().filter(move |figure| goal.counts(figure.aim))
    }

    /// How many times worse `a` is than `b` for the goal: the geometric mean of the ratios of an aim's figures, those in
    /// which they do not differ counting as 1. The balanced goal looks at latency only between two that are as fast.
    pub(in crate::report) fn behind(&self, goal: Goal, a: usize, b: usize) -> f64 {
        let differs = |figure: &Measured| figure.worse(a, b) || figure.worse(b, a);
        for aim in [Aim::Throughput, Aim::Latency].into_iter().filter(|aim| goal.counts(*aim)) {
            let figures: Vec<&Measured> = self.figures.iter().filter(|figure| figure.aim == aim).collect();
            let parts = figures.iter().filter(|figure| differs(figure)).map(|figure| figure.ratio(a, b).ln());
            let sum: f64 = parts.sum();
            if figures.iter().any(|figure| differs(figure)) {
                return (sum / figures.len() as f64).exp();
            }
        }
        1.0
    }

    /// Whether `b` is better than `a` in a figure of the goal, and worse in none.
    fn dominates(&self, goal: Goal, b: usize, a: usize) -> bool {
        self.weighed(goal).any(|figure| figure.worse(a, b))
            && !self.weighed(goal).any(|figure| figure.worse(b, a))
    }

    /// How long the balanced goal lets a request take: a second, or a multiple of the longest under the scheduler that most
    /// disks have, or, without that one, of the shortest maximum.
    pub(in crate::report) fn patience(&self) -> Patience {
        let rows = 0..self.schedulers.len();
        let usual = rows.clone().find(|row| self.schedulers[*row] == USUAL);
        let usual = usual.or_else(|| rows.min_by(|a, b| self.longest[*a].total_cmp(&self.longest[*b])));
        let wait = usual.map_or(0.0, |row| PATIENCE * self.longest[row]);
        Patience { limit_ns: wait.max(LONG_WAIT_NS), usual: usual.filter(|_| wait > LONG_WAIT_NS) }
    }

    /// The rows among which the goal chooses. The balanced goal leaves out rows that starve somebody, those that are
    /// slower than another, and those that are slower than what is in use, if by less than matters: short waits are no
    /// reason to change to what takes longer.
    pub(in crate::report) fn candidates(&self, goal: Goal) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.schedulers.len()).collect();
        if goal != Goal::Balanced {
            return rows;
        }
        let limit = self.patience().limit_ns;
        rows.retain(|row| self.longest[*row] <= limit);
        let in_use = self.schedulers.iter().position(|name| Some(name) == self.in_use.as_ref());
        let fast = |figure: &&Measured| figure.aim == Aim::Throughput;
        for figure in self.figures.iter().filter(fast) {
            rows.retain(|row| in_use.is_none_or(|own| !figure.exceeds(*row, own, SAME_WORK)));
            let slower = |row: usize| rows.iter().any(|other| figure.worse(row, *other));
            let fastest: Vec<usize> = rows.iter().copied().filter(|row| !slower(*row)).collect();
            rows = if fastest.is_empty() { rows } else { fastest };
        }
        rows
    }

    /// The candidates that no other beats for the goal; all of them, if chance has them beat each other in a circle.
    pub(in crate::report) fn unbeaten(&self, goal: Goal) -> Vec<usize> {
        let rows = self.candidates(goal);
        let beats =
            |b: usize, a: usize| self.behind(goal, a, b) > 1.0 + MATTERS || self.dominates(goal, b, a);
        let beaten = |a: usize| rows.iter().any(|b| beats(*b, a));
        let good: Vec<usize> = rows.iter().copied().filter(|row| !beaten(*row)).collect();
        if good.is_empty() { rows } else { good }
    }

    /// Those of `rows` whose means do not differ from the best one's by as much as matters, aim by aim: where chance alone
    /// makes two alike, the one with the better mean is the better guess.
    pub(in crate::report) fn nearly_best(&self, goal: Goal, rows: &[usize]) -> Vec<usize> {
        let mut rows = rows.to_vec();
        for aim in [Aim::Throughput, Aim::Latency] {
            let Some(&first) = rows.first() else { break };
            let figures: Vec<&Measured> = self.figures.iter().filter(|figure| figure.aim == aim).collect();
            if figures.is_empty() || !goal.counts(aim) {
                continue;
            }
            let logarithms = |row: usize| figures.iter().map(move |figure| figure.ratio(row, first).ln());
            let cost = |row: usize| (logarithms(row).sum::<f64>() / figures.len() as f64).exp();
            let least = rows.iter().map(|row| cost(*row)).fold(f64::INFINITY, f64::min);
            rows.retain(|row| cost(*row) <= least * (1.0 + figures[0].matters()));
        }
        rows
    }
}
