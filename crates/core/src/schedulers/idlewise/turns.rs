//! Turns: each stream has the disk to itself for a while, and all else goes to the drive's own queue in batches.
//!
//! Anticipation keeps a disk from seeking between streams, but leaves a drive's queue empty; a full queue lets the drive sort
//! random requests, and ruins streams. Here each has its turn.
//!
//! # How it decides
//! Who issues is an *actor*: a process, or a chain of them. A newcomer goes on for the latest actor of its group of processes
//! if that has nothing to do; or for the stream whose turn it is if that has exited, or has left off within 4 MiB. Else what it
//! will do is expected to be what the last newcomers did.
//!
//! An actor is a *stream* if two of its requests in a row begin within 4 MiB of where the one before ends (each step farther
//! away costs two), and it thinks at most 8 ms on average. Requests are of three kinds: of a stream; of the *pool*, which is
//! all others that somebody waits for, and synchronous writes where the drive has a queue and takes them into its buffer
//! meanwhile; and *writes* that nobody waits for.
//!
//! 1. Whatever has waited for 9/8 of `target` is overdue. The oldest goes after at most 32 others, and at once if
//!    nothing else would, without heeding rule 2. It ends a wait for a stream if somebody waits for it.
//! 2. Nothing new goes to a drive that has had a request for 150 ms: the drive passes over what is far away.
//! 3. The turn goes on.
//!    - A stream is sent as it comes, and waited for when it thinks: as long as it thinks on average, four mean deviations
//!      and 1 ms more, but 3 to 8 ms. Not if the average wait costs more than those save that are not in vain: each
//!      saves what it takes longer to come back to a stream than to stay with it, as measured. Where only streams wait
//!      and the next would not be waited for either, that is what it takes to come back from thoughts, which is nothing
//!      with a drive that reads ahead for each. It is measured by leaving, and taken for 1/16 less with each turn in
//!      which nobody was left, so that leaving is tried again.
//!      If a read that went on where the stream was, and was alone in a drive that has a queue, took more than twice as
//!      long as to get to a stream, the drive is writing what it has taken, and gets twice as long as that to be done.
//!    - The pool goes in batches: what waited when the batch began. Of the two next to the head the one goes that is
//!      expected to be reached sooner.
//!    - Writes go upward, one writer at a time if it writes in order.
//! 4. The next turn is of whoever has been ready for longest: a stream, the pool or the writes. Whose turn it was comes last.
//!    What is left of a batch goes before another. Writes begin with the oldest if that has waited for half of `target`.
//!
//! A turn takes `target` divided by how many want one (each writer counts), less the time to get there; at least 40 ms and at
//! most half of `target`. A stream's turn counts from its first completion, and goes on while nobody else wants one.
//!
//! Where no heads move, what somebody waits for goes at once in order of arrival, and then writes. Writes in flight are
//! limited. If in 5 ms a read takes more than three times as long as the shortest, the limit becomes half of the writes that
//! are in flight; else it grows by 1/64.
//!
//! # Weights and priorities
//! Weights count, where heads move, for two rounds after somebody has asked whose weight is not 100 or whose level is not 4. A
//! level from 0 to 7 multiplies the weight by 8/4 to 1/4. Then each actor that asks gets its weight's part of `target` in each
//! round. What is counted is disk time: until a request is done, from when it was sent or, if that is later, from when another
//! was done. An actor that has used its part waits for the next round, and owes what it has used beyond it. A turn takes what
//! is left of the part, at least 40 ms. The round goes on while an actor that has something left asks; if it thinks at most
//! 3 ms on average, its next request is waited for, for 3 to 8 ms. Writes that nobody waits for have one part, 100 for each
//! writer.
//!
//! Requests of the real-time class go first, upward. Where heads move, nothing else goes beside them, nor for 3 to 8 ms after them
//! if their process thinks at most 3 ms. Whatever else is overdue meanwhile goes after 32 others and half of `target`, or after
//! 512 others. Requests of the idle class go, upward, when nothing else has waited or been in flight for 40 ms; once overdue,
//! after as many.
//!
//! # Source
//! idlewise. Anticipation, its cost and benefit: SOSP'01 §3. Chains of processes: OLS'05. Turns by time: Linux's CFQ.
//!
//! # Good for, bad for
//! Good for disks with moving heads, with a queue of their own or without, whatever the load: no other scheduler here is near
//! the front everywhere. Bad for random readers that each stay in a part of a disk that takes one command at a time, which
//! `cfq` and `as` wait for; and where p99 counts more than throughput: a wait is about a round (`target`).
//!
//! # Starvation
//! None: from 9/8 of `target` on, at least one of 33 requests to go is the oldest that is overdue; one of 513 while the real-time
//! class asks, or where it is itself of the idle class.

mod actors;
mod choice;
mod classes;
mod draining;
mod flight;
mod habits;
mod leaving;
mod line;
mod parts;
mod passed;
mod pool;
mod round;
mod service;
mod settings;
mod shaper;
mod shares;
mod waiting;

use crate::collections::{OutOfMemory, TryBox};
use crate::request::{Class, Priority};
use crate::scheduler::{Algorithm, PriorityEffects, Setup, Starvation, delegate};
use crate::tunables::Unit;
use crate::units::Weight;
use parts::Service;
use settings::SPARED_BELOW;
pub use settings::Settings;
use shares::{USUAL, weigh};

/// Turns for streams, batches for all others.
pub struct Turns(TryBox<Service>);

impl Algorithm for Turns {
    const NAME: &'static str = "turns";
    const SUMMARY: &'static str =
        "Gives each stream the disk for a while, and all else to the drive in batches.";
    const SOURCE: &'static str = "idlewise; SOSP'01 §3; OLS'05; Linux 2.6 CFQ";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        let room = TryBox::room()?;
        Ok(Turns(room.keep(Service::new(setup, tunables)?)?))
    }

    fn tune(&mut self, tunables: Settings) {
        self.0.tunables = tunables;
    }

    fn priority_effects(_: &Settings, priority: Priority) -> PriorityEffects {
        let part = weigh(Weight::default(), priority) * u64::from(Weight::default().get()) / USUAL;
        let weighs = priority.class == Class::BestEffort;
        [weighs.then_some(("weight", part, Unit::Count)), None, None]
    }

    /// Of 33 that go one is the oldest that is overdue, of 513 where it is of a lower class, and before us only those are older
    /// that were there before us.
    fn starvation(tunables: &Settings) -> Starvation {
        Starvation::Bounded { after: tunables.expire(), per_waiting: 1 + SPARED_BELOW, plus: SPARED_BELOW }
    }
}

macro_rules! service {
    ($turns:ident, $method:ident $(, $argument:ident)*) => { $turns.0.$method($($argument),*) };
}
delegate!([] Turns, service);
