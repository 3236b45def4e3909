//! The machine's processors, which whoever is to run gets in turn: who has had the least goes first.
//!
//! Everybody's time is counted. Who has waited for something else comes back with a little less than the others have had, and
//! so most often runs at once; nobody saves up more than that. Else who runs goes on until a tick finds that its part is over.
//!
//! Source: kernel/sched/fair.c of Linux 6.1. Schedulers before it prefer who has waited, too, and let others run for longer.

use idlewise_core::{Duration, Instant};

use super::throttle::next_tick;

/// Who is woken takes the place of who has had so much more: `sysctl_sched_wakeup_granularity`.
const GRANULARITY: Duration = Duration::from_ms(1);
/// In this time everybody who wants to runs once: `sysctl_sched_latency`. At a tick, whoever has run for longer than its part of this, or
/// has had more than another by that part, gives way.
const LATENCY: Duration = Duration::from_ms(6);
/// Nobody's part is shorter: `sysctl_sched_min_granularity`.
const LEAST: Duration = Duration::from_us(750);
/// Who comes back has had at most so much less than the others: half of `sysctl_sched_latency`.
const CREDIT: Duration = Duration(LATENCY.0 / 2);

/// The weight of who has the usual priority, and of the worker: `sched_prio_to_weight`.
const WEIGHT: u64 = 1024;
const WORKERS_WEIGHT: u64 = 88_761;

/// Who runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// The flusher.
    Flusher,
    /// Whoever ends what was written: a worker of the file system.
    Finisher,
    /// The worker of the highest priority, which asks the scheduler and sends what the scheduler gives.
    Worker,
    /// A process, by number.
    Process(u32),
}

impl Task {
    fn index(self) -> usize {
        match self {
            Task::Flusher => 0,
            Task::Finisher => 1,
            Task::Worker => 2,
            Task::Process(number) => 3 + number as usize,
        }
    }

    fn weight(self) -> u64 {
        if self == Task::Worker { WORKERS_WEIGHT } else { WEIGHT }
    }

    /// How much a time counts that the task has run for.
    fn counted(self, time: Duration) -> Duration {
        Duration(time.0 * WEIGHT / self.weight())
    }
}

/// Somebody who is to run.
#[derive(Clone, Copy, Debug)]
struct Wish {
    task: Task,
    time: Duration,
    /// Since when the task runs or waits to.
    came: Instant,
}

#[derive(Clone, Copy, Debug, Default)]
struct Processor {
    /// Who runs here, and since when.
    runs: Option<(Wish, Instant)>,
    /// Until when.
    until: Instant,
    /// Since when whoever runs has had the processor, whatever for.
    begun: Instant,
    /// Who ran here last, and when that one had come.
    last: Option<(Task, Instant)>,
}

/// Processors, who runs on them, and who waits for them.
#[derive(Clone, Debug)]
pub(super) struct Processors {
    all: Vec<Processor>,
    waiting: Vec<Wish>,
    /// What each has had.
    had: Vec<Duration>,
    /// What those who run or wait have had at least.
    least: Duration,
    /// More processors let everybody run for longer: `SCHED_TUNABLESCALING_LOG`.
    factor: u64,
}

impl Processors {
    /// This number of processors, all idle; one at least.
    pub(super) fn new(count: u32) -> Processors {
        let count = count.max(1);
        Processors {
            all: vec![Processor::default(); count as usize],
            waiting: Vec::new(),
            had: Vec::new(),
            least: Duration::ZERO,
            factor: 1 + u64::from(count.min(8).ilog2()),
        }
    }

    /// Somebody waits although a processor is idle.
    pub(super) fn is_due(&self) -> bool {
        !self.waiting.is_empty() && self.all.iter().any(|one| one.runs.is_none())
    }

    /// When somebody's time is over, or another one is chosen.
    pub(super) fn next(&self) -> Option<Instant> {
        self.all.iter().filter(|one| one.runs.is_some()).map(|one| one.until).min()
    }

    /// `task` is to run for `time`.
    pub(super) fn want(&mut self, now: Instant, task: Task, time: Duration) {
        if self.had.len() <= task.index() {
            self.had.resize(task.index() + 1, Duration::ZERO);
        }
        for one in &mut self.all {
            let Some((wish, since)) = &mut one.runs else { continue };
            let ran = now.since(*since);
            self.had[wish.task.index()] += wish.task.counted(ran);
            (wish.time.0, *since) = (wish.time.0 - ran.0, now);
        }
        self.note_least();
        let had = &mut self.had[task.index()];
        had.0 = had.0.max(self.least.0.saturating_sub(CREDIT.0 * self.factor));
        // Who goes on has not been away.
        let goes_on = |one: &Processor| one.runs.is_none() && one.until == now;
        let last = self.all.iter().filter(|one| goes_on(one)).filter_map(|one| one.last);
        let came = last.filter(|(last, _)| *last == task).map(|(_, came)| came).next().unwrap_or(now);
        self.waiting.push(Wish { task, time, came });
        self.plan(now);
    }

    /// Somebody whose time is over at `now`.
    pub(super) fn done(&mut self, now: Instant) -> Option<Task> {
        for one in &mut self.all {
            let Some((wish, since)) = one.runs.filter(|_| one.until <= now) else { continue };
            let ran = one.until.since(since);
            self.had[wish.task.index()] += wish.task.counted(ran);
            one.runs = None;
            if ran >= wish.time {
                return Some(wish.task);
            }
            one.last = None;
            self.waiting.push(Wish { time: Duration(wish.time.0 - ran.0), ..wish });
        }
        None
    }

    /// Those who wait run, as far as there are processors.
    pub(super) fn run(&mut self, now: Instant) {
        while let Some(place) = self.all.iter().position(|one| one.runs.is_none())
            && let Some(next) = self.choose(now, self.all[place].last)
        {
            let wish = self.waiting.remove(next);
            let one = &mut self.all[place];
            let last = Some((wish.task, wish.came));
            let begun = if one.last == last { one.begun } else { now };
            *one = Processor { runs: Some((wish, now)), until: now + wish.time, begun, last };
        }
        self.note_least();
        self.plan(now);
    }

    /// Until when whoever runs does: to the end, or until somebody who waits comes first.
    fn plan(&mut self, now: Instant) {
        let idle = self.all.iter().any(|one| one.runs.is_none());
        let had = |wish: &Wish| self.had[wish.task.index()];
        let woken = self.waiting.iter().filter(|wish| wish.came == now);
        let woken = woken.map(|wish| had(wish) + wish.task.counted(GRANULARITY * self.factor)).min();
        let least = self.waiting.iter().map(had).min();
        let latency = LATENCY * self.factor;
        let others: u64 = self.waiting.iter().map(|wish| wish.task.weight()).sum();
        let most = self.all.iter().filter(|one| one.until > now).filter_map(|one| one.runs);
        let most = most.map(|(wish, _)| had(&wish)).max();
        for one in &mut self.all {
            let Some((wish, since)) = one.runs.filter(|_| one.until > now) else { continue };
            one.until = since + wish.time;
            let Some(least) = least else { continue };
            let had = self.had[wish.task.index()];
            let weight = wish.task.weight();
            let part = Duration(latency.0 * weight / (weight + others)).max(LEAST * self.factor);
            let behind = Instant((since.0 + least.0 + part.0).saturating_sub(had.0));
            let due = (one.begun + part).min(behind.max(one.begun + LEAST * self.factor));
            one.until = one.until.min(next_tick(due.max(now)));
            // Who is woken takes the place of whoever has had most.
            if !idle && most == Some(had) && woken.is_some_and(|woken| woken < had) {
                one.until = now;
            }
        }
    }

    fn note_least(&mut self) {
        let running = self.all.iter().filter_map(|one| one.runs).map(|(wish, _)| wish);
        let had = running.chain(self.waiting.iter().copied()).map(|wish| self.had[wish.task.index()]);
        self.least = self.least.max(had.min().unwrap_or_default());
    }

    /// Who of those who wait runs next, where `last` ran: who goes on, unless somebody is woken who has had clearly less; else who
    /// has had least.
    fn choose(&self, now: Instant, last: Option<(Task, Instant)>) -> Option<usize> {
        let had = |wish: &Wish| self.had[wish.task.index()];
        let goes_on = self.waiting.iter().position(|wish| Some((wish.task, wish.came)) == last);
        let stays = |own: &usize| {
            let before = |wish: &Wish| {
                wish.came == now
                    && had(wish) + wish.task.counted(GRANULARITY * self.factor) < had(&self.waiting[*own])
            };
            !self.waiting.iter().any(before)
        };
        let least = || (0..self.waiting.len()).min_by_key(|place| had(&self.waiting[*place]));
        goes_on.filter(stays).or_else(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(time: u64) -> Instant {
        Instant(time * 1000)
    }

    /// Runs those who want until nobody does; when each is done. Each comes at a time.
    fn ends(processors: u32, come: &[(u64, u32, u64)]) -> Vec<(u32, u64)> {
        let mut own = Processors::new(processors);
        let mut come = come.iter().copied().peekable();
        let mut ends = Vec::new();
        loop {
            let next = own.next().into_iter().chain(come.peek().map(|one| us(one.0))).min();
            let Some(now) = next else { return ends };
            while let Some((_, number, time)) = come.next_if(|one| us(one.0) <= now) {
                own.want(now, Task::Process(number), Duration::from_us(time));
            }
            while let Some(Task::Process(number)) = own.done(now) {
                ends.push((number, now.0 / 1000));
            }
            own.run(now);
        }
    }

    #[test]
    fn the_worker_takes_little_and_takes_it_soon() {
        let mut own = Processors::new(1);
        own.want(us(0), Task::Flusher, Duration::from_us(10_000));
        own.run(us(0));
        assert_eq!(own.next(), Some(us(10_000)), "nobody else wants to run");
        // Who has had nothing until now has had three milliseconds less, as has the worker: who came first runs first.
        own.want(us(5000), Task::Process(0), Duration::ZERO);
        own.want(us(5000), Task::Worker, Duration::from_us(1000));
        let mut ends = Vec::new();
        while let Some(now) = own.next() {
            ends.extend(own.done(now).map(|task| (task, now.0 / 1000)));
            own.run(now);
        }
        assert_eq!(ends, [(Task::Process(0), 5000), (Task::Worker, 6000), (Task::Flusher, 11_000)]);
        // The worker's time counts for an 87th: it goes before the process that has just run for as long.
        own.want(us(20_000), Task::Process(0), Duration::from_us(1000));
        own.run(us(20_000));
        assert_eq!(own.done(us(21_000)), Some(Task::Process(0)));
        own.run(us(21_000));
        own.want(us(21_000), Task::Process(0), Duration::ZERO);
        own.want(us(21_000), Task::Worker, Duration::ZERO);
        own.run(us(21_000));
        assert_eq!(own.done(us(21_000)), Some(Task::Worker));
    }

    #[test]
    fn who_is_alone_runs_to_the_end() {
        assert_eq!(ends(1, &[(0, 1, 10_000)]), [(1, 10_000)]);
        assert_eq!(ends(2, &[(0, 1, 10_000), (5, 2, 500)]), [(2, 505), (1, 10_000)]);
    }

    #[test]
    fn two_share_a_processor() {
        assert_eq!(ends(1, &[(0, 1, 10_000), (0, 2, 10_000)]), [(1, 18_000), (2, 20_000)]);
    }

    #[test]
    fn who_comes_back_runs_at_once_while_it_has_had_less_and_until_a_tick() {
        let ends = ends(1, &[(0, 1, 30_000), (10_100, 2, 700), (20_100, 2, 700), (20_900, 2, 5000)]);
        assert_eq!(ends, [(2, 10_800), (2, 20_800), (2, 29_900), (1, 36_400)]);
    }
}
