//! Choosing while a disk is in use: a selector watches the requests and decides which scheduler the disk should have.
//!
//! | role | what it does |
//! |---|---|
//! | selector | decides, from the counts of a period or from predictions |
//! | chooser | holds a selector, its data, and its limits: how often it is asked, how soon it may switch again |
//! | follower | is told of every event of a queue: a chooser, or whatever else a host has |
//! | director | a follower that may also switch the scheduler (simulator) |
//!
//! Papers: OLS'05 is *Enhancements to Linux I/O Scheduling*, Ottawa Linux Symposium 2005. IOAZ is *Optimizing System
//! Performance Through Dynamic Disk Scheduling Algorithm Selection*, 2006. SOSP'01 is *Anticipatory scheduling*, Symposium
//! on Operating Systems Principles 2001. UNC is *Modification and Evaluation of Linux I/O Schedulers*, University of North
//! Carolina.
//!
//! | file | what |
//! |---|---|
//! | `contract` | what a selector sees and answers |
//! | `summary` | what a selector sees of a period: counts, and what follows from them |
//! | `category` | what kind of load a period showed, as IOAZ has them |
//! | `activity` | the activity store: counts the requests of the current period |
//! | `latencies` | the activity store's histogram of latencies |
//! | `recent` | the latest requests, from which a host predicts |
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
pub mod recent;
pub mod registry;
pub mod summary;
#[cfg(test)]
mod tests;

pub use activity::owner;
pub use category::{Bounds, Category};
pub use chooser::{Action, Chooser, Decision, by_hand};
pub use contract::{Answer, Candidate, Method, Prediction, Question, Rank, Selector, Setup, Situation, Wish};
pub use error::ChooserError;
pub use latencies::observed;
pub use pace::Pace;
pub use predict::Goal;
pub use recent::{Recent, Row};
pub use registry::Entry;
pub use summary::Summary;
