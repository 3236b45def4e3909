//! Which of two requests is the better place to continue, as Linux's `as` and `cfq` choose.

use crate::units::Sector;

/// Cost of seeking backward.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Back {
    /// The longest, in sectors.
    pub(crate) furthest: u64,
    /// How many times longer than the same distance forward it counts.
    pub(crate) penalty: u64,
}

/// The distance from `head` to `start`, with the cost of seeking backward; `None` if `start` is too far back.
#[inline]
const fn way(back: Back, head: Sector, Sector(start): Sector) -> Option<u64> {
    match start.checked_sub(head.0) {
        Some(ahead) => Some(ahead),
        None if head.0 - start <= back.furthest => Some(back.penalty.saturating_mul(head.0 - start)),
        None => None,
    }
}

/// Whether `new` is a better place to continue than `old`: the nearer one; ties go to the one ahead. What is too far back comes last, the lowest address first.
#[inline]
pub(crate) const fn better(back: Back, head: Sector, new: Sector, old: Sector) -> bool {
    // Differences that wrap: what is ahead comes first, then all from the lowest address on.
    let (to_new, to_old) = (new.0.wrapping_sub(head.0), old.0.wrapping_sub(head.0));
    let farthest = if to_new < to_old { to_old } else { to_new };
    if farthest <= u64::MAX - back.furthest { to_new < to_old } else { shorter(back, head, new, old) }
}

/// [`better`], also if one of them may be behind the head and not too far.
#[inline(never)]
const fn shorter(back: Back, head: Sector, new: Sector, old: Sector) -> bool {
    match (way(back, head, new), way(back, head, old)) {
        (Some(to_new), Some(to_old)) => to_new < to_old || to_new == to_old && new.0 > old.0,
        (Some(_), None) => true,
        (None, Some(_)) => false,
        (None, None) => new.0 < old.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACK: Back = Back { furthest: 1024 * 1024, penalty: 2 };

    #[test]
    fn the_shorter_way_wins_and_a_way_back_counts_twice() {
        let wins = |new: u64, old: u64| better(BACK, Sector(10_000_000), Sector(new), Sector(old));
        assert!(wins(10_000_100, 9_999_900), "100 ahead, 200 back");
        assert!(wins(9_999_951, 10_000_100), "98 back, 100 ahead");
        assert!(wins(10_000_100, 9_999_950) && !wins(9_999_950, 10_000_100), "ties go to the one ahead");
        assert!(!wins(10_000_100, 10_000_100), "of the same address the older one");
    }

    #[test]
    fn what_is_too_far_back_comes_last_and_lowest_first() {
        let head = 10_000_000;
        let wins = |new: u64, old: u64| better(BACK, Sector(head), Sector(new), Sector(old));
        let edge = head - BACK.furthest;
        assert!(wins(edge, edge - 1) && wins(1 << 40, edge - 1));
        assert!(wins(edge, head + 2 * BACK.furthest + 1), "exactly at the limit it still counts");
        assert!(wins(0, edge - 1) && !wins(edge - 1, 0));
    }

    #[test]
    fn the_short_cut_says_what_the_ways_say() {
        let edges = [0, 1, 7, 1 << 20, (1 << 20) + 1, 1 << 40, 1 << 63, u64::MAX - 1, u64::MAX];
        let near = |from: u64| edges.map(|by| [from.wrapping_sub(by), from.wrapping_add(by)]);
        for head in near(0).into_iter().flatten().map(Sector) {
            let places = || near(head.0).into_iter().flatten().map(Sector);
            for (new, old) in places().flat_map(|new| places().map(move |old| (new, old))) {
                assert_eq!(
                    better(BACK, head, new, old),
                    shorter(BACK, head, new, old),
                    "{head}: {new}, {old}"
                );
            }
        }
    }
}
