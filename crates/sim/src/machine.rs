//! A machine above the request queue: processes that run programs against a file system, through a page cache.
//!
//! Between a program and the queue such a system decides what the disk is asked for, when, and for which process:
//!
//! | file | what is in it |
//! |---|---|
//! | `parameters`, `presets` | what a machine is like; the papers' machines |
//! | `layout` | where files, inodes and names lie: ext2, ext3, ext4, FFS |
//! | `cache` | pages in memory: which stay, which are dirty |
//! | `readahead` | what is read beyond what was asked for |
//! | `flusher`, `writeback` | when dirty pages are written |
//! | `pacing` | how fast processes may dirty more |
//! | `throttle` | how much of that is in the queue beside reads |
//! | `journal`, `commit` | when changes of the file system reach the disk |
//! | `network` | what processes send to clients |
//! | `processors` | who runs when |
//! | `worker` | the worker that asks the scheduler |
//! | `transfers` | requests on their way, and who waits for them |
//! | `kernel` | all of this together |
//! | `program`, `process`, `calls` | what processes do, and how each call goes |
//! | `programs` | the papers' programs |
//! | `running` | the machine as a workload |
//!
//! Everything is a mechanism with the constants of its time. Nothing is fitted to a paper's results.

pub mod cache;
mod calls;
mod commit;
mod flusher;
mod journal;
pub mod kernel;
pub mod layout;
mod network;
mod pacing;
pub mod parameters;
pub mod presets;
mod process;
mod processors;
pub mod program;
pub mod programs;
pub mod readahead;
mod running;
pub mod throttle;
mod transfers;
mod worker;
mod workload;
mod writeback;

pub use running::{Job, Machine};
pub use workload::build;
pub(crate) use workload::workload;
