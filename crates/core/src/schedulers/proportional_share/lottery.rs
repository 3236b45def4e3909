//! Lottery scheduling: each decision is drawn, and a process has as many tickets as its weight.
//!
//! # How it decides
//! 1. The processes that have requests waiting stand in the order in which they began to wait. Each
//!    holds as many tickets as its weight.
//! 2. Draw a ticket. Serve the oldest request of the process that holds it.
//!
//! The draw stands until a request is dispatched: asking again gives the same winner, unless processes
//! or tickets have come or gone. A draw costs time in proportion to the number of processes that wait.
//!
//! # Source
//! SOSP'01 §2; Waldspurger and Weihl 1994.
//!
//! # Differs from the source
//! The sources leave open in which order tickets are counted. Here a process that takes less
//! than others from a turn gets no compensation tickets. The seed is a tunable, so that a run can be repeated.
//!
//! # Good for, bad for
//! Good for processes that keep requests waiting: they get their shares of the requests, on average, and
//! nobody needs to remember anything. Bad for synchronous processes: who was just served has nothing in
//! the next draw, so that three with 1:1:3 get 2:2:3. Shares are of requests, not of disk time.
//!
//! # Starvation
//! Unbounded: a process may never be drawn.

use alloc::vec::Vec;

use crate::collections::OutOfMemory;
use crate::request::Request;
use crate::rng::Random;
use crate::scheduler::{Algorithm, Cx, Decision, Policy, Scheduler, Setup, Starvation};
use crate::schedulers::shared::issuer_fifos::IssuerFifos;
use crate::tunables::Seed;
use crate::units::{Issuer, RequestId};

crate::tunables! {
    /// Tunables of [`Lottery`].
    pub struct Settings {
        /// Where the random numbers come from: the same seed, the same draws.
        seed: Seed = 1, 0..=u64::MAX;
    }
}

/// A draw among the processes that wait.
pub struct Lottery {
    lines: IssuerFifos<()>,
    /// Who has requests waiting, in the order in which they began to.
    waiting: Vec<Issuer>,
    dice: Random,
    tunables: Settings,
}

/// The ticket that was drawn.
struct Draw {
    ticket: u32,
    tickets: u32,
    winner: Issuer,
}

impl Algorithm for Lottery {
    const NAME: &'static str = "lottery";
    const SUMMARY: &'static str = "Draws the process to serve next; weights are tickets.";
    const SOURCE: &'static str = "SOSP'01 §2; Waldspurger and Weihl 1994";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        let mut waiting = Vec::new();
        waiting.try_reserve_exact(setup.capacity).map_err(|_| OutOfMemory)?;
        Ok(Lottery { lines: IssuerFifos::new(setup.capacity)?, waiting, dice: Random::default(), tunables })
    }

    fn tune(&mut self, tunables: Settings) {
        self.tunables = tunables;
    }

    fn starvation(_: &Settings) -> Starvation {
        Starvation::Unbounded
    }
}

impl Lottery {
    /// The oldest request of `who`.
    fn head(&self, who: Issuer) -> Option<RequestId> {
        self.lines.head(self.lines.find(who)?)
    }

    /// Draws with `dice`.
    fn draw(&self, cx: Cx<'_>, dice: &mut Random) -> Option<Draw> {
        let held: u64 = self.waiting.iter().map(|who| u64::from(cx.weight(*who).get())).sum();
        // Only 400 000 processes of the greatest weight have more tickets than that.
        let tickets = u32::try_from(held).unwrap_or(u32::MAX);
        if tickets == 0 {
            return None;
        }
        let ticket = dice.below(self.tunables.seed.0, tickets);
        let mut passed = 0;
        let winner = self.waiting.iter().copied().find(|who| {
            passed += u64::from(cx.weight(*who).get());
            passed > u64::from(ticket)
        })?;
        Some(Draw { ticket, tickets, winner })
    }

    /// Takes `who` off the list of those who wait, if nothing of it waits any more.
    fn tidy(&mut self, who: Issuer) {
        if self.head(who).is_none() {
            self.waiting.retain(|waits| *waits != who);
        }
    }
}

impl Scheduler for Lottery {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        let who = cx[id].issuer;
        if self.head(who).is_none() {
            self.waiting.push(who);
        }
        self.lines.push(cx, id);
    }

    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.serve(cx)
    }

    fn complete(&mut self, cx: Cx<'_>, id: RequestId) {
        self.lines.finish(cx, id);
    }

    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.lines.remove(cx, id);
        self.tidy(cx[id].issuer);
    }

    fn absorbed(&mut self, cx: Cx<'_>, survivor: RequestId, other: RequestId) {
        self.lines.absorb(cx, survivor, other);
        self.tidy(cx[other].issuer);
    }

    fn issuer_gone(&mut self, _: Cx<'_>, who: Issuer) {
        self.lines.forget(who);
    }

    fn adopt(&mut self, cx: Cx<'_>, id: RequestId) {
        self.lines.adopt(cx, id);
    }

    fn may_merge(&self, cx: Cx<'_>, id: RequestId, new: &Request) -> bool {
        cx[id].issuer == new.issuer
    }
}

impl Policy for Lottery {
    fn select(&self, cx: Cx<'_>) -> Option<RequestId> {
        // With a copy of the dice: looking at the ticket does not use it up.
        let mut dice = self.dice;
        self.draw(cx, &mut dice).and_then(|draw| self.head(draw.winner))
    }

    fn take(&mut self, cx: Cx<'_>, id: RequestId) {
        let mut dice = self.dice;
        if let Some(Draw { ticket, tickets, winner }) = self.draw(cx, &mut dice) {
            let facts = || [(u64::from(ticket) + 1).into(), u64::from(tickets).into(), winner.into()];
            cx.because("ticket {} of {} was drawn, which is issuer {}'s", facts);
        }
        self.dice = dice;
        self.lines.take(cx, id);
        self.tidy(cx[id].issuer);
    }
}
