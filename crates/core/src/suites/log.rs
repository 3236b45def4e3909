//! The events of a run as text, to be pasted into a golden file.

use alloc::string::String;
use core::fmt::Write as _;

use super::subject::Make;
use crate::device::Device;
use crate::ops::{Described, Event, Logged, Outcome, Time};
use crate::units::Duration;

/// The events as text, if anyone wants them.
pub(super) struct Log(Option<String>);

impl Log {
    pub(super) fn off() -> Log {
        Log(None)
    }

    pub(super) fn on() -> Log {
        Log(Some(String::new()))
    }

    pub(super) fn text(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    pub(super) fn header(&mut self, device: &Device, size: usize, seed: u64, make: &dyn Make) {
        if let Some(text) = &mut self.0 {
            let _ = writeln!(text, "{}\nqueue {size}", Described(device));
            let _ = writeln!(text, "scheduler {}{}", make.name(), make.settings(seed));
        }
    }
    /// Called before the event, so that the last line shows what panicked.
    pub(super) fn event(&mut self, after: Duration, event: Event<'_>) {
        if let Some(text) = &mut self.0 {
            let _ = write!(text, "{}", Logged { after, event, outcome: Outcome::Done, why: None });
        }
    }
    pub(super) fn outcome(&mut self, outcome: Outcome) {
        if let Some(text) = &mut self.0 {
            let _ = if outcome == Outcome::Done { writeln!(text) } else { writeln!(text, " = {outcome}") };
        }
    }
    pub(super) fn line(&mut self, after: Duration, line: &str) {
        if let Some(text) = &mut self.0 {
            let _ = match after {
                Duration::ZERO => writeln!(text, "{line}"),
                _ => writeln!(text, "+{} {line}", Time(after)),
            };
        }
    }
}
