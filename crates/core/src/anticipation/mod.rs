//! Anticipation: rather let the disk idle for a moment than send it away from a process that is about
//! to ask for the next block (SOSP'01).
//!
//! | file | what it holds |
//! |---|---|
//! | `framework` | [`Anticipatory`]: the states idle, busy and wait around any [`Policy`](crate::Policy) |
//! | `heuristics` | whether to wait, and how long: what differs from policy to policy |
//! | `shares` | the heuristics for policies that share the disk by weights |
//! | `habits` | what one process usually does: think times, distances, directions |
//! | `levels` | habits of processes, of groups and of regions, and which to trust (§5.2) |

mod framework;
mod habits;
mod heuristics;
mod levels;
mod shares;
#[cfg(test)]
mod tests;

pub use framework::{Anticipatory, Settings};
pub use habits::Outlook;
pub use heuristics::{
    Adaptive, Aged, AsTheyAre, Careful, CostBenefit, Heuristic, Sweep, SweepSettings, View,
};
pub use shares::{Combined, Proportional, ShareSettings};
