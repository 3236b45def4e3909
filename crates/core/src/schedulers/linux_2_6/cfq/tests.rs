//! Named rules of CFQ, among them those that are easily got wrong.

use alloc::vec;
use alloc::vec::Vec;

use crate::device::{Device, Merging};
use crate::queue::Queue;
use crate::registry::AnyScheduler;
use crate::registry::{self, Assignment};
use crate::request::{Class, Operation, Priority, Request};
use crate::scheduler::Decision;
use crate::units::{Duration, Instant, Issuer, RequestId, Sector, Sectors};

const FAR: u64 = 100_000_000;

/// A queue, a clock, and what each process got.
struct Bench {
    queue: Queue<AnyScheduler>,
    now: Instant,
}

impl Bench {
    fn on(device: Device, settings: &[Assignment<'static>]) -> Bench {
        let queue = Queue::new(200, device, registry::find("cfq").unwrap(), settings).unwrap();
        Bench { queue, now: Instant(1) }
    }

    fn new(settings: &[Assignment<'static>]) -> Bench {
        Bench::on(Device { merging: Merging::Off, ..Device::default() }, settings)
    }

    fn us(&mut self, time: u64) -> &mut Bench {
        self.now += Duration::from_us(time);
        self
    }

    fn insert(&mut self, request: Request, who: u32, class: Class, level: u8) -> RequestId {
        let request = Request { priority: Priority { class, level }, ..request };
        self.queue.insert(self.now, request.by(Issuer(who))).unwrap().id()
    }

    fn read(&mut self, start: u64, who: u32) -> RequestId {
        self.insert(Request::read(Sector(start), Sectors(8)), who, Class::BestEffort, 4)
    }

    fn write(&mut self, start: u64, who: u32) -> RequestId {
        self.insert(Request::write(Sector(start), Sectors(8)), who, Class::BestEffort, 4)
    }

    fn ask(&mut self) -> Decision {
        self.queue.dispatch(self.now).unwrap()
    }

    /// The next request, after what waits it takes, put in flight.
    fn next(&mut self) -> RequestId {
        loop {
            match self.ask() {
                Decision::Dispatch(id) => return id,
                Decision::WaitUntil(until) => self.now = until,
                Decision::Idle => panic!("idle at {} with requests waiting", self.now),
            }
        }
    }

    /// Serves the next request within `us`; who issued it.
    fn serve(&mut self, us: u64) -> u32 {
        let id = self.next();
        let who = self.queue.request(id).issuer.0;
        self.us(us).done(id);
        who
    }

    fn start(&self, id: RequestId) -> u64 {
        self.queue.request(id).start.0
    }

    fn done(&mut self, id: RequestId) {
        self.queue.complete(self.now, id).unwrap();
    }

    fn gone(&mut self, who: u32) {
        self.queue.issuer_gone(self.now, Issuer(who)).unwrap();
    }

    fn cfq(&self) -> &super::Cfq {
        match self.queue.scheduler() {
            AnyScheduler::Cfq(own) => own,
            _ => unreachable!(),
        }
    }
}

/// Three processes of best-effort levels 0, 4 and 7, each with requests waiting always, of 1 ms each.
/// How long each slice was, by process, in milliseconds; the first of each is left out.
fn slices_of_three() -> [Vec<u64>; 3] {
    let mut bench = Bench::new(&[]);
    let levels = [0, 4, 7];
    let mut at = [1, 2, 3].map(|n| n * FAR);
    let mut slices = [const { Vec::new() }; 3];
    let mut last = None;
    for turn in 0..60_000 {
        let who = if turn < 6 {
            turn % 3
        } else {
            let who = bench.serve(1000) as usize;
            if last == Some(who) {
                *slices[who].last_mut().unwrap() += 1;
            } else {
                slices[who].push(1);
            }
            last = Some(who);
            who
        };
        at[who] += 8;
        let request = Request::read(Sector(at[who]), Sectors(8));
        bench.insert(request, who as u32, Class::BestEffort, levels[who]);
    }
    slices.each_mut().map(|own| own.split_off(1))
}

#[test]
fn slices_have_the_lengths_of_their_levels() {
    for (slices, length) in slices_of_three().iter().zip([180, 100, 40]) {
        let mean = slices.iter().sum::<u64>() / slices.len() as u64;
        assert!(mean.abs_diff(length) * 20 <= length, "{mean} ms a slice, not {length}");
        assert!(slices.len() > 50);
    }
}

/// A key lies later by twice the difference to the longest slice: 0, 160 and 280 ms. Level 7 comes so late
/// that the others have three turns for two of its own: 540, 300 and 80 ms of 920. So the disk time of
/// levels 0 and 4 is in the ratio of their slices, and level 7 has two thirds of what its slices promise.
#[test]
fn shares_of_the_disk_follow_slices_and_keys() {
    let totals = slices_of_three().map(|slices| slices.iter().sum::<u64>());
    let all: u64 = totals.iter().sum();
    for (total, permille) in totals.into_iter().zip([587, 326, 87]) {
        let share = total * 1000 / all;
        assert!(share.abs_diff(permille) * 20 <= permille, "{share} of {permille} permille");
    }
}

#[test]
fn the_slice_clock_starts_at_the_first_completion() {
    let mut bench = Bench::new(&[]);
    bench.read(FAR, 1);
    let first = bench.next();
    bench.read(2 * FAR, 2);
    for n in 1..50 {
        bench.read(FAR + n * 8, 1);
    }
    bench.us(400_000).done(first);
    let mut served = 0;
    while bench.serve(10_000) == 1 {
        served += 1;
    }
    assert_eq!(served, 10, "10 requests of 10 ms in the 100 ms after the first was done");
}

#[test]
fn the_oldest_request_is_looked_at_once_in_a_slice() {
    let mut bench = Bench::new(&[]);
    bench.read(900 * FAR, 1);
    bench.read(800 * FAR, 1);
    bench.us(126_000);
    for n in 0..80 {
        bench.read(FAR + n * 8, 1);
    }
    bench.read(2 * FAR, 2);
    let first = bench.next();
    assert_eq!(bench.start(first), 900 * FAR, "the oldest");
    bench.us(1000).done(first);
    let mut far = Vec::new();
    for round in 0..60 {
        let id = bench.next();
        if bench.start(id) >= 800 * FAR {
            far.push(round);
        }
        bench.us(1000).done(id);
    }
    assert_eq!(far, [0; 0], "as overdue, but that was looked at");
}

#[test]
fn the_idle_class_is_served_when_nobody_else_wants_the_disk() {
    let mut bench = Bench::new(&[]);
    for n in 0..20 {
        bench.insert(Request::read(Sector(n * 8), Sectors(8)), 9, Class::Idle, 0);
        bench.read(FAR + n * 8, 1);
        bench.write(2 * FAR + n * 8, 2);
    }
    let order: Vec<u32> = (0..60).map(|_| bench.serve(1000)).collect();
    assert!(order[..40].iter().all(|who| *who != 9), "{order:?}");
}

/// Disk time in milliseconds that a writer gets in 10 s beside a reader with `slice_idle` to think.
fn writes_beside_a_reader(low_latency: u64) -> u64 {
    let mut bench = Bench::new(&[("low_latency", low_latency)]);
    for n in 0..64 {
        bench.write(5 * FAR + n * 8, 2);
    }
    let (mut at, mut written) = (FAR, 0);
    bench.read(at, 1);
    while bench.now < Instant(10_000_000_000) {
        if bench.serve(1000) == 2 {
            written += 1;
            bench.write(5 * FAR + (64 + written) * 8, 2);
        } else {
            at += 8;
            bench.us(500).read(at, 1);
        }
    }
    written
}

#[test]
fn writes_do_not_starve_beside_a_synchronous_reader() {
    for low_latency in [0, 1] {
        let written = writes_beside_a_reader(low_latency);
        assert!(written > 1000, "{written} ms of 10 s, low_latency {low_latency}");
    }
}

#[test]
fn a_stream_and_a_chain_of_short_readers_both_get_on() {
    let mut bench = Bench::new(&[]);
    let (mut stream_at, mut chain_at, mut member, mut left) = (FAR, 7 * FAR, 100, 3);
    let (mut streamed, mut chained) = (0u64, 0u64);
    bench.read(stream_at, 1);
    bench.read(chain_at, member);
    while bench.now < Instant(20_000_000_000) {
        let who = bench.serve(1000);
        if who == 1 {
            streamed += 1;
            stream_at += 8;
            bench.read(stream_at, 1);
            continue;
        }
        chained += 1;
        left -= 1;
        chain_at += 16;
        if left == 0 {
            bench.gone(member);
            member += 1;
            left = 2 + member % 2;
        }
        bench.read(chain_at, member);
    }
    let all = streamed + chained;
    assert!(all > 19_500, "{all} ms of 20 s: nobody is waited for in vain");
    assert!(chained * 50 > all, "the chain has {chained} of {all}");
    assert!(streamed * 5 > all, "the stream has {streamed} of {all}");
    // Each link is a new queue: what it does not use of its slice is lost to it.
    assert!(streamed > chained, "{streamed} and {chained}");
}

#[test]
fn nobody_is_waited_for_who_has_exited() {
    let mut bench = Bench::new(&[]);
    bench.read(FAR, 1);
    assert_eq!(bench.serve(1000), 1);
    bench.read(2 * FAR, 2);
    assert_eq!(bench.ask(), Decision::WaitUntil(bench.now + Duration::from_ms(8)));
    bench.gone(1);
    assert!(matches!(bench.ask(), Decision::Dispatch(_)));
}

#[test]
fn flash_with_a_queue_of_its_own_is_not_kept_idle() {
    let device = Device { merging: Merging::Off, rotational: false, depth: 32, ..Device::default() };
    let mut bench = Bench::on(device, &[]);
    bench.read(FAR, 1);
    bench.serve(100);
    bench.read(2 * FAR, 2);
    assert!(matches!(bench.ask(), Decision::Dispatch(_)), "it has one until that is known better");
}

#[test]
fn flash_with_a_queue_of_its_own_gets_the_requests_of_all_at_a_time() {
    for rotational in [false, true] {
        let device = Device { merging: Merging::Off, depth: 32, ..Device::usual(rotational) };
        let mut bench = Bench::on(device, &[]);
        bench.read(FAR, 1);
        bench.read(2 * FAR, 2);
        assert!(matches!(bench.ask(), Decision::Dispatch(_)));
        assert_eq!(matches!(bench.ask(), Decision::Dispatch(_)), !rotational, "the first is in flight");
    }
}

#[test]
fn who_is_alone_has_four_quanta_in_flight_and_no_limit_on_flash() {
    for (rotational, most) in [(true, 16), (false, 32)] {
        let device = Device { merging: Merging::Off, depth: 32, ..Device::usual(rotational) };
        let mut bench = Bench::on(device, &[]);
        for n in 0..32 {
            bench.read(n * FAR / 16, 1);
        }
        let sent = core::iter::from_fn(|| matches!(bench.ask(), Decision::Dispatch(_)).then_some(()));
        assert_eq!(sent.count(), most, "the device turns: {rotational}");
    }
}

#[test]
fn a_device_that_takes_few_at_once_is_found_out() {
    let mut bench = Bench::new(&[]);
    for n in 0..100 {
        bench.read(n * 8, 1);
    }
    for done in 0..60 {
        assert_eq!(bench.cfq().in_flight.device_queues(), done <= 50, "after {done}");
        bench.serve(100);
    }
}

#[test]
fn cooperating_processes_share_a_queue_and_part_when_they_seek() {
    let mut bench = Bench::new(&[]);
    let shared = |bench: &Bench| {
        let own =
            [1, 2].map(|who| bench.cfq().processes[bench.cfq().processes.find(Issuer(who)).unwrap()].queue);
        own[0] == own[1]
    };
    let mut at = FAR;
    bench.read(at, 1);
    for turn in 0..40 {
        at += 8;
        bench.read(at, 2 - turn % 2);
        bench.serve(1000);
    }
    assert!(shared(&bench));
    bench.serve(1000);
    // Seeking far together, but not yet for a second.
    let seek = |bench: &mut Bench, turn: u64| {
        bench.read([FAR, 9 * FAR][turn as usize % 2], 1 + turn as u32 % 2);
        bench.serve(1000);
    };
    (0..20).for_each(|turn| seek(&mut bench, turn));
    assert!(shared(&bench));
    bench.us(1_100_000);
    (0..2).for_each(|turn| seek(&mut bench, turn));
    assert!(!shared(&bench));
}

#[test]
fn queues_are_closed_when_their_processes_exit() {
    let mut bench = Bench::new(&[]);
    for who in 1..2000 {
        bench.read(u64::from(who) * 16, who);
        if who % 3 > 0 {
            bench.gone(who);
        }
        bench.serve(1000);
    }
    for who in 2000..2100 {
        bench.read(u64::from(who) * 16, who);
    }
    let served: Vec<u32> = (0..100).map(|_| bench.serve(1000)).collect();
    assert_eq!(served.len(), 100);
}

#[test]
fn discards_and_flushes_go_like_other_asynchronous_requests() {
    let mut bench = Bench::new(&[]);
    let mut expected = vec![];
    for (operation, length) in [(Operation::Discard, 8), (Operation::Flush, 0), (Operation::Write, 8)] {
        let request = Request { operation, ..Request::write(Sector(64), Sectors(length)) };
        expected.push(bench.insert(request, 1, Class::BestEffort, 4));
    }
    let mut found: Vec<RequestId> = (0..3)
        .map(|_| {
            let id = bench.next();
            bench.us(100).done(id);
            id
        })
        .collect();
    found.sort();
    assert_eq!(found, expected);
}
