//! FreeBSD 4: a missing block is read with its successors as far as the call wants them, in a cluster; beyond them,
//! clusters are read ahead as far as the file has been read in order.
//!
//! Each read that goes on where the last one ended counts its blocks; any other one forgets them. The count says how
//! many blocks may be read ahead, up to the maximum. The last block of a cluster is marked, and the second of one that
//! somebody waits for: who comes to a mark reads on ahead.
//!
//! Source: kern/vfs_cluster.c (`cluster_read`, `cluster_rbuild`) and kern/vfs_vnops.c (`sequential_heuristic`) of
//! FreeBSD 4.3.

use super::window::{Found, Unit, Window};

/// Bytes in a block of FFS.
const BLOCK: u64 = 8192;
/// Read-ahead grows no more beyond this count: `IO_SEQMAX`.
const COUNT_MAX: u64 = 127;

/// The state of an open file.
#[derive(Clone, Copy, Debug)]
pub struct Clusters {
    cluster: u64,
    max: u64,
    /// Where the last call ended, in bytes.
    next: u64,
    /// Blocks read in order.
    count: u64,
}

impl Clusters {
    pub(super) fn new(cluster: u32, max: u32) -> Clusters {
        Clusters { cluster: u64::from(cluster), max: u64::from(max), next: 0, count: 0 }
    }

    pub(super) fn call(&mut self, from: u64, bytes: u64) {
        if from == self.next || (from == 0 && self.count > 0) {
            self.count = (self.count + bytes.div_ceil(BLOCK)).min(COUNT_MAX);
        } else {
            self.count = self.count.min(2).saturating_sub(1);
        }
        self.next = from + bytes;
    }

    pub(super) fn at(&mut self, unit: Unit, cached: &dyn Fn(u64) -> bool, out: &mut Vec<Window>) {
        let Unit { place, left, found, end } = unit;
        let ahead = self.count.min(self.max);
        let mut next = match found {
            Found::Here => return,
            Found::Marked => {
                let missing = (place + 1..place + ahead).find(|block| *block < end && !cached(*block));
                let Some(missing) = missing else { return };
                missing
            }
            Found::Absent => {
                let wanted = left.min(self.cluster).min(end - place).max(1);
                let wanted = (1..wanted).find(|more| cached(place + more)).unwrap_or(wanted);
                let second = (wanted > 1).then_some(place + 1);
                out.push(Window { start: place, count: wanted, marks: [Some(place + wanted - 1), second] });
                place + wanted
            }
        };
        while next < (place + ahead).min(end) {
            let count = self.cluster.min(end - next);
            if (next..next + count).any(|block| !cached(block)) {
                out.push(Window { start: next, count, marks: [Some(next + count - 1), None] });
            }
            next += count;
        }
    }
}
