//! Parts that schedulers of several files have in common. A queue that several processes share is `bfq`'s matter.
//!
//! | file | what it holds |
//! |---|---|
//! | `head` | where the disk's head is, its direction, and the rules that pick by address alone |
//! | `by_positioning_time` | waiting requests by positioning time |
//! | `dispatch_list` | Linux 2.6's list of what has been decided |
//! | `issuer_fifos` | requests by issuer |
//! | `clocks` | virtual clocks of issuers |
//! | `means` | decaying means of think times and seek distances |
//! | `nearer` | which of two requests is the better place to continue: the nearer |

pub(crate) mod by_positioning_time;
pub(crate) mod clocks;
pub(crate) mod dispatch_list;
pub(crate) mod head;
pub(crate) mod issuer_fifos;
pub(crate) mod means;
pub(crate) mod nearer;
