//! A disk with platters from a recording: first what can be read off, then a search for the rest.

use idlewise_core::Operation;

use idlewise_disk::mechanical::MechanicalSpec;
use idlewise_disk::{Model, Profile};

use super::compare::Class;
use super::platters::{Ahead, KNOTS, Platters, ZONES};
use super::position::{self, Positioning, Sample};
use super::rows::Row;
use super::search::{self, Change, Goal, Shape, scale};
use super::turning;
use super::zones::{self, Rates};

/// Commands nearer than this may be in the buffer, in sectors.
const NEAR: u64 = 4096;

/// So many rows show positioning well.
const ENOUGH: usize = 600;

/// What the buffer serves takes less than this share of the shortest way to the medium.
const BUFFERED_SHARE: f64 = 0.9;

/// A revolution that may be off by more is left to the search.
const PERIOD_SURE: f64 = 0.05;

/// What a share of the mean of alike commands counts beside a share of the whole mean, so that buffered commands count
/// too.
const QUICK_WEIGHT: f64 = 0.1;

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
    /// Their distances, as shares of all tracks.
    pub(super) distances: Vec<f64>,
    /// The profile that what is unknown comes from.
    pub(super) class: &'static str,
}

/// The median service time of small commands that continue the one before, in ns, with those of one direction.
fn quick(rows: &[Row], operation: Operation) -> Option<f64> {
    let mut times: Vec<u64> = rows
        .iter()
        .filter(|row| row.alone && row.operation == operation && row.sectors <= 64)
        .map(Row::service)
        .collect();
    times.sort_unstable();
    times.get(times.len() / 20).map(|&time| time as f64)
}

/// Whether writes are done before the medium has them: most are faster than a seek and half a revolution.
fn cached_writes(rows: &[Row]) -> bool {
    let median = |operation| {
        let mut times: Vec<u64> = rows
            .windows(2)
            .filter(|two| {
                two[1].alone && two[1].operation == operation && two[0].end().abs_diff(two[1].start) > NEAR
            })
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

/// Rows that show positioning, with the one before each: the command went to the medium, was alone in the disk, and the
/// one before tells where the arm was. Writes that wait in the buffer take the arm away and hold a read up, so that
/// `calm` commands before the row must not be such writes.
fn positioned(rows: &[Row], cached: bool, calm: usize) -> Vec<(Row, Row)> {
    let buffered = |row: &Row| cached && row.operation != Operation::Read;
    (1..rows.len())
        .filter(|&index| {
            let (before, row) = (&rows[index - 1], &rows[index]);
            let far = before.end().abs_diff(row.start) > NEAR && before.moves_data() && row.moves_data();
            far && row.alone && before.alone && !rows[index.saturating_sub(calm)..=index].iter().any(buffered)
        })
        .map(|index| (rows[index - 1], rows[index]))
        .collect()
}

/// The calmest of those rows that are enough.
fn calmest(rows: &[Row], cached: bool) -> Vec<(Row, Row)> {
    [4, 2, 1, 0]
        .iter()
        .map(|&calm| positioned(rows, cached, calm))
        .find(|pairs| pairs.len() >= ENOUGH)
        .unwrap_or_else(|| positioned(rows, cached, 0))
}

/// What rows show of positioning, if zones have these rates.
fn samples(pairs: &[(Row, Row)], capacity: u64, rates: &[f64; ZONES]) -> Vec<Sample> {
    let zone = |address: u64| (address as f64 / capacity as f64 * ZONES as f64) as usize;
    pairs
        .iter()
        .map(|(before, row)| Sample {
            distance: (track(rates, capacity, before.end()) - track(rates, capacity, row.start)).abs(),
            time: row.service() as f64
                - f64::from(row.sectors) * 512e9 / rates[zone(row.start).min(ZONES - 1)],
        })
        .collect()
}

/// How far the arm has to go for a command after the one before, in classes.
fn distance_class(before: &Row, row: &Row, capacity: u64) -> u8 {
    let distance = row.start as i64 - before.end() as i64;
    let far = distance.unsigned_abs();
    match distance {
        0 => 0,
        1..=64 => 1,
        _ if far <= 512 => 2,
        _ if far < capacity / 4096 => 3,
        _ if far < capacity / 256 => 4,
        _ if far < capacity / 32 => 5,
        _ if far < capacity / 8 => 6,
        _ if far < capacity / 3 => 7,
        _ => 8,
    }
}

/// What commands that such a disk serves alike have in common.
fn alike(before: Option<&Row>, row: &Row, capacity: u64) -> Class {
    let read = row.operation == Operation::Read;
    let after_read = before.is_none_or(|before| before.operation == Operation::Read);
    let direction = u8::from(read) * 2 + u8::from(after_read);
    let size = u8::from(row.sectors > 16) + u8::from(row.sectors > 128);
    let crowd = (32 - row.beside.leading_zeros()) as u8;
    [direction, crowd, size, before.map_or(u8::MAX, |before| distance_class(before, row, capacity))]
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
    let pairs = calmest(rows, cached);
    let mut best: Option<(f64, Positioning, [f64; ZONES])> = None;
    let mut distances: Vec<f64> = Vec::new();
    for zones in tried {
        let found = samples(&pairs, capacity, &zones);
        distances = found.iter().map(|sample| sample.distance).collect();
        let sector = |row: &Row| {
            512e9 / zones[((row.start as f64 / capacity as f64 * ZONES as f64) as usize).min(ZONES - 1)]
        };
        let medium = |row: &Row| row.operation == Operation::Read || !cached;
        let turn = |about: f64, within: f64| turning::period(rows, medium, sector, about, within);
        if let Some((positioning, cost)) = position::positioning(&found, turn)
            && best.as_ref().is_none_or(|(least, ..)| cost < *least)
        {
            best = Some((cost, positioning, zones));
        }
    }
    // What takes as long as the shortest way to the medium was not in the buffer.
    let nearest = best.as_ref().map_or(f64::INFINITY, |(_, positioning, _)| positioning.starts[0]);
    let [read, write] = [Operation::Read, Operation::Write]
        .map(|operation| quick(rows, operation).filter(|&time| time < BUFFERED_SHARE * nearest));
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
        write_miss: write
            .or(read)
            .map_or(pair(spec.overheads.write_miss_ns), |time| [time.min(read.unwrap_or(time)); 2]),
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
    // Which of several commands an arm serves first hangs on less than a microsecond; then the next ones differ too.
    let crowded = rows.iter().filter(|row| row.beside == 0).count() < ENOUGH;
    let goal = Goal::new(rows, QUICK_WEIGHT, |before, row| {
        (crowded || row.beside == 0).then(|| alike(before, row, capacity))
    });
    let disk = search::refine(&goal, start, &numbers(rates.is_none(), !sure, distances.len() < ENOUGH));
    Found { disk, positioning, rates, samples: distances.len(), distances, class }
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

/// The parameters that a search changes: with the rates of all zones together, the time of a
/// revolution, the seek curve?
fn numbers(rates: bool, period: bool, seek: bool) -> Vec<Change<Platters>> {
    let mut all: Vec<Change<Platters>> = Vec::new();
    if seek {
        for knot in 0..=KNOTS.len() {
            all.push(scale(move |disk: &mut Platters| &mut disk.seek[knot], 20.0 * GRAIN_NS));
        }
    } else {
        // To the next track alone: farther away the curve stays.
        all.push(Box::new(|disk, step| {
            let mut disk = disk.clone();
            let by = (disk.seek[0] * step).min(disk.seek[1]).max(-0.9 * disk.seek[0]);
            (disk.seek[0], disk.seek[1]) = (disk.seek[0] + by, disk.seek[1] - by);
            disk
        }));
    }
    for last in 0..2 {
        all.push(scale(move |disk: &mut Platters| &mut disk.read_hit[last], GRAIN_NS));
        if seek {
            all.push(scale(move |disk: &mut Platters| &mut disk.read_miss[last], GRAIN_NS));
        }
        all.push(scale(
            move |disk: &mut Platters| {
                if disk.write_cache { &mut disk.write_hit[last] } else { &mut disk.write_miss[last] }
            },
            GRAIN_NS,
        ));
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
        all.push(Box::new(|disk, step| Platters {
            period: disk.period * (1.0 + step / 4.0),
            ..disk.clone()
        }));
    }
    all
}

impl Shape for Platters {
    fn text(&self) -> String {
        self.profile("", "", &|_| String::new())
    }

    fn choices(&self) -> Vec<Platters> {
        let mut all: Vec<Platters> =
            Ahead::ALL.iter().map(|&ahead| Platters { ahead, ..self.clone() }).collect();
        all.extend(SEGMENTS.iter().map(|&segments| Platters { segments, ..self.clone() }));
        all.push(Platters { keeps_passed: !self.keeps_passed, ..self.clone() });
        all.push(Platters { ahead_on_hit: !self.ahead_on_hit, ..self.clone() });
        all.push(Platters { hits_on_writes: !self.hits_on_writes, ..self.clone() });
        all.push(Platters { write_cache: !self.write_cache, ..self.clone() });
        all.extend(
            [self.write_segments * 2, self.write_segments.div_ceil(2)]
                .map(|segments| Platters { write_segments: segments.min(4096), ..self.clone() }),
        );
        all.extend(
            [0.5, 2.0].map(|by| Platters { segment_sectors: self.segment_sectors * by, ..self.clone() }),
        );
        all.retain(|other| other != self);
        all
    }
}
