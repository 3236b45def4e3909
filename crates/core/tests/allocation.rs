//! Memory is counted once: only construction allocates, and it fails with an error, not an abort.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Debug;

use idlewise_core::registry::{self, BuildError};
use idlewise_core::selectors::{self, Action, Candidate, Chooser, ChooserError, Entry, Prediction, Rank};
use idlewise_core::{
    Cx, Decision, Device, Duration, Instant, Issuer, Operation, Queue, Request, RequestId, Scheduler, Sector,
    Sectors,
};

thread_local! {
    /// Allocations on this thread so far.
    static COUNT: Cell<u64> = const { Cell::new(0) };
    /// Allocations that still succeed.
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// The system's allocator, which counts and can be told to fail.
struct Counting;

impl Counting {
    fn may(&self) -> bool {
        COUNT.set(COUNT.get() + 1);
        let left = LEFT.get();
        if left != u64::MAX {
            LEFT.set(left.saturating_sub(1));
        }
        left > 0
    }
}

// SAFETY: all is passed on to the system's allocator, or refused with the null pointer.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are passed on.
        if self.may() { unsafe { System.alloc(layout) } } else { std::ptr::null_mut() }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promises are passed on.
        if self.may() { unsafe { System.realloc(old, layout, size) } } else { std::ptr::null_mut() }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations_in(body: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    body();
    COUNT.get() - before
}

/// A long run: deep and shallow, with merges, cancellations, returns, exits and pauses.
fn run<S: Scheduler>(queue: &mut Queue<S>, steps: u32) {
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut now = Instant(1);
    let mut in_flight = [RequestId(0); 4];
    let mut count = 0;
    for _ in 0..steps {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        now += Duration::from_us((random >> 50) % 700);
        match random % 16 {
            0..=7 => {
                let operation = [Operation::Read, Operation::Read, Operation::Write, Operation::Discard]
                    [(random >> 8) as usize % 4];
                let start = Sector((random >> 12) % 3000 * 8);
                let request = Request { operation, ..Request::read(start, Sectors(8)) };
                // A full queue refuses; that must not allocate either.
                let _ = queue.insert(now, request.by(Issuer((random >> 32) as u32 % 200)));
            }
            8..=12 if count < in_flight.len() => match queue.dispatch(now).unwrap() {
                Decision::Dispatch(id) => {
                    in_flight[count] = id;
                    count += 1;
                }
                Decision::WaitUntil(until) if random.is_multiple_of(3) => now = until,
                _ => {}
            },
            13 => drop(queue.cancel(now, RequestId((random >> 20) as u32 % 300))),
            14 => queue.issuer_gone(now, Issuer((random >> 32) as u32 % 200)).unwrap(),
            _ if count > 0 => {
                count -= 1;
                let id = in_flight[count];
                if random.is_multiple_of(9) { queue.requeue(now, id) } else { queue.complete(now, id) }
                    .unwrap();
            }
            _ => {}
        }
    }
}

fn device() -> Device {
    Device { depth: 4, ..Device::default() }
}

#[test]
fn nothing_is_allocated_after_construction() {
    for entry in registry::all() {
        let mut queue = Queue::new(256, device(), entry, &[]).unwrap();
        let count = allocations_in(|| run(&mut queue, 100_000));
        assert_eq!(count, 0, "{} allocates while it runs", entry.name);
    }
}

#[test]
fn changing_a_tunable_allocates_nothing() {
    for entry in registry::all() {
        let mut queue = Queue::new(64, device(), entry, &[]).unwrap();
        for tunable in entry.tunables {
            for value in [tunable.min, tunable.max, tunable.default] {
                let count = allocations_in(|| queue.set(tunable.name, value).unwrap());
                assert_eq!(count, 0, "{}: setting {} allocates", entry.name, tunable.name);
            }
        }
    }
}

#[test]
fn a_switch_allocates_only_what_the_successor_is_built_of() {
    for entry in registry::all() {
        let mut queue = Queue::new(256, device(), &registry::all()[0], &[]).unwrap();
        run(&mut queue, 2_000);
        let built = allocations_in(|| drop(Queue::new(256, device(), entry, &[]).unwrap()));
        let switched = allocations_in(|| queue.switch_to(Instant(1 << 50), entry, &[]).unwrap());
        assert!(switched <= built, "{}: {switched} allocations, its construction {built}", entry.name);
    }
}

#[test]
fn construction_fails_with_an_error_at_whichever_allocation_fails() {
    for entry in registry::all() {
        let build = || Queue::new(256, device(), entry, &[]).map(drop);
        let failures = failures_of(entry.name, &BuildError::OutOfMemory, build);
        assert!(failures > 2, "{}: the queue alone has more tables", entry.name);
    }
}

/// Builds it while ever one allocation more succeeds, until all do; returns how often that failed, always with `error`.
fn failures_of<E: PartialEq + Debug>(name: &str, error: &E, build: impl Fn() -> Result<(), E>) -> u64 {
    let mut failures = 0;
    loop {
        LEFT.set(failures);
        let built = build();
        LEFT.set(u64::MAX);
        match built {
            Ok(()) => return failures,
            Err(other) => assert_eq!(other, *error, "{name}"),
        }
        failures += 1;
    }
}

const RANKS: [Rank; 2] = [Rank { up_to: 8, candidate: 1 }, Rank { up_to: 1 << 20, candidate: 0 }];

fn chooser(entry: &Entry, candidates: &[Candidate]) -> Result<Chooser, ChooserError> {
    Chooser::new(entry, 256, idlewise_core::selectors::Setup { candidates, cells: None, ranks: &RANKS }, &[])
}

/// Two thousand periods of requests by many, and an answer to each question.
fn choose(chooser: &mut Chooser, answer: &[Prediction]) {
    let mut now = Instant(1);
    for n in 0..40_000u32 {
        now += chooser.period() / 20;
        let length = Sectors(8 << (n % 7));
        let request = Request { arrival: now, ..Request::read(Sector(u64::from(n % 9) << (n % 11)), length) };
        let (id, request) = (RequestId(n % 256), request.by(Issuer(n % 900)));
        chooser.inserted(id, &request, n.is_multiple_of(3));
        chooser.dispatched(now, id);
        if !n.is_multiple_of(7) {
            chooser.completed(now + Duration(9), id, &request);
        }
        if n.is_multiple_of(11) {
            chooser.issuer_gone(now, Issuer(n % 900));
        }
        if chooser.next_tick() <= now && matches!(chooser.tick(now).1.action, Action::Predict(_)) {
            chooser.predicted(now, answer);
        }
    }
}

#[test]
fn a_selector_allocates_nothing_after_construction() {
    for entry in selectors::registry::all() {
        let field = entry.field().unwrap();
        let better = |candidate: usize| Prediction {
            candidate: candidate as u8,
            throughput: 1_000_000 << candidate,
            ..Prediction::default()
        };
        let answer: Vec<Prediction> = (0..field.len()).map(better).collect();
        let mut chooser = chooser(entry, &field).unwrap();
        let count = allocations_in(|| choose(&mut chooser, &answer));
        assert_eq!(count, 0, "{} allocates while it runs", entry.name);
    }
}

#[test]
fn construction_of_a_selector_fails_with_an_error_at_whichever_allocation_fails() {
    for entry in selectors::registry::all() {
        let field = entry.field().unwrap();
        let error = ChooserError::Build(BuildError::OutOfMemory);
        let failures = failures_of(entry.name, &error, || chooser(entry, &field).map(drop));
        assert!(failures > 1, "{}: the selector and the activity store have memory", entry.name);
    }
}

/// First come, first served, with memory for each request.
#[derive(Default)]
struct Greedy(std::collections::LinkedList<RequestId>);

impl Scheduler for Greedy {
    fn insert(&mut self, _: Cx<'_>, id: RequestId) {
        self.0.push_back(id);
    }
    fn dispatch(&mut self, _: Cx<'_>) -> Decision {
        self.0.pop_front().map_or(Decision::Idle, Decision::Dispatch)
    }
    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.0 = std::mem::take(&mut self.0).into_iter().filter(|held| *held != id).collect();
    }
}

#[test]
fn an_allocation_for_each_request_is_caught() {
    let build = |_: idlewise_core::Setup<'_>| Ok::<_, BuildError>(Greedy::default());
    let mut queue = Queue::with(256, device(), build).unwrap();
    assert!(allocations_in(|| run(&mut queue, 1000)) > 100);
}
