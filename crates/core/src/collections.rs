//! Intrusive collections, indexed by [`RequestId`](crate::RequestId), and a table of issuers.
//!
//! Each is allocated once, for a fixed number of request ids, and then never again. A request is
//! in a collection at most once. Misuse (inserting twice, removing what is absent) is a bug of the
//! caller and panics.
//!
//! | file | what it holds |
//! |---|---|
//! | `list` | lists of requests: FIFO queues, any number of them |
//! | `fifo` | one list |
//! | `fifos` | lists, and for each request a count, or when it is overdue; rules what a merge inherits |
//! | `sorted` | requests by address |
//! | `forest` | the same for each process |
//! | `lanes` | reads apart from writes, and the like: each by address, and by arrival with deadlines |
//! | `heap` | requests by a key, to take the least |
//! | `issuers` | what is kept of each process |
//! | `try_box` | one value; the memory may be refused |

mod fifo;
mod fifos;
mod forest;
mod heap;
mod issuers;
mod lanes;
mod list;
mod sorted;
mod try_box;

pub use fifo::Fifo;
pub use fifos::Fifos;
pub use forest::{Forest, Tree};
pub use heap::Heap;
pub use issuers::{Issuers, Place};
pub use lanes::Lanes;
pub use list::{Iter as ListIter, Links, List};
#[cfg(test)]
pub(crate) use sorted::WIDE;
pub use sorted::{Iter as SortedIter, Sorted};
pub use try_box::TryBox;

use alloc::vec::Vec;

/// No element. Ids stay below it.
pub(crate) const NIL: u32 = u32::MAX;

/// The host's memory is exhausted: a queue or scheduler could not be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl core::fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("out of memory: choose a smaller queue capacity, or free memory and try again")
    }
}

impl core::error::Error for OutOfMemory {}

/// A table of `len` copies of `value`.
///
/// # Errors
/// [`OutOfMemory`] if the table cannot be allocated.
pub fn table<T: Clone>(len: usize, value: T) -> Result<Vec<T>, OutOfMemory> {
    let mut table = Vec::new();
    table.try_reserve_exact(len).map_err(|_| OutOfMemory)?;
    table.resize(len, value);
    Ok(table)
}
