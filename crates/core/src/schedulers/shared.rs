//! Parts that schedulers of several files have in common.
//!
//! | file | what it holds |
//! |---|---|
//! | `arm` | where the disk's head is, and the rules that pick by address alone |
//! | `positions` | waiting requests by positioning time |
//! | `dispatch_list` | Linux 2.6's list of what has been decided |
//! | `lines` | requests by issuer |
//! | `clocks` | virtual clocks of issuers |
//! | `means` | decaying means of think times and seek distances |
//! | `ways` | which of two requests is the better place to go on |

pub(crate) mod clocks;
pub(crate) mod dispatch_list;
pub(crate) mod head;
pub(crate) mod issuer_fifos;
pub(crate) mod means;
pub(crate) mod positions;
pub(crate) mod ways;
