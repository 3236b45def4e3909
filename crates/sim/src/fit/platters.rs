//! A disk with platters as a fit sees it, and its profile.
//!
//! A recording does not show heads. So a fitted disk has one, and its tracks lie one beside the other: seek time is by
//! distance in tracks, and to go to the next one takes what a real drive needs for the next head.

use std::fmt::Write as _;

/// Zones of a fitted disk: equal shares of the addresses.
pub(super) const ZONES: usize = 64;

/// Distances at which a fit knows the seek time, as shares of the tracks, after the distance of one track.
pub(super) const KNOTS: [f64; 11] = [
    1.0 / 16384.0,
    1.0 / 4096.0,
    1.0 / 1024.0,
    1.0 / 256.0,
    1.0 / 64.0,
    1.0 / 24.0,
    1.0 / 10.0,
    0.2,
    0.4,
    0.7,
    1.0,
];

/// Points on the curve between two knots: lines between them follow a root closely.
const BETWEEN: u32 = 6;

/// Rotation beyond the switching time that the skew leaves, as a share of a revolution.
const SKEW_SPARE: f64 = 0.02;

/// How far a fitted drive reads on, as profiles have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    None,
    Track,
    Segment,
    Adaptive,
}

impl Ahead {
    pub(super) const ALL: [Ahead; 4] = [Ahead::None, Ahead::Track, Ahead::Segment, Ahead::Adaptive];

    fn name(self) -> &'static str {
        match self {
            Ahead::None => "none",
            Ahead::Track => "track",
            Ahead::Segment => "segment",
            Ahead::Adaptive => "adaptive",
        }
    }
}

/// What a recording has, so that it can show how a disk treats it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Reads near earlier ones, which show the buffer.
    pub(super) near_reads: bool,
    pub(super) writes: bool,
}

/// Which parts the recording tells from others that are half and twice as large.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    pub(super) buffer: bool,
    pub(super) ahead: bool,
    pub(super) cable: bool,
    pub(super) settle: bool,
}

/// A disk with platters. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Platters {
    /// Sectors.
    pub(super) capacity: u64,
    /// Time of a revolution.
    pub(super) period: f64,
    /// Sequential rate by zone, in bytes a second.
    pub(super) rates: [f64; ZONES],
    /// Time to the next track, then by how much each knot of the seek curve is above the one before.
    pub(super) seek: [f64; KNOTS.len() + 1],
    /// By how much a write settles longer than a read.
    pub(super) settle: f64,
    /// A sector on the cable.
    pub(super) bus: f64,
    /// Controller times, each after a read and after a write.
    pub(super) read_hit: [f64; 2],
    pub(super) read_miss: [f64; 2],
    pub(super) write_hit: [f64; 2],
    pub(super) write_miss: [f64; 2],
    pub(super) segments: u32,
    pub(super) segment_sectors: f64,
    pub(super) ahead: Ahead,
    pub(super) write_cache: bool,
    pub(super) write_segments: u32,
    pub(super) hits_on_writes: bool,
    pub(super) ahead_on_hit: bool,
    pub(super) keeps_passed: bool,
    pub(super) depth: u32,
    /// What may be changed to fit.
    pub(super) seen: Seen,
}

impl Platters {
    /// Seek times in ns at one track and at each knot.
    pub(super) fn seek_times(&self) -> [f64; KNOTS.len() + 1] {
        let mut sum = 0.0;
        self.seek.map(|step| {
            sum += step.max(0.0);
            sum
        })
    }

    /// The skew of a track, in ns.
    fn skew(&self) -> f64 {
        (self.seek[0] + self.settle.max(0.0) + SKEW_SPARE * self.period).min(0.9 * self.period)
    }

    /// Sectors on a track of each zone, and its tracks.
    pub(super) fn zones(&self) -> [(u32, u32); ZONES] {
        let share = self.capacity.div_ceil(ZONES as u64);
        self.rates.map(|rate| {
            let sectors = (rate * (self.period + self.skew()) / 512e9).round().clamp(2.0, 1e6) as u32;
            (sectors, share.div_ceil(u64::from(sectors)).max(1) as u32)
        })
    }

    /// All tracks.
    pub(super) fn tracks(&self) -> f64 {
        self.zones().iter().map(|&(_, tracks)| f64::from(tracks)).sum()
    }

    /// Distances in tracks, and the time to go there in ms.
    fn curve(&self) -> Vec<(u32, f64)> {
        let tracks = self.tracks();
        let times = self.seek_times();
        let mut points = vec![(1, times[0] / 1e6)];
        let (mut from, mut before) = (1.0f64, times[0]);
        for (&share, &time) in KNOTS.iter().zip(&times[1..]) {
            let to = (share * tracks).max(from);
            for step in 1..=BETWEEN {
                let part = f64::from(step) / f64::from(BETWEEN);
                // A root between knots, as arms accelerate.
                let root = from.sqrt() + (to.sqrt() - from.sqrt()) * part;
                let distance = (root * root).round() as u32;
                if points.last().is_none_or(|&(last, _)| last < distance) {
                    points.push((distance, (before + (time - before) * part) / 1e6));
                }
            }
            (from, before) = (to, time);
        }
        points
    }

    /// The profile's text. `description` and `source` must fit between quotes; `note` gives what is said beside a part.
    pub(super) fn profile(&self, description: &str, source: &str, note: &dyn Fn(&str) -> String) -> String {
        let mut text = String::new();
        let skew = self.skew();
        let _ = write!(
            text,
            "kind = \"mechanical\"\ndescription = \"{description}\"\nsource = \"{source}\"\n\n\
             [geometry]\n{}capacity_sectors = {}\n{}rotation_rpm = {:.3}\n\
             # One head: a recording does not show heads, so tracks lie one beside the other.\nheads = 1\n\
             {}zones = [\n",
            note("capacity"),
            self.capacity,
            note("rotation"),
            60e9 / self.period,
            note("zones"),
        );
        let mut first = 0;
        for (sectors, tracks) in self.zones() {
            let skew = (skew / self.period * f64::from(sectors)).ceil().min(f64::from(sectors));
            let last = first + tracks - 1;
            let _ = writeln!(
                text,
                "  {{ first_cylinder = {first}, last_cylinder = {last}, sectors_per_track = {sectors}, \
                 track_skew_sectors = 0, cylinder_skew_sectors = {skew} }},"
            );
            first = last + 1;
        }
        let _ = write!(
            text,
            "]\n\n[seek]\nhead_switch_ms = 0\n{}write_settle_ms = {:.4}\n{}points_cylinders_ms = [",
            note("write settle"),
            self.settle / 1e6,
            note("positioning"),
        );
        for (index, (distance, ms)) in self.curve().into_iter().enumerate() {
            text.push_str(if index % 8 == 0 { "\n  " } else { " " });
            let _ = write!(text, "[{distance}, {ms:.4}],");
        }
        let pair = |[read, write]: [f64; 2]| format!("[{:.5}, {:.5}]", read / 1e6, write / 1e6);
        let _ = write!(
            text,
            "\n]\n\n[bus]\n{}read_sector_us = {:.4}\nwrite_sector_us = {:.4}\n\n[queue]\n{}depth = {}\n",
            note("cable"),
            self.bus / 1e3,
            self.bus / 1e3,
            note("depth"),
            self.depth,
        );
        if self.depth > 1 {
            text.push_str("age_limit_ms = 500\npreseek = true\n");
        }
        let _ = write!(
            text,
            "\n# Pairs: after a read, after a write.\n[overhead]\n{}read_hit_ms = {}\nread_miss_ms = {}\nwrite_hit_ms = {}\nwrite_miss_ms = {}\n",
            note("overhead"),
            pair(self.read_hit),
            pair(self.read_miss),
            pair(self.write_hit),
            pair(self.write_miss),
        );
        self.buffer(&mut text, note);
        text
    }

    fn buffer(&self, text: &mut String, note: &dyn Fn(&str) -> String) {
        let sectors = self.segment_sectors.round().max(1.0) as u32;
        let deep = self.depth > 1;
        let _ = write!(
            text,
            "\n[buffer]\n{}segments = {}\nsegment_sectors = {sectors}\n{}read_cache = true\nread_ahead = \"{}\"\n\
             read_ahead_sectors = {sectors}\nread_ahead_on_hit = {}\nread_free_sectors = {}\n\
             {}write_cache = {}\nwrite_segments = {}\nprebuffer_writes = {}\ncombine_writes = true\n\
             hits_on_writes = {}\nhits_while_busy = {deep}\nalmost_hits = true\nstop_in_sector = true\n",
            note("buffer"),
            self.segments,
            note("read-ahead"),
            self.ahead.name(),
            self.ahead_on_hit,
            self.keeps_passed,
            note("write cache"),
            self.write_cache,
            self.write_segments,
            self.write_cache,
            self.hits_on_writes,
        );
    }
}
