//! Whether a claim holds: from a paper's figures and ours to a word.

use crate::experiment::Figure;

/// What became of a claim, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The direction is the paper's, and the ratio within a quarter of it.
    Holds,
    /// The order is the paper's; the ratio is not.
    Direction,
    /// It is otherwise here.
    Differs,
    /// The paper measured memory: orderings are compared, nothing else.
    Cache,
    /// There is nothing to run.
    Fact,
    /// The runs were cut short.
    Unfinished,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Verdict; 6] = [
        Verdict::Holds,
        Verdict::Direction,
        Verdict::Differs,
        Verdict::Cache,
        Verdict::Fact,
        Verdict::Unfinished,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Direction => "direction",
            Verdict::Differs => "differs",
            Verdict::Cache => "cache",
            Verdict::Fact => "fact",
            Verdict::Unfinished => "unfinished",
        }
    }
}

/// A ratio this far from the paper's is as good as the same.
const NEAR: f64 = 1.25;
/// A paper's ratio this near to 1 claims that there is no difference.
const ALIKE: f64 = 1.03;
/// The share of a table's cells that must agree.
const MOST_CELLS: f64 = 0.75;
/// With more cells than this it is the paper's table still.
const HALF_OF_CELLS: f64 = 0.5;

/// `a` and `b` are less than `factor` apart.
fn within(a: f64, b: f64, factor: f64) -> bool {
    a > 0.0 && b > 0.0 && (a / b).max(b / a) <= factor
}

/// A ratio: the paper's, and ours. What chance alone can give is no direction.
pub(super) fn of_ratio(ours: Figure, paper: f64) -> Verdict {
    let near = within(ours.mean, paper, NEAR);
    let direction = if within(paper, 1.0, ALIKE) {
        near
    } else if paper > 1.0 {
        ours.mean - ours.ci95 > 1.0
    } else {
        ours.mean + ours.ci95 < 1.0
    };
    match (direction, near) {
        (true, true) => Verdict::Holds,
        (true, false) => Verdict::Direction,
        (false, _) => Verdict::Differs,
    }
}

/// A figure that the paper bounds.
pub(super) fn of_bound(ours: Figure, least: Option<f64>, most: Option<f64>) -> Verdict {
    let inside = least.is_none_or(|least| ours.mean >= least) && most.is_none_or(|most| ours.mean <= most);
    if inside { Verdict::Holds } else { Verdict::Differs }
}

/// Figures from the greatest to the least, as the ratio of each to the next.
pub(super) fn of_order(ratios: &[Figure]) -> Verdict {
    let falls = ratios.iter().all(|ratio| ratio.mean - ratio.ci95 > 1.0);
    if falls { Verdict::Holds } else { Verdict::Differs }
}

/// A table of winners: how many of its `cells` agree with ours.
pub(super) fn of_cells(agreeing: usize, cells: usize) -> Verdict {
    match agreeing as f64 / cells.max(1) as f64 {
        share if share >= MOST_CELLS => Verdict::Holds,
        share if share > HALF_OF_CELLS => Verdict::Direction,
        _ => Verdict::Differs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exactly(mean: f64) -> Figure {
        Figure { mean, ci95: 0.0 }
    }

    #[test]
    fn a_ratio_holds_within_a_quarter_and_in_its_direction() {
        use Verdict::{Differs, Direction, Holds};
        let cases = [
            // (ours, paper, verdict)
            (4.6, 4.0, Holds),
            (5.0, 4.0, Holds),
            (5.1, 4.0, Direction),
            (3.1, 4.0, Direction),
            (0.9, 4.0, Differs),
            // A small gain that has become a loss is no gain, however near.
            (0.98, 1.05, Differs),
            (1.02, 1.05, Holds),
            (0.7, 0.8, Holds),
            (0.5, 0.8, Direction),
            (1.1, 0.8, Differs),
            // No difference is claimed.
            (1.2, 1.0, Holds),
            (0.79, 1.0, Differs),
            (0.0, 0.8, Direction),
        ];
        for (ours, paper, verdict) in cases {
            assert_eq!(of_ratio(exactly(ours), paper), verdict, "{ours} for {paper}");
        }
    }

    #[test]
    fn what_chance_can_give_is_no_direction() {
        let noisy = Figure { mean: 1.1, ci95: 0.2 };
        assert_eq!(of_ratio(noisy, 1.2), Verdict::Differs);
        assert_eq!(of_ratio(Figure { ci95: 0.05, ..noisy }, 1.2), Verdict::Holds);
        assert_eq!(of_order(&[exactly(2.0), noisy]), Verdict::Differs);
        assert_eq!(of_order(&[exactly(2.0), exactly(1.001)]), Verdict::Holds);
        assert_eq!(of_order(&[exactly(2.0), exactly(1.0)]), Verdict::Differs);
    }

    #[test]
    fn bounds_and_cells_are_counted_exactly() {
        assert_eq!(of_bound(exactly(0.93), Some(0.92), None), Verdict::Holds);
        assert_eq!(of_bound(exactly(0.91), Some(0.92), None), Verdict::Differs);
        assert_eq!(of_bound(exactly(1.11), None, Some(1.10)), Verdict::Differs);
        let counted = [8, 9, 11, 12, 16].map(|agreeing| of_cells(agreeing, 16));
        use Verdict::{Differs, Direction, Holds};
        assert_eq!(counted, [Differs, Direction, Direction, Holds, Holds]);
    }
}
