//! Calls between the steps of a scene that must change nothing.

use alloc::format;
use alloc::string::String;

use super::driver::{Driver, ExtraCalls, Fate, Promise};
use crate::ops::{Event, Outcome};
use crate::units::{Instant, Issuer, RequestId};

impl Driver<'_> {
    /// Makes calls that must change nothing.
    pub(super) fn make_extra_calls(&mut self) -> Result<(), String> {
        match self.extra_calls {
            ExtraCalls::None => Ok(()),
            ExtraCalls::Asks => self.ask_for_nothing(),
            ExtraCalls::Misuse => self.misuse(),
        }
    }

    fn ask_for_nothing(&mut self) -> Result<(), String> {
        let empty = self.waiting() == 0 && self.returned == 0;
        let due = matches!(self.promise, Promise::Until(time) if time <= self.now);
        if !self.has_room() || due || (self.promise == Promise::Nothing && !empty) {
            return Ok(());
        }
        for _ in 0..self.random.below(3) {
            match Event::Dispatch.apply(&mut self.queue, self.now) {
                Some(Outcome::Dispatch(id)) => return Err(format!("asked once more, it gave out {id}")),
                Some(Outcome::Refused(error)) => return Err(format!("refused: {error}")),
                _ => {}
            }
        }
        Ok(())
    }

    fn misuse(&mut self) -> Result<(), String> {
        let any = RequestId(self.random.below(self.fates.len() as u64 + 2) as u32);
        let fate = self.fates.get(any.index()).copied();
        let early = Instant(self.now.0.wrapping_sub(1 + self.random.below(9)));
        let wrong = |wanted: Fate| fate != Some(wanted);
        let insert = Event::Insert { id: any, request: self.last };
        let (event, now) = match self.random.below(8) {
            0 if wrong(Fate::Free) => (insert, self.now),
            1 if wrong(Fate::InFlight) => (Event::Complete(any), self.now),
            2 if wrong(Fate::InFlight) => (Event::Requeue(any), self.now),
            3 if wrong(Fate::Waiting) => (Event::Cancel(any), self.now),
            4 if early < self.logged => (Event::Dispatch, early),
            5 if early < self.logged => (Event::Gone(Issuer(1)), early),
            6 if early < self.logged => (insert, early),
            _ => return Ok(()),
        };
        match event.apply(&mut self.queue, now) {
            Some(Outcome::Refused(_)) => Ok(()),
            outcome => Err(format!("`{event}` was not refused: {outcome:?}")),
        }
    }
}
