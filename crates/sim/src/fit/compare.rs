//! How far a model is from a recording: the same commands are given to it, and the service times compared.
//!
//! Each command goes to the model as long after a completion as it went to the disk, so that a slower model is given no
//! more at once. Compared are distributions, as the demerit figure does, but in classes of alike commands: a model that
//! is right on the whole and wrong for each kind of command is not taken for a good one.

use std::collections::BTreeMap;

use idlewise_core::{Instant, Operation, Sector, Sectors};
use idlewise_disk::{AnyModel, Command, DiskModel, SubmitError};

use super::rows::Row;

/// A class with fewer commands is put together with others: its distribution would be chance.
const CLASS_FEWEST: usize = 25;

/// What a share of a class's own mean counts beside a share of the whole mean.
const QUICK_WEIGHT: f64 = 0.1;

/// Gives the commands of `rows` to a model; its service times, in the same order.
///
/// # Errors
/// A command that the model does not take.
pub(super) fn replay(disk: &mut AnyModel, rows: &[Row]) -> Result<Vec<u64>, SubmitError> {
    let mut times = vec![(0u64, None::<u64>); rows.len()];
    let mut now = 0;
    for (index, row) in rows.iter().enumerate() {
        let ready = match row.after {
            None => row.issued - rows[0].issued,
            Some(after) => {
                let gap = row.issued - rows[after as usize].done;
                loop {
                    if let Some(done) = times[after as usize].1 {
                        break done + gap;
                    }
                    now = step(disk, u64::MAX, &mut times).unwrap_or(now).max(now);
                }
            }
        };
        now = now.max(ready);
        while step(disk, now, &mut times).is_some() {}
        let command = Command {
            tag: index as u32,
            operation: row.operation,
            start: Sector(row.start),
            length: Sectors(row.sectors),
            fua: false,
        };
        loop {
            match disk.submit(Instant(now), command) {
                Ok(()) => break,
                Err(SubmitError::Full { .. }) => {
                    now = step(disk, u64::MAX, &mut times).unwrap_or(now).max(now);
                }
                Err(error) => return Err(error),
            }
        }
        times[index].0 = now;
    }
    while step(disk, u64::MAX, &mut times).is_some() {}
    Ok(times.iter().map(|&(issued, done)| done.unwrap_or(issued) - issued).collect())
}

/// Brings the disk to its next event, if that is by `until`; notes what completed. Gives the time.
fn step(disk: &mut AnyModel, until: u64, times: &mut [(u64, Option<u64>)]) -> Option<u64> {
    let at = disk.next_event()?;
    if at.0 > until {
        return None;
    }
    while let Some(completion) = disk.advance(at) {
        times[completion.tag as usize].1 = Some(completion.at.0);
    }
    Some(at.0)
}

/// How far the arm has to go for a command after the one before, in classes.
pub(super) fn distance_class(before: &Row, row: &Row, capacity: u64) -> u8 {
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

/// The classes of alike commands in a recording: the rows of each.
pub(super) struct Classes {
    members: Vec<Vec<u32>>,
}

impl Classes {
    /// Classes of the rows that are `counted`.
    pub(super) fn of(rows: &[Row], capacity: u64, counted: impl Fn(&Row) -> bool) -> Classes {
        let mut found: BTreeMap<(u8, u8, u8, u8), Vec<u32>> = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            if !row.moves_data() || !counted(row) {
                continue;
            }
            let read = row.operation == Operation::Read;
            let before = index.checked_sub(1).map(|before| &rows[before]);
            let distance = before.map_or(8, |before| distance_class(before, row, capacity));
            let after_read = before.is_none_or(|before| before.operation == Operation::Read);
            let size = u8::from(row.sectors > 16) + u8::from(row.sectors > 128);
            let direction = u8::from(read) * 2 + u8::from(after_read);
            let crowd = (32 - row.beside.leading_zeros()) as u8;
            found.entry((direction, crowd, size, distance)).or_default().push(index as u32);
        }
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut rest = Vec::new();
        for mut class in found.into_values() {
            rest.append(&mut class);
            if rest.len() >= CLASS_FEWEST {
                members.push(std::mem::take(&mut rest));
            }
        }
        match members.last_mut() {
            Some(last) => last.append(&mut rest),
            None => members.push(rest),
        }
        Classes { members }
    }

    /// How far service times are from those measured, class by class: the mean square distance between the
    /// distributions, as a share of the mean; and a little of the same as a share of each class's own mean, so that
    /// what is quick counts too.
    pub(super) fn distance(&self, measured: &[u64], model: &[u64]) -> f64 {
        let (mut absolute, mut relative, mut total, mut count) = (0.0, 0.0, 0.0, 0.0);
        for class in &self.members {
            let sorted = |times: &[u64]| {
                let mut list: Vec<u64> = class.iter().map(|&index| times[index as usize]).collect();
                list.sort_unstable();
                list
            };
            let (measured, model) = (sorted(measured), sorted(model));
            let squares: f64 = measured.iter().zip(&model).map(|(&a, &b)| (a.abs_diff(b) as f64).powi(2)).sum();
            let own = measured.iter().map(|&time| time as f64).sum::<f64>().max(1.0);
            let rows = class.len() as f64;
            absolute += squares;
            relative += (squares / (own / rows).powi(2)).min(rows);
            (total, count) = (total + own, count + rows);
        }
        absolute / count / (total / count).powi(2) + QUICK_WEIGHT * relative / count
    }
}
