//! Weight raising: queues that seem to be interactive, or to play a film, weigh more for a while.
//!
//! An interactive queue, one that had nothing to do for two seconds or is new, weighs 30 times its weight
//! for as long as a large program takes to start on this device, or until it has been served 120 000 sectors. A
//! soft real-time queue, one that does not ask for more before what it had was played at 7000 sectors a
//! second, weighs 3000 times its weight for 300 ms, and again with each such arrival.

use crate::units::{Duration, Instant};

/// Linux's `bfq_wr_rt_max_time`.
const SOFT_TIME: Duration = Duration::from_ms(300);
/// Linux's `max_service_from_wr`: an interactive queue is raised for this many sectors.
const MOST_SERVICE: u64 = 120_000;
/// Linux's `bfq_wr_max_softrt_rate`: sectors per second that a film may take.
const SOFT_RATE: u64 = 7_000;
/// Linux adds 4 ticks to what it waits for a process, before it takes it for a film.
const SOFT_MARGIN: Duration = Duration::from_ms(4);
/// Linux's `bfq_wr_min_idle_time`.
pub(crate) const AWAY: Duration = Duration::from_ms(2_000);
/// Linux's `bfq_wr_min_inter_arr_async`.
const ASYNC_APART: Duration = Duration::from_ms(500);
/// Linux's `bfq_merge_time_limit`: a queue that was served for longer is not merged.
const MERGE_TIME: Duration = Duration::from_ms(100);

/// Whether a span after `since` is over; long ago it was, if `since` is not known.
pub(crate) fn passed(since: Option<Instant>, span: Duration, now: Instant) -> bool {
    since.is_none_or(|since| since + span < now)
}

/// How a queue is raised, and by how much: Linux's `bfq_wr_coeff` and `BFQ_SOFTRT_WEIGHT_FACTOR`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Not = 1,
    Interactive = 30,
    Soft = 30 * 100,
}

/// A queue's raising.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Raise {
    pub(crate) kind: Kind,
    /// How long it is raised.
    span: Duration,
    /// When that began, or when it last ended.
    pub(crate) since: Instant,
    /// When it was raised as interactive, before it was as soft real-time.
    before_soft: Option<Instant>,
    /// Sectors that it was served while raised.
    service: u64,
    /// Not before then an arrival makes it soft real-time.
    pub(crate) soft_from: Instant,
    /// When it last had something to do after nothing, what it was served since, and when that was first.
    pub(crate) busy_since: Instant,
    pub(crate) busy_service: u64,
    pub(crate) first_service: Instant,
    /// The queue was created together with many others.
    pub(crate) in_burst: bool,
    /// Once its requests in flight are done, it is planned when it may be a film's.
    pub(crate) plans_soft: bool,
}

/// What speaks for raising a queue when a request makes it busy.
#[derive(Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) interactive: bool,
    pub(crate) soft: bool,
    pub(crate) in_burst: bool,
    /// The queue may be raised: it is one process's, which waits for its requests.
    pub(crate) deserves: bool,
}

impl Raise {
    pub(crate) fn new(now: Instant) -> Raise {
        Raise { since: now, soft_from: now, first_service: now, ..Raise::default() }
    }

    /// By how much its weight is raised.
    pub(crate) const fn factor(&self) -> u64 {
        self.kind as u64
    }

    pub(crate) const fn is_on(&self) -> bool {
        !matches!(self.kind, Kind::Not)
    }

    pub(crate) fn as_interactive(&mut self, span: Duration) {
        (self.kind, self.span) = (Kind::Interactive, span);
    }

    /// A request has made the queue busy. True if it is newly raised.
    pub(crate) fn claim(&mut self, now: Instant, claim: Claim, span: Duration) -> bool {
        if !self.is_on() {
            if claim.deserves && claim.interactive {
                self.service = 0;
                self.as_interactive(span);
            } else if claim.deserves {
                (self.kind, self.span, self.before_soft) = (Kind::Soft, SOFT_TIME, None);
            }
            return claim.deserves;
        }
        if claim.interactive {
            self.as_interactive(span);
        } else if claim.in_burst {
            self.kind = Kind::Not;
        } else if claim.soft {
            if self.kind != Kind::Soft {
                (self.kind, self.span, self.before_soft) = (Kind::Soft, SOFT_TIME, Some(self.since));
            }
            self.since = now;
        }
        false
    }

    /// The queue is served, or is charged as if.
    pub(crate) fn serve(&mut self, now: Instant, sectors: u64) {
        if self.busy_service == 0 {
            self.first_service = now;
        }
        if self.is_on() {
            self.service += sectors;
        }
        self.busy_service += sectors;
    }

    /// Whether the queue has been served for so long that its process is known.
    pub(crate) fn is_known(&self, now: Instant) -> bool {
        self.busy_service > 0 && passed(Some(self.first_service), MERGE_TIME, now)
    }

    /// Ends it.
    fn end(&mut self, now: Instant) {
        if self.kind != Kind::Soft {
            self.soft_from = now;
        }
        (self.kind, self.span, self.since) = (Kind::Not, Duration::ZERO, now);
    }

    /// Nothing is raised any more, whenever that was.
    pub(crate) fn switch_off(&mut self) {
        if self.is_on() {
            (self.kind, self.span, self.soft_from) = (Kind::Not, Duration::ZERO, Instant::ZERO);
        }
    }

    /// Goes on as interactive, if it was that and its time is not over. True if so.
    fn go_back(&mut self, now: Instant, span: Duration) -> bool {
        let before = self.before_soft.filter(|_| !passed(self.before_soft, span, now));
        if let Some(before) = before {
            self.as_interactive(span);
            self.since = before;
        }
        before.is_some()
    }

    /// Ends it as soft real-time: as interactive it may continue.
    pub(crate) fn end_soft(&mut self, now: Instant, span: Duration) {
        if !self.go_back(now, span) {
            self.end(now);
        }
    }

    /// Ends it if its time is over, it was served enough, or there are many like it.
    pub(crate) fn expire(&mut self, now: Instant, span: Duration) {
        if !self.is_on() {
            return;
        }
        let over = passed(Some(self.since), self.span, now);
        if over && !self.in_burst && self.kind == Kind::Soft {
            self.end_soft(now, span);
        } else if over || self.in_burst {
            self.end(now);
        }
        if self.kind == Kind::Interactive && self.service > MOST_SERVICE {
            self.end(now);
        }
    }

    /// The queue goes into service. Time in which it waited for that does not count as soft real-time.
    pub(crate) fn taken(&mut self, now: Instant, waits_since: Option<Instant>) {
        if self.kind == Kind::Soft && self.since < now && waits_since.is_none_or(|since| since < now) {
            self.since = match waits_since {
                Some(waits) if waits > self.since => self.since + now.since(waits),
                _ => now,
            };
        }
    }

    /// The queue has nothing to do: from when on will its next request be a film's?
    pub(crate) fn plan_soft(&mut self, now: Instant, slice_idle: Duration) {
        let play = Duration(self.busy_service.saturating_mul(1_000_000_000) / SOFT_RATE);
        let next = now + slice_idle + SOFT_MARGIN;
        self.soft_from = self.soft_from.max(self.busy_since + play).max(next);
    }

    /// What a queue that takes over another's process gets from it.
    pub(crate) fn pass_to(&mut self, other: &mut Raise) {
        if !other.is_on() && self.is_on() {
            (other.kind, other.span) = (self.kind, self.span);
            (other.since, other.before_soft) = (self.since, self.before_soft);
        }
        self.kind = Kind::Not;
    }

    /// A queue that is a process's own again continues as it was, unless that is over.
    pub(crate) fn resume(&mut self, saved: Raise, now: Instant, span: Duration) {
        *self = Raise {
            kind: saved.kind,
            span: saved.span,
            since: saved.since,
            before_soft: saved.before_soft,
            service: saved.service,
            ..*self
        };
        let over = self.in_burst || passed(Some(self.since), self.span, now);
        if over && (self.in_burst || self.kind != Kind::Soft || !self.go_back(now, span)) {
            self.kind = Kind::Not;
        }
    }

    /// The queue, which is busy, gets another request. True if that comes so long after the last that an
    /// asynchronous queue becomes interactive.
    pub(crate) fn note_request(&mut self, now: Instant) -> bool {
        !self.is_on() && passed(Some(core::mem::replace(&mut self.since, now)), ASYNC_APART, now)
    }

    /// What speaks for raising the queue, which a request wakes after it was `away` or not; `calm` if the request
    /// has nothing in flight before it and does not only seek. `fit` if the queue is one process's, which waits for
    /// its requests.
    pub(crate) fn weigh(&self, now: Instant, away: bool, calm: bool, fit: bool) -> Claim {
        let interactive = !self.in_burst && away;
        let soft = calm && !self.in_burst && self.soft_from < now;
        let deserves = self.is_on() || fit && (interactive || soft);
        Claim { interactive, soft, in_burst: self.in_burst, deserves }
    }

    /// The queue has something to do after nothing. If it `restarts`, its raising starts over, or the time
    /// without that.
    pub(crate) fn wake(&mut self, now: Instant, restarts: bool) {
        (self.busy_since, self.busy_service, self.plans_soft) = (now, 0, false);
        if restarts {
            self.since = now;
        }
    }

    /// The queue goes out of service: from when on may it be raised? `empty` if nothing waits in it, `done` if
    /// nothing is in flight.
    pub(crate) fn plan(&mut self, now: Instant, empty: bool, done: bool, slice_idle: Duration) {
        if !self.is_on() {
            self.since = now;
        }
        if empty && done {
            self.plan_soft(now, slice_idle);
        } else if empty {
            self.plans_soft = true;
        }
    }

    /// The last request of the queue, which is empty, is done.
    pub(crate) fn note_done(&mut self, now: Instant, slice_idle: Duration) {
        if self.plans_soft && self.kind != Kind::Interactive {
            self.plan_soft(now, slice_idle);
        }
    }
}

/// Linux's `bfq_large_burst_thresh`: a burst of this many queues is large, each within [`BURST_GAP`] of the last.
const LARGE_BURST: usize = 8;
/// Linux's `bfq_burst_interval`.
pub(crate) const BURST_GAP: Duration = Duration::from_ms(180);

/// The queues that were last created together: many are a server's or a compiler's, not a user's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Burst<Q> {
    members: [Option<Q>; LARGE_BURST],
    size: usize,
    large: bool,
    last: Option<Instant>,
}

impl<Q: Copy + PartialEq> Burst<Q> {
    /// A queue is created, while others are busy or not. Returns those that are in a large burst now.
    pub(crate) fn created(&mut self, now: Instant, queue: Q, others: bool) -> [Option<Q>; LARGE_BURST] {
        let none = [None; LARGE_BURST];
        if self.members.contains(&Some(queue)) {
            return none;
        }
        let mut found = none;
        if passed(self.last, BURST_GAP, now) {
            *self = Burst { members: none, size: 0, large: false, last: None };
            if !others {
                (self.members[0], self.size) = (Some(queue), 1);
            }
        } else if self.large {
            found[0] = Some(queue);
        } else {
            self.size += 1;
            if let Some(free) = self.members.iter_mut().find(|member| member.is_none()) {
                *free = Some(queue);
            }
            if self.size == LARGE_BURST {
                self.large = true;
                found = core::mem::replace(&mut self.members, none);
            }
        }
        self.last = Some(now);
        found
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// `queue` is no longer looked at. `ends` if its process has exited.
    pub(crate) fn leave(&mut self, queue: Q, ends: bool) {
        if let Some(member) = self.members.iter_mut().find(|member| **member == Some(queue)) {
            *member = None;
            if ends {
                self.size = self.size.saturating_sub(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(at: u64) -> Instant {
        Instant::ZERO + Duration::from_ms(at)
    }

    /// Linux's `first_IO_time` is set by the first service after the queue was empty, and `bfq_too_late_for_merging`
    /// compares it.
    #[test]
    fn a_queue_is_known_100_ms_after_its_first_service_since_it_woke() {
        let mut raise = Raise::new(ms(0));
        raise.wake(ms(0), false);
        assert!(!raise.is_known(ms(500)), "the queue has waited and was not served");
        raise.serve(ms(500), 8);
        raise.serve(ms(590), 8);
        assert!(!raise.is_known(ms(600)), "the time counts from the first service, not from the wake");
        assert!(raise.is_known(ms(601)), "the time counts from the first service, not from the last");
        raise.wake(ms(700), false);
        assert!(!raise.is_known(ms(701)), "the queue was not served since it woke");
        raise.serve(ms(750), 8);
        assert!(
            !raise.is_known(ms(850)),
            "the first service since the queue woke counts, not an earlier one"
        );
        assert!(raise.is_known(ms(851)));
    }
}
