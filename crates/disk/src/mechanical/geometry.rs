//! Where a sector lies: zone, cylinder, head, and the angle at which it passes under the head.
//!
//! Angles are nanoseconds of rotation since index, in `0..period`; the platter is at index at time
//! zero and turns for ever. Addresses run along a track, then over the heads of a cylinder, then
//! inwards. Skew turns each track against the one before so that a sequential read loses only the
//! switching time.

use super::spec::MechanicalSpec;
use crate::error::{BuildError, reserve};
use alloc::vec::Vec;

/// Bits of fraction in a sector's duration: 512 sectors err by less than a nanosecond.
const FRACTION: u32 = 20;

/// Bits of fraction in a rate of sectors.
const RATE_FRACTION: u32 = 34;

/// A wait this close to a whole revolution is rounding: the head is at the sector.
const SLACK_NS: u32 = 64;

/// A run of cylinders with equal tracks.
#[derive(Clone, Copy, Debug)]
pub struct Zone {
    /// First address.
    pub start: u64,
    /// Address after the last one.
    pub end: u64,
    /// First cylinder.
    pub first_cylinder: u32,
    /// Last cylinder, inclusive.
    pub last_cylinder: u32,
    /// Sectors on a track.
    pub sectors_per_track: u32,
    /// Addressable sectors of a cylinder.
    pub per_cylinder: u32,
    /// Duration of one sector in ns, shifted left by `FRACTION`.
    sector_fp: u64,
    /// Sectors in a nanosecond, shifted left by `RATE_FRACTION`.
    rate_fp: u64,
    cylinder_divisor: Divisor,
    /// Angle of the first sector of the zone.
    first_angle: u64,
    /// Rotation from one track to the next of a cylinder.
    track_skew: u64,
    /// Rotation from one cylinder's first track to the next cylinder's.
    cylinder_step: u64,
}

impl Zone {
    /// Time in which `count` sectors pass under the head.
    #[inline]
    pub fn passing(&self, count: u32) -> u64 {
        (u64::from(count) * self.sector_fp) >> FRACTION
    }

    /// Whole sectors that pass in `ns`, at most some revolutions: the inverse of `passing`.
    #[inline]
    pub fn passed(&self, ns: u64) -> u64 {
        // The estimate is at most one short.
        let count = (ns * self.rate_fp) >> RATE_FRACTION;
        if ((count + 1) * self.sector_fp) >> FRACTION <= ns { count + 1 } else { count }
    }
}

/// A divisor with its reciprocal: dividing is then a multiplication.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    value: u64,
    reciprocal: u64,
}

impl Divisor {
    /// `value` is at least 2.
    fn new(value: u64) -> Divisor {
        Divisor { value, reciprocal: u64::MAX / value }
    }

    /// Quotient and remainder.
    #[inline]
    fn divide(self, number: u64) -> (u64, u64) {
        // The reciprocal is rounded down, so that the quotient is at most one short.
        let quotient = ((u128::from(number) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = number - quotient * self.value;
        if rest >= self.value { (quotient + 1, rest - self.value) } else { (quotient, rest) }
    }
}

/// A sector's physical place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Cylinder, 0 outermost.
    pub cylinder: u32,
    /// Head.
    pub head: u32,
    /// Sector within the track.
    pub sector: u32,
    /// Addressable sectors from here to the end of the track, this one included.
    pub left: u32,
    /// Angle at which the sector begins.
    pub angle: u32,
    /// Zone.
    pub zone: u32,
}

/// The layout of a disk.
#[derive(Clone, Debug)]
pub struct Geometry {
    zones: Vec<Zone>,
    /// Zone of the first sector of each run of `1 << shift` sectors.
    zone_at: Vec<u8>,
    shift: u32,
    heads: u32,
    period: u32,
    period_divisor: Divisor,
    capacity: u64,
}

impl Geometry {
    /// Lays out a disk. Zones that the capacity does not reach are left out.
    pub fn new(spec: &MechanicalSpec) -> Result<Geometry, BuildError> {
        let mut zones: Vec<Zone> = Vec::new();
        reserve(&mut zones, spec.zones.len())?;
        let period = u64::from(spec.period_ns);
        let (mut start, mut angle) = (0u64, 0u64);
        for zone in &spec.zones {
            let tracks = u64::from(zone.sectors_per_track) * u64::from(spec.heads);
            let per_cylinder = tracks.saturating_sub(u64::from(zone.spares_per_cylinder));
            let bad = || BuildError::Zone { first_cylinder: zone.first_cylinder };
            let per_cylinder = u32::try_from(per_cylinder).ok().filter(|&n| n > 1).ok_or_else(bad)?;
            if zone.last_cylinder < zone.first_cylinder || zone.last_cylinder == u32::MAX {
                return Err(bad());
            }
            let follows = zones.last().is_none_or(|last: &Zone| last.last_cylinder < zone.first_cylinder);
            if !follows || zone.sectors_per_track == 0 {
                return Err(bad());
            }
            if start >= spec.capacity {
                break;
            }
            let cylinders = u64::from(zone.last_cylinder - zone.first_cylinder + 1);
            let end = start.saturating_add(cylinders.saturating_mul(u64::from(per_cylinder)));
            let track_skew = u64::from(zone.track_skew_ns) % period;
            let cylinder_skew = u64::from(zone.cylinder_skew_ns) % period;
            let sector_fp = (period << FRACTION) / u64::from(zone.sectors_per_track);
            let step = (u64::from(spec.heads - 1) * track_skew + cylinder_skew) % period;
            zones.push(Zone {
                start,
                end: end.min(spec.capacity),
                first_cylinder: zone.first_cylinder,
                last_cylinder: zone.last_cylinder,
                sectors_per_track: zone.sectors_per_track,
                per_cylinder,
                sector_fp,
                rate_fp: (1u64 << (FRACTION + RATE_FRACTION)) / sector_fp,
                cylinder_divisor: Divisor::new(u64::from(per_cylinder)),
                first_angle: angle,
                track_skew,
                cylinder_step: step,
            });
            start = end;
            // The next zone begins where the next cylinder of this one would.
            angle = (angle + cylinders * step) % period;
        }
        if start < spec.capacity || zones.is_empty() {
            return Err(BuildError::Capacity { wanted: spec.capacity, zones: start });
        }
        let (zone_at, shift) = index_zones(&zones, spec.capacity)?;
        Ok(Geometry {
            zones,
            zone_at,
            shift,
            heads: spec.heads,
            period: spec.period_ns,
            period_divisor: Divisor::new(period),
            capacity: spec.capacity,
        })
    }

    /// Addressable sectors.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Heads.
    pub fn heads(&self) -> u32 {
        self.heads
    }

    /// Time of one revolution in ns.
    #[inline]
    pub fn period(&self) -> u32 {
        self.period
    }

    /// The zones, by address.
    pub fn zones(&self) -> &[Zone] {
        &self.zones
    }

    /// The zone of a place.
    #[inline]
    pub fn zone(&self, place: &Place) -> &Zone {
        &self.zones[place.zone as usize]
    }

    /// Cylinders from the first to the last used one.
    pub fn cylinders(&self) -> u32 {
        self.zones.last().map_or(0, |zone| {
            zone.first_cylinder + ((zone.end - zone.start - 1) / u64::from(zone.per_cylinder)) as u32 + 1
        })
    }

    /// Where an address lies. The address must be below the capacity.
    #[inline]
    pub fn locate(&self, address: u64) -> Place {
        let mut index = usize::from(self.zone_at[(address >> self.shift) as usize]);
        while address >= self.zones[index].end {
            index += 1;
        }
        let zone = &self.zones[index];
        let relative = address - zone.start;
        let (cylinder, in_cylinder) = zone.cylinder_divisor.divide(relative);
        let in_cylinder = in_cylinder as u32;
        let head = in_cylinder / zone.sectors_per_track;
        let sector = in_cylinder - head * zone.sectors_per_track;
        let left = (zone.sectors_per_track - sector).min(zone.per_cylinder - in_cylinder);
        let turned = zone.first_angle
            + cylinder * zone.cylinder_step
            + u64::from(head) * zone.track_skew
            + zone.passing(sector);
        Place {
            cylinder: zone.first_cylinder + cylinder as u32,
            head,
            sector,
            left,
            angle: self.angle_at(turned),
            zone: index as u32,
        }
    }

    /// Angle under the heads at time `now`.
    #[inline]
    pub fn angle_at(&self, now: u64) -> u32 {
        self.period_divisor.divide(now).1 as u32
    }

    /// The angle `ns` after angle `from`.
    #[inline]
    pub fn turn(&self, from: u32, ns: u32) -> u32 {
        self.angle_at(u64::from(from) + u64::from(ns))
    }

    /// Time from angle `from` until angle `to` comes round: less than one revolution.
    #[inline]
    pub fn wait(&self, from: u32, to: u32) -> u32 {
        let wait = if to >= from { to - from } else { to + self.period - from };
        if wait + SLACK_NS >= self.period { 0 } else { wait }
    }
}

/// The lookup table from address to zone.
fn index_zones(zones: &[Zone], capacity: u64) -> Result<(Vec<u8>, u32), BuildError> {
    let shift = (u64::BITS - capacity.leading_zeros()).saturating_sub(8);
    let mut table = Vec::new();
    let entries = (capacity >> shift) as usize + 1;
    reserve(&mut table, entries)?;
    let mut zone = 0usize;
    for entry in 0..entries as u64 {
        while zone + 1 < zones.len() && (entry << shift) >= zones[zone].end {
            zone += 1;
        }
        let index = u8::try_from(zone).map_err(|_| BuildError::TooMany { what: "zones", limit: 256 })?;
        table.push(index);
    }
    Ok((table, shift))
}
