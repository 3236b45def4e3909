//! When the processes of a trace end.
//!
//! | the trace tells | a process ends |
//! |---|---|
//! | exits | as long after its last completion as it did in the trace; at once if it was silent so long that all its requests are done before the exit is read |
//! | issuers, no exits | [`LINGER`] after its last completion, if the rows read ahead show no more of it for [`SILENCE`] or up to the trace's end |
//! | no issuers | never: streams are no processes |
//!
//! A process that comes back after an end that was inferred is believed to stay, and has no further one before the
//! trace's end. `LINGER` and `SILENCE` are choices, not measurements. Memory is constant: `REMEMBERED`
//! processes.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use idlewise_core::{Duration, Instant, Issuer};
use rustc_hash::FxHasher;

use crate::engine::exits::Exits;
use crate::traces::Exit;
use crate::traces::infer::SILENCE;

/// From a process's last completion to its exit, where the trace does not tell: less than a fork takes, so that a
/// successor comes later.
pub const LINGER: Duration = Duration::from_us(100);
/// Processes remembered at once: as many as the window has rows, so that none with requests is forgotten.
const REMEMBERED: usize = 16_384;

#[derive(Default)]
struct Process {
    /// The process's rows that were read and are not done.
    rows: u32,
    /// When its latest row was done in the trace, or came if the trace does not tell.
    last: Instant,
    /// How long after that it exited, if the trace has told.
    exit: Option<Duration>,
    /// The process was taken for ended.
    ended: bool,
    /// The process came back after that.
    stays: bool,
}

/// The processes of a trace and their ends.
#[derive(Default)]
pub(super) struct Ends {
    processes: HashMap<Issuer, Process, BuildHasherDefault<FxHasher>>,
    /// The trace tells exits, so that none is inferred.
    told: bool,
    /// Processes whose exit was read when all their requests were done.
    late: Vec<Issuer>,
}

impl Ends {
    /// A row of `who` was read, which was done in the trace at `done`.
    pub(super) fn read(&mut self, who: Issuer, done: Instant) {
        if self.processes.len() >= REMEMBERED && !self.processes.contains_key(&who) {
            self.processes.retain(|_, process| process.rows > 0);
        }
        let process = self.processes.entry(who).or_default();
        process.rows += 1;
        process.last = process.last.max(done);
        process.exit = None;
        process.stays |= std::mem::take(&mut process.ended);
    }

    /// An exit was read, behind all rows of its process.
    pub(super) fn exit(&mut self, exit: Exit) {
        self.told = true;
        match self.processes.get_mut(&exit.issuer) {
            Some(process) if process.rows > 0 => process.exit = Some(exit.at.since(process.last)),
            Some(process) if !process.ended => {
                process.ended = true;
                self.late.push(exit.issuer);
            }
            _ => {}
        }
    }

    /// A row of `who` is done. The trace was read up to `read`, [`Instant::MAX`] at its end. Recorded times are
    /// divided by `speed`.
    pub(super) fn done(&mut self, now: Instant, who: Issuer, read: Instant, speed: f64, exits: &mut Exits) {
        for late in self.late.drain(..) {
            exits.announce(now, late);
        }
        let Some(process) = self.processes.get_mut(&who) else { return };
        process.rows -= 1;
        if process.rows > 0 {
            return;
        }
        let quiet = !process.stays && read.since(process.last) > SILENCE;
        let silent = !self.told && (quiet || read == Instant::MAX);
        let after = process.exit.or(silent.then_some(LINGER));
        if let Some(after) = after.filter(|_| !process.ended) {
            process.ended = true;
            exits.announce(now + Duration((after.0 as f64 / speed) as u64), who);
        }
    }
}
