//! A disk with platters from a recording: first what can be read off, then a search for the rest.

use idlewise_core::Operation;

use idlewise_disk::mechanical::MechanicalSpec;
use idlewise_disk::{Model, Profile};

use super::platters::{Ahead, KNOTS, Platters, ZONES};
use super::position::{self, Positioning, Sample};
use super::rows::Row;
use super::search::{self, Change, Goal, Shape, scale};
use super::zones::{self, Rates};

/// Commands nearer than this may be in the buffer, in sectors.
const NEAR: u64 = 4096;

/// A revolution that may be off by more is left to the search.
const PERIOD_SURE: f64 = 0.05;

/// Times below this are not told apart, in ns.
const GRAIN_NS: f64 = 1000.0;

/// Segments that buffers have.
const SEGMENTS: [u32; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 32];

/// What was found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) disk: Platters,
    pub(super) positioning: Option<Positioning>,
    pub(super) rates: Option<Rates>,
    /// Commands that showed positioning.
    pub(super) samples: usize,
    /// The profile that what is unknown comes from.
    pub(super) class: &'static str,
}

/// The median service time of small commands that continue the one before, in ns, with those of one direction.
fn quick(rows: &[Row], operation: Operation) -> Option<f64> {
    let mut times: Vec<u64> =
        rows.iter().filter(|row| row.alone && row.operation == operation && row.sectors <= 64).map(Row::service).collect();
    times.sort_unstable();
    times.get(times.len() / 20).map(|&time| time as f64)
}

/// Whether writes are done before the medium has them: most are faster than a seek and half a revolution.
fn cached_writes(rows: &[Row]) -> bool {
    let median = |operation| {
        let mut times: Vec<u64> = rows
            .windows(2)
            .filter(|two| two[1].alone && two[1].operation == operation && two[0].end().abs_diff(two[1].start) > NEAR)
            .map(|two| two[1].service())
            .collect();
        times.sort_unstable();
        (times.len() >= 20).then(|| times[times.len() / 2])
    };
    match (median(Operation::Write), median(Operation::Read)) {
        (Some(write), Some(read)) => write * 2 < read,
        (Some(write), None) => write < 2_000_000,
        _ => true,
    }
}

/// The share of tracks before an address.
fn track(rates: &[f64; ZONES], capacity: u64, address: u64) -> f64 {
    let at = address as f64 / capacity as f64 * ZONES as f64;
    let zone = (at as usize).min(ZONES - 1);
    let all: f64 = rates.iter().map(|rate| 1.0 / rate).sum();
    let before: f64 = rates[..zone].iter().map(|rate| 1.0 / rate).sum();
    (before + (at - zone as f64) / rates[zone]) / all
}

/// What rows show of positioning, if zones have these rates.
fn samples(rows: &[Row], capacity: u64, rates: &[f64; ZONES], cached: bool, sector_ns: f64) -> Vec<Sample> {
    rows.windows(2)
        .filter_map(|two| {
            let (before, row) = (&two[0], &two[1]);
            let medium = row.operation == Operation::Read || (row.operation == Operation::Write && !cached);
            let far = before.end().abs_diff(row.start) > NEAR && before.moves_data();
            (row.alone && medium && far).then(|| Sample {
                distance: (track(rates, capacity, before.end()) - track(rates, capacity, row.start)).abs(),
                time: row.service() as f64 - f64::from(row.sectors) * sector_ns,
            })
        })
        .collect()
}

/// Fits a disk with platters. `capacity` is in sectors.
pub(super) fn fit(rows: &[Row], capacity: u64, depth: u32) -> Found {
    let rates = zones::rates(rows, capacity);
    let cached = cached_writes(rows);
    let usual = zones::usual(capacity);
    let scale = |ratio: f64| zones::shape(ratio).map(|share| share * usual);
    let tried: Vec<[f64; ZONES]> = match &rates {
        Some(rates) => vec![rates.zones],
        None => [0.5, 0.6, 0.7, 0.8, 1.0].map(scale).to_vec(),
    };
    let mut best: Option<(f64, Positioning, [f64; ZONES])> = None;
    let mut count = 0;
    for zones in tried {
        let found = samples(rows, capacity, &zones, cached, 512e9 / zones[0]);
        count = found.len();
        if let Some((positioning, cost)) = position::positioning(&found)
            && best.as_ref().is_none_or(|(least, ..)| cost < *least)
        {
            best = Some((cost, positioning, zones));
        }
    }
    let read = quick(rows, Operation::Read);
    let write = quick(rows, Operation::Write);
    let mut seek = [300_000.0; KNOTS.len() + 1];
    let mut period = 60e9 / 7200.0;
    if let Some((_, positioning, _)) = &best {
        period = positioning.period;
        let mut before = read.unwrap_or(100_000.0);
        for (step, &start) in seek.iter_mut().zip(&positioning.starts) {
            *step = (start - before).max(20_000.0);
            before = before.max(start);
        }
    }
    let (class, spec) = class(capacity);
    let pair = |[read, write]: [u32; 2]| [f64::from(read), f64::from(write)];
    let start = Platters {
        capacity,
        period,
        rates: best.as_ref().map_or(scale(zones::RATIO), |(.., zones)| *zones),
        seek,
        settle: f64::from(spec.write_settle_ns),
        bus: f64::from(spec.bus_read_ns),
        read_hit: read.map_or(pair(spec.overheads.read_hit_ns), |time| [time; 2]),
        read_miss: read.map_or(pair(spec.overheads.read_miss_ns), |time| [time; 2]),
        write_hit: write.map_or(pair(spec.overheads.write_hit_ns), |time| [time; 2]),
        write_miss: write.or(read).map_or(pair(spec.overheads.write_miss_ns), |time| [time.min(read.unwrap_or(time)); 2]),
        segments: spec.buffer.segments,
        segment_sectors: f64::from(spec.buffer.segment_sectors),
        ahead: Ahead::Segment,
        write_cache: cached,
        write_segments: spec.buffer.write_segments,
        hits_on_writes: true,
        ahead_on_hit: true,
        keeps_passed: false,
        depth,
    };
    let positioning = best.map(|(_, positioning, _)| positioning);
    let sure = positioning.as_ref().is_some_and(|found| found.error < PERIOD_SURE);
    let goal = Goal::new(rows, capacity);
    let disk = search::refine(&goal, start, &numbers(rates.is_none(), !sure));
    Found { disk, positioning, rates, samples: count, class }
}

/// A disk of the same class: its name and what it is.
fn class(capacity: u64) -> (&'static str, MechanicalSpec) {
    // 200 GB: from about there on disks have native queueing and buffers of megabytes.
    let name = if capacity < 400_000_000 { "maxtor-40g" } else { "hdd-4tb-7200" };
    match Profile::named(name).map(|profile| profile.model) {
        Ok(Model::Mechanical(spec)) => (name, spec),
        _ => (name, MechanicalSpec::default()),
    }
}

/// The parameters that a search changes: with the rates of all zones together, and with the time of a revolution?
fn numbers(rates: bool, period: bool) -> Vec<Change<Platters>> {
    let mut all: Vec<Change<Platters>> = Vec::new();
    for knot in 0..=KNOTS.len() {
        all.push(scale(move |disk: &mut Platters| &mut disk.seek[knot], 20.0 * GRAIN_NS));
    }
    for last in 0..2 {
        all.push(scale(move |disk: &mut Platters| &mut disk.read_hit[last], GRAIN_NS));
        all.push(scale(move |disk: &mut Platters| &mut disk.read_miss[last], GRAIN_NS));
        all.push(scale(move |disk: &mut Platters| {
            if disk.write_cache { &mut disk.write_hit[last] } else { &mut disk.write_miss[last] }
        }, GRAIN_NS));
    }
    all.push(scale(|disk: &mut Platters| &mut disk.bus, 10.0));
    all.push(scale(|disk: &mut Platters| &mut disk.segment_sectors, 8.0));
    all.push(Box::new(|disk, step| Platters { settle: disk.settle + step * 1e6, ..disk.clone() }));
    if rates {
        all.push(Box::new(|disk, step| Platters {
            rates: disk.rates.map(|rate| rate * (1.0 + step.abs()).powf(step.signum())),
            ..disk.clone()
        }));
    }
    if period {
        all.push(Box::new(|disk, step| Platters { period: disk.period * (1.0 + step / 4.0), ..disk.clone() }));
    }
    all
}

impl Shape for Platters {
    fn text(&self) -> String {
        self.profile("", "", &|_| String::new())
    }

    fn choices(&self) -> Vec<Platters> {
        let mut all: Vec<Platters> = Ahead::ALL.iter().map(|&ahead| Platters { ahead, ..self.clone() }).collect();
        all.extend(SEGMENTS.iter().map(|&segments| Platters { segments, ..self.clone() }));
        all.push(Platters { keeps_passed: !self.keeps_passed, ..self.clone() });
        all.push(Platters { ahead_on_hit: !self.ahead_on_hit, ..self.clone() });
        all.push(Platters { hits_on_writes: !self.hits_on_writes, ..self.clone() });
        all.push(Platters { write_cache: !self.write_cache, ..self.clone() });
        all.extend([0.5, 2.0].map(|by| Platters { segment_sectors: self.segment_sectors * by, ..self.clone() }));
        all.retain(|other| other != self);
        all
    }
}
