//! Choosing by itself: selectors watch what is asked of the disk and say which scheduler it should have.
//!
//! | file | what |
//! |---|---|
//! | `activity` | the activity store: counts of the current period |
//! | `summary` | what a period showed |
//! | `category` | the category of a period, as IOAZ has them |
//! | `stream` | the latest requests, for predictions |
//! | `contract` | what a selector sees and answers |
//! | `pace` | how often it is asked, and what holds it back |
//! | `chooser` | what a host holds |
//!
//! Adding a selector is a file and a line below.

pub mod activity;
pub mod category;
pub mod chooser;
pub mod contract;
mod error;
mod latencies;
pub mod pace;
pub mod registry;
pub mod stream;
pub mod summary;
#[cfg(test)]
mod tests;

pub use activity::owner;
pub use category::{Bounds, Category};
pub use chooser::{Action, Chooser, Decision, by_hand};
pub use contract::{
    Candidate, Method, Prediction, Question, Rank, Selector, Setup, Situation, Verdict, Wish,
};
pub use error::ChooserError;
pub use latencies::observed;
pub use pace::Pace;
pub use registry::Entry;
pub use stream::{Row, Stream};
pub use summary::Summary;

use crate::tunables::Tunables;
use registry::selectors;

selectors! {
    matrix: Matrix;
    ranking: Ranking;
    explore: Explore;
    bandit: Bandit;
    predict: Predict;
}
