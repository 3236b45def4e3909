//! What a profile amounts to, in numbers a person can check: geometry, zones, seek curve, rates.

use crate::error::BuildError;
use crate::mechanical::Mechanical;
use crate::{AnySpec, DiskModel, Profile};
use idlewise_core::{Duration, Sector};
use std::string::String;
use std::vec::Vec;

/// A profile, summarized.
#[derive(Clone, Debug)]
pub struct Description {
    /// The profile's name.
    pub name: String,
    /// One line on what it is.
    pub description: String,
    /// Where the numbers come from.
    pub source: String,
    /// Sectors of 512 bytes.
    pub capacity: Sector,
    /// Commands accepted at once.
    pub depth: u32,
    /// The particulars of its kind.
    pub kind: Kind,
}

/// What differs by kind of device.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A disk with platters and an arm.
    Mechanical(MechanicalDescription),
    /// Any other model: its name, and its figures. A figure's name ends in its unit, `_ns` or `_bytes`; a count has
    /// none.
    Other(&'static str, Vec<(&'static str, u64)>),
}

/// A mechanical disk, summarized.
#[derive(Clone, Debug)]
pub struct MechanicalDescription {
    /// Time of a revolution.
    pub revolution: Duration,
    /// Recording surfaces.
    pub heads: u32,
    /// Cylinders.
    pub cylinders: u32,
    /// The zones, by address.
    pub zones: Vec<ZoneRow>,
    /// Seek times by distance in cylinders: every distance up to 8, then about 12 an octave.
    pub seek: Vec<(u32, Duration)>,
    /// Mean seek between two random addresses.
    pub mean_seek: Duration,
    /// Bytes in the buffer.
    pub buffer_bytes: u64,
    /// Sequential rate at the first address, in bytes a second.
    pub sequential_bytes_per_s: u64,
}

/// One zone.
#[derive(Clone, Copy, Debug)]
pub struct ZoneRow {
    /// First address.
    pub first: Sector,
    /// Last address.
    pub last: Sector,
    /// First cylinder.
    pub first_cylinder: u32,
    /// Last cylinder.
    pub last_cylinder: u32,
    /// Sectors on a track.
    pub sectors_per_track: u32,
    /// Sequential rate over tracks and cylinders, in bytes a second.
    pub bytes_per_s: u64,
}

impl Description {
    /// Summarizes a profile.
    pub fn of(profile: &Profile) -> Result<Description, BuildError> {
        let disk = profile.build()?;
        let kind = match &profile.model {
            AnySpec::Mechanical(spec) => {
                let buffer = u64::from(spec.buffer.segments) * u64::from(spec.buffer.segment_sectors) * 512;
                Kind::Mechanical(MechanicalDescription::of(&Mechanical::new(spec)?, buffer))
            }
            other => Kind::Other(other.name(), other.facts()),
        };
        Ok(Description {
            name: profile.name.clone(),
            description: profile.description.clone(),
            source: profile.source.clone(),
            capacity: disk.capacity(),
            depth: disk.depth(),
            kind,
        })
    }
}

impl MechanicalDescription {
    fn of(disk: &Mechanical, buffer_bytes: u64) -> MechanicalDescription {
        let geometry = disk.geometry();
        let zones: Vec<ZoneRow> = geometry
            .zones()
            .iter()
            .enumerate()
            .map(|(index, zone)| ZoneRow {
                first: Sector(zone.start),
                last: Sector(zone.end - 1),
                first_cylinder: zone.first_cylinder,
                last_cylinder: zone.last_cylinder,
                sectors_per_track: zone.sectors_per_track,
                bytes_per_s: disk.sequential_rate(index),
            })
            .collect();
        let cylinders = geometry.cylinders();
        MechanicalDescription {
            revolution: Duration(u64::from(geometry.period())),
            heads: geometry.heads(),
            cylinders,
            seek: seek_samples(disk, cylinders),
            mean_seek: mean_seek(disk),
            buffer_bytes,
            sequential_bytes_per_s: zones.first().map_or(0, |zone| zone.bytes_per_s),
            zones,
        }
    }
}

fn seek_samples(disk: &Mechanical, cylinders: u32) -> Vec<(u32, Duration)> {
    let longest = cylinders.saturating_sub(1).max(1);
    let mut samples = Vec::new();
    let mut distance = 1u32;
    loop {
        samples.push((distance, Duration(u64::from(disk.seek_curve().time(distance)))));
        if distance == longest {
            return samples;
        }
        distance = (distance + (distance / 16).max(1)).min(longest);
    }
}

/// The mean over pairs from a grid of addresses.
fn mean_seek(disk: &Mechanical) -> Duration {
    const STEPS: u64 = 256;
    let geometry = disk.geometry();
    let grid: Vec<u32> =
        (0..STEPS).map(|i| geometry.locate(geometry.capacity() / STEPS * i).cylinder).collect();
    let curve = disk.seek_curve();
    let sum: u64 = grid
        .iter()
        .flat_map(|&from| grid.iter().map(move |&to| u64::from(curve.time(from.abs_diff(to)))))
        .sum();
    Duration(sum / (STEPS * STEPS))
}
