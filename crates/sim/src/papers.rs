//! What the papers claim, and whether it holds here.
//!
//! Claims are data: one file for each paper in `crates/sim/papers`, which stands beside the paper as one reads it. A claim has
//! points, each a formula over figures of runs, and what the paper has for it; a paper's file declares the runs, too.
//!
//! | step | files |
//! |---|---|
//! | the text of a paper's file | `formula`, `claims` |
//! | which runs that takes, and carrying them out | `runs`, `watches`, `measured` |
//! | from figures to verdicts | `verdict`, `findings` |

mod claims;
mod error;
mod findings;
mod formula;
mod measured;
mod runs;
mod verdict;
mod watches;

pub use claims::{Claim, Curve, Kind, Paper, Point, Setup, Test, papers};
pub use error::PapersError;
pub use findings::{Cell, Finding, Found, Line, Ours, find, lines};
pub use formula::{Formula, FormulaError, Measure, Term};
pub use measured::Measured;
pub use runs::{Results, Run, carry_out, wanted};
pub use verdict::Verdict;
pub use watches::Watch;
