//! Rules of budget fair queueing, on a small device: shares, idling, timeouts, raising, merging.

use alloc::vec::Vec;

use super::queues::Queues;
use super::raise::Kind;
use super::{Bfq, Settings};
use crate::device::{Device, Merging};
use crate::queue::Queue;
use crate::registry;
use crate::registry::AnyScheduler;
use crate::request::{Class, Priority, Request};
use crate::scheduler::{Algorithm, Decision};
use crate::tunables::Tunables;
use crate::units::{Duration, Instant, Issuer, RequestId, Sector, Sectors, Weight};

const MS: u64 = 1_000_000;

/// A process: it keeps `depth` requests waiting or in flight, each following the one before unless it
/// seeks, and thinks between a completion and the next.
#[derive(Clone, Copy)]
struct Stream {
    who: u32,
    start: u64,
    step: u64,
    length: u32,
    sync: bool,
    depth: usize,
    think: Duration,
    priority: Priority,
    from: Duration,
}

const READER: Stream = Stream {
    who: 1,
    start: 1 << 20,
    step: 256,
    length: 256,
    sync: true,
    depth: 1,
    think: Duration::from_us(100),
    priority: Priority { class: Class::BestEffort, level: 4 },
    from: Duration::ZERO,
};

/// A device that takes 20 µs for a sector and 5 ms more to go elsewhere, and what happened on it.
struct Bench {
    queue: Queue<Bfq>,
    now: Instant,
    head: Sector,
    /// Sectors and requests of each process, and the longest latency of its requests.
    served: [u64; 32],
    requests: [u64; 32],
    worst: [Duration; 32],
    /// Time in which requests waited, but none was in flight.
    idled: Duration,
}

impl Bench {
    fn new(settings: &[(&str, u64)]) -> Bench {
        let mut tunables = Settings::defaults();
        for (name, value) in settings {
            tunables.put(Settings::find(name).unwrap(), *value);
        }
        let device = Device { merging: Merging::Off, ..Device::default() };
        Bench {
            queue: Queue::with(128, device, |setup| Bfq::new(setup, tunables)).unwrap(),
            now: Instant(1),
            head: Sector(0),
            served: [0; 32],
            requests: [0; 32],
            worst: [Duration::ZERO; 32],
            idled: Duration::ZERO,
        }
    }

    fn issue(&mut self, stream: &mut Stream) {
        let (start, length) = (Sector(stream.start), Sectors(stream.length));
        let kind = if stream.sync { Request::read(start, length) } else { Request::write(start, length) };
        let request = Request { priority: stream.priority, ..kind.by(Issuer(stream.who)) };
        self.queue.insert(self.now, request).unwrap();
        stream.start += stream.step;
    }

    fn cost(&mut self, id: RequestId) -> Duration {
        let request = *self.queue.request(id);
        let seek = if request.start == self.head { Duration::ZERO } else { Duration::from_ms(5) };
        self.head = request.end();
        seek + Duration::from_us(20 * u64::from(request.length.0))
    }

    fn done(&mut self, id: RequestId) {
        let request = *self.queue.request(id);
        let who = request.issuer.0 as usize;
        self.served[who] += u64::from(request.length.0);
        self.requests[who] += 1;
        self.worst[who] = self.worst[who].max(self.now.since(request.arrival));
        self.queue.complete(self.now, id).unwrap();
    }

    /// Lets the processes run for `time`.
    fn run(&mut self, streams: &mut [Stream], time: Duration) {
        let (begin, end) = (self.now, self.now + time);
        let first = |stream: &Stream| core::iter::repeat_n(begin + stream.from, stream.depth);
        let mut due: Vec<(Instant, usize)> = streams
            .iter()
            .enumerate()
            .flat_map(|(at, stream)| first(stream).map(move |time| (time, at)))
            .collect();
        let mut flying: Option<(Instant, RequestId)> = None;
        while self.now < end {
            while let Some(at) = due.iter().position(|(time, _)| *time <= self.now) {
                let (_, stream) = due.remove(at);
                self.issue(&mut streams[stream]);
            }
            let mut wake = due.iter().map(|(time, _)| *time).min().unwrap_or(Instant::MAX);
            if flying.is_none() {
                match self.queue.dispatch(self.now).unwrap() {
                    Decision::Dispatch(id) => flying = Some((self.now + self.cost(id), id)),
                    Decision::WaitUntil(until) => wake = wake.min(until),
                    Decision::Idle => {}
                }
            }
            let waits = flying.is_none() && self.queue.scheduler().service.queues.requests.waiting > 0;
            let next = flying.map_or(wake, |(at, _)| wake.min(at)).min(end);
            self.idled += if waits { next.since(self.now) } else { Duration::ZERO };
            self.now = next;
            if let Some((_, id)) = flying.filter(|(at, _)| *at <= self.now) {
                let who = self.queue.request(id).issuer.0;
                let sync = self.queue.request(id).sync;
                self.done(id);
                flying = None;
                let at = streams.iter().position(|stream| stream.who == who && stream.sync == sync).unwrap();
                due.push((self.now + streams[at].think, at));
            }
        }
        if let Some((at, id)) = flying {
            self.now = at;
            self.done(id);
        }
    }

    fn queues(&self) -> &Queues {
        &self.queue.scheduler().service.queues
    }

    fn index(&self, who: u32) -> usize {
        self.queues().processes.find(Issuer(who)).unwrap().index()
    }

    fn kind(&self, who: u32) -> Kind {
        self.queues().list[self.index(who)].raise.kind
    }

    fn weight(&self, who: u32) -> u64 {
        self.queues().wf2q.entities[self.index(who)].weight
    }

    fn insert(&mut self, start: u64, who: u32) -> RequestId {
        let request = Request::read(Sector(start), Sectors(8)).by(Issuer(who));
        self.queue.insert(self.now, request).unwrap().id()
    }

    fn ask(&mut self) -> Decision {
        self.queue.dispatch(self.now).unwrap()
    }

    /// Sends one request and has it done after `ms`; who issued it.
    fn serve(&mut self, ms: u64) -> u32 {
        loop {
            match self.ask() {
                Decision::Dispatch(id) => {
                    self.now += Duration::from_ms(ms);
                    let who = self.queue.request(id).issuer.0;
                    self.queue.complete(self.now, id).unwrap();
                    return who;
                }
                Decision::WaitUntil(until) => self.now = until,
                Decision::Idle => panic!("nothing waits"),
            }
        }
    }
}

fn greedy(who: u32) -> Stream {
    Stream { who, start: u64::from(who) << 24, depth: 8, think: Duration::ZERO, ..READER }
}

#[test]
fn backlogged_queues_share_sectors_by_weight() {
    let mut bench = Bench::new(&[("low_latency", 0)]);
    for (who, weight) in [(1, 50), (2, 100), (3, 200)] {
        bench.queue.set_weight(Instant(1), Issuer(who), Weight::new(weight).unwrap()).unwrap();
    }
    bench.run(&mut [greedy(1), greedy(2), greedy(3)], Duration::from_s(120));
    let [_, one, two, four, ..] = bench.served;
    let within = |part: u64, of: u64| (part * 1000).abs_diff(of * 1000) <= of * 20;
    assert!(within(two, 2 * one) && within(four, 4 * one), "{one}, {two} and {four} sectors");
}

#[test]
fn levels_are_weights_as_well() {
    let mut bench = Bench::new(&[("low_latency", 0)]);
    let level = |who, level| {
        let priority = Priority { class: Class::BestEffort, level };
        Stream { priority, ..greedy(who) }
    };
    bench.run(&mut [level(1, 7), level(2, 6), level(3, 4)], Duration::from_s(120));
    let [_, one, two, four, ..] = bench.served;
    let within = |part: u64, of: u64| (part * 1000).abs_diff(of * 1000) <= of * 20;
    assert!(within(two, 2 * one) && within(four, 4 * one), "{one}, {two} and {four} sectors");
}

#[test]
fn a_reader_beside_a_greedy_writer_is_waited_for() {
    let writer = Stream { sync: false, depth: 32, ..greedy(2) };
    let mut bench = Bench::new(&[("low_latency", 0)]);
    bench.run(&mut [READER, writer], Duration::from_s(20));
    assert!(bench.idled > Duration::from_ms(100), "idled for {}", bench.idled);
    let [_, reads, writes, ..] = bench.served;
    assert!(reads > 2 * writes, "as writes cost three times as much: {reads} and {writes} sectors");
    let mut eager = Bench::new(&[("low_latency", 0), ("slice_idle", 0)]);
    eager.run(&mut [READER, writer], Duration::from_s(20));
    assert_eq!(eager.idled, Duration::ZERO);
    assert!(eager.served[1] < reads / 2, "not waited for, it reads {} of {reads} sectors", eager.served[1]);
}

#[test]
fn a_queue_is_out_of_service_after_its_time() {
    let mut bench = Bench::new(&[("low_latency", 0), ("timeout_sync", 50)]);
    for n in 0..20 {
        bench.insert(4096 + n * 8, 1);
        bench.insert(90_000_000 + n * 8, 2);
    }
    let order: Vec<u32> = (0..20).map(|_| bench.serve(10)).collect();
    assert_eq!(order[..5], [1; 5], "50 ms");
    assert_eq!(order[5..10], [2; 5], "then the other");
}

#[test]
fn a_new_queue_is_raised_30_times_for_a_while() {
    let mut bench = Bench::new(&[]);
    bench.run(&mut [greedy(2)], Duration::from_s(40));
    assert_eq!((bench.kind(2), bench.weight(2)), (Kind::Not, 40), "it was served enough");
    bench.insert(999_000_000, 1);
    assert_eq!((bench.kind(1), bench.weight(1)), (Kind::Interactive, 30 * 40));
    let mut plain = Bench::new(&[("low_latency", 0)]);
    plain.insert(999_000_000, 1);
    assert_eq!((plain.kind(1), plain.weight(1)), (Kind::Not, 40));
}

#[test]
fn what_is_started_beside_a_copy_is_fast() {
    let started =
        Stream { who: 3, start: 1 << 30, step: 99_992, length: 8, from: Duration::from_s(40), ..READER };
    let mut done = [true, false].map(|low_latency| {
        let mut bench = Bench::new(&[("low_latency", u64::from(low_latency))]);
        bench.run(&mut [greedy(1), greedy(2), started], Duration::from_s(42));
        bench.requests[3]
    });
    let [raised, plain] = &mut done;
    assert!(*raised > 2 * *plain, "{raised} requests in two seconds, {plain} if it is not raised");
}

#[test]
fn a_film_is_raised_as_soft_real_time() {
    // 8 KiB every 40 ms: 400 sectors a second.
    let (think, from) = (Duration::from_ms(40), Duration::from_s(1));
    let film = Stream { who: 3, step: 16, length: 16, think, from, ..READER };
    let mut bench = Bench::new(&[]);
    bench.run(&mut [greedy(1), greedy(2), film], Duration::from_s(60));
    assert_eq!(bench.kind(3), Kind::Soft);
    assert_eq!(bench.weight(3), 3000 * 40);
    assert!(bench.kind(1) == Kind::Not, "who asks for all that it can get plays no film");
}

#[test]
fn many_new_queues_at_once_are_not_raised() {
    let mut bench = Bench::new(&[]);
    for who in 1..=12 {
        bench.now += Duration::from_ms(10);
        bench.insert(u64::from(who) << 24, who);
    }
    let raised: Vec<u32> = (1..=12).filter(|who| bench.kind(*who) == Kind::Interactive).collect();
    assert_eq!(raised, [1, 2, 3, 4, 5, 6, 7], "the eighth makes it a large burst");
    assert!((1..=12).all(|who| bench.queues().list[bench.index(who)].raise.in_burst));
}

#[test]
fn the_idle_class_is_served_every_200_ms() {
    let idle = Stream { priority: Priority { class: Class::Idle, level: 7 }, ..greedy(2) };
    let mut bench = Bench::new(&[("low_latency", 0)]);
    bench.run(&mut [greedy(1), idle], Duration::from_s(60));
    // A turn comes when a service ends that began within 200 ms: a service lasts 125 ms at most, and a request.
    let rounds = 60_000 / (200 + 125 + 10);
    assert!(bench.requests[2] >= rounds, "{} requests in 60 s", bench.requests[2]);
    assert!(bench.requests[2] <= 60_000 / 200 + 8, "{} requests in 60 s", bench.requests[2]);
}

#[test]
fn real_time_goes_before_best_effort() {
    let mut bench = Bench::new(&[("low_latency", 0)]);
    let urgent = Stream { priority: Priority { class: Class::RealTime, level: 0 }, ..greedy(2) };
    bench.run(&mut [greedy(1), urgent], Duration::from_s(10));
    assert!(bench.requests[1] <= 1, "{}", bench.requests[1]);
}

#[test]
fn who_seeks_is_charged_for_time() {
    let seeker = Stream { step: 50_000, length: 8, ..greedy(2) };
    let mut bench = Bench::new(&[("low_latency", 0)]);
    bench.run(&mut [greedy(1), seeker], Duration::from_s(60));
    let time = |who: usize, each: u64| bench.requests[who] * each;
    let (streams, seeks) = (time(1, 5_120), time(2, 5_160));
    let share = seeks * 100 / (streams + seeks);
    assert!((25..=60).contains(&share), "it has {share} % of the time, with 8 of 264 sectors a request");
}

#[test]
fn who_uses_its_budget_up_gets_more_and_who_does_not_gets_less() {
    let mut bench = Bench::new(&[("low_latency", 0)]);
    let lazy = Stream { think: Duration::from_ms(60), ..READER };
    bench.run(&mut [lazy, greedy(2)], Duration::from_s(10));
    let budget = |who| bench.queues().list[bench.index(who)].budget.most;
    let (most, least) = (bench.queues().budgets.most, bench.queues().budgets.least());
    assert_eq!(budget(2), most, "it began with two thirds of the default");
    assert!(budget(1) <= 2 * least, "{}, where {least} is the least", budget(1));
}

#[test]
fn nobody_waits_for_a_process_that_has_exited() {
    let mut bench = Bench::new(&[("low_latency", 0)]);
    bench.insert(4096, 1);
    bench.serve(5);
    let other = bench.insert(90_000_000, 2);
    bench.queue.issuer_gone(bench.now, Issuer(1)).unwrap();
    assert_eq!(bench.ask(), Decision::Dispatch(other));
}

#[test]
fn processes_that_read_together_share_a_queue_until_they_seek() {
    let mut bench = Bench::new(&[("low_latency", 0)]);
    bench.insert(900_000_000, 3);
    bench.insert(1 << 20, 1);
    bench.insert((1 << 20) + 64, 2);
    let queue_of = |bench: &Bench, who| {
        let queues = bench.queues();
        queues.processes.queue(queues.processes.find(Issuer(who)).unwrap())
    };
    assert_eq!(queue_of(&bench, 2), bench.index(1), "a guest");
    assert_eq!(queue_of(&bench, 3), bench.index(3), "too far");
    (0..3).for_each(|_| assert!(bench.serve(1) < 4));
    for n in 1..100u64 {
        bench.insert((n % 2 * 50 + n) << 20, 1);
        bench.insert((n % 2 * 70 + n) << 21, 2);
        bench.serve(1);
        bench.serve(1);
    }
    assert_eq!(queue_of(&bench, 2), bench.index(2), "at home again");
    assert_eq!(bench.queues().processes.guests.len(), 0);
}

#[test]
fn a_process_that_waits_for_another_lets_that_one_go() {
    let mut bench = Bench::new(&[]);
    let mut woken = 0;
    // 1 thinks for 10 ms, and reads right after 2 has.
    for n in 0..40u64 {
        bench.insert((1 << 28) + n * 8, 2);
        bench.serve(1);
        bench.now += Duration::from_ms(1);
        bench.insert((1 << 20) + n * 8, 1);
        bench.serve(1);
        let queues = bench.queues();
        let own = queues.processes.alive(queues.list[bench.index(1)].waker.known);
        woken += u32::from(own == Some(bench.index(2)));
        bench.now += Duration::from_ms(10);
    }
    assert!(woken > 20, "known as its waker in {woken} of 40 rounds");
}

#[test]
fn with_strict_guarantees_one_request_is_in_flight() {
    let device = Device { merging: Merging::Off, depth: 8, ..Device::default() };
    let mut settings = Settings::defaults();
    settings.strict_guarantees = true;
    let mut queue = Queue::with(16, device, |setup| Bfq::new(setup, settings)).unwrap();
    for n in 0..4u64 {
        queue.insert(Instant(1), Request::read(Sector(4096 + n * 8), Sectors(8)).by(Issuer(1))).unwrap();
    }
    assert!(matches!(queue.dispatch(Instant(1)), Ok(Decision::Dispatch(_))));
    assert_eq!(queue.dispatch(Instant(2)), Ok(Decision::Idle));
    assert!(Duration::from_ms(8).0 == 8 * MS);
}

/// Fills a queue of 128 with what has room; returns how many asynchronous requests and then synchronous
/// writes. A process that has come before is raised, if any is.
fn filled(settings: &[(&str, u64)]) -> (usize, usize) {
    let device = Device { merging: Merging::Off, ..Device::default() };
    let mut queue: Queue<AnyScheduler> =
        Queue::new(128, device, registry::find("bfq").unwrap(), settings).unwrap();
    let now = Instant(10_000_000_000);
    queue.insert(now, Request::read(Sector(1000), Sectors(8)).by(Issuer(1))).unwrap();
    let write = Request::write(Sector(8), Sectors(8)).by(Issuer(9));
    while queue.admission().asynchronous {
        queue.insert(now, write).unwrap();
    }
    while queue.admission().sync_writes {
        queue.insert(now, Request { sync: true, ..write }).unwrap();
    }
    (queue.requests().asynchronous(), queue.requests().sync_writes())
}

#[test]
fn writes_have_less_room_while_a_queue_is_raised() {
    assert_eq!(filled(&[("low_latency", 0)]), (64, 32));
    assert_eq!(filled(&[]), (24, 24));
}
