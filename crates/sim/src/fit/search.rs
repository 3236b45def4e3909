//! Refining a fitted disk: parameters are tried a little larger and a little smaller, and what is nearer to the
//! recording is kept.

use idlewise_disk::Profile;

use super::compare::{Class, Classes, replay};
use super::rows::{self, Row};

/// The first step, as a share of the parameter; halved until it is below the last.
const FIRST_STEP: f64 = 0.3;
const LAST_STEP: f64 = 0.01;

/// What is not nearer by this share is not nearer: chance would choose. A choice changes much at once, so that it must
/// show.
const NEARER: f64 = 0.9995;
const CHOICE_NEARER: f64 = 0.99;

/// Rows that are replayed at each try, from this many stretches of the recording.
const ROWS: usize = 12_000;
const STRETCHES: usize = 6;

/// A disk that can be fitted.
pub(super) trait Shape: Clone {
    /// The text of its profile, without comments.
    fn text(&self) -> String;

    /// The same disk with another choice of what is no number.
    fn choices(&self) -> Vec<Self>;
}

/// One parameter: changes a disk by a step, a share of the parameter; negative makes it smaller.
pub(super) type Change<S> = Box<dyn Fn(&S, f64) -> S>;

/// A parameter that grows and shrinks by a share, and by that share of `least`, which it does not fall below.
pub(super) fn scale<S: Clone + 'static>(of: impl Fn(&mut S) -> &mut f64 + 'static, least: f64) -> Change<S> {
    Box::new(move |disk, step| {
        let mut disk = disk.clone();
        let value = of(&mut disk);
        let factor = if step > 0.0 { 1.0 + step } else { 1.0 / (1.0 - step) };
        *value = (*value * factor + least * step).max(least);
        disk
    })
}

/// What disks are compared with.
pub(super) struct Goal {
    rows: Vec<Row>,
    measured: Vec<u64>,
    classes: Classes,
}

impl Goal {
    /// Disks are compared by the rows that have a class; all are replayed. A class's own mean counts `quick` beside
    /// the whole mean.
    pub(super) fn new(rows: &[Row], quick: f64, class: impl Fn(Option<&Row>, &Row) -> Option<Class>) -> Goal {
        let rows = if rows.len() <= ROWS { rows.to_vec() } else { spread(rows) };
        let measured = rows.iter().map(Row::service).collect();
        let classes = Classes::of(&rows, quick, class);
        Goal { rows, measured, classes }
    }

    /// How far a disk is off. Infinite for what is no disk.
    pub(super) fn miss(&self, disk: &impl Shape) -> f64 {
        let model = Profile::parse("", "", &disk.text()).ok().and_then(|profile| profile.build().ok());
        let times = model.and_then(|mut model| replay(&mut model, &self.rows).ok());
        times.map_or(f64::INFINITY, |times| self.classes.distance(&self.measured, &times))
    }
}

/// Some stretches of a long recording.
fn spread(rows: &[Row]) -> Vec<Row> {
    let stretch = ROWS / STRETCHES;
    let from = |index: usize| index * (rows.len() - stretch) / (STRETCHES - 1);
    let mut kept: Vec<Row> = Vec::with_capacity(ROWS);
    for index in 0..STRETCHES {
        // Neighbouring stretches of a recording that is hardly longer overlap.
        let first = if index == 0 { 0 } else { from(index).max(from(index - 1) + stretch) };
        kept.extend_from_slice(&rows[first.min(rows.len())..(first + stretch).min(rows.len())]);
    }
    rows::link(&mut kept);
    kept
}

/// Whether the recording tells a disk from all of `others`: each is clearly farther from it.
pub(super) fn tells<S: Shape>(goal: &Goal, disk: &S, others: &[S]) -> bool {
    let most = goal.miss(disk) / CHOICE_NEARER;
    others.iter().all(|other| goal.miss(other) > most)
}

/// The disk near `start` that is nearest to the recording.
pub(super) fn refine<S: Shape>(goal: &Goal, start: S, numbers: &[Change<S>]) -> S {
    let mut best = (goal.miss(&start), start);
    let mut step = FIRST_STEP;
    while step >= LAST_STEP {
        for disk in best.1.choices() {
            let miss = goal.miss(&disk);
            if miss < best.0 * CHOICE_NEARER {
                best = (miss, disk);
            }
        }
        for (change, sign) in numbers.iter().flat_map(|change| [(change, 1.0), (change, -1.0)]) {
            loop {
                let disk = change(&best.1, sign * step);
                let miss = goal.miss(&disk);
                if miss >= best.0 * NEARER {
                    break;
                }
                best = (miss, disk);
            }
        }
        step /= 2.0;
    }
    best.1
}
