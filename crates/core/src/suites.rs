//! The shared test suites. Every scheduler of the registry goes through all of them.
//!
//! | file | what it holds schedulers to |
//! |---|---|
//! | `conformance` | the invariants of ARCHITECTURE.md, on generated scenes |
//! | `bounded` | the starvation bound that each states |
//! | `host_merge` | the same decisions when the host merges by itself |
//! | `switching` | a switch in the middle of a run |
//! | `oracle` | the same decisions as its slow reference |
//! | `processes` | the same, under processes that issue their next request when one is done |
//! | `canaries` | the suites themselves: each must catch a scheduler that is broken on purpose |
//!
//! `references` has the slow references. `collections`, `values` and `text` hold what schedulers are made of
//! to simple models.
//!
//! Environment: `IDLEWISE_ONLY=name,name` restricts the suites to these schedulers, `IDLEWISE_CASES=n`
//! multiplies the number of scenes by n, `IDLEWISE_SEED=n` chooses others.

mod bounded;
mod canaries;
mod collections;
mod conformance;
mod driver;
mod extra_calls;
mod host_merge;
mod log;
mod oracle;
mod processes;
mod references;
mod scene;
mod slow_list;
mod subject;
mod switching;
mod text;
#[allow(unreachable_pub, reason = "the macros of tunables write `pub`")]
mod values;

pub(crate) use references::Referenced;
pub(crate) use slow_list::SlowList;
