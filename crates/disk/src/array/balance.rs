//! Which copy is read: the rules of md's `read_balance`, in principle.
//!
//! 1. Who goes on where a member's last read ended stays with it, so that a sequential reader has the member's
//!    read-ahead.
//! 2. Else a member with nothing to do, the one whose head is nearest.
//! 3. Else, where heads move, the one whose head is nearest; where none do, the one with the least to do.

use super::layout::Layout;
use super::member::Member;
use crate::device::DiskModel;

/// The number of the copy of `address` that is read.
pub(super) fn choose<D: DiskModel>(layout: &Layout, members: &[Member<D>], address: u64) -> u64 {
    let copies = layout.copies();
    if copies == 1 {
        return 0;
    }
    let cost = |copy: u64| {
        let place = layout.place(address, copy);
        let member = &members[place.member as usize];
        let far = member.head.abs_diff(place.sector);
        let load = u64::from(member.load());
        let rest = if member.disk.rotational() { (far, load) } else { (load, far) };
        (member.follows != place.sector, load > 0, rest)
    };
    (0..copies).min_by_key(|copy| cost(*copy)).unwrap_or(0)
}
