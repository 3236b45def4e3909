//! The time of a revolution from places that were read more than once.
//!
//! A place passes under the head once a revolution. So the times at which commands for the same place were done differ
//! by whole revolutions, and commands for places a few sectors apart by little more. Over hundreds of revolutions that
//! is far sharper than the spread of service times.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use super::rows::Row;

/// Commands this near to each other, in sectors, pass at nearly the same angle on any track that is longer.
const NEAR: u64 = 128;

/// Revolutions between two commands, at most: farther apart the revolutions cannot be counted.
const TURNS: f64 = 400.0;

/// So many pairs of commands, and so much agreement among them (1 is full), show a revolution.
const PAIRS: usize = 60;
const AGREEMENT: f64 = 0.6;

/// More pairs show no more.
const PAIRS_MOST: usize = 800;

/// Parts of the time of a sector, all of which are tried.
const SECTOR_STEPS: u32 = 10;

/// Pairs with the commands before that one command makes at most.
const PARTNERS: usize = 8;

/// The time of a revolution within `within` (a share) of `about`, and by how much it may be off, as a share. `medium`
/// tells which rows went to the medium, `sector` the time of a sector there in ns.
pub(super) fn period(
    rows: &[Row],
    medium: impl Fn(&Row) -> bool,
    sector: impl Fn(&Row) -> f64,
    about: f64,
    within: f64,
) -> Option<(f64, f64)> {
    let mut places: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    let mut longest = 1.0f64;
    for row in rows.iter().filter(|row| row.alone && medium(row)) {
        if pairs.len() >= PAIRS_MOST {
            break;
        }
        let place = row.end() / NEAR;
        for near in [place.wrapping_sub(1), place, place + 1] {
            let before = places.get(&near).map_or(&[][..], Vec::as_slice);
            for old in before.iter().rev().take(PARTNERS) {
                let apart = (row.done - old.done) as f64;
                let angle = (row.end() as f64 - old.end() as f64) * sector(row);
                if apart < TURNS * about && apart > 2.0 * about && row.end().abs_diff(old.end()) <= NEAR {
                    pairs.push((apart, angle));
                    longest = longest.max(apart / about);
                }
            }
        }
        places.entry(place).or_default().push(*row);
    }
    if pairs.len() < PAIRS {
        return None;
    }
    let agreement = |period: f64, share: f64| {
        // All differences are whole revolutions: only what points to the start of one counts.
        let cosines =
            pairs.iter().map(|&(apart, angle)| (TAU * ((apart - angle * share) / period).fract()).cos());
        cosines.sum::<f64>() / pairs.len() as f64
    };
    let step = 1.0 / (20.0 * longest);
    let steps = (within / step).ceil() as i64;
    // A cable slower than the medium makes sectors seem longer than they are.
    let shares = || (0..=SECTOR_STEPS).map(|at| f64::from(at) / f64::from(SECTOR_STEPS));
    let best = (-steps..=steps)
        .map(|at| about * (1.0 + at as f64 * step))
        .flat_map(|period| shares().map(move |share| (period, share)))
        .map(|(period, share)| (agreement(period, share), period))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= AGREEMENT).then_some((best.1, step))
}
