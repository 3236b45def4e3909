//! Transfer rates by zone, from long sequential runs.
//!
//! A run counts when the disk was never left idle in it for long. Its first half is passed over: the drive may have had
//! that in its buffer. Where no run is, the rate follows from those elsewhere: tracks get shorter inwards evenly, so
//! that the square of the rate falls in a line with the address.

use super::platters::ZONES;
use super::rows::Row;

/// A run shows the medium if its second half is that long, in sectors: more than most tracks, and the switch between
/// two.
const RUN_SECTORS: u64 = 4096;

/// The host may keep the disk waiting between two commands for that share of the time; for the second one if the drive
/// is seen to read on meanwhile.
const IDLE_SHARE: f64 = 0.02;
const READ_ON_SHARE: f64 = 0.15;

/// Commands that come more often lost no revolution: the time of one at 15 000 a minute, in ns.
const OFTEN_NS: f64 = 4e6;

/// Commands that had to wait for the next track take this many times what others take; what waits in the buffer does not.
const SWITCH: f64 = 1.3;

/// The last zone's rate as a share of the first one's, where nothing shows it: drives have 0.45 to 0.7.
pub(super) const RATIO: f64 = 0.6;

/// Ratios that are tried where positioning may show which one it is.
pub(super) const RATIOS: [f64; 5] = [0.6, 0.5, 0.7, 0.8, 1.0];

/// Runs over less than this share of the addresses do not show how the rate falls.
const WIDE: f64 = 0.25;

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rates {
    /// Bytes a second, by zone.
    pub(super) zones: [f64; ZONES],
    /// In how many zones there were runs.
    pub(super) seen: usize,
    /// Runs.
    pub(super) runs: usize,
}

/// The share of the first zone's rate that is left at each zone, if the last one has `ratio`.
pub(super) fn shape(ratio: f64) -> [f64; ZONES] {
    std::array::from_fn(|zone| {
        let at = (zone as f64 + 0.5) / ZONES as f64;
        (1.0 - (1.0 - ratio * ratio) * at).max(0.01).sqrt()
    })
}

/// The rate of a disk of which nothing is known but its size: density grows with the third root of the capacity. The
/// disks among the profiles lie within a third of it.
pub(super) fn usual(capacity: u64) -> f64 {
    20e6 * (capacity as f64 * 512.0 / 9e9).powf(0.34)
}

/// Rates from the sequential runs in `rows`, if there are any. `medium` tells which rows went there. A run is one in the order
/// in which commands were done: nothing else was done between them.
pub(super) fn rates(rows: &[Row], capacity: u64, medium: impl Fn(&Row) -> bool) -> Option<Rates> {
    let mut done: Vec<Row> = rows.to_vec();
    done.sort_by_key(|row| (row.done, row.issued));
    let mut found: Vec<(f64, f64)> = Vec::new();
    let goes_on = |a: &Row, b: &Row| medium(b) && b.operation == a.operation && b.start == a.end();
    for run in done.chunk_by(goes_on) {
        found.extend(rate(run).map(|(at, rate)| (at as f64 / capacity as f64, rate)));
    }
    let runs = found.len();
    let mut seen = places(found);
    // Outwards no zone is slower: a run that seems so had to wait for something else.
    for at in (1..seen.len()).rev() {
        seen[at - 1].1 = seen[at - 1].1.max(seen[at].1);
    }
    Some(Rates { zones: spread(&seen)?, seen: seen.len(), runs })
}

/// One rate for each zone that has runs: where, and how fast.
fn places(mut found: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let zone = |at: f64| (at * ZONES as f64) as usize;
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
        .chunk_by(|a, b| zone(a.0) == zone(b.0))
        .map(|runs| {
            let mut runs = runs.to_vec();
            runs.sort_by(|a, b| a.1.total_cmp(&b.1));
            // The host may have been slow in some; the disk was not fast in any.
            runs[(runs.len() - 1) * 3 / 4]
        })
        .collect()
}

/// Where a run lies and its rate in bytes a second.
fn rate(run: &[Row]) -> Option<(u64, f64)> {
    let half = run.len() / 2;
    let (from, last) = (run.get(half)?, run.last()?);
    let sectors = last.end() - from.end();
    if sectors < RUN_SECTORS || last.done <= from.done {
        return None;
    }
    let time = (last.done - from.done) as f64;
    let second = &run[half..];
    let idle: u64 = second.windows(2).map(|two| two[1].issued.saturating_sub(two[0].done)).sum();
    let mut services: Vec<u64> = second.iter().map(Row::service).collect();
    services.sort_unstable();
    let [middle, longest] = [services.len() / 2, services.len() - 1].map(|at| services[at] as f64);
    let reads_on = time / (second.len() as f64) < OFTEN_NS && longest > SWITCH * middle;
    let most = if reads_on { READ_ON_SHARE } else { IDLE_SHARE };
    (idle as f64 <= most * time).then(|| (from.end() + sectors / 2, sectors as f64 * 512e9 / time))
}

/// Rates of all zones, from those seen at some places. The squares of the rates make a line; where a rate was seen the
/// line is bent to it.
fn spread(seen: &[(f64, f64)]) -> Option<[f64; ZONES]> {
    let (&(first, any), &(last, _)) = (seen.first()?, seen.last()?);
    let count = seen.len() as f64;
    let mean_x = seen.iter().map(|&(at, _)| at).sum::<f64>() / count;
    let mean_y = seen.iter().map(|&(_, rate)| rate * rate).sum::<f64>() / count;
    let xx: f64 = seen.iter().map(|&(at, _)| (at - mean_x).powi(2)).sum();
    let xy: f64 = seen.iter().map(|&(at, rate)| (at - mean_x) * (rate * rate - mean_y)).sum();
    let usual = -(1.0 - RATIO * RATIO);
    // Zones beside each other do not show how the rate falls over the whole disk.
    let wide = last - first >= WIDE;
    let slope = if wide { (xy / xx).min(0.0) } else { usual * mean_y / (1.0 + usual * mean_x) };
    let line = |at: f64| (mean_y + slope * (at - mean_x)).max(any * any / 100.0).sqrt();
    let bend = |at: f64| {
        // Before the first place and after the last one it bends on, as far as to the next place.
        let after = seen.partition_point(|&(place, _)| place < at).clamp(1, seen.len().max(2) - 1);
        let (a, b) = (seen[after - 1], seen[after.min(seen.len() - 1)]);
        let part = if b.0 > a.0 { (at - a.0) / (b.0 - a.0) } else { 0.0 };
        let of = |(place, rate): (f64, f64)| rate / line(place);
        of(a) + (of(b) - of(a)) * part.clamp(-1.0, 2.0)
    };
    Some(std::array::from_fn(|zone| {
        let at = (zone as f64 + 0.5) / ZONES as f64;
        line(at) * bend(at)
    }))
}
