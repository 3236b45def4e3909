//! IOAZ's decision matrices, as printed.

crate::choices! {
    /// What a matrix is best for.
    pub enum Goal {
        /// Table 1: the performance of the process that gets least.
        Lowest = "lowest",
        /// Table 2: the performance of the process that gets most.
        Highest = "highest",
        /// Table 3: the mean over processes.
        Mean = "mean",
    }
}

/// The schedulers of the tables. CFQ stands in none of their cells.
pub(super) const NAMES: &[&str] = &["noop", "as-2.6.11", "deadline-2.6.11", "cfq-2.6.9"];

const FCFS: u8 = 0;
const AS: u8 = 1;
const DEAD: u8 = 2;

/// Rows: 1, 4, 8, 16 or more processes. Columns: sequential reads, sequential writes, random reads, random
/// writes.
type Table = [[u8; 4]; 4];

const LOWEST: Table =
    [[FCFS, FCFS, FCFS, DEAD], [AS, FCFS, FCFS, FCFS], [AS, DEAD, FCFS, FCFS], [FCFS, FCFS, FCFS, FCFS]];

const HIGHEST: Table = [[FCFS, FCFS, FCFS, DEAD], [AS, AS, AS, AS], [AS, AS, AS, AS], [AS, AS, DEAD, DEAD]];

const MEAN: Table = [[FCFS, FCFS, FCFS, DEAD], [AS, FCFS, AS, AS], [AS, DEAD, AS, AS], [AS, AS, AS, AS]];

/// Table 4: only the number of processes is tracked; the same for all goals.
const BY_NUMBER: Table = [[FCFS; 4], [AS; 4], [AS; 4], [AS; 4]];

/// The matrix for a goal, as a list by the index of the category.
pub(super) fn cells(goal: Goal, hints: bool) -> [u8; 16] {
    let table = match (hints, goal) {
        (false, _) => BY_NUMBER,
        (true, Goal::Lowest) => LOWEST,
        (true, Goal::Highest) => HIGHEST,
        (true, Goal::Mean) => MEAN,
    };
    core::array::from_fn(|index| table[index / 4][index % 4])
}
