//! FreeBSD 4: a missing block is read with its successors as far as the call wants them, in a cluster; behind them one cluster
//! is read ahead, as long as the file has been read in order.
//!
//! Each read that goes on where the last one ended adds to a count, which begins with one; any other read takes the count
//! back. The count says how far ahead the next cluster may begin, and how many blocks it has. Marks say who asks for more: the
//! first and the last block of a cluster that was read ahead, the second and the last of one that somebody waits for,
//! or a block that was read alone. Part of a block at the file's end is not read ahead.
//!
//! Source: kern/vfs_cluster.c (`cluster_read`, `cluster_rbuild`), kern/vfs_vnops.c (`sequential_heuristic`),
//! kern/kern_descrip.c (`falloc`) and ufs/ufs/ufs_readwrite.c of FreeBSD 4.3.

use super::window::{Found, Unit, Window};

/// What counts as one when a file is read in order: `BKVASIZE`.
const STEP: u64 = 16_384;
/// The count grows no more beyond this.
const COUNT_MAX: u64 = 127;
/// Blocks that are looked at for one that is missing: `MAXRA`.
const LOOK_MAX: u64 = 32;

/// The state of an open file.
#[derive(Clone, Copy, Debug)]
pub struct Clusters {
    /// Blocks in a cluster.
    cluster: u64,
    /// Where the last call ended, in bytes.
    next: u64,
    count: u64,
}

impl Clusters {
    pub(super) fn new(cluster: u32) -> Clusters {
        Clusters { cluster: u64::from(cluster), next: 0, count: 1 }
    }

    pub(super) fn call(&mut self, from: u64, bytes: u64) {
        if from == self.next || (from == 0 && self.count > 0) {
            self.count = (self.count + bytes.div_ceil(STEP)).min(COUNT_MAX);
        } else {
            self.count = u64::from(self.count > 1);
        }
        self.next = from + bytes;
    }

    pub(super) fn at(&mut self, unit: Unit, cached: &dyn Fn(u64) -> bool, out: &mut Vec<Window>) {
        let Unit { place, left, found, end, whole } = unit;
        let last = place + 1 >= end;
        let next = match found {
            Found::Here => return,
            Found::Marked => {
                let look = (2 * self.cluster + left).min(LOOK_MAX);
                let missing = (place + 1..place + look).find(|block| !cached(*block));
                let Some(missing) = missing.filter(|_| !last) else { return };
                missing
            }
            Found::Absent => {
                let wanted = left.min(self.cluster).min(end - place).max(1);
                let wanted = (1..wanted).find(|more| cached(place + more)).unwrap_or(wanted);
                let second = if wanted > 1 { place + 1 } else { place };
                out.push(Window {
                    start: place,
                    count: wanted,
                    marks: [Some(second), Some(place + wanted - 1)],
                });
                place + wanted
            }
        };
        if last || next >= place + self.count || next >= whole {
            return;
        }
        let count = self.count.max(left).min(self.cluster).min(whole - next);
        let count = (1..count).find(|more| cached(next + more)).unwrap_or(count);
        out.push(Window { start: next, count, marks: [Some(next), Some(next + count - 1)] });
    }
}
