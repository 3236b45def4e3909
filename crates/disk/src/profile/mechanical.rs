//! Profiles of mechanical disks: the TOML keys, and their compilation into integers.
//!
//! Keys carry their unit. Pairs are `[after a read, after a write]`. Numbers may be fractions here;
//! the compiled specification holds whole nanoseconds.

use super::error::Fault;
use super::number::{count, ns, ns_pair, share, signed_ns};
use crate::mechanical::{BufferSpec, ExtraDisconnect, MechanicalSpec, Overheads, ReadAhead, ZoneSpec};
use serde::Deserialize;
use std::format;
use std::vec::Vec;

/// Milliseconds in a minute, in ns.
const MINUTE_NS: f64 = 60e9;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mechanical {
    geometry: GeometryKeys,
    seek: SeekKeys,
    bus: BusKeys,
    #[serde(default)]
    queue: QueueKeys,
    #[serde(default)]
    overhead: OverheadKeys,
    buffer: BufferKeys,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GeometryKeys {
    capacity_sectors: u64,
    rotation_rpm: f64,
    heads: u32,
    zones: Vec<ZoneKeys>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ZoneKeys {
    first_cylinder: u32,
    last_cylinder: u32,
    sectors_per_track: u32,
    track_skew_sectors: f64,
    cylinder_skew_sectors: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeekKeys {
    head_switch_ms: f64,
    write_settle_ms: f64,
    #[serde(default)]
    points_cylinders_ms: Vec<(u32, f64)>,
    formula: Option<FormulaKeys>,
}

/// The seek equation of Ruemmler and Wilkes: a root below a distance, a line from it on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FormulaKeys {
    boundary_cylinders: u32,
    near_ms: f64,
    near_root_ms: f64,
    far_ms: f64,
    far_cylinder_ms: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BusKeys {
    read_sector_us: f64,
    write_sector_us: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct QueueKeys {
    depth: u32,
    age_limit_ms: f64,
    preseek: bool,
}

impl Default for QueueKeys {
    fn default() -> QueueKeys {
        QueueKeys { depth: 1, age_limit_ms: 0.0, preseek: false }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OverheadKeys {
    request_ms: f64,
    read_hit_ms: [f64; 2],
    read_miss_ms: [f64; 2],
    write_hit_ms: [f64; 2],
    write_miss_ms: [f64; 2],
    read_completion_ms: f64,
    write_completion_ms: f64,
    data_preparation_ms: f64,
    reselect_first_ms: f64,
    reselect_other_ms: f64,
    disconnect_read_ms: [f64; 2],
    disconnect_write_ms: f64,
    minimum_write_seek_ms: f64,
    extra_disconnect: Option<ExtraDisconnectKeys>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExtraDisconnectKeys {
    command_ms: f64,
    disconnect_ms: f64,
    pause_ms: f64,
    second_disconnect_ms: f64,
    seek_delta_ms: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BufferKeys {
    segments: u32,
    segment_sectors: u32,
    write_segments: u32,
    read_cache: bool,
    write_cache: bool,
    read_ahead: ReadAhead,
    read_ahead_sectors: u32,
    #[serde(default)]
    read_ahead_over_requested: bool,
    #[serde(default)]
    read_ahead_on_hit: bool,
    #[serde(default)]
    separate_write_segment: bool,
    #[serde(default)]
    prebuffer_writes: bool,
    #[serde(default)]
    hits_while_busy: bool,
    #[serde(default)]
    almost_hits: bool,
    #[serde(default)]
    combine_writes: bool,
    #[serde(default)]
    hits_on_writes: bool,
    #[serde(default)]
    immediate_read: bool,
    #[serde(default)]
    immediate_write: bool,
    #[serde(default)]
    read_free_sectors: bool,
    #[serde(default)]
    stop_in_sector: bool,
    #[serde(default)]
    read_watermark_share: f64,
}

impl Mechanical {
    /// Compiles the profile into integers.
    pub(super) fn compile(&self) -> Result<MechanicalSpec, Fault> {
        let geometry = &self.geometry;
        let rpm = geometry.rotation_rpm;
        if !(60.0..=1e6).contains(&rpm) {
            return Err(Fault::new(
                "geometry.rotation_rpm",
                format!("{rpm} is not a rotation speed; give revolutions a minute, such as 7200"),
            ));
        }
        let heads = count("geometry.heads", geometry.heads)?;
        if geometry.capacity_sectors == 0 {
            return Err(Fault::new("geometry.capacity_sectors", "is zero; give the number of sectors"));
        }
        let period = MINUTE_NS / rpm;
        Ok(MechanicalSpec {
            capacity: geometry.capacity_sectors,
            heads,
            period_ns: period.round() as u32,
            zones: self.zones(period)?,
            seek: self.seek.points(geometry.zones.last().map_or(0, |zone| zone.last_cylinder))?,
            head_switch_ns: ns("seek.head_switch_ms", self.seek.head_switch_ms, 1e6)?,
            write_settle_ns: signed_ns("seek.write_settle_ms", self.seek.write_settle_ms)?,
            bus_read_ns: ns("bus.read_sector_us", self.bus.read_sector_us, 1e3)?,
            bus_write_ns: ns("bus.write_sector_us", self.bus.write_sector_us, 1e3)?,
            depth: count("queue.depth", self.queue.depth)?,
            age_limit_ns: u64::from(ns("queue.age_limit_ms", self.queue.age_limit_ms, 1e6)?),
            preseek: self.queue.preseek,
            overheads: self.overhead.compile()?,
            buffer: self.buffer.compile()?,
        })
    }

    /// The zones. Sectors that the tracks have beyond the capacity are spares, spread evenly.
    fn zones(&self, period: f64) -> Result<Vec<ZoneSpec>, Fault> {
        let geometry = &self.geometry;
        let key = "geometry.zones";
        let heads = u64::from(geometry.heads);
        let mut nominal = 0u64;
        let mut next = 0u64;
        for zone in &geometry.zones {
            let first = u64::from(zone.first_cylinder);
            if first < next || zone.last_cylinder < zone.first_cylinder || zone.sectors_per_track == 0 {
                return Err(Fault::new(
                    key,
                    format!(
                        "the zone at cylinder {first} is empty or overlaps the one before; list zones by \
                         ascending cylinder, with at least one sector on a track"
                    ),
                ));
            }
            next = u64::from(zone.last_cylinder) + 1;
            nominal = nominal.saturating_add((next - first) * heads * u64::from(zone.sectors_per_track));
        }
        let capacity = geometry.capacity_sectors;
        if nominal < capacity {
            return Err(Fault::new(
                "geometry.capacity_sectors",
                format!("{capacity}, but the zones hold {nominal} sectors; lower it or extend the zones"),
            ));
        }
        let spare = (nominal - capacity) as f64 / nominal as f64;
        geometry.zones.iter().map(|zone| zone.compile(period, geometry.heads, spare)).collect()
    }
}

impl ZoneKeys {
    fn compile(&self, period: f64, heads: u32, spare: f64) -> Result<ZoneSpec, Fault> {
        let sector = period / f64::from(self.sectors_per_track);
        let skew = |value: f64| -> Result<u32, Fault> {
            if !(0.0..=f64::from(self.sectors_per_track)).contains(&value) {
                return Err(Fault::new(
                    "geometry.zones",
                    format!("a skew of {value} sectors; give 0 to the number of sectors on a track"),
                ));
            }
            Ok((value * sector).round() as u32)
        };
        Ok(ZoneSpec {
            first_cylinder: self.first_cylinder,
            last_cylinder: self.last_cylinder,
            sectors_per_track: self.sectors_per_track,
            track_skew_ns: skew(self.track_skew_sectors)?,
            cylinder_skew_ns: skew(self.cylinder_skew_sectors)?,
            spares_per_cylinder: (f64::from(self.sectors_per_track) * f64::from(heads) * spare) as u32,
        })
    }
}

impl SeekKeys {
    fn points(&self, last_cylinder: u32) -> Result<Vec<(u32, u32)>, Fault> {
        match (&self.formula, self.points_cylinders_ms.is_empty()) {
            (None, true) => Err(Fault::new("seek", "needs points_cylinders_ms or formula; add one")),
            (Some(_), false) => {
                Err(Fault::new("seek", "has both points_cylinders_ms and formula; remove one"))
            }
            (None, false) => {
                let key = "seek.points_cylinders_ms";
                let points = &self.points_cylinders_ms;
                if points[0].0 == 0 || !points.is_sorted_by(|a, b| a.0 < b.0) {
                    return Err(Fault::new(key, "distances must ascend, from 1 cylinder up; sort them"));
                }
                points.iter().map(|&(distance, ms)| Ok((distance, ns(key, ms, 1e6)?))).collect()
            }
            (Some(formula), true) => formula.points(last_cylinder.max(1)),
        }
    }
}

impl FormulaKeys {
    /// Samples the formula: every distance at first, then steps of about 3 %, and both sides of the boundary.
    fn points(&self, longest: u32) -> Result<Vec<(u32, u32)>, Fault> {
        let mut points = Vec::new();
        let boundary = self.boundary_cylinders;
        let mut distance = 1u32;
        while distance <= longest {
            let d = f64::from(distance);
            let ms = if distance < boundary {
                self.near_ms + self.near_root_ms * d.sqrt()
            } else {
                self.far_ms + self.far_cylinder_ms * d
            };
            points.push((distance, ns("seek.formula", ms, 1e6)?));
            let next = distance + (distance / 32).max(1);
            let edges = [boundary.saturating_sub(1), boundary, longest];
            distance = edges.into_iter().filter(|&e| e > distance && e < next).min().unwrap_or(next);
        }
        Ok(points)
    }
}

impl OverheadKeys {
    fn compile(&self) -> Result<Overheads, Fault> {
        let one = |key: &str, ms: f64| ns(&format!("overhead.{key}"), ms, 1e6);
        let two = |key: &str, ms: [f64; 2]| ns_pair(&format!("overhead.{key}"), ms);
        let extra_disconnect = match &self.extra_disconnect {
            None => None,
            Some(extra) => {
                let one = |key: &str, ms: f64| ns(&format!("overhead.extra_disconnect.{key}"), ms, 1e6);
                Some(ExtraDisconnect {
                    command_ns: one("command_ms", extra.command_ms)?,
                    disconnect_ns: one("disconnect_ms", extra.disconnect_ms)?,
                    pause_ns: one("pause_ms", extra.pause_ms)?,
                    second_disconnect_ns: one("second_disconnect_ms", extra.second_disconnect_ms)?,
                    seek_delta_ns: one("seek_delta_ms", extra.seek_delta_ms)?,
                })
            }
        };
        Ok(Overheads {
            request_ns: one("request_ms", self.request_ms)?,
            read_hit_ns: two("read_hit_ms", self.read_hit_ms)?,
            read_miss_ns: two("read_miss_ms", self.read_miss_ms)?,
            write_hit_ns: two("write_hit_ms", self.write_hit_ms)?,
            write_miss_ns: two("write_miss_ms", self.write_miss_ms)?,
            read_completion_ns: one("read_completion_ms", self.read_completion_ms)?,
            write_completion_ns: one("write_completion_ms", self.write_completion_ms)?,
            data_preparation_ns: one("data_preparation_ms", self.data_preparation_ms)?,
            reselect_first_ns: one("reselect_first_ms", self.reselect_first_ms)?,
            reselect_other_ns: one("reselect_other_ms", self.reselect_other_ms)?,
            disconnect_read_ns: two("disconnect_read_ms", self.disconnect_read_ms)?,
            disconnect_write_ns: one("disconnect_write_ms", self.disconnect_write_ms)?,
            minimum_write_seek_ns: one("minimum_write_seek_ms", self.minimum_write_seek_ms)?,
            extra_disconnect,
        })
    }
}

impl BufferKeys {
    fn compile(&self) -> Result<BufferSpec, Fault> {
        Ok(BufferSpec {
            read_cache: self.read_cache,
            write_cache: self.write_cache,
            segments: count("buffer.segments", self.segments)?,
            segment_sectors: count("buffer.segment_sectors", self.segment_sectors)?,
            write_segments: count("buffer.write_segments", self.write_segments)?,
            read_ahead_on_hit: self.read_ahead_on_hit,
            read_ahead_over_requested: self.read_ahead_over_requested,
            separate_write_segment: self.separate_write_segment,
            prebuffer_writes: self.prebuffer_writes,
            hits_while_busy: self.hits_while_busy,
            almost_hits: self.almost_hits,
            combine_writes: self.combine_writes,
            read_ahead: self.read_ahead,
            read_ahead_sectors: self.read_ahead_sectors,
            hits_on_writes: self.hits_on_writes,
            immediate_read: self.immediate_read,
            immediate_write: self.immediate_write,
            read_free_sectors: self.read_free_sectors,
            stop_in_sector: self.stop_in_sector,
            read_watermark: share("buffer.read_watermark_share", self.read_watermark_share)?,
        })
    }
}
