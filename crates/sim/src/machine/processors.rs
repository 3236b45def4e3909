//! The machine's processors, which whoever is to run gets in turn: who has had the least goes first.
//!
//! Everybody's time is counted. Who has waited for something else comes back with a little less than the others have had,
//! and so runs soon, and nobody saves up more than that. Who runs goes on until somebody else has had clearly less.
//!
//! Source: kernel/sched/fair.c of Linux 6.1. Schedulers before it prefer who has waited, too.

use idlewise_core::{Duration, Instant};

/// Who has come waits for so long at most until the next one is chosen.
pub(super) const SLICE: Duration = Duration::from_us(250);
/// Who runs gives way to who has had so much less: `sysctl_sched_wakeup_granularity`.
const GRANULARITY: Duration = Duration::from_ms(1);
/// Who comes back has had at most so much less than the others: half of `sysctl_sched_latency`.
const CREDIT: Duration = Duration::from_ms(3);

/// Who runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// The flusher.
    Flusher,
    /// A process, by number.
    Process(u32),
}

impl Task {
    fn index(self) -> usize {
        match self {
            Task::Flusher => 0,
            Task::Process(number) => 1 + number as usize,
        }
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
}

impl Processors {
    /// This number of processors, all idle; one at least.
    pub(super) fn new(count: u32) -> Processors {
        Processors {
            all: vec![Processor::default(); count.max(1) as usize],
            waiting: Vec::new(),
            had: Vec::new(),
            least: Duration::ZERO,
        }
    }

    /// Whether all processors are busy, and somebody who runs or waits to has come at `since` or later.
    pub(super) fn has_come(&self, since: Instant) -> bool {
        if self.waiting.is_empty() && self.all.iter().any(|one| one.runs.is_none()) {
            return false;
        }
        let running = self.all.iter().filter_map(|one| one.runs).map(|(wish, _)| wish);
        running.chain(self.waiting.iter().copied()).any(|wish| wish.came >= since)
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
        // Who runs alone does so to the end, unless somebody comes.
        for one in &mut self.all {
            let Some((wish, since)) = &mut one.runs else { continue };
            let slices = now.since(*since).0.div_ceil(SLICE.0).max(1);
            one.until = one.until.min(*since + Duration(slices * SLICE.0));
            let ran = now.since(*since);
            self.had[wish.task.index()] += ran;
            (wish.time.0, *since) = (wish.time.0 - ran.0, now);
        }
        self.note_least();
        let had = &mut self.had[task.index()];
        had.0 = had.0.max(self.least.0.saturating_sub(CREDIT.0));
        // Who goes on has not been away.
        let goes_on = |one: &Processor| one.runs.is_none() && one.until == now;
        let last = self.all.iter().filter(|one| goes_on(one)).filter_map(|one| one.last);
        let came = last.filter(|(last, _)| *last == task).map(|(_, came)| came).next().unwrap_or(now);
        self.waiting.push(Wish { task, time, came });
    }

    /// Somebody whose time is over at `now`.
    pub(super) fn done(&mut self, now: Instant) -> Option<Task> {
        for place in 0..self.all.len() {
            let Processor { runs: Some((wish, since)), until, .. } = self.all[place] else { continue };
            if until > now {
                continue;
            }
            let ran = until.since(since);
            self.had[wish.task.index()] += ran;
            self.all[place].runs = None;
            if ran >= wish.time {
                return Some(wish.task);
            }
            self.waiting.push(Wish { time: Duration(wish.time.0 - ran.0), ..wish });
        }
        None
    }

    /// Those who wait run, as far as there are processors.
    pub(super) fn run(&mut self, now: Instant) {
        while let Some(place) = self.all.iter().position(|one| one.runs.is_none())
            && let Some(next) = self.choose(self.all[place].last.map(|(task, _)| task))
        {
            let wish = self.waiting.remove(next);
            let had = |wish: &Wish| self.had[wish.task.index()];
            let gives_way = self.waiting.iter().map(|other| had(other) + GRANULARITY).min();
            let time = gives_way.map_or(wish.time, |until| {
                wish.time.min(SLICE.max(Duration(until.0.saturating_sub(had(&wish).0))))
            });
            let last = Some((wish.task, wish.came));
            self.all[place] = Processor { runs: Some((wish, now)), until: now + time, last };
        }
        self.note_least();
    }

    fn note_least(&mut self) {
        let running = self.all.iter().filter_map(|one| one.runs).map(|(wish, _)| wish);
        let had = running.chain(self.waiting.iter().copied()).map(|wish| self.had[wish.task.index()]);
        self.least = self.least.max(had.min().unwrap_or_default());
    }

    /// Who of those who wait runs next, where `last` ran.
    fn choose(&self, last: Option<Task>) -> Option<usize> {
        let had = |place: &usize| self.had[self.waiting[*place].task.index()];
        let least = (0..self.waiting.len()).min_by_key(had)?;
        let stays = self.waiting.iter().position(|wish| Some(wish.task) == last);
        stays.filter(|own| had(own) <= had(&least) + GRANULARITY).or(Some(least))
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
    fn who_is_alone_runs_to_the_end() {
        assert_eq!(ends(1, &[(0, 1, 10_000)]), [(1, 10_000)]);
        assert_eq!(ends(2, &[(0, 1, 10_000), (5, 2, 500)]), [(2, 505), (1, 10_000)]);
    }

    #[test]
    fn two_share_a_processor() {
        assert_eq!(ends(1, &[(0, 1, 10_000), (0, 2, 10_000)]), [(2, 18_750), (1, 20_000)]);
    }

    #[test]
    fn who_comes_back_runs_within_a_slice_while_it_has_had_less() {
        let ends = ends(1, &[(0, 1, 30_000), (10_100, 2, 700), (20_100, 2, 700), (20_900, 2, 5000)]);
        assert_eq!(ends, [(2, 10_950), (2, 20_900), (2, 28_400), (1, 36_400)]);
    }
}
