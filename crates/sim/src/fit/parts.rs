//! What each part of a fitted model rests on, and what the recording does not show.

use idlewise_core::Operation;

use super::flash;
use super::mechanical;
use super::position::{Given, Positioning};
use super::report::{Confidence, Part};
use super::rows::{Row, SOME, near_reads};
use super::zones::Rates;
use crate::traces::recording::Disk;

/// So many commands show something for sure.
const MANY: usize = 400;

/// A revolution that may be off by a larger share is rough; a usual one may be off by twice as much.
const PERIOD_SURE: f64 = 0.01;

/// A disk of unknown size has this part more than the last sector that was asked for: a few requests of a longer
/// recording go farther.
pub(super) const BEYOND: u64 = 50;

/// What is known of a disk apart from its recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// What it is called.
    pub name: String,
    /// Its sectors.
    pub capacity: Option<u64>,
    /// Whether it has platters.
    pub rotational: Option<bool>,
    /// Commands that it accepts at once.
    pub depth: Option<u32>,
}

impl Known {
    /// What a recording's head says of a disk.
    pub fn of(disk: &Disk) -> Known {
        Known {
            name: disk.name.clone(),
            capacity: Some(disk.sectors).filter(|&sectors| sectors > 0),
            rotational: Some(disk.rotational),
            depth: disk.queue_depth,
        }
    }
}

fn part(name: &'static str, value: String, confidence: Confidence, why: String) -> Part {
    Part { name, value, confidence, why }
}

/// The confidence that this number of commands gives.
fn by_count(count: usize) -> Confidence {
    match count {
        MANY.. => Confidence::Sure,
        SOME.. => Confidence::Rough,
        _ => Confidence::Unknown,
    }
}

fn count(rows: &[Row], wanted: impl Fn(&Row) -> bool) -> usize {
    rows.iter().filter(|row| wanted(row)).count()
}

/// Capacity and depth, of any disk.
fn outside(rows: &[Row], known: &Known, capacity: u64, depth: u32) -> Vec<Part> {
    let gb = format!("{:.1} GB", capacity as f64 * 512.0 / 1e9);
    let capacity = match known.capacity {
        Some(_) => part("capacity", gb, Confidence::Sure, "it was given".to_owned()),
        None => part(
            "capacity",
            gb,
            Confidence::Rough,
            "the last sector that was asked for, and a fiftieth more".to_owned(),
        ),
    };
    let most = rows.iter().map(|row| row.beside + 1).max().unwrap_or(1);
    let (confidence, why) = match known.depth {
        Some(_) => (Confidence::Sure, "it was given".to_owned()),
        None if most > 1 => {
            (Confidence::Rough, format!("the disk held {most} commands at once; it may accept more"))
        }
        None => (Confidence::Unknown, "the disk never held more than one command".to_owned()),
    };
    vec![capacity, part("depth", depth.to_string(), confidence, why)]
}

fn rates(found: Option<&Rates>, zones: &[f64], transfer_shown: bool) -> Part {
    let mb = |rate: f64| rate / 1e6;
    let value = format!("{:.1} to {:.1} MB/s", mb(zones[0]), mb(zones[zones.len() - 1]));
    match found {
        Some(rates) if rates.seen * 8 >= zones.len() => part(
            "zones",
            value,
            Confidence::Sure,
            format!("{} long sequential runs in {} of {} zones", rates.runs, rates.seen, zones.len()),
        ),
        Some(rates) => part(
            "zones",
            value,
            Confidence::Rough,
            format!(
                "{} long sequential runs in {} of {} zones; elsewhere as tracks usually get shorter inwards",
                rates.runs,
                rates.seen,
                zones.len()
            ),
        ),
        None if transfer_shown => part(
            "zones",
            value,
            Confidence::Rough,
            "no long sequential run that kept the disk busy; from the times of larger commands".to_owned(),
        ),
        None => part(
            "zones",
            value,
            Confidence::Unknown,
            "no long sequential run that kept the disk busy; the rate is usual for disks of its size"
                .to_owned(),
        ),
    }
}

/// What the time of a revolution rests on.
fn rotation(found: &Positioning, samples: usize) -> String {
    let percent = found.error * 100.0;
    match found.given {
        Given::Counted => format!("places that passed more than once, ± {percent:.2} %"),
        Given::Usual => {
            format!("the usual speed near what the spread of {samples} commands shows, ± {percent:.1} %")
        }
        Given::Spread => format!("the spread of {samples} commands, ± {percent:.1} %"),
    }
}

/// Rotation and positioning.
fn moving(found: &mechanical::Found) -> [Part; 2] {
    let disk = &found.disk;
    let ms = |ns: f64| format!("{:.3} ms", ns / 1e6);
    let times = disk.seek_times();
    let [near, far] = [times[1], times[times.len() - 1]].map(|seek| ms(seek + disk.period / 2.0));
    let values = (format!("{:.0} rpm", 60e9 / disk.period), format!("{near} near, {far} across the disk"));
    let Some(positioning) = &found.positioning else {
        let why = "too few commands were alone in the disk, far from the one before and not in the buffer";
        return [("rotation", values.0), ("positioning", values.1)]
            .map(|(name, value)| part(name, value, Confidence::Unknown, why.to_owned()));
    };
    let bound = PERIOD_SURE * if positioning.given == Given::Usual { 2.0 } else { 1.0 };
    let confidence = if positioning.error <= bound { Confidence::Sure } else { Confidence::Rough };
    let count = found.distances.len();
    let why = format!("{count} commands that were alone in the disk; {}", covered(&found.distances));
    [
        part("rotation", values.0, confidence, rotation(positioning, count)),
        part("positioning", values.1, by_count(count), why),
    ]
}

/// The parts of a disk with platters.
pub(super) fn platters(found: &mechanical::Found, rows: &[Row], known: &Known) -> Vec<Part> {
    let disk = &found.disk;
    let mut parts = outside(rows, known, disk.capacity, disk.depth);
    parts.extend(moving(found));
    let shown = |positioning: &Positioning| positioning.transfer <= mechanical::CABLE_FROM;
    parts.push(rates(found.rates.as_ref(), &disk.rates, found.positioning.as_ref().is_some_and(shown)));
    let writes = count(rows, |row| row.operation == Operation::Write);
    let value = if disk.write_cache { "writes are done in the buffer" } else { "writes wait for the medium" };
    parts.push(part("write cache", value.to_owned(), by_count(writes), format!("{writes} writes")));
    let why = if disk.write_cache {
        "writes are done in the buffer, so that nobody sees them settle".to_owned()
    } else {
        format!("{writes} writes on the medium")
    };
    let rough = |told: bool, seen: usize| {
        if told { by_count(seen).min(Confidence::Rough) } else { Confidence::Unknown }
    };
    let told = found.told;
    parts.push(part("write settle", format!("{:.3} ms", disk.settle / 1e6), rough(told.settle, writes), why));
    let near = near_reads(rows);
    // What the recording does not tell from half or twice as much.
    let shown = |told: bool, what: String| {
        if told { what } else { format!("{what}; half and twice as much, or another way, would look alike") }
    };
    parts.push(part(
        "buffer",
        format!("{} segments of {:.0} KiB", disk.segments, disk.segment_sectors / 2.0),
        rough(told.buffer, near),
        shown(told.buffer, format!("{near} reads near an earlier one")),
    ));
    parts.push(part(
        "read-ahead",
        format!("{:?}", disk.ahead).to_lowercase(),
        rough(told.ahead, near),
        shown(told.ahead, format!("{near} reads near an earlier one")),
    ));
    let quick = disk.read_hit[0].min(disk.write_hit[0]);
    parts.push(part(
        "overhead",
        format!("{:.3} ms", quick / 1e6),
        by_count(near.max(writes)),
        format!("{} reads and writes that the buffer can serve", near.max(writes)),
    ));
    parts.push(part(
        "cable",
        format!("{:.0} MB/s", 512e3 / disk.bus),
        rough(told.cable, near.max(writes)),
        shown(told.cable, "buffered commands of several sizes".to_owned()),
    ));
    parts
}

/// Over which distances samples lie.
fn covered(distances: &[f64]) -> String {
    let share = |from: f64, to: f64| count_between(distances, from, to);
    let [near, middle, far] = [share(0.0, 0.01), share(0.01, 0.3), share(0.3, 1.1)];
    format!("{near} within 1 % of the tracks, {middle} within 30 %, {far} farther")
}

fn count_between(distances: &[f64], from: f64, to: f64) -> usize {
    distances.iter().filter(|&&distance| (from..to).contains(&distance)).count()
}

/// Median latencies by size, as text: `4 KiB 0.085 ms, 128 KiB 0.321 ms`.
fn latencies(rows: &[Row], operation: Operation) -> (usize, String) {
    let mut said = Vec::new();
    let mut all = 0;
    for (name, sizes) in [("to 8 KiB", 1..=16), ("to 64 KiB", 17..=128), ("larger", 129..=u32::MAX)] {
        for (crowd, beside) in [("alone", 0..=0), ("beside others", 1..=u32::MAX)] {
            let wanted = |row: &&Row| {
                row.operation == operation && sizes.contains(&row.sectors) && beside.contains(&row.beside)
            };
            let mut times: Vec<u64> = rows.iter().filter(wanted).map(Row::service).collect();
            all += times.len();
            times.sort_unstable();
            if times.len() >= SOME {
                said.push(format!("{name} {crowd} {:.1} us", times[times.len() / 2] as f64 / 1e3));
            }
        }
    }
    (all, if said.is_empty() { "not seen".to_owned() } else { said.join(", ") })
}

/// The parts of a flash device.
pub(super) fn flash(found: &flash::Found, rows: &[Row], known: &Known) -> Vec<Part> {
    let disk = &found.disk;
    let mut parts = outside(rows, known, disk.capacity(), disk.depth());
    for (name, operation) in [("read latency", Operation::Read), ("write latency", Operation::Write)] {
        let (seen, said) = latencies(rows, operation);
        parts.push(part(name, said, by_count(seen), format!("{seen} commands")));
    }
    let crowded = count(rows, |row| row.beside >= 3);
    let why = format!("{crowded} commands that came when the device held three others or more");
    parts.push(part(
        "parallelism",
        format!("{} dies", disk.dies()),
        by_count(crowded).min(Confidence::Rough),
        why,
    ));
    let written: u64 =
        rows.iter().filter(|row| row.operation == Operation::Write).map(|row| u64::from(row.sectors)).sum();
    let filled = written > 4 * disk.buffer_sectors();
    parts.push(part(
        "buffer",
        format!("{} MiB for writes", disk.buffer_sectors() / 2048),
        if filled { Confidence::Rough } else { Confidence::Unknown },
        format!("{} MiB were written", written / 2048),
    ));
    let flushes = count(rows, |row| row.operation == Operation::Flush);
    parts.push(part(
        "flush",
        "see power_loss_protection".to_owned(),
        by_count(flushes),
        format!("{flushes} flushes"),
    ));
    let why = "collecting shows after the whole device was written over; a recording is too short".to_owned();
    parts.push(part("collection", "of the class".to_owned(), Confidence::Unknown, why));
    parts
}
