//! Choosing by itself: selectors watch what is asked of the disk and say which scheduler it should have.
//!
//! | file | what |
//! |---|---|
//! | `contract` | what a selector sees and answers |
//! | `summary` | what a selector sees of a period: counts, and what follows from them |
//! | `category` | what kind of load a period showed, as IOAZ has them |
//! | `activity` | the activity store: counts the requests of the current period |
//! | `latencies` | the activity store's histogram of latencies |
//! | `stream` | the latest requests, from which a host predicts |
//! | `pace` | how often a selector is asked, and what holds a switch back |
//! | `chooser` | what a host holds: all of these |
//! | `registry` | selectors by name |
//!
//! Each other file is a selector. Adding one is a file and a line below.

/// Declares the modules of selectors, and `registered!`, which hands the list to the registry.
macro_rules! selectors {
    ($($module:ident: $kind:ident;)*) => {
        $(pub mod $module;)*

        macro_rules! registered {
            () => { register! { $($module: $kind;)* } };
        }
    };
}

selectors! {
    matrix: Matrix;
    ranking: Ranking;
    explore: Explore;
    bandit: Bandit;
    predict: Predict;
}

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
pub use predict::Goal;
pub use registry::Entry;
pub use stream::{Row, Stream};
pub use summary::Summary;
