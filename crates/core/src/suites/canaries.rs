//! Schedulers broken on purpose. A suite that lets one pass is broken itself.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

use super::log::Log;
use super::scene::{Check, Scene, hold};
use super::subject::{Make, Subject};
use super::{bounded, conformance, oracle, switching};
use crate::registry;
use crate::scheduler::{Cx, Decision, Scheduler, Setup, Starvation};
use crate::units::{Duration, Instant, RequestId};

/// What a canary does with the FIFO that it would be if it were whole.
type Rule = fn(&mut Canary, Cx<'_>) -> Decision;

/// First come, first served, but for its rule.
struct Canary {
    fifo: Vec<RequestId>,
    asked: u64,
    in_flight: u32,
    rule: Rule,
    /// The canary loses the request of every fifth insertion.
    loses: bool,
    inserted: u64,
}

impl Canary {
    fn first(&mut self) -> Decision {
        if self.fifo.is_empty() { Decision::Idle } else { Decision::Dispatch(self.fifo.remove(0)) }
    }

    fn last(&mut self) -> Decision {
        self.fifo.pop().map_or(Decision::Idle, Decision::Dispatch)
    }
}

impl Subject for Canary {}

impl Scheduler for Canary {
    fn insert(&mut self, _: Cx<'_>, id: RequestId) {
        self.inserted += 1;
        if !self.loses || !self.inserted.is_multiple_of(5) {
            self.fifo.push(id);
        }
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        let decision = (self.rule)(self, cx);
        if let Decision::Dispatch(_) = decision {
            self.in_flight += 1;
        }
        decision
    }
    fn remove(&mut self, _: Cx<'_>, id: RequestId) {
        self.fifo.retain(|held| *held != id);
    }
}

struct Make1 {
    rule: Rule,
    loses: bool,
    starvation: Starvation,
}

impl Make1 {
    fn new(rule: Rule) -> Make1 {
        Make1 { rule, loses: false, starvation: Starvation::Unbounded }
    }
}

impl Make for Make1 {
    fn name(&self) -> &str {
        "canary"
    }
    fn build(&self, _: Setup<'_>, _: u64) -> Box<dyn Subject> {
        let Make1 { rule, loses, .. } = *self;
        Box::new(Canary { fifo: Vec::new(), asked: 0, in_flight: 0, rule, loses, inserted: 0 })
    }
    fn starvation(&self, _: u64) -> Starvation {
        self.starvation
    }
}

/// What the failure of `make` says. A check that passes fails the test.
fn caught(make: &dyn Make, check: Check) -> String {
    hold(make, check, 500, 200).expect_err("the suite lets this canary pass")
}

fn fifo(canary: &mut Canary, _: Cx<'_>) -> Decision {
    canary.first()
}

#[test]
fn a_whole_canary_passes() {
    let whole = Make1 {
        starvation: Starvation::Bounded { after: Duration::ZERO, per_waiting: 1, plus: 0 },
        ..Make1::new(fifo)
    };
    let checks: [Check; 6] = [
        conformance::conserves,
        conformance::asking_is_free,
        conformance::time_flows,
        conformance::deterministic,
        conformance::misuse_changes_nothing,
        switching::survives_switches,
    ];
    for check in checks {
        hold(&whole, check, 50, 200).unwrap();
    }
    bounded::waits_as_stated(&whole, 0).unwrap();
}

#[test]
fn conservation_catches_a_lost_request() {
    let failure = caught(&Make1 { loses: true, ..Make1::new(fifo) }, conformance::conserves);
    assert!(failure.contains("idle with requests waiting"), "{failure}");
}

#[test]
fn conservation_catches_a_request_dispatched_twice() {
    let twice = Make1::new(|canary, _| {
        canary.asked += 1;
        match canary.fifo.first() {
            Some(first) if canary.asked.is_multiple_of(4) => Decision::Dispatch(*first),
            _ => canary.first(),
        }
    });
    assert!(caught(&twice, conformance::conserves).contains("does not wait"));
}

#[test]
fn promise_catches_a_wait_until_the_past() {
    let past = Make1::new(|canary, cx| match canary.fifo.len() {
        3 => Decision::WaitUntil(Instant(cx.now.0.saturating_sub(1))),
        _ => canary.first(),
    });
    assert!(caught(&past, conformance::conserves).contains("waits until the past"));
}

#[test]
fn promise_catches_idleness_with_requests_waiting() {
    let lazy = Make1::new(|canary, _| if canary.fifo.len() == 1 { Decision::Idle } else { canary.first() });
    assert!(caught(&lazy, conformance::conserves).contains("idle with requests waiting"));
}

#[test]
fn promise_catches_waiting_without_end() {
    let later = Make1::new(|canary, cx| match canary.fifo.len() {
        2 => Decision::WaitUntil(cx.now + Duration::from_ms(1)),
        _ => canary.first(),
    });
    assert!(caught(&later, conformance::conserves).contains("again and again"));
}

#[test]
fn promise_catches_an_idle_scheduler_that_changes_its_mind() {
    // Idle while another is in flight, but only in odd microseconds.
    let moody = Make1::new(|canary, cx| match cx.now.0 / 1000 % 2 {
        1 if canary.fifo.len() == 1 && canary.in_flight > 1 => Decision::Idle,
        _ => canary.first(),
    });
    let failure = caught(&moody, conformance::conserves);
    assert!(failure.contains("though nothing happened") || failure.contains("idle"), "{failure}");
}

#[test]
fn asking_is_free_catches_a_count_of_calls() {
    let counts = Make1::new(|canary, _| {
        canary.asked += 1;
        if canary.asked.is_multiple_of(3) { canary.last() } else { canary.first() }
    });
    assert!(caught(&counts, conformance::asking_is_free).contains("asked more often"));
}

#[test]
fn time_flows_catches_absolute_time() {
    let clock =
        Make1::new(|canary, cx| if cx.now.0.is_multiple_of(2) { canary.first() } else { canary.last() });
    assert!(caught(&clock, conformance::time_flows).contains("ns later"));
}

#[test]
fn deterministic_catches_hidden_randomness() {
    static HIDDEN: AtomicU64 = AtomicU64::new(0);
    let random = Make1::new(|canary, _| match HIDDEN.fetch_add(1, Ordering::Relaxed) % 7 {
        0..4 => canary.first(),
        _ => canary.last(),
    });
    let failure = caught(&random, conformance::deterministic);
    assert!(failure.contains("run again") || failure.contains("does not fail again"), "{failure}");
}

#[test]
fn bounded_waiting_catches_a_bound_that_is_too_small() {
    let bounds = [
        Starvation::Bounded { after: Duration::ZERO, per_waiting: 3, plus: 100 },
        Starvation::Bounded { after: Duration::from_s(1), per_waiting: 1, plus: 10 },
    ];
    for starvation in bounds {
        let stack = Make1 { starvation, ..Make1::new(|canary, _| canary.last()) };
        let failure = bounded::waits_as_stated(&stack, 0).unwrap_err();
        assert!(failure.contains("still waits"), "{failure}");
    }
}

#[test]
fn bounded_waiting_catches_starvation_that_never_happens() {
    let failure = bounded::waits_as_stated(&Make1::new(fifo), 0).unwrap_err();
    assert!(failure.contains("says that a request may starve"), "{failure}");
}

/// Counts its own dispatches, and forgets that an earlier scheduler's requests complete too.
struct Miscounts(Canary);

impl Subject for Miscounts {}

impl Scheduler for Miscounts {
    fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
        self.0.insert(cx, id);
    }
    fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
        self.0.dispatch(cx)
    }
    fn complete(&mut self, _: Cx<'_>, _: RequestId) {
        self.0.in_flight = self.0.in_flight.checked_sub(1).expect("nothing is in flight");
    }
    fn remove(&mut self, cx: Cx<'_>, id: RequestId) {
        self.0.remove(cx, id);
    }
}

struct MakeMiscounts;

impl Make for MakeMiscounts {
    fn name(&self) -> &str {
        "canary"
    }
    fn build(&self, _: Setup<'_>, _: u64) -> Box<dyn Subject> {
        let canary =
            Canary { fifo: Vec::new(), asked: 0, in_flight: 0, rule: fifo, loses: false, inserted: 0 };
        Box::new(Miscounts(canary))
    }
}

#[test]
fn switch_catches_completions_that_are_not_expected() {
    hold(&MakeMiscounts, conformance::conserves, 50, 200).unwrap();
    assert!(caught(&MakeMiscounts, switching::survives_switches).contains("nothing is in flight"));
}

#[test]
fn oracle_catches_one_wrong_rule() {
    fn against_c_look(make: &dyn Make, scene: &Scene, log: &mut Log) -> Result<(), String> {
        oracle::agree(registry::find("c-look").unwrap(), make, scene, log)
    }
    // As c-look, but what lies exactly at the head is taken for behind it.
    struct Late {
        list: super::SlowList,
        head: u64,
    }
    impl Subject for Late {}

    impl Scheduler for Late {
        fn insert(&mut self, cx: Cx<'_>, id: RequestId) {
            self.list.insert(cx, id);
        }
        fn dispatch(&mut self, cx: Cx<'_>) -> Decision {
            let head = self.head;
            let best = self.list.take_min_by(|start, _| (start <= head && head > 0, start));
            best.map_or(Decision::Idle, |id| {
                self.head = cx[id].end().0;
                Decision::Dispatch(id)
            })
        }
        fn remove(&mut self, _: Cx<'_>, id: RequestId) {
            self.list.remove(id);
        }
        fn grown(&mut self, cx: Cx<'_>, id: RequestId) {
            self.list.grown(cx, id);
        }
    }
    struct MakeLate;
    impl Make for MakeLate {
        fn name(&self) -> &str {
            "c-look"
        }
        fn build(&self, _: Setup<'_>, _: u64) -> Box<dyn Subject> {
            Box::new(Late { list: super::SlowList::default(), head: 0 })
        }
    }
    assert!(caught(&MakeLate, against_c_look).contains("its reference"));
}
