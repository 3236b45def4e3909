//! A flash device from a recording: it begins as the nearest of the usual devices, and a search changes its times, rates
//! and parallelism until it serves the recording as the device did.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use idlewise_core::Operation;
use idlewise_disk::{AnySpec, FlashSpec, Profile};

use super::compare::Class;
use super::rows::Row;
use super::search::{self, Change, Goal, Shape, scale};

/// The profiles of flash with which a search may begin.
const CLASSES: [&str; 3] = ["nvme-ssd", "sata-ssd", "sd-card"];

/// The number of searches, which begin where the recording is nearest: one alone may end beside the best.
const STARTS: usize = 2;

/// So many commands of one size show what that size takes.
const SIZE_FEWEST: usize = 8;

/// Sectors of the smallest usual page: a read up to there needs one.
const PAGE_LEAST: u32 = 32;

/// What was found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) disk: Cells,
    /// The profile that what is unknown comes from.
    pub(super) class: &'static str,
}

/// A flash device. Times are microseconds, rates 10^6 bytes a second, as in its profile.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cells {
    spec: FlashSpec,
    overhead_us: f64,
    interface_mb: f64,
    channel_mb: f64,
    read_us: f64,
    program_us: f64,
}

impl Cells {
    fn of(spec: FlashSpec) -> Cells {
        let rate = |sector_ns: u64| 512e3 / sector_ns.max(1) as f64;
        let us = |ns: u64| ns as f64 / 1e3;
        Cells {
            spec,
            overhead_us: us(spec.overhead_ns),
            interface_mb: rate(spec.interface_sector_ns),
            channel_mb: rate(spec.channel_sector_ns),
            read_us: us(spec.read_ns),
            program_us: us(spec.program_ns),
        }
    }

    fn with(&self, change: impl Fn(&mut FlashSpec)) -> Cells {
        let mut other = self.clone();
        change(&mut other.spec);
        other
    }

    /// Sectors.
    pub(super) fn capacity(&self) -> u64 {
        self.spec.capacity
    }

    /// Commands accepted at once.
    pub(super) fn depth(&self) -> u32 {
        self.spec.depth
    }

    /// Sectors of the write buffer.
    pub(super) fn buffer_sectors(&self) -> u64 {
        u64::from(self.spec.buffer_sectors)
    }

    /// Dies that can work at once.
    pub(super) fn dies(&self) -> u32 {
        self.spec.channels * self.spec.dies_per_channel
    }

    /// The profile's text, as [`super::platters::Platters::profile`].
    pub(super) fn profile(&self, description: &str, source: &str, note: &dyn Fn(&str) -> String) -> String {
        let Cells { spec, overhead_us, interface_mb, channel_mb, read_us, program_us } = self;
        let share = |part: u32| f64::from(part) / 1024.0;
        let mut text = String::new();
        let _ = write!(
            text,
            "kind = \"flash\"\ndescription = \"{description}\"\nsource = \"{source}\"\n\
             {}capacity_sectors = {}\n{}queue_depth = {}\n{}overhead_us = {overhead_us:.3}\n\
             interface_mb_per_s = {interface_mb:.2}\n\n",
            note("capacity"),
            spec.capacity,
            note("depth"),
            spec.depth,
            note("read latency"),
        );
        let _ = write!(
            text,
            "[flash]\n{}channels = {}\ndies_per_channel = {}\nchannel_mb_per_s = {channel_mb:.2}\n\
             page_sectors = {}\nblock_pages = {}\nmapping_sectors = {}\nread_us = {read_us:.3}\n\
             {}program_us = {program_us:.3}\n{}erase_us = {:.1}\nover_provision_share = {:.4}\nwritten_share = {:.4}\n\n",
            note("parallelism"),
            spec.channels,
            spec.dies_per_channel,
            spec.page_sectors,
            spec.block_pages,
            spec.mapping_sectors,
            note("write latency"),
            note("collection"),
            spec.erase_ns as f64 / 1e3,
            share(spec.over_provision),
            share(spec.written),
        );
        let _ = write!(
            text,
            "[buffer]\n{}sectors = {}\n{}power_loss_protection = {}\n",
            note("buffer"),
            spec.buffer_sectors,
            note("flush"),
            spec.power_loss_protection,
        );
        text
    }
}

impl Shape for Cells {
    fn text(&self) -> String {
        self.profile("", "", &|_| String::new())
    }

    fn choices(&self) -> Vec<Cells> {
        let mut all = Vec::new();
        for up in [true, false] {
            let by = |value: u32, most: u32| if up { (value * 2).min(most) } else { (value / 2).max(1) };
            all.push(self.with(|spec| spec.channels = by(spec.channels, 32)));
            all.push(self.with(|spec| spec.dies_per_channel = by(spec.dies_per_channel, 16)));
            all.push(self.with(|spec| {
                spec.channels = by(spec.channels, 32);
                spec.dies_per_channel =
                    if up { (spec.dies_per_channel / 2).max(1) } else { spec.dies_per_channel * 2 };
            }));
            all.push(
                self.with(|spec| spec.page_sectors = by(spec.page_sectors, 256).max(spec.mapping_sectors)),
            );
            all.push(self.with(|spec| {
                spec.buffer_sectors = by(spec.buffer_sectors, 1 << 21).max(spec.page_sectors);
            }));
        }
        all.push(self.with(|spec| spec.power_loss_protection = !spec.power_loss_protection));
        all.retain(|other| other != self);
        all
    }
}

/// A time that grows with the size: at size 0, and for each sector, in ns.
#[derive(Clone, Copy, Debug)]
struct Line {
    base: f64,
    sector: f64,
}

/// What commands of one direction take while the device holds no other, by size, up to `most` sectors.
fn line(rows: &[Row], operation: Operation, most: u32) -> Option<Line> {
    let mut sizes: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.operation == operation && row.beside == 0 && row.sectors <= most)
    {
        sizes.entry(row.sectors).or_default().push(row.service());
    }
    // Less than the median: what did not meet collecting or a busy die.
    let points: Vec<(f64, f64, f64)> = sizes
        .into_iter()
        .filter(|(_, times)| times.len() >= SIZE_FEWEST)
        .map(|(sectors, mut times)| {
            times.sort_unstable();
            (f64::from(sectors), times[times.len() * 3 / 10] as f64, times.len() as f64)
        })
        .collect();
    let weight: f64 = points.iter().map(|point| point.2).sum();
    let mean = |of: fn(&(f64, f64, f64)) -> f64| {
        points.iter().map(|point| of(point) * point.2).sum::<f64>() / weight
    };
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let xx: f64 = points.iter().map(|point| (point.0 - x).powi(2) * point.2).sum();
    let xy: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y) * point.2).sum();
    if points.is_empty() {
        return None;
    }
    let sector = if xx > 0.0 { (xy / xx).max(0.0) } else { 0.0 };
    Some(Line { base: (y - sector * x).max(0.0), sector })
}

/// What the usual device becomes with what can be read off: writes end in the buffer, so that they show the controller
/// and the cable; reads show a page and the channel too.
fn begin(mut disk: Cells, rows: &[Row]) -> Cells {
    let rate = |sector_ns: f64| 512e3 / sector_ns.max(0.05);
    let write = line(rows, Operation::Write, u32::MAX);
    let read = line(rows, Operation::Read, PAGE_LEAST);
    let cable = write.or_else(|| line(rows, Operation::Read, u32::MAX)).map_or(0.0, |line| line.sector);
    if cable > 0.0 {
        disk.interface_mb = rate(cable);
    }
    if let Some(line) = write {
        disk.overhead_us = (line.base / 1e3).max(0.5);
    }
    if let Some(line) = read {
        disk.overhead_us = disk.overhead_us.min(line.base / 2e3).max(0.5);
        disk.read_us = (line.base / 1e3 - disk.overhead_us).max(1.0);
        if line.sector > cable {
            disk.channel_mb = rate(line.sector - cable);
        }
    }
    disk
}

/// What commands that such a device serves alike have in common.
fn alike(row: &Row) -> Class {
    let log = |number: u32| (32 - number.leading_zeros()) as u8;
    [u8::from(row.fua) * 2 + u8::from(row.operation == Operation::Read), log(row.beside), log(row.sectors), 0]
}

/// Fits a flash device. `capacity` is in sectors.
pub(super) fn fit(rows: &[Row], capacity: u64, depth: u32) -> Found {
    let goal = Goal::new(rows, 1.0, |_, row| Some(alike(row)));
    let mut starts: Vec<(f64, Cells, &'static str)> = Vec::new();
    for class in CLASSES {
        let Ok(AnySpec::Flash(mut spec)) = Profile::named(class).map(|profile| profile.model) else {
            continue;
        };
        (spec.capacity, spec.depth) = (capacity, depth.max(spec.depth));
        let disk = begin(Cells::of(spec), rows);
        for (channels, dies, page) in layouts() {
            let disk = disk.with(|spec| {
                (spec.channels, spec.dies_per_channel) = (channels, dies);
                spec.page_sectors = page.max(spec.mapping_sectors);
            });
            starts.push((goal.miss(&disk), disk, class));
        }
    }
    starts.sort_by(|a, b| a.0.total_cmp(&b.0));
    let numbers: Vec<Change<Cells>> = vec![
        scale(|disk: &mut Cells| &mut disk.overhead_us, 0.5),
        scale(|disk: &mut Cells| &mut disk.read_us, 1.0),
        scale(|disk: &mut Cells| &mut disk.interface_mb, 1.0),
        scale(|disk: &mut Cells| &mut disk.channel_mb, 1.0),
        scale(|disk: &mut Cells| &mut disk.program_us, 1.0),
        // From the controller to the page and back: a small read takes as long.
        Box::new(|disk, step| {
            let by = if step > 0.0 { disk.overhead_us * step } else { disk.read_us * step };
            let (overhead_us, read_us) = (disk.overhead_us - by, disk.read_us + by);
            Cells { overhead_us: overhead_us.max(0.5), read_us: read_us.max(1.0), ..disk.clone() }
        }),
    ];
    // Of each layout the nearest one.
    let mut seen = BTreeSet::new();
    starts.retain(|(_, disk, _)| {
        seen.insert((disk.spec.channels, disk.spec.dies_per_channel, disk.spec.page_sectors))
    });
    let ends = starts.into_iter().take(STARTS).map(|(_, start, class)| {
        let disk = search::refine(&goal, start, &numbers);
        (goal.miss(&disk), Found { disk, class })
    });
    let best = ends.min_by(|a, b| a.0.total_cmp(&b.0));
    best.expect("the classes are built-in profiles of flash").1
}

/// Channels, dies on each, and sectors of a page, with which a search may begin.
fn layouts() -> impl Iterator<Item = (u32, u32, u32)> {
    let each = [1, 4, 8].into_iter().flat_map(|channels| [1, 4, 8].map(|dies| (channels, dies)));
    each.flat_map(|(channels, dies)| [32, 64].map(|page| (channels, dies, page)))
}
