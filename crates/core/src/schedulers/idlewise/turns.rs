//! Turns: streams and random requests share the disk by taking turns.
//!
//! Anticipation keeps a disk from seeking between streams, but leaves a drive's queue empty. A full queue lets the drive sort
//! random requests, but breaks up streams. Here a stream has the disk to itself for a while; then random requests fill the
//! drive's queue.
//!
//! # How it decides
//! An *actor* is a process that issues requests, or a chain of processes, each continuing where the previous one stopped. A
//! new process joins the latest actor of its group (such as the processes of one parent) if that actor has no request waiting
//! or in flight. Otherwise it joins the stream that has the turn, if that stream has exited, or has ended within 4 MiB
//! of where the new process begins.
//!
//! To *think* is to let time pass from a completion to the next request. A request is *near* if it begins within 4 MiB of where
//! the actor's last one ends. An actor's score gains 1 for each near request, up to 8, and loses 2 for each other. It is a
//! *stream* from score 2 on, if it thinks at most 8 ms on average. There are three kinds of requests:
//! - a stream's: its reads, and its synchronous writes. If the drive has a queue, only its reads, and only while the stream has
//!   the turn or is worth waiting for (rule 3): else the drive sorts its reads among all others.
//! - the *pool*: all other reads and synchronous writes (a drive with a queue takes a write into its buffer meanwhile);
//! - *writes* that nobody waits for (asynchronous ones).
//!
//! 1. A request that has waited for 9/8 of `target`, and for 200 ms, is overdue. The oldest overdue request is dispatched after 32
//!    others have been dispatched since the last one. If a synchronous request is overdue, it also ends a wait for a stream.
//!    If nothing would be dispatched for another reason, the oldest overdue request is dispatched at once, whatever rule 2
//!    says.
//! 2. While any request has been in the drive for half of `target`, and for 40 ms, no new one is sent: the drive keeps passing
//!    over that request.
//! 3. The turn continues.
//!    - A stream's requests are dispatched as they come. A stream that thinks is waited for: its mean thinking time, 4 mean deviations
//!      and 1 ms, but 3 to 8 ms. It is not waited for if waits cost more time on average than successful ones save. A
//!      successful wait saves the extra time of coming back to a stream, compared with staying; both are measured (12 ms
//!      at first), without the time of transfer as soon as that is known. What is known of staying and of transfer shrinks by
//!      1/256 in each turn of a stream that ends after its first read, so that staying is tried again. In a drive with a queue a wait saves at most
//!      what a read of the pool takes, which is measured, too.
//!      A drive may read ahead for several streams at once, so that coming back soon costs nothing. So where only streams
//!      wait, there is a second estimate: the extra time of coming back to a stream that was left because it thought. It
//!      begins at 0 and shrinks by 1/16 in each turn that did not end so, and the next stream's wait is weighed against it.
//!      A drive takes writes into its buffer, and writes them between later reads. If a read alone in the drive begins where
//!      the turn's last read ended, and takes more than twice the usual time to reach a stream, besides its transfer, the
//!      drive was writing. Such a time does not count for staying. In a drive with a queue the stream is also held back for twice as long
//!      as that read took, and its turn ends as much later.
//!    - The pool is served in batches: all that waited when the batch began, as many at once as the drive takes. The head is taken to
//!      be where the last request ended. Of the nearest requests on both sides, the one is next that is expected to be reached
//!      sooner.
//!    - Writes are dispatched in ascending order from the head, then from the lowest. While a writer with a score of 2 has
//!      writes in flight, no other writer's are dispatched; if a stream or the pool waits, the turn ends instead. While
//!      a stream waits, no more is written in a turn than the drive could have read in that time: then it gets the rest of
//!      the turn to write that. The rate of reading is the highest over 16 reads of 64 KiB or more that each
//!      continue the one before, thinking included; it shrinks by 1/64 with each 16. But the limit is at least half of what was written in
//!      the turn of writes before.
//! 4. The next turn goes to the one that has been ready for longest: a stream since its request came or its last turn
//!    ended, the pool and the writes likewise. The one whose turn has just ended comes last. A batch that was cut short is
//!    finished before a new one begins. Writes begin with the oldest if that has waited for half of `target`.
//!
//! A turn takes `target` divided by the number of those that want one: streams, the pool, and each writer. The time to reach
//! a stream is taken off, as a stream's turn counts from its first completion. A turn takes at most half of `target`, but never
//! less than 40 ms. A stream keeps its turn while nothing else waits.
//!
//! On devices without moving heads, reads are dispatched at once in order of arrival, then synchronous writes (after 16 reads one
//! comes first), then other writes: the oldest if it has waited for half of `target`, or else in ascending order. The number of
//! these writes in flight is limited, to 1024 at first. If for 8 windows of 5 ms on end a read has taken more than three times
//! the shortest that has been seen, the limit becomes half of the writes in flight, at least 1, and so in each such window that
//! follows; in any other window it grows by 1/64.
//!
//! # Weights and priorities
//! On disks with moving heads weights count for two rounds (`target` each) after an actor has issued a request whose weight is
//! not 100 or whose level is not 4. A level counts as (8 - level)/4 times the weight. In each round an actor gets a part of
//! `target`, by its weight among those that issue requests. It pays with disk time: from when its request was sent, or from when
//! the drive completed another if that is later, until its completion. An actor that has used its part is not served until the
//! next round, even if the drive has room, and owes what it has used beyond its part. Overdue requests are dispatched nevertheless. The
//! round continues while an actor with something left has a request waiting or in flight, and while one that thinks at most 3 ms
//! on average is waited for as in rule 3. A turn takes what is left of the part, but never less than 40 ms. Writes share one
//! part, whose weight is 100 times the number of writers.
//!
//! Requests of the real-time class are dispatched first, in ascending order from the head. On disks with moving heads nothing else
//! is sent while one is in flight. If its process thinks at most 3 ms on average, it is also waited for as in rule 3. Other
//! overdue requests are dispatched after 512 others, or after 32 others if half of `target` has passed since the last. Requests of the idle
//! class are dispatched, in ascending order, when for 40 ms nothing else has been waiting or in flight. Overdue ones are
//! dispatched as often as others are beside the real-time class.
//!
//! # Source
//! idlewise's own. Anticipation, its cost and benefit: "Anticipatory scheduling", SOSP'01 §3. Chains of processes: "Cooperative
//! anticipatory scheduling", OLS'05. Turns by time: CFQ of Linux.
//!
//! # Good for, bad for
//! Good for disks with moving heads, with a queue of their own or without: no other scheduler here does well on all
//! loads. Bad for random readers on a disk without a queue that each keep to one region: `cfq` and `as` wait for them. Bad where
//! p99 counts more than throughput: a wait is about a round (`target`).
//!
//! # Starvation
//! None: once a request is overdue, of every 33 requests sent one is the oldest that is overdue. It is one of 513 while the
//! real-time class issues requests, or if the overdue request is itself of the idle class.

mod actors;
mod classes;
mod decide;
mod drive_buffer;
mod events;
mod flash;
mod habits;
mod heads;
mod in_flight;
mod next;
mod overdue;
mod place_queue;
mod pool;
mod round;
mod settings;
mod shares;
mod waiting;
mod write_limit;

use crate::collections::{OutOfMemory, TryBox};
use crate::request::{Class, Priority};
use crate::scheduler::{Algorithm, PriorityEffects, Setup, Starvation, delegate};
use crate::tunables::Unit;
use crate::units::Weight;
use flash::Flash;
use heads::Heads;
use settings::SPARED_BELOW;
pub use settings::Settings;
use shares::{USUAL, weigh};

/// Turns for streams, batches for all others.
pub struct Turns(Kind);

enum Kind {
    /// For disks with moving heads.
    Heads(TryBox<Heads>),
    /// For all others.
    Flash(TryBox<Flash>),
}

impl Algorithm for Turns {
    const NAME: &'static str = "turns";
    const SUMMARY: &'static str =
        "Gives each stream the disk for a while, and all else to the drive in batches.";
    const SOURCE: &'static str = "idlewise; SOSP'01 §3; OLS'05; Linux 2.6 CFQ";
    type Tunables = Settings;

    fn new(setup: Setup<'_>, tunables: Settings) -> Result<Self, OutOfMemory> {
        Ok(Turns(if setup.device.rotational {
            Kind::Heads(Heads::new(setup, tunables)?)
        } else {
            Kind::Flash(Flash::new(setup, tunables)?)
        }))
    }

    fn tune(&mut self, tunables: Settings) {
        match &mut self.0 {
            Kind::Heads(service) => service.tunables = tunables,
            Kind::Flash(flash) => flash.tunables = tunables,
        }
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

macro_rules! either {
    ($turns:ident, $method:ident $(, $argument:ident)*) => {
        match $turns {
            Turns(Kind::Heads(service)) => service.$method($($argument),*),
            Turns(Kind::Flash(flash)) => flash.$method($($argument),*),
        }
    };
}
delegate!([] Turns, either);
