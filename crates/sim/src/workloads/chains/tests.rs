use std::collections::{BTreeMap, BTreeSet};

use idlewise_core::{Duration, Group, Sectors};

use super::*;
use crate::workloads::Think;

const TREE: TreeSettings = TreeSettings {
    files: 60,
    directories: 4,
    groups: 2,
    median: 6144,
    mean: 40_000,
    inodes: 8,
    hashed: false,
};
const PACE: Pace = Pace { block: Sectors(64), think: Duration::from_us(100), exec: Duration::from_us(500) };

/// Where the first tree begins, and the sectors between two.
const LAYOUT: (Sector, u64) = (Sector(1 << 21), 1 << 20);

fn stream() -> Process {
    Process {
        name: "stream".to_owned(),
        file_sectors: 1 << 20,
        block: Sectors(256),
        think: Think::Fixed(PACE.think),
        background: true,
        requests: u64::MAX,
        ..Process::default()
    }
}

fn chains(beside: Vec<Process>, count: u32, seed: u64) -> Chains {
    Chains::new(beside, count, TREE, PACE, LAYOUT, Ground { capacity: Sector(1 << 27), depth: 32, seed })
        .expect("it fits")
}

/// What happened in a run where each request takes 1 ms, several at a time.
#[derive(Default, PartialEq, Debug)]
struct Seen {
    requests: Vec<Request>,
    done: BTreeMap<Issuer, Instant>,
    exits: Vec<(Instant, Issuer)>,
}

fn run(mut chains: Chains) -> Seen {
    let (mut seen, mut exits) = (Seen::default(), Exits::default());
    let mut flying: Vec<(Instant, RequestId, Issuer)> = Vec::new();
    let mut free: Vec<u32> = (0..8).rev().collect();
    loop {
        flying.sort_unstable_by(|a, b| b.cmp(a));
        let done = flying.last().map_or(Instant::MAX, |first| first.0);
        let now = chains.next().unwrap_or(Instant::MAX).min(done).min(exits.next());
        if now == Instant::MAX {
            return seen;
        }
        if done <= now {
            let (_, id, who) = flying.pop().unwrap();
            free.push(id.0);
            seen.done.insert(who, now);
            chains.completed(now, id, &mut exits);
        } else if let Some(who) = exits.take(now) {
            seen.exits.push((now, who));
        } else {
            let id = RequestId(free.pop().unwrap());
            let request = chains.issue(id);
            assert_eq!(request.arrival, now);
            flying.push((now + Duration::from_ms(1), id, request.issuer));
            seen.requests.push(request);
        }
    }
}

#[test]
fn each_file_has_a_child_with_a_number_of_its_own_and_the_parents_group() {
    let seen = run(chains(vec![stream()], 2, 1));
    let of = |who: u32| seen.requests.iter().filter(move |request| request.issuer == Issuer(who));
    assert!(of(1).count() > 100 && of(1).all(|request| request.group == Group::UNKNOWN));
    for parent in [2, 3] {
        // The parent reads each of its four directories; sixty children read the files.
        assert_eq!(of(parent).count(), 4);
        assert!(of(parent).all(|request| request.metadata && request.sync));
        let group = seen.requests.iter().filter(|request| request.group == Group(parent));
        let members: BTreeSet<Issuer> = group.map(|request| request.issuer).collect();
        assert_eq!(members.len(), 61);
    }
    let everybody: BTreeSet<Issuer> = seen.requests.iter().map(|request| request.issuer).collect();
    assert_eq!(everybody.into_iter().collect::<Vec<_>>(), (1..=123).map(Issuer).collect::<Vec<_>>());
}

#[test]
fn a_child_reads_the_inode_and_then_its_file_in_order() {
    let seen = run(chains(Vec::new(), 1, 1));
    let mut inodes = 0;
    for who in 2..=61 {
        let mut own: Vec<&Request> = seen.requests.iter().filter(|r| r.issuer == Issuer(who)).collect();
        if own[0].metadata {
            assert_eq!(own.remove(0).length, Sectors(8));
            inodes += 1;
        }
        assert!(own.iter().all(|request| !request.metadata && request.length <= PACE.block));
        assert!(own.windows(2).all(|pair| pair[0].end() == pair[1].start));
        assert!(own.windows(2).all(|pair| pair[1].arrival.since(pair[0].arrival) == Duration(1_100_000)));
    }
    // Thirty files in each of two groups, eight inodes to a block.
    assert_eq!(inodes, 8);
    assert!(seen.requests.len() > 4 + 8 + 60 + 20, "large files take several requests");
}

#[test]
fn everybody_exits_once_after_the_last_request_and_the_next_child_starts_later() {
    let seen = run(chains(vec![stream()], 1, 1));
    let who: BTreeSet<Issuer> = seen.exits.iter().map(|exit| exit.1).collect();
    assert_eq!((who.len(), seen.exits.len()), (62, 62));
    for (at, who) in &seen.exits {
        let after = at.since(seen.done[who]);
        assert!(*at >= seen.done[who]);
        if who.0 > 2 {
            assert_eq!(after, PACE.think);
            let next = seen.requests.iter().find(|request| request.issuer == Issuer(who.0 + 1));
            assert!(next.is_none_or(|next| next.arrival >= *at + PACE.exec));
        }
    }
    let (_, last) = seen.exits[seen.exits.len() - 1];
    assert!(last.0 <= 2, "the parent or the stream goes last");
}

#[test]
fn the_stream_ends_with_the_last_chain() {
    let seen = run(chains(vec![stream()], 2, 3));
    let chained = seen.requests.iter().filter(|request| request.issuer != Issuer(1));
    let last = chained.map(|request| request.arrival).max().unwrap();
    let streamed = seen.requests.iter().filter(|request| request.issuer == Issuer(1));
    let after = streamed.map(|request| request.arrival).max().unwrap();
    assert!(after <= last + Duration::from_ms(1), "{after} and {last}");
    assert!(last.since(after) < Duration::from_ms(3), "it goes on until then");
}

#[test]
fn a_run_is_the_same_for_the_same_seed_only() {
    assert_eq!(run(chains(vec![stream()], 1, 1)), run(chains(vec![stream()], 1, 1)));
    assert_ne!(run(chains(vec![stream()], 1, 1)), run(chains(vec![stream()], 1, 2)));
}

#[test]
fn trees_lie_apart_and_must_fit() {
    let seen = run(chains(Vec::new(), 2, 1));
    let range = |group: u32| {
        let own = || seen.requests.iter().filter(move |request| request.group == Group(group));
        (own().map(|r| r.start).min().unwrap(), own().map(Request::end).max().unwrap())
    };
    let (first, second) = (range(1), range(2));
    assert!(first.0 >= LAYOUT.0);
    assert!(second.0.0 >= first.1.0 + LAYOUT.1);
    let small = Ground { capacity: Sector(1 << 21), depth: 32, seed: 1 };
    let needed = Chains::new(Vec::new(), 1, TREE, PACE, LAYOUT, small).err();
    assert_eq!(needed, Some(TooLarge((1 << 21) + 2 * (128 << 11))));
}
