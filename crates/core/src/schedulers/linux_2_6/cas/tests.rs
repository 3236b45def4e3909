//! CAS's own rules, and the starvation that it is for (OLS'05 §3.1).

use alloc::vec::Vec;

use crate::scheduler::Decision;
use crate::schedulers::linux_2_6::as_family::tests::Bench;
use crate::units::{Duration, Instant};

const PAPER: (&str, u64) = ("reading", 0);
const LINUX: (&str, u64) = ("reading", 1);

/// Processes that read once, far from each other, and exit: whether a successor of each is waited for.
fn waits_after(exits: u32, reading: (&'static str, u64)) -> Vec<bool> {
    let mut bench = Bench::new("cas", &[reading]);
    let mut waits = Vec::new();
    bench.read(0, 0);
    let mut asked = bench.ask();
    for who in 0..exits {
        let Decision::Dispatch(id) = asked else { panic!("{who} should read") };
        bench.us(1000).done(id);
        bench.gone(who);
        bench.read(u64::from(who + 1) * 10_000_000, who + 1);
        asked = bench.ask();
        waits.push(matches!(asked, Decision::WaitUntil(_)));
        if let Decision::WaitUntil(until) = asked {
            bench.now = until;
            asked = bench.ask();
        }
    }
    waits
}

#[test]
fn step_4_does_not_wait_for_a_successor_where_exits_are_rare() {
    let waits = waits_after(8, PAPER);
    // 32, 60, 84, 105 and 123 of 256 are below 50 %; the sixth exit makes it 139.
    assert_eq!(waits[..6], [false, false, false, false, false, true]);
}

#[test]
fn as_linux_reads_it_the_first_exit_is_waited_out() {
    assert!(waits_after(1, LINUX)[0]);
}

/// A disk that takes 8 ms to go elsewhere and 500 us for a read.
fn service(head: u64, start: u64) -> Duration {
    Duration::from_us(if head.abs_diff(start) > 2_000 { 8_500 } else { 500 })
}

/// Where the chain reads.
const CHAIN: u64 = 500_000_000;

/// Ten seconds of process 1, which reads on without thinking, against a chain of processes that read
/// two or three blocks each. How many reads of each are done.
fn stream_against_chain(name: &str, settings: &[(&'static str, u64)]) -> (u64, u64) {
    let mut bench = Bench::new(name, settings);
    let (mut stream, mut chain, mut head) = (0, 0, 0);
    let (mut who, mut left) = (2, 2);
    bench.read(0, 1);
    bench.read(CHAIN, who);
    let mut asked = bench.ask();
    while bench.now < Instant(0) + Duration::from_s(10) {
        let id = match asked {
            Decision::Dispatch(id) => id,
            Decision::WaitUntil(until) => {
                bench.now = until;
                asked = bench.ask();
                continue;
            }
            Decision::Idle => panic!("idle with requests waiting"),
        };
        let request = *bench.queue.request(id);
        bench.now += service(head, request.start.0);
        head = request.end().0;
        bench.done(id);
        let streams = request.start.0 < CHAIN;
        *(if streams { &mut stream } else { &mut chain }) += 1;
        if !streams {
            left -= 1;
            if left == 0 {
                bench.gone(who);
                (who, left) = (who + 1, 2 + who % 2);
            }
        }
        // What is issued at once comes after the decision at this moment; the exit comes before it.
        asked = bench.ask();
        if streams {
            bench.read(stream * 8, 1)
        } else {
            bench.read(CHAIN + chain * 24, who)
        };
        if !matches!(asked, Decision::Dispatch(_)) {
            asked = bench.ask();
        }
    }
    (stream, chain)
}

#[test]
fn a_chain_of_short_processes_starves_beside_a_stream_but_not_under_cas() {
    let (_, plain) = stream_against_chain("deadline", &[]);
    let (stream, starved) = stream_against_chain("as-2.6.11", &[]);
    assert!(starved * 5 < plain, "{starved} reads of the chain, {plain} under deadline");
    assert!(stream > 15_000, "the disk streams: {stream} reads");
    for (name, settings) in [("cas", &[PAPER][..]), ("cas", &[LINUX]), ("as", &[])] {
        let (stream, chain) = stream_against_chain(name, settings);
        assert!(chain > 4 * plain, "{name} {settings:?}: {chain} reads of the chain, {plain} under deadline");
        assert!(stream > 4 * plain, "{name} {settings:?}: {stream} reads of the stream");
    }
}
