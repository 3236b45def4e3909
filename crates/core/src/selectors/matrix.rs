//! Looks the category of the last period up in a decision matrix.
//!
//! # How it decides
//! Each period `auto-matrix` classifies the load: how many processes there are, sequential or random, reads or writes.
//! A process counts as long as it has requests outstanding. A request is sequential if it was pooled from several
//! blocks: merged in the queue, longer than a block, or one of several reads that follow one another.
//!
//! The matrix names the best scheduler for each of the 16 categories, as measured beforehand. If another one is in
//! use, `auto-matrix` wants to switch. A period without requests changes nothing.
//!
//! Four matrices are built in, all from the paper: one for each of three goals, and one that looks at the number of
//! processes alone (`hints=off`). Own matrices take their place; `idlewise matrix build` measures one for any disk
//! and any schedulers.
//!
//! # Source
//! IOAZ §3.3, §3.4, Tables 1 to 4: Linux 2.6.11, a Maxtor of 40 GB. FCFS is `noop` there. CFQ wins in no
//! category and can still be chosen by hand.
//!
//! # Differs from the source
//! The paper's thresholds are not published; see the tunables. The paper's requests have been pooled by read-ahead; here
//! reads that follow one another count as if they had been. Dwell time, agreement and idle rule are not in the paper,
//! and off.
//!
//! # Good for, bad for
//! Loads like those that the matrix was measured with. The matrix of one disk is wrong on another.

mod tables;

pub use tables::Goal;

use super::contract::{Answer, Method, Selector, Settings, Setup, Situation, Wish};
use super::summary::Summary;
use crate::collections::OutOfMemory;
use crate::why::Reason;

crate::tunables! {
    /// Which matrix.
    pub struct Choice {
        /// What the built-in matrix is best for: the lowest, the highest or the mean performance of a process; with
        /// `hints=off` there is one matrix for all.
        goal: Goal = Goal::Mean as u64, 0..=2;
        /// Sequential or random, reads or writes count; off: only the number of processes does.
        hints: bool = 1, 0..=1;
    }
}

/// The names that stand in the built-in matrix for a goal, by the index of the category.
pub fn built_in(goal: Goal, hints: bool) -> [&'static str; 16] {
    tables::cells(goal, hints).map(|cell| tables::NAMES[usize::from(cell)])
}

/// The matrix selector.
pub struct Matrix {
    cells: [u8; 16],
}

impl Method for Matrix {
    const NAME: &'static str = "auto-matrix";
    const SUMMARY: &'static str = "Selector: looks the kind of load up in a matrix (IOAZ).";
    const SOURCE: &'static str = "IOAZ §3, Tables 1 to 4";
    const CANDIDATES: &'static [&'static str] = tables::NAMES;
    const MATRIX: bool = true;
    type Tunables = Choice;

    fn new(setup: Setup<'_>, settings: Settings<Self>) -> Result<Self, OutOfMemory> {
        let built_in = || tables::cells(settings.own.goal, settings.own.hints);
        let last = setup.candidates.len() as u8 - 1;
        let cells = setup.cells.unwrap_or_else(built_in).map(|cell| cell.min(last));
        Ok(Matrix { cells })
    }
}

impl Selector for Matrix {
    fn period(&mut self, at: Situation<'_>, summary: &Summary) -> Answer {
        let Some(category) = at.category else {
            return Answer::stay(Reason::new("nothing was asked for", &[]));
        };
        let best = usize::from(self.cells[category.index()]);
        let name = at.candidates[best].entry.name;
        let reason = Reason::new(
            "{} processes with {}: the matrix says {}",
            &[summary.processes.into(), category.pattern().into(), name.into()],
        );
        Answer { wish: Wish::Use(best), reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;
    use crate::selectors::{Candidate, Category};
    use crate::tunables::Tunables as _;
    use crate::units::Instant;

    fn choose(settings: Settings<Matrix>, summary: Summary) -> &'static str {
        let candidates: std::vec::Vec<Candidate> =
            tables::NAMES.iter().map(|name| Candidate::plain(registry::find(name).unwrap())).collect();
        let setup = Setup { candidates: &candidates, cells: None, ranks: &[] };
        let mut matrix = Matrix::new(setup, settings).unwrap();
        let category = Category::of(&summary, &settings.common.bounds);
        let at = Situation { now: Instant(1), current: 0, free: true, candidates: &candidates, category };
        match matrix.period(at, &summary).wish {
            Wish::Use(place) => candidates[place].entry.name,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_papers_cells_are_found() {
        let seq_read_8 = Summary { requests: 100, merged: 90, reads: 90, processes: 8, ..Summary::default() };
        let rand_write_16 = Summary { requests: 100, processes: 20, ..Summary::default() };
        let mut settings = Settings::defaults();
        assert_eq!(choose(settings, seq_read_8), "as-2.6.11");
        assert_eq!(choose(settings, rand_write_16), "as-2.6.11", "Table 3");
        settings.own.goal = Goal::Highest;
        assert_eq!(choose(settings, rand_write_16), "deadline-2.6.11", "Table 2");
        settings.own.goal = Goal::Lowest;
        assert_eq!(choose(settings, rand_write_16), "noop", "Table 1");
        settings.own.hints = false;
        assert_eq!(choose(settings, rand_write_16), "as-2.6.11", "Table 4");
        let one = Summary { processes: 1, ..rand_write_16 };
        assert_eq!(choose(settings, one), "noop", "Table 4");
    }
}
