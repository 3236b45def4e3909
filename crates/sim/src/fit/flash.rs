//! A flash device from a recording: it begins as the nearest of the usual devices, and a search changes its times, rates
//! and parallelism until it serves the recording as the device did.

use std::fmt::Write as _;

use idlewise_core::Operation;
use idlewise_disk::{FlashSpec, Model, Profile};

use super::rows::Row;
use super::search::{self, Change, Goal, Shape, scale};

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
                spec.dies_per_channel = if up { (spec.dies_per_channel / 2).max(1) } else { spec.dies_per_channel * 2 };
            }));
            all.push(self.with(|spec| spec.page_sectors = by(spec.page_sectors, 256).max(spec.mapping_sectors)));
            all.push(self.with(|spec| spec.buffer_sectors = by(spec.buffer_sectors, 1 << 21).max(spec.page_sectors)));
        }
        all.push(self.with(|spec| spec.power_loss_protection = !spec.power_loss_protection));
        all.retain(|other| other != self);
        all
    }
}

/// The median of what small commands of one direction take alone, in ns.
fn small(rows: &[Row], operation: Operation) -> Option<u64> {
    let mut times: Vec<u64> = rows
        .iter()
        .filter(|row| row.operation == operation && row.sectors <= 16 && row.beside == 0)
        .map(Row::service)
        .collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// The usual device that is nearest: by what a small read takes, and by how many commands it accepts.
fn class(rows: &[Row], depth: u32) -> &'static str {
    let read = small(rows, Operation::Read).or_else(|| small(rows, Operation::Write)).unwrap_or(100_000);
    match read {
        _ if depth > 32 => "nvme-ssd",
        // Between the usual 60 and 100 us, and between 100 and 250.
        ..78_000 => "nvme-ssd",
        78_000..160_000 => "sata-ssd",
        _ => "sd-card",
    }
}

/// Fits a flash device. `capacity` is in sectors.
pub(super) fn fit(rows: &[Row], capacity: u64, depth: u32) -> Found {
    let class = class(rows, depth);
    let mut spec = match Profile::named(class).map(|profile| profile.model) {
        Ok(Model::Flash(spec)) => spec,
        _ => FlashSpec::default(),
    };
    (spec.capacity, spec.depth) = (capacity, depth.max(spec.depth));
    let numbers: Vec<Change<Cells>> = vec![
        scale(|disk: &mut Cells| &mut disk.overhead_us, 0.5),
        scale(|disk: &mut Cells| &mut disk.read_us, 1.0),
        scale(|disk: &mut Cells| &mut disk.interface_mb, 1.0),
        scale(|disk: &mut Cells| &mut disk.channel_mb, 1.0),
        scale(|disk: &mut Cells| &mut disk.program_us, 1.0),
    ];
    let goal = Goal::new(rows, capacity, |_| true);
    Found { disk: search::refine(&goal, Cells::of(spec), &numbers), class }
}
