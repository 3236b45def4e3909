//! Why a scheduler decided as it did: a sentence and the numbers that it was decided by.
//!
//! A scheduler says it through [`Cx::because`](crate::Cx::because). Nothing is computed or stored
//! unless the host asked for it with [`Queue::explain`](crate::Queue::explain).

use core::cell::Cell;
use core::fmt;

use crate::units::{Duration, Instant, Issuer, RequestId};

/// A number in a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A span of time.
    Time(Duration),
    /// A count, a distance in sectors.
    Count(u64),
    /// A request.
    Request(RequestId),
    /// A process.
    Issuer(Issuer),
    /// A word.
    Word(&'static str),
}

/// Most facts in a reason.
const FACTS: usize = 4;

/// A reason. Prints its text with a fact in place of each `{}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    text: &'static str,
    facts: [Option<Fact>; FACTS],
}

/// Why a decision was made: its reason, and before it why no other decision was made, if that was
/// considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Why {
    first: Option<Reason>,
    last: Option<Reason>,
}

impl Reason {
    /// A reason: `text` with as many `{}` as there are facts, at most four.
    pub fn new(text: &'static str, facts: &[Fact]) -> Reason {
        let mut kept = [None; FACTS];
        for (place, fact) in kept.iter_mut().zip(facts) {
            *place = Some(*fact);
        }
        Reason { text, facts: kept }
    }
}

impl Why {
    /// A reason, and before it what else there is to say.
    pub fn of(first: Option<Reason>, last: Reason) -> Why {
        Why { first, last: Some(last) }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.first, self.last) {
            (Some(first), Some(last)) => write!(f, "{first}; {last}"),
            (Some(only), None) | (None, Some(only)) => only.fmt(f),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut facts = self.facts.iter().flatten();
        for (index, piece) in self.text.split("{}").enumerate() {
            if index > 0
                && let Some(fact) = facts.next()
            {
                fact.fmt(f)?;
            }
            f.write_str(piece)?;
        }
        Ok(())
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Time(time) => time.fmt(f),
            Fact::Count(count) => count.fmt(f),
            Fact::Request(id) => id.fmt(f),
            Fact::Issuer(issuer) => issuer.fmt(f),
            Fact::Word(word) => f.write_str(word),
        }
    }
}

impl From<Duration> for Fact {
    fn from(time: Duration) -> Fact {
        Fact::Time(time)
    }
}

impl From<Instant> for Fact {
    fn from(time: Instant) -> Fact {
        Fact::Time(time.since(Instant::ZERO))
    }
}

impl From<u64> for Fact {
    fn from(count: u64) -> Fact {
        Fact::Count(count)
    }
}

impl From<usize> for Fact {
    fn from(count: usize) -> Fact {
        Fact::Count(count as u64)
    }
}

impl From<RequestId> for Fact {
    fn from(id: RequestId) -> Fact {
        Fact::Request(id)
    }
}

impl From<Issuer> for Fact {
    fn from(issuer: Issuer) -> Fact {
        Fact::Issuer(issuer)
    }
}

impl From<&'static str> for Fact {
    fn from(word: &'static str) -> Fact {
        Fact::Word(word)
    }
}

/// Where a scheduler leaves the reasons for its decision.
#[derive(Debug, Default)]
pub struct Notes {
    first: Cell<Option<Reason>>,
    last: Cell<Option<Reason>>,
}

impl Notes {
    #[cold]
    #[inline(never)]
    pub(crate) fn put<const N: usize>(&self, text: &'static str, facts: impl FnOnce() -> [Fact; N]) {
        self.last.set(Some(Reason::new(text, &facts())));
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn put_first<const N: usize>(&self, text: &'static str, facts: impl FnOnce() -> [Fact; N]) {
        self.first.set(Some(Reason::new(text, &facts())));
    }

    pub(crate) fn take(&self) -> Option<Why> {
        let why = Why { first: self.first.take(), last: self.last.take() };
        (why.first.is_some() || why.last.is_some()).then_some(why)
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn facts_stand_where_the_braces_are() {
        let reason = Reason::new("{} waited {}", &[RequestId(3).into(), Duration::from_ms(2).into()]);
        assert_eq!(reason.to_string(), "#3 waited 2.00 ms");
        assert_eq!(Reason::new("the oldest", &[]).to_string(), "the oldest");
    }

    #[test]
    fn why_not_comes_before_why() {
        let notes = Notes::default();
        notes.put("the oldest", || []);
        notes.put_first("no use to wait for {}", || [Issuer(7).into()]);
        assert_eq!(notes.take().unwrap().to_string(), "no use to wait for 7; the oldest");
        assert_eq!(notes.take(), None);
    }
}
