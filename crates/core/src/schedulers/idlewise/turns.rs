//! Turns: streams and random requests share the disk by taking turns.
//!
//! Anticipation keeps a disk from seeking between streams, but leaves a drive's queue empty. A full queue lets the drive sort
//! random requests, but breaks up streams. Here a stream has the disk to itself for a while; then random requests fill the
//! drive's queue.
//!
//! # How it decides
//! An *actor* is a process that issues requests, or a chain of processes of which each goes on where the one before stopped. A
//! new process joins the actor of the process of its group (such as the processes of one parent) that was new last, even if that
//! has exited, unless the actor has a request waiting or in flight. Otherwise the new process joins the stream that has the
//! turn, if that has nothing waiting or in flight, and either has exited or read last within 4 MiB of where the new
//! process begins. Whoever joins goes on as that actor, with its score, its thinking time and its turn.
//!
//! To *think* is to let time pass from a completion to the next request. A request is *near* if it begins within 4 MiB of where
//! the actor's last one ends. An actor's score gains 1 for each near request, up to 8, and loses 2 for each other. It is a
//! *stream* from score 2 on, if it thinks at most 8 ms on average. There are three kinds of requests:
//! - a stream's: its reads and its synchronous writes. If the drive has a queue, only while the stream has the turn or waiting
//!   for it would pay (see below): the drive sorts all others better;
//! - the *pool*: all other reads and synchronous writes;
//! - *writes* that nobody waits for (asynchronous ones).
//!
//! The first of these rules that says something decides:
//! 1. A request is overdue once it has waited for 9/8 of `target`, but at least 200 ms. After 32 other requests since an overdue
//!    one was sent last, the oldest overdue request goes next, without a turn of its own. Before that, it goes only
//!    while the rules below, rule 2 too, send nothing although the drive has room. An asynchronous one does not go even then
//!    while a stream is waited for or has requests in flight.
//! 2. Once a request has been in the drive for half of `target`, but at least 40 ms, nothing new is sent until that request is
//!    done: the drive keeps passing over it.
//! 3. The turn goes on until its time is up, or until the one that has it has nothing to send and is not waited for. A stream
//!    keeps its turn while nothing else waits.
//!    - A stream's requests are sent as they come, even while the drive still has others'. While any is in flight, nothing else is
//!      sent, except among thinkers (see below). A stream that thinks is waited for if that pays (see below), from its last
//!      completion on: for a short time, 1 ms, or for a long one, 8 ms. The turn ends if the stream issues a request that goes to
//!      the pool, or is no stream any more.
//!    - The pool is served in batches: all that waited when the batch began, as many at once as the drive takes. The head is
//!      taken to be where the last request ended. Of the nearest requests on both sides, the one is next that is
//!      expected to be reached sooner. The turn ends when all of the batch are sent.
//!    - Writes are sent in ascending order from the head, then from the lowest. While the writer that was served last has a score
//!      of 2 or more and writes in flight, it is about to write more. Unless the next write is its own, nothing is sent until
//!      it issues another, or until 1 ms after the first write that is done since it issued the last one. With a stream in
//!      line there is no such wait: the turn ends at once.
//!    - While another stream waits, the drive is given at most as much to write in a turn, of writes or of a stream that writes,
//!      as it could have read in that time (see below). For the rest of the turn nothing is sent, and the drive writes what it has.
//! 4. The next turn goes to the one that has been ready for longest: a stream, the pool or the writes, each since its first waiting
//!    request came, or since its last turn ended if that was later. The one whose turn has just ended comes last. A batch that
//!    was cut short is finished before a new one begins. Writes begin with the oldest if that has waited for half of `target`.
//!    Thinkers have turns together (see below).
//!
//! A turn takes `target` divided by the number of those that want one: streams, the pool, and each writer. The cost of leaving
//! a stream (see below) is taken off, and a stream's turn counts from its first completion. A turn takes at most half
//! of `target`, but never less than 40 ms. After a quarter of its time a stream's turn ends with a completion if the drive has
//! been busy for less than half as much of the time as it is on average: a stream that thinks would leave it idle while others
//! wait. The way to a stream's first read does not count as busy, but the time does in which a stream is held back (see below).
//!
//! # What it learns
//! *Whether waiting pays*, for each actor: if the mean time of a wait, in vain or not, is at most the cost of leaving times the
//! share of waits that are not in vain. Of the short wait and the long one, the one that saves
//! more counts, or the short one: whoever issues several requests at once and then thinks for long is waited for only between
//! those. In a drive with a queue, leaving an actor whose last request was a write costs at most 1 ms: its buffer has the write.
//!
//! *The cost of leaving*, for the disk: how much longer the first read of a stream's turn takes than the turn's later ones. It is
//! 12 ms at first. Once the time of transfers is known, both times are without it. In a drive with a queue the cost is at most
//! what a read of the pool takes. The estimate for later reads falls by 1/256 in each turn of a stream that has only one read, so
//! that the cost grows and staying is tried again.
//!
//! *The batch.* In a drive with a queue, whoever is left while no other stream is in line comes back after a batch. So the cost
//! includes how much longer the drive takes for all that the pool has waiting or in flight, by the mean time of a read of the
//! pool, than for as much of the stream. For the stream counts how long its last read in a turn took, thinking included.
//!
//! *The cost of leaving for a short time*: a drive may read ahead for several streams at once, so that coming back soon costs
//! nothing. A stream is a *thinker* if waiting for it does not pay at this second cost at the time at which it comes in line.
//! Thinkers have turns together: from the first's on, for the turns of all that are in line by then, but at most half of
//! `target`, the next turn is a thinker's, and this cost decides for whoever has the turn; both only while the pool and writes
//! want nothing. The cost is measured like the first one, but only of a thinker whose last turn among these ended because it
//! thought. It is 0 at first, so that thinkers are not waited for until leaving them turns out to cost something; each turn that
//! ends for another reason lowers it by 1/16. In a drive with a queue, a thinker whose last turn ended like that keeps nobody
//! from the drive while its requests are in flight: the next turn begins. Then the whole time that the drive takes for a read, or
//! takes from the completion before, counts as the time to get there.
//!
//! *The drive's buffer.* A drive takes writes into its buffer, and writes them between later reads. If a read alone in the
//! drive begins where the turn's last read ended, and takes longer than usual to reach a stream, besides its transfer, the
//! drive was writing. The costs above leave out such a read. In a drive with a queue, nothing of the stream is sent for twice
//! as long as that read took, and its turn ends as much later. In such a drive a quarter of the usual time is enough while its
//! buffer may hold writes. A write that is done in less than a quarter of that time is taken to be in the buffer. Each slow read
//! means that three of these are written, and two reads on end that are not slow mean that all are. What a drive could have read in a
//! turn follows from the highest rate over 16 reads of 64 KiB or more that each continue the one before, thinking included,
//! without those for which a quarter of the usual time was enough or before which the stream thought for longer than they took;
//! each 16 such reads lower the rate by 1/64 first. It counts as at least half of what was written in the last turn that
//! wrote. Before such a rate is known there is no limit.
//!
//! # Without moving heads
//! Rule 1 holds. Then reads are sent at once in order of arrival, then synchronous writes (one goes first once 16 reads have been
//! sent since the last), then other writes: the oldest if it has waited for half of `target`, or else in ascending order from
//! where the last request ended, then from the lowest. Of each of the two kinds of writes a number may be in flight that is
//! 1024 at first, the limit of that kind.
//!
//! In each window of 5 ms in which somebody reads, reads are *late* if one has taken more than three times the shortest that has
//! been seen, of which more than 2 ms count as 2 ms. If they are late in 8 windows on end, or in 2 once the limit is below 1024,
//! and writes of that kind were done or are in flight, a *trial* begins: the limit becomes half of the writes of that kind in
//! flight, at least 1, and so in each late window that follows. It is over when reads are late no longer, or with a limit of 1
//! after 8 late windows of reads sent since then. The *cost* is the mean time of a read, times the time in which a sector is
//! written. If 8 such windows cost less than the windows before the trial (for synchronous writes, less than half), the limit
//! stays. If none has within 200 ms, the limit is what it was before, and the next trial begins after 16 times as long as this
//! one took. After 2048 late windows on end with a limit of 1 it is 1024 again. In each window that is not late, or between
//! trials, the limit grows by 1/64. If nobody reads for a second, there is none until 8 windows have been late again.
//!
//! # Weights and priorities
//! On disks with moving heads weights count for two rounds (`target` each) after an actor has issued a request whose weight
//! is not 100 or whose level is not 4. A write of metadata counts as level 4: a file system gives its journal a level of
//! its own accord. A level counts as (8 - level)/4 times the weight. In each round an actor gets a part of `target`, by its
//! weight among those that issue requests. It pays with disk time: from when its request was sent, or from when the drive
//! completed another if that is later, until its completion. An actor that has used its part is not served until the next
//! round, even if the drive has room, and owes what it has used beyond its part. Its overdue requests are sent
//! nevertheless. The round goes on as long as an actor with something left has a request waiting or in flight, or thinks at
//! most 3 ms on average and is waited for, 8 ms. A turn takes what is left of the part, but never less than 40 ms. Writes
//! share one part, whose weight is 100 times the number of writers.
//!
//! Requests of the real-time class are sent first, in ascending order from the head. On disks with moving heads nothing else
//! is sent while one is in flight. If its process thinks at most 3 ms on average, it is also waited for, 8 ms. Beside
//! them an overdue request of another class is sent after 512 others, or after 32 in place of a real-time one if half of
//! `target` has passed since the last overdue one. Requests of the idle class are sent, in ascending order, when for 40 ms nothing
//! else has been waiting or in flight. Beside all others an overdue one of the idle class is sent as seldom as that.
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
mod utilization;
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
