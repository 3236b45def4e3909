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

/// Why a decision was made. Prints its text with a fact in place of each `{}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Why {
    text: &'static str,
    facts: [Option<Fact>; FACTS],
}

impl Why {
    /// A reason: `text` with as many `{}` as there are facts, at most four.
    pub fn new(text: &'static str, facts: &[Fact]) -> Why {
        let mut kept = [None; FACTS];
        for (place, fact) in kept.iter_mut().zip(facts) {
            *place = Some(*fact);
        }
        Why { text, facts: kept }
    }
}

impl fmt::Display for Why {
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

/// Where a scheduler leaves the reason for its decision.
#[derive(Debug, Default)]
pub struct Notes {
    last: Cell<Option<Why>>,
}

impl Notes {
    #[cold]
    #[inline(never)]
    pub(crate) fn put<const N: usize>(&self, text: &'static str, facts: impl FnOnce() -> [Fact; N]) {
        self.last.set(Some(Why::new(text, &facts())));
    }

    pub(crate) fn take(&self) -> Option<Why> {
        self.last.take()
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn facts_stand_where_the_braces_are() {
        let why = Why::new("{} waited {}", &[RequestId(3).into(), Duration::from_ms(2).into()]);
        assert_eq!(why.to_string(), "#3 waited 2.00 ms");
        assert_eq!(Why::new("it is the oldest", &[]).to_string(), "it is the oldest");
    }
}
