//! A disk with platters from a recording: first what can be read off, then a search for the rest.

use idlewise_core::Operation;

use idlewise_disk::mechanical::{MechanicalSpec, SeekCurve};
use idlewise_disk::{AnySpec, Profile};

use super::compare::Class;
use super::platters::{Ahead, KNOTS, Platters, Seen, Told, ZONES};
use super::position::{self, Positioning, Sample};
use super::rows::{self, Row};
use super::search::{self, Change, Goal, Shape, scale};
use super::turning;
use super::zones::{self, Rates};

/// Commands nearer than this may be in the buffer, in sectors.
const NEAR: u64 = 4096;

/// So many rows show positioning well.
const ENOUGH: usize = 600;

/// Transfers that take this many times as long as is usual for a medium of that size wait for the cable.
pub(super) const CABLE_FROM: f64 = 1.5;

/// After this number of reads the disk has written out what it buffered before, or what is left holds up few.
const CALM: usize = 4;

/// Idle time in which a disk writes out one buffered write: a long seek and a revolution.
const WRITE_OUT_NS: u64 = 25_000_000;

/// A difference in settling that matters: drives have a fifth to one ms.
const SETTLE_NS: f64 = 500_000.0;

/// What the buffer serves takes less than this share of the shortest way to the medium.
const BUFFERED_SHARE: f64 = 0.9;

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
    /// The distances of the commands that showed positioning, as shares of all tracks.
    pub(super) distances: Vec<f64>,
    /// What a replay of the recording tells.
    pub(super) told: Told,
    /// The profile that what is unknown comes from.
    pub(super) class: &'static str,
}

/// What the quickest small commands of one direction take, in ns: a twentieth is quicker.
fn quick(rows: &[Row], operation: Operation) -> Option<f64> {
    let mut times: Vec<u64> = rows
        .iter()
        .filter(|row| row.alone && row.operation == operation && row.sectors <= 64 && !row.fua)
        .map(Row::service)
        .collect();
    times.sort_unstable();
    times.get(times.len() / 20).map(|&time| time as f64)
}

/// Whether writes are done before the medium has them: a quarter take less than half of what reads take. The others may
/// have had to wait for the medium, as those of a log have.
fn cached_writes(rows: &[Row]) -> bool {
    let part = |operation, of: usize| {
        let mut times: Vec<u64> = rows
            .windows(2)
            .filter(|two| {
                two[1].alone && two[1].operation == operation && two[0].end().abs_diff(two[1].start) > NEAR
            })
            .map(|two| two[1].service())
            .collect();
        times.sort_unstable();
        (times.len() >= 20).then(|| times[times.len() / of])
    };
    match (part(Operation::Write, 4), part(Operation::Read, 2)) {
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
/// one before tells where the arm was. Writes that wait in the buffer take the arm away and hold a read up: so the last
/// ones were reads, or else the disk had idle time to write out what there was.
fn positioned(rows: &[Row], cached: bool) -> Vec<(Row, Row)> {
    let buffered = |row: &Row| cached && row.operation == Operation::Write && !row.fua;
    let (mut after_reads, mut after_idling) = (Vec::new(), Vec::new());
    let (mut reads, mut to_write) = (CALM, 0u64);
    for two in rows.windows(2) {
        let (before, row) = (&two[0], &two[1]);
        (reads, to_write) =
            if buffered(before) { (0, to_write + WRITE_OUT_NS) } else { (reads + 1, to_write) };
        to_write = to_write.saturating_sub(row.issued.saturating_sub(before.done));
        let far = before.end().abs_diff(row.start) > NEAR && before.moves_data() && row.moves_data();
        if far && row.alone && before.alone && !buffered(row) {
            if reads >= CALM {
                after_reads.push((*before, *row));
            }
            if to_write == 0 {
                after_idling.push((*before, *row));
            }
        }
    }
    if after_reads.len() >= ENOUGH.min(after_idling.len()) { after_reads } else { after_idling }
}

/// What rows show of positioning, if zones have these rates.
fn samples(pairs: &[(Row, Row)], capacity: u64, rates: &[f64; ZONES]) -> Vec<Sample> {
    pairs
        .iter()
        .map(|(before, row)| Sample {
            distance: (track(rates, capacity, before.end()) - track(rates, capacity, row.start)).abs(),
            time: row.service() as f64,
            transfer: f64::from(row.sectors) * 512e9 / rates[zone(capacity, row.start)],
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
    let direction = u8::from(row.fua) * 4 + u8::from(read) * 2 + u8::from(after_read);
    let size = u8::from(row.sectors > 16) + u8::from(row.sectors > 128);
    let crowd = (32 - row.beside.leading_zeros()) as u8;
    [direction, crowd, size, before.map_or(u8::MAX, |before| distance_class(before, row, capacity))]
}

/// The zone of an address.
fn zone(capacity: u64, address: u64) -> usize {
    ((address as f64 / capacity as f64 * ZONES as f64) as usize).min(ZONES - 1)
}

/// What rows far from the one before show: positioning, the rates of zones with which that is likeliest, and the
/// distances.
fn positioning(
    rows: &[Row],
    capacity: u64,
    cached: bool,
    tried: &[[f64; ZONES]],
) -> (Option<Positioning>, [f64; ZONES], Vec<f64>) {
    let pairs = positioned(rows, cached);
    let mut best = (f64::INFINITY, None, tried[0]);
    for zones in tried {
        let sector = |row: &Row| 512e9 / zones[zone(capacity, row.start)];
        let medium = |row: &Row| row.operation == Operation::Read || !cached;
        let turn = |about: f64, within: f64| turning::period(rows, medium, sector, about, within);
        if let Some((found, cost)) =
            position::positioning(&samples(&pairs, capacity, zones), tried.len() > 1, turn)
            && cost < best.0
        {
            best = (cost, Some(found), *zones);
        }
    }
    let distances = samples(&pairs, capacity, &best.2).iter().map(|sample| sample.distance).collect();
    (best.1, best.2, distances)
}

/// Fits a disk with platters. `capacity` is in sectors.
pub(super) fn fit(rows: &[Row], capacity: u64, depth: u32) -> Found {
    let cached = cached_writes(rows);
    let medium = |row: &Row| row.operation == Operation::Read || (row.moves_data() && !cached);
    let rates = zones::rates(rows, capacity, medium);
    let usual = zones::usual(capacity);
    let tried: Vec<[f64; ZONES]> = match &rates {
        Some(rates) => vec![rates.zones],
        None => zones::RATIOS.map(|ratio| zones::shape(ratio).map(|share| share * usual)).to_vec(),
    };
    let (positioning, zones, distances) = positioning(rows, capacity, cached, &tried);
    let (class, spec) = class(capacity);
    let start = Platters { rates: zones, write_cache: cached, depth, ..usual_disk(capacity, &spec) };
    let writes = rows.iter().filter(|row| row.operation == Operation::Write).count();
    let seen = Seen { near_reads: rows::near_reads(rows) >= rows::SOME, writes: writes >= rows::SOME };
    let start = Platters { seen, ..start };
    let start = match &positioning {
        Some(found) => read_off(start, rows, found),
        None => start,
    };
    // Which of several commands an arm serves first hangs on less than a microsecond; then the next ones differ too.
    let crowded = rows.iter().filter(|row| row.beside == 0).count() < ENOUGH;
    let goal = Goal::new(rows, QUICK_WEIGHT, |before, row| {
        (crowded || row.beside == 0).then(|| alike(before, row, capacity))
    });
    let far =
        rows.windows(2).filter(|two| two[1].alone && two[0].end().abs_diff(two[1].start) > NEAR).count();
    let curve = match &positioning {
        Some(_) if distances.len() < ENOUGH => Curve::Free,
        None if far >= position::FEWEST => Curve::Scaled,
        _ => Curve::Known,
    };
    let disk = search::refine(&goal, start, &numbers(curve, seen));
    let told = told(&goal, &disk);
    Found { disk, positioning, rates, distances, told, class }
}

/// What the recording tells of the parts that nothing was read off for.
fn told(goal: &Goal, disk: &Platters) -> Told {
    let each = |change: &dyn Fn(&mut Platters, f64)| {
        let others = [0.5, 2.0].map(|by| {
            let mut other = disk.clone();
            change(&mut other, by);
            other
        });
        search::tells(goal, disk, &others)
    };
    let others: Vec<Platters> = Ahead::ALL
        .into_iter()
        .filter(|&ahead| ahead != disk.ahead)
        .map(|ahead| Platters { ahead, ..disk.clone() })
        .collect();
    Told {
        buffer: each(&|disk, by| disk.segment_sectors *= by),
        ahead: search::tells(goal, disk, &others),
        cable: each(&|disk, by| disk.bus *= by),
        settle: !disk.write_cache && each(&|disk, by| disk.settle += (by - 1.0) * SETTLE_NS),
    }
}

/// A disk of that capacity, as usual in the class.
fn usual_disk(capacity: u64, spec: &MechanicalSpec) -> Platters {
    let pair = |[read, write]: [u32; 2]| [f64::from(read), f64::from(write)];
    let last = spec.zones.last().map_or(1, |zone| zone.last_cylinder);
    let curve = SeekCurve::new(&spec.seek, last).ok();
    let mut seek = [f64::from(spec.head_switch_ns); KNOTS.len() + 1];
    for at in (1..seek.len()).rev() {
        let time = |knot: f64| {
            curve.as_ref().map_or(0.0, |curve| f64::from(curve.time((knot * f64::from(last)) as u32)))
        };
        seek[at] = time(KNOTS[at - 1]) - if at > 1 { time(KNOTS[at - 2]) } else { seek[0] };
    }
    Platters {
        capacity,
        period: f64::from(spec.period_ns),
        rates: zones::shape(zones::RATIO).map(|share| share * zones::usual(capacity)),
        seek: seek.map(|step| step.max(GRAIN_NS)),
        settle: f64::from(spec.write_settle_ns),
        bus: f64::from(spec.bus_read_ns),
        read_hit: pair(spec.overheads.read_hit_ns),
        read_miss: pair(spec.overheads.read_miss_ns),
        write_hit: pair(spec.overheads.write_hit_ns),
        write_miss: pair(spec.overheads.write_miss_ns),
        segments: spec.buffer.segments,
        segment_sectors: f64::from(spec.buffer.segment_sectors),
        ahead: Ahead::Segment,
        write_cache: spec.buffer.write_cache,
        write_segments: spec.buffer.write_segments,
        hits_on_writes: true,
        ahead_on_hit: true,
        keeps_passed: false,
        depth: spec.depth,
        seen: Seen::default(),
    }
}

/// The disk with the overheads, the revolution and the seek curve that rows show.
fn read_off(mut disk: Platters, rows: &[Row], found: &Positioning) -> Platters {
    // What takes as long as the shortest way to the medium was not in the buffer.
    let quick = |operation| quick(rows, operation).filter(|&time| time < BUFFERED_SHARE * found.starts[0]);
    let (read, write) = (quick(Operation::Read), quick(Operation::Write));
    if let Some(read) = read {
        (disk.read_hit, disk.read_miss) = ([read; 2], [read; 2]);
    }
    if let Some(write) = write {
        disk.write_hit = [write; 2];
    }
    if let Some(time) = write.or(read) {
        disk.write_miss = [time.min(read.unwrap_or(time)); 2];
    }
    disk.period = found.period;
    if found.transfer > CABLE_FROM {
        disk.bus = found.transfer * 512e9 / disk.rates[ZONES / 2];
    } else {
        disk.rates = disk.rates.map(|rate| rate / found.transfer);
    }
    let mut before = disk.read_miss[0];
    for (step, &start) in disk.seek.iter_mut().zip(&found.starts) {
        *step = (start - before).max(20.0 * GRAIN_NS);
        before = before.max(start);
    }
    disk
}

/// A disk of the same class: its name and what it is.
fn class(capacity: u64) -> (&'static str, MechanicalSpec) {
    // 200 GB: from about there on disks have native queueing and buffers of megabytes.
    let name = if capacity < 400_000_000 { "maxtor-40g" } else { "hdd-4tb-7200" };
    match Profile::named(name).map(|profile| profile.model) {
        Ok(AnySpec::Mechanical(spec)) => (name, spec),
        _ => (name, MechanicalSpec::default()),
    }
}

/// What a search may do to the seek curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Curve {
    /// Change it at each knot.
    Free,
    /// Change it as a whole.
    Scaled,
    /// Leave it.
    Known,
}

/// The parameters that a search changes.
fn numbers(curve: Curve, seen: Seen) -> Vec<Change<Platters>> {
    let mut all: Vec<Change<Platters>> = Vec::new();
    let seek = curve == Curve::Free;
    if seek {
        for knot in 0..=KNOTS.len() {
            all.push(scale(move |disk: &mut Platters| &mut disk.seek[knot], 20.0 * GRAIN_NS));
        }
    } else if curve == Curve::Scaled {
        all.push(Box::new(|disk, step| {
            let factor = (1.0 + step.abs()).powf(step.signum());
            Platters { seek: disk.seek.map(|time| time * factor), ..disk.clone() }
        }));
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
    if seen.near_reads || seen.writes {
        all.push(scale(|disk: &mut Platters| &mut disk.bus, 10.0));
    }
    if seen.near_reads {
        all.push(scale(|disk: &mut Platters| &mut disk.segment_sectors, 8.0));
    }
    // Of buffered writes nobody sees how they settle.
    all.push(Box::new(|disk, step| {
        let by = if disk.write_cache { 0.0 } else { step * 1e6 };
        Platters { settle: disk.settle + by, ..disk.clone() }
    }));
    all
}

impl Shape for Platters {
    fn text(&self) -> String {
        self.profile("", "", &|_| String::new())
    }

    fn choices(&self) -> Vec<Platters> {
        let mut all: Vec<Platters> = Vec::new();
        if self.seen.near_reads {
            all.extend(Ahead::ALL.iter().map(|&ahead| Platters { ahead, ..self.clone() }));
            all.extend(SEGMENTS.iter().map(|&segments| Platters { segments, ..self.clone() }));
            all.push(Platters { keeps_passed: !self.keeps_passed, ..self.clone() });
            all.push(Platters { ahead_on_hit: !self.ahead_on_hit, ..self.clone() });
            all.push(Platters { hits_on_writes: !self.hits_on_writes, ..self.clone() });
            all.extend(
                [0.5, 2.0].map(|by| Platters { segment_sectors: self.segment_sectors * by, ..self.clone() }),
            );
        }
        if self.seen.writes {
            all.push(Platters { write_cache: !self.write_cache, ..self.clone() });
            all.extend(
                [self.write_segments * 2, self.write_segments.div_ceil(2)]
                    .map(|segments| Platters { write_segments: segments.min(4096), ..self.clone() }),
            );
        }
        all.retain(|other| other != self);
        all
    }
}
