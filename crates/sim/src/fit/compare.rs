//! How far a model is from a recording: the same commands are given to it, and the service times compared.
//!
//! Each command goes to the model as long after a completion as it went to the disk, and beside as many others: a slower
//! model is given no more at once, and one that serves in another order no less. Compared are distributions, as the demerit figure does, but in classes of alike commands: a model that
//! is right on the whole and wrong for each kind of command is not taken for a good one.

use std::collections::BTreeMap;

use idlewise_core::{Instant, Sector, Sectors};
use idlewise_disk::{AnyModel, Command, DiskModel, SubmitError};

use super::rows::Row;

/// A class with fewer commands is put together with others: its distribution would be chance.
const CLASS_FEWEST: usize = 25;

/// Gives the commands of `rows` to a model; its service times, in the same order.
///
/// # Errors
/// A command that the model does not take.
pub(super) fn replay(disk: &mut AnyModel, rows: &[Row]) -> Result<Vec<u64>, SubmitError> {
    let mut run = Run { disk, done: vec![0; rows.len()], ends: Vec::with_capacity(rows.len()), now: 0 };
    let mut issued = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let before = index - row.beside as usize;
        while run.ends.len() < before && run.step(u64::MAX) {}
        let after = before.checked_sub(1).and_then(|last| run.ends.get(last));
        run.now = run.now.max(after.copied().unwrap_or(0) + row.gap);
        while run.step(run.now) {}
        let command = Command {
            tag: index as u32,
            operation: row.operation,
            start: Sector(row.start),
            length: Sectors(row.sectors),
            fua: row.fua,
        };
        loop {
            match run.disk.submit(Instant(run.now), command) {
                Err(SubmitError::Full { .. }) => run.step(u64::MAX),
                other => break other,
            };
        }?;
        issued.push(run.now);
    }
    while run.step(u64::MAX) {}
    Ok(issued.iter().zip(run.done).map(|(&issued, done)| done.saturating_sub(issued)).collect())
}

/// A model that is given the commands of a recording.
struct Run<'a> {
    disk: &'a mut AnyModel,
    /// When each command was done, and the same in order.
    done: Vec<u64>,
    ends: Vec<u64>,
    now: u64,
}

impl Run<'_> {
    /// Brings the disk to its next event; false if there is none by `until`.
    fn step(&mut self, until: u64) -> bool {
        let Some(at) = self.disk.next_event().filter(|at| at.0 <= until) else { return false };
        self.now = self.now.max(at.0);
        while let Some(completion) = self.disk.advance(at) {
            self.done[completion.tag as usize] = completion.at.0;
            self.ends.push(completion.at.0);
        }
        true
    }
}

/// What alike commands have in common, in order of importance: small classes are put together with the next.
pub(super) type Class = [u8; 4];

/// The classes of alike commands in a recording: the rows of each.
pub(super) struct Classes {
    /// What a share of a class's own mean counts beside a share of the whole mean.
    quick: f64,
    members: Vec<Vec<u32>>,
}

impl Classes {
    /// Classes by what `class` says of a row and the one before; a row of which it says nothing does not count.
    pub(super) fn of(
        rows: &[Row],
        quick: f64,
        class: impl Fn(Option<&Row>, &Row) -> Option<Class>,
    ) -> Classes {
        let mut found: BTreeMap<Class, Vec<u32>> = BTreeMap::new();
        for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.moves_data()) {
            let before = index.checked_sub(1).map(|before| &rows[before]);
            if let Some(class) = class(before, row) {
                found.entry(class).or_default().push(index as u32);
            }
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
        Classes { quick, members }
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
            let squares: f64 =
                measured.iter().zip(&model).map(|(&a, &b)| (a.abs_diff(b) as f64).powi(2)).sum();
            let own = measured.iter().map(|&time| time as f64).sum::<f64>().max(1.0);
            let rows = class.len() as f64;
            absolute += squares;
            relative += (squares / (own / rows).powi(2)).min(rows);
            (total, count) = (total + own, count + rows);
        }
        absolute / count / (total / count).powi(2) + self.quick * relative / count
    }
}
