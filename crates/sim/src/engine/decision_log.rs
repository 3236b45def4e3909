//! The log of every decision of a run, a line of text for each: what, when, and why.

use std::io::Write;

use idlewise_core::{Decision, Instant, Issuer, Operation, Request, Why};

use crate::engine::Observer;

/// Which decisions are logged.
#[derive(Clone, Copy, Debug)]
pub struct WhyFilter {
    /// Only those that dispatch a request of this process.
    pub process: Option<Issuer>,
    /// Only those from this time on.
    pub from: Instant,
    /// Only those up to this time.
    pub to: Instant,
}

impl Default for WhyFilter {
    /// All.
    fn default() -> Self {
        WhyFilter { process: None, from: Instant::ZERO, to: Instant::MAX }
    }
}

impl WhyFilter {
    /// Whether a decision is logged that was made at `now` and dispatches a request of `process`, if of anybody.
    pub fn tells(&self, now: Instant, process: Option<Issuer>) -> bool {
        (self.from..=self.to).contains(&now) && (self.process.is_none() || self.process == process)
    }
}

/// Writes each decision to `out`.
pub struct DecisionLog<'a> {
    out: &'a mut dyn Write,
    told: WhyFilter,
    /// The first error of `out`; nothing is written after it.
    error: Option<std::io::Error>,
}

impl<'a> DecisionLog<'a> {
    /// A log of what is to be `told`.
    pub fn new(out: &'a mut dyn Write, told: WhyFilter) -> Self {
        DecisionLog { out, told, error: None }
    }

    /// Ends the telling.
    ///
    /// # Errors
    /// What ended it early, if something did.
    pub fn finish(self) -> Result<(), std::io::Error> {
        self.error.map_or_else(|| self.out.flush(), Err)
    }
}

/// `R 1024+8 of 7`
pub(super) fn extent(request: &Request) -> String {
    let letter = match request.operation {
        Operation::Read => 'R',
        Operation::Write => 'W',
        Operation::Discard => 'D',
        Operation::Flush => 'F',
    };
    format!("{letter} {}+{} of {}", request.start, request.length, request.issuer)
}

/// `dispatch #4 R 1024+8 of 7: the oldest of 3 waiting`
pub(super) fn told(now: Instant, decision: Decision, request: Option<&Request>, why: Option<Why>) -> String {
    let what = match (decision, request) {
        (Decision::Dispatch(id), Some(request)) => {
            let past = if request.past { ": past the scheduler" } else { "" };
            format!("dispatch {id} {}{past}", extent(request))
        }
        (Decision::Dispatch(id), None) => format!("dispatch {id}"),
        (Decision::WaitUntil(until), _) => format!("wait at most {}", until.since(now)),
        (Decision::Idle, _) => "idle".to_owned(),
    };
    match why {
        Some(why) => format!("{what}: {why}"),
        None => what,
    }
}

impl Observer for DecisionLog<'_> {
    fn decided(&mut self, now: Instant, decision: Decision, request: Option<&Request>, why: Option<Why>) {
        let wanted = self.told.tells(now, request.map(|request| request.issuer));
        if wanted && self.error.is_none() && decision != Decision::Idle {
            let (at, line) = (now.0 as f64 / 1e9, told(now, decision, request, why));
            self.error = writeln!(self.out, "{at:.6} s {line}").err();
        }
    }
}
