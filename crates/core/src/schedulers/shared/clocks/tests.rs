//! What the schedulers that share the disk give to their processes.

use alloc::vec::Vec;

use super::*;
use crate::device::{Device, Merging};
use crate::queue::Queue;
use crate::registry::AnyScheduler;
use crate::registry::Assignment;
use crate::request::Request;
use crate::scheduler::{Algorithm, Decision, Setup};
use crate::schedulers::proportional_share::lottery::Lottery;
use crate::schedulers::proportional_share::stride::Stride;
use crate::schedulers::proportional_share::stride_sptf::StrideSptf;
use crate::schedulers::proportional_share::yfq::Yfq;
use crate::tunables::Tunables;
use crate::units::{Sector, Sectors};

const MS: u64 = 1_000_000;

/// A process that keeps `depth` requests outstanding.
#[derive(Clone, Copy)]
struct Client {
    weight: u32,
    depth: usize,
    sectors: u32,
    /// How long the disk takes for each.
    service: Duration,
    /// What it has had: requests and time.
    served: (u64, Duration),
    outstanding: usize,
    next: Sector,
}

fn client(weight: u32, depth: usize) -> Client {
    let (sectors, service, served) = (8, Duration::from_ms(5), (0, Duration::ZERO));
    Client { weight, depth, sectors, service, served, outstanding: 0, next: Sector(0) }
}

/// A queue whose clients, issuers 1 and up, read their own places from beginning to end. The device
/// takes one request at a time; the next is chosen before anybody learns of a completion.
struct Disk {
    queue: Queue<AnyScheduler>,
    now: Instant,
    clients: Vec<Client>,
    /// Who was served, in order.
    log: Vec<u32>,
}

impl Disk {
    fn new(name: &str, settings: &[Assignment<'_>], clients: &[Client]) -> Disk {
        let entry = crate::registry::find(name).unwrap();
        let device = Device { merging: Merging::Off, ..Device::default() };
        let mut queue = Queue::new(64, device, entry, settings).unwrap();
        let mut clients = clients.to_vec();
        for (index, client) in clients.iter_mut().enumerate() {
            client.next = Sector(index as u64 * 100_000_000);
            let weight = Weight::new(client.weight).unwrap();
            queue.set_weight(Instant::ZERO, Issuer(index as u32 + 1), weight).unwrap();
        }
        Disk { queue, now: Instant::ZERO, clients, log: Vec::new() }
    }

    /// All clients issue what they may.
    fn issue(&mut self) {
        for (index, client) in self.clients.iter_mut().enumerate() {
            while client.outstanding < client.depth {
                let request =
                    Request::read(client.next, Sectors(client.sectors)).by(Issuer(index as u32 + 1));
                self.queue.insert(self.now, request).unwrap();
                client.next = request.end();
                client.outstanding += 1;
            }
        }
    }

    /// Serves `count` requests. Who learns of a completion issues after the next dispatch.
    fn serve(&mut self, count: usize) -> &mut Disk {
        for _ in 0..count {
            let id = loop {
                match self.queue.dispatch(self.now).unwrap() {
                    Decision::Dispatch(id) => break id,
                    _ => self.issue(),
                }
            };
            self.issue();
            let who = self.queue.request(id).issuer.0;
            let client = &mut self.clients[who as usize - 1];
            self.now += client.service;
            client.served.0 += 1;
            client.served.1 += client.service;
            client.outstanding -= 1;
            self.log.push(who);
            self.queue.complete(self.now, id).unwrap();
        }
        self
    }

    fn counts(&self) -> Vec<u64> {
        self.clients.iter().map(|client| client.served.0).collect()
    }

    fn times(&self) -> Vec<u64> {
        self.clients.iter().map(|client| client.served.1.0).collect()
    }
}

/// Fails unless the numbers are to each other as `shares`, each within `percent`.
fn assert_shares(numbers: &[u64], shares: &[u64], percent: u64) {
    let (total, parts): (u64, u64) = (numbers.iter().sum(), shares.iter().sum());
    for (number, share) in numbers.iter().zip(shares) {
        let due = total * share / parts;
        assert!(number.abs_diff(due) * 100 <= due * percent, "{numbers:?} are not {shares:?}");
    }
}

const ALL: [&str; 4] = ["stride", "stride-sptf", "lottery", "yfq"];

#[test]
fn of_synchronous_processes_with_1_1_3_stride_gives_1_1_2() {
    let clients = [client(100, 1), client(100, 1), client(300, 1)];
    let mut disk = Disk::new("stride", &[], &clients);
    // At first all clocks are equal; from the third request on it is always the same.
    disk.serve(4002);
    assert!(disk.log[2..].chunks(4).all(|round| round == [3, 1, 3, 2]), "{:?}", &disk.log[..20]);
    assert_eq!(disk.counts(), [1001, 1001, 2000]);
}

#[test]
fn of_synchronous_processes_with_1_1_3_a_lottery_gives_2_2_3() {
    for seed in 1..4 {
        let clients = [client(100, 1), client(100, 1), client(300, 1)];
        let counts = Disk::new("lottery", &[("seed", seed)], &clients).serve(70_000).counts();
        assert_shares(&counts, &[2, 2, 3], 3);
    }
}

#[test]
fn two_synchronous_processes_get_the_same_whatever_their_weights() {
    for name in ALL {
        let mut disk = Disk::new(name, &[], &[client(100, 1), client(200, 1)]);
        assert_eq!(disk.serve(4000).counts(), [2000, 2000], "{name}");
    }
}

#[test]
fn processes_that_keep_requests_waiting_get_their_shares() {
    for (name, settings, percent) in
        [("stride", &[][..], 1), ("stride-sptf", &[("tau", 100)], 1), ("yfq", &[], 1), ("lottery", &[], 3)]
    {
        let mut disk = Disk::new(name, settings, &[client(100, 8), client(200, 8)]);
        assert_shares(&disk.serve(30_000).counts(), &[1, 2], percent);
        let mut disk = Disk::new(name, settings, &[client(1, 8), client(10, 8), client(100, 8)]);
        assert_shares(&disk.serve(111_000).counts(), &[1, 10, 100], if name == "lottery" { 10 } else { 1 });
    }
}

#[test]
fn stride_charges_time_and_yfq_charges_bytes() {
    let slow = Client { service: Duration::from_ms(9), ..client(100, 8) };
    let large = Client { sectors: 24, service: Duration::from_ms(3), ..client(100, 8) };
    for name in ["stride", "stride-sptf"] {
        let mut disk = Disk::new(name, &[], &[slow, large]);
        assert_shares(&disk.serve(20_000).times(), &[1, 1], 5);
    }
    let mut disk = Disk::new("stride", &[], &[slow, large]);
    assert_shares(&disk.serve(20_000).times(), &[1, 1], 1);
    let mut disk = Disk::new("yfq", &[], &[slow, large]);
    assert_shares(&disk.serve(20_000).counts(), &[3, 1], 1);
}

#[test]
fn a_change_of_weight_counts_from_then_on() {
    for name in ["stride", "yfq"] {
        let mut disk = Disk::new(name, &[], &[client(100, 8), client(100, 8)]);
        assert_shares(&disk.serve(1000).counts(), &[1, 1], 1);
        disk.queue.set_weight(disk.now, Issuer(2), Weight::new(400).unwrap()).unwrap();
        disk.log.clear();
        disk.serve(5000);
        let second = disk.log.iter().filter(|who| **who == 2).count() as u64;
        assert_shares(&[5000 - second, second], &[1, 4], 1);
    }
}

/// Both are served; then 2 pauses while 1 continues. How many of the 40 after the pause are 2's?
fn served_after_a_pause(name: &str, settings: &[Assignment<'_>], requests: usize) -> usize {
    let mut disk = Disk::new(name, settings, &[client(100, 4), client(100, 4)]);
    disk.serve(20);
    disk.clients[1].depth = 0;
    while disk.clients[1].outstanding > 0 {
        disk.serve(1);
    }
    disk.serve(requests);
    disk.clients[1].depth = 4;
    disk.issue();
    disk.log.clear();
    disk.serve(40);
    disk.log.iter().filter(|who| **who == 2).count()
}

#[test]
fn who_was_away_has_saved_nothing_but_who_paused_has() {
    // A pause of 500 ms: 100 requests of 5 ms.
    assert!((19..=21).contains(&served_after_a_pause("stride", &[], 100)));
    assert_eq!(served_after_a_pause("stride", &[("lag", 3_600_000)], 100), 40);
    // A pause of 75 ms is shorter than lag: 15 requests are caught up, then it is one each.
    assert!((26..=29).contains(&served_after_a_pause("stride", &[], 15)));
    assert!((19..=21).contains(&served_after_a_pause("stride", &[("lag", 10)], 15)));
    // With no lag, every pause is forgiven at once.
    assert!((19..=21).contains(&served_after_a_pause("yfq", &[("lag", 0)], 15)));
}

#[test]
fn a_new_process_does_not_begin_at_zero() {
    for name in ["stride", "stride-sptf", "yfq"] {
        let settings: &[Assignment<'_>] = if name == "stride-sptf" { &[("tau", 0)] } else { &[] };
        let mut disk = Disk::new(name, settings, &[client(100, 1), client(100, 0)]);
        disk.serve(1000);
        // 1 is alone and synchronous: when 2 comes, nobody waits.
        (disk.clients[0].depth, disk.clients[1].depth) = (0, 4);
        disk.issue();
        disk.clients[0].depth = 4;
        disk.log.clear();
        disk.serve(40);
        let second = disk.log.iter().filter(|who| **who == 2).count();
        assert!((19..=22).contains(&second), "{name}: {second}");
    }
}

#[test]
fn with_several_in_flight_the_charges_add_up_to_the_time_that_the_device_was_busy() {
    let device = Device { depth: 4, merging: Merging::Off, ..Device::default() };
    let build = |setup: Setup<'_>| Stride::new(setup, Tunables::defaults());
    let mut queue = Queue::with::<OutOfMemory>(8, device, build).unwrap();
    let at = |ms: u64| Instant(ms * MS);
    let mut send = |ms: u64, who: u32| {
        queue.insert(at(ms), Request::read(Sector(0), Sectors(8)).by(Issuer(who))).unwrap();
        match queue.dispatch(at(ms)).unwrap() {
            Decision::Dispatch(id) => id,
            other => panic!("one waits: {other:?}"),
        }
    };
    let (a, b, c) = (send(100, 1), send(101, 2), send(102, 1));
    queue.complete(at(110), a).unwrap();
    queue.complete(at(114), c).unwrap();
    queue.complete(at(115), b).unwrap();
    assert_eq!(queue.scheduler().clock(Issuer(1)), Some(14 * MS), "100 to 110 and 110 to 114");
    assert_eq!(queue.scheduler().clock(Issuer(2)), Some(MS), "114 to 115");
}

#[test]
fn to_look_at_the_next_request_changes_nothing() {
    fn look<A: Algorithm + Policy>() {
        let build = |setup: Setup<'_>| A::new(setup, A::Tunables::defaults());
        let mut queue = Queue::with::<OutOfMemory>(64, Device::default(), build).unwrap();
        let now = Instant::ZERO;
        for n in 0..64 {
            let request = Request::read(Sector(n * 7919 % 64 * 100), Sectors(8)).by(Issuer(n as u32 % 7));
            queue.insert(now, request).unwrap();
        }
        for left in (0..64).rev() {
            let select = |queue: &Queue<A>| {
                let (requests, device) = (queue.requests(), queue.device());
                queue.scheduler().select(Cx::new(now, requests, device, None))
            };
            let id = select(&queue).unwrap();
            assert_eq!(select(&queue), Some(id));
            assert_eq!(queue.dispatch(now), Ok(Decision::Dispatch(id)), "{}: {left} left", A::NAME);
            queue.complete(now, id).unwrap();
        }
    }
    look::<Stride>();
    look::<StrideSptf>();
    look::<Lottery>();
    look::<Yfq>();
}

#[test]
fn within_tau_the_head_stays_with_one_process() {
    let runs = |tau: u64| {
        let clients = [client(100, 8), client(200, 8)];
        let mut disk = Disk::new("stride-sptf", &[("tau", tau)], &clients);
        disk.serve(6000);
        assert_shares(&disk.counts(), &[1, 2], 5);
        1 + disk.log.windows(2).filter(|pair| pair[0] != pair[1]).count()
    };
    assert_eq!(runs(0), 4000);
    // 1 continues from 500 ms behind 2 to 500 ms ahead, which takes 200 requests of 5 ms. So does 2,
    // which takes 400. Together they make 20 runs of 6000 requests.
    let longer = runs(500);
    assert!((19..=22).contains(&longer), "{longer} runs");
}

#[test]
fn a_charge_is_rounded_up_and_never_nothing() {
    let weight = |weight| Weight::new(weight).unwrap();
    assert_eq!(weighed(1000, weight(100)), 1000);
    assert_eq!(weighed(1000, weight(300)), 334);
    assert_eq!(weighed(0, weight(10_000)), 1);
    assert_eq!(weighed(u64::MAX, weight(1)), u64::MAX);
}
