//! When it asks, and what it makes of answers.

use alloc::vec::Vec;

use super::*;
use crate::selectors::contract::Candidate;
use crate::tunables::Tunables as _;

/// A period of 100 ms in which some of 20 requests came from processes that were not there before.
fn period(newcomers: u64) -> Summary {
    let (length, bytes) = (Duration::from_ms(100), 20 * 4096);
    Summary { length, requests: 20, reads: 20, newcomers, bytes, ..Summary::default() }
}

/// What is asked in these periods, and when, in tenths of a second.
fn questions(predict: &mut Predict, periods: core::ops::Range<u64>) -> Vec<(u64, Question)> {
    let candidates: &[Candidate] = &[];
    let mut asked = Vec::new();
    for place in periods {
        let now = Instant::ZERO + Duration::from_ms(100) * place;
        let summary = period(if place % 1000 == 1 { 20 } else { 0 });
        let at = Situation { now, current: 0, free: true, candidates, category: None };
        if let Wish::Predict(question) = predict.period(at, &summary).wish {
            asked.push((place, question));
            predict.predicted(at, &[]);
        }
    }
    asked
}

fn predict() -> Predict {
    let setup = Setup { candidates: &[], cells: None, ranks: &[] };
    Predict::new(setup, contract::Settings::defaults()).expect("there is memory")
}

fn two() -> [Candidate; 2] {
    ["noop", "deadline"].map(|name| Candidate::plain(crate::registry::find(name).expect("it is registered")))
}

fn of(candidate: u8, throughput: u64) -> Prediction {
    Prediction { candidate, throughput, ..Prediction::default() }
}

#[test]
fn nobody_waits_too_long_whatever_would_be_gained() {
    let candidates = ["turns", USUAL, "as"]
        .map(|name| Candidate::plain(crate::registry::find(name).expect("it is registered")));
    // What is wanted if `current` is in use and somebody would wait so long under each, in milliseconds.
    let wish = |current, waits: [u64; 3]| {
        let at =
            Situation { now: Instant::ZERO, current, free: true, candidates: &candidates, category: None };
        let one = |place: u8, throughput| Prediction {
            longest: Duration::from_ms(waits[usize::from(place)]),
            ..of(place, throughput)
        };
        predict().predicted(at, &[one(0, 2_000_000), one(1, 1_000_000), one(2, 3_000_000)]).wish
    };
    assert_eq!(wish(0, [400, 500, 1000]), Wish::Use(2), "as long as people take for a pause");
    assert_eq!(wish(0, [400, 500, 1001]), Wish::Stay);
    assert_eq!(wish(0, [400, 700, 1400]), Wish::Use(2), "twice what they are used to");
    assert_eq!(wish(2, [400, 700, 1401]), Wish::Use(0), "less is gained, but in time");
    assert_eq!(wish(1, [1500, 600, 1500]), Wish::Stay);
    assert_eq!(wish(1, [9000, 9000, 17_000]), Wish::Use(2), "where waits are usual");
}

#[test]
fn a_switch_for_those_who_wait_is_not_undone() {
    let (candidates, mut predict) = (two(), predict());
    let mut now = Instant::ZERO;
    let mut go = |tenths: u64, current, done_bytes, longest| -> Vec<Wish> {
        let mut one = || {
            now += Duration::from_ms(100);
            let at = Situation { now, current, free: true, candidates: &candidates, category: None };
            predict.period(at, &Summary { done: 20, done_bytes, ..period(0) }).wish
        };
        let mut wishes: Vec<Wish> = (0..tenths).map(|_| one()).collect();
        let at = Situation { now, current, free: true, candidates: &candidates, category: None };
        let longest = Duration::from_ms(longest);
        wishes
            .push(predict.predicted(at, &[Prediction { longest, ..of(0, 1_000_000) }, of(1, 500_000)]).wish);
        wishes
    };
    assert_eq!(go(50, 0, 100_000, 5000).last(), Some(&Wish::Use(1)), "half of it, but nobody waits for 5 s");
    assert!(!go(20, 1, 50_000, 5000).contains(&Wish::Use(0)));
}

#[test]
fn what_promises_far_more_than_before_must_promise_it_twice() {
    let (candidates, mut predict) = (two(), predict());
    // A megabyte in a second.
    let summary = Summary { done: 20, done_bytes: 100_000, ..period(0) };
    let mut at =
        Situation { now: Instant::ZERO, current: 0, free: true, candidates: &candidates, category: None };
    let mut wish = |tenths: u64, own, other| {
        let mut asked = 0;
        for _ in 0..tenths {
            at.now += Duration::from_ms(100);
            asked += u64::from(matches!(predict.period(at, &summary).wish, Wish::Predict(_)));
        }
        (asked > 0, predict.predicted(at, &[of(0, own), of(1, other)]).wish)
    };
    assert_eq!(wish(30, 1_000_000, 1_000_000), (true, Wish::Stay));
    assert_eq!(wish(10, 10_000_000, 20_000_000), (true, Wish::Stay));
    assert_eq!(wish(1, 10_000_000, 20_000_000), (true, Wish::Use(1)), "it has asked again at once");
}

#[test]
fn a_load_is_expected_to_last_as_long_as_it_has_lasted() {
    let tenths = |span: Duration| span.as_ms() / 100;
    for (place, question) in questions(&mut predict(), 1..1000) {
        assert_eq!(question.begun, Instant::ZERO);
        assert_eq!(tenths(question.horizon), place.clamp(40, 600), "after {place} tenths of a second");
        assert_eq!(tenths(question.since.since(Instant::ZERO)), place.saturating_sub(100));
        assert_eq!(
            question.due,
            Instant::ZERO + Duration::from_ms(100) * place + Duration::from_ms(50),
            "delay"
        );
    }
}

#[test]
fn before_a_switch_is_judged_it_is_asked_whether_the_disk_has_settled() {
    let (candidates, mut predict) = (two(), predict());
    let mut now = Instant::ZERO;
    // In which periods something is asked, and what is wanted last, if these bytes are done in each.
    let mut go = |tenths: u64, current, done_bytes, answer: [Prediction; 2]| {
        let (mut asked, mut wish) = (Vec::new(), Wish::Stay);
        for tenth in 1..=tenths {
            now += Duration::from_ms(100);
            let at = Situation { now, current, free: true, candidates: &candidates, category: None };
            wish = predict.period(at, &Summary { done: 20, done_bytes, ..period(0) }).wish;
            if matches!(wish, Wish::Predict(_)) {
                asked.push(tenth);
                wish = predict.predicted(at, &answer).wish;
            }
        }
        (asked, wish)
    };
    let answer = |settles| [of(0, 1_000_000), Prediction { settles, ..of(1, 2_000_000) }];
    go(500, 0, 100_000, answer(Duration::ZERO).map(|other| Prediction { throughput: 1_000_000, ..other }));
    while go(1, 0, 100_000, answer(Duration::from_ms(2200))).1 != Wish::Use(1) {}
    let (asked, wish) = go(23, 1, 0, answer(Duration::from_ms(800)));
    assert_eq!((asked.last_chunk(), wish), (Some(&[15, 23]), Wish::Stay), "has it settled? Not yet");
    assert_eq!(go(20, 1, 0, answer(Duration::from_ms(800))).1, Wish::Stay, "so nothing is measured");
    assert_eq!(go(20, 1, 200_000, answer(Duration::ZERO)).1, Wish::Stay, "then it keeps what was promised");
}

/// A load under way, of which the one that was promised twice as much is in use for two seconds and gives these
/// bytes in a period where the other one gave 100 000. What is wanted in each period.
fn switched(predict: &mut Predict, done_bytes: u64) -> Vec<Wish> {
    let candidates = two();
    let mut now = Instant::ZERO;
    let mut go = |tenths: u64, current, done_bytes| -> Vec<Wish> {
        let mut one = || {
            now += Duration::from_ms(100);
            let at = Situation { now, current, free: false, candidates: &candidates, category: None };
            predict.period(at, &Summary { done: 20, done_bytes, ..period(0) }).wish
        };
        let wishes = (0..tenths).map(|_| one()).collect();
        let at = Situation { now, current, free: true, candidates: &candidates, category: None };
        predict.predicted(at, &[of(0, 1_000_000), of(1, 2_000_000)]);
        wishes
    };
    go(50, 0, 100_000);
    go(20, 1, done_bytes)
}

#[test]
fn what_made_things_worse_is_undone_as_soon_as_nothing_holds_it_back() {
    let (candidates, mut predict) = (two(), predict());
    let wishes = switched(&mut predict, 50_000);
    let first = wishes.iter().position(|wish| *wish == Wish::Use(0)).expect("half is worse");
    assert!(wishes[first..].iter().all(|wish| *wish == Wish::Use(0)), "the dwell time lasts: {wishes:?}");
    let mut at = Situation {
        now: Instant(8_000_000_000),
        current: 0,
        free: false,
        candidates: &candidates,
        category: None,
    };
    let period = Summary { done: 20, done_bytes: 100_000, ..period(0) };
    assert_eq!(predict.period(at, &period).wish, Wish::Stay, "it was undone");
    assert!(predict.rests[1] > at.now && predict.rests[0] == Instant::ZERO);
    at.current = 1;
    assert_eq!(predict.period(at, &period).wish, Wish::Stay, "chosen again, by hand");
}

#[test]
fn another_load_undoes_nothing() {
    let (candidates, mut predict) = (two(), predict());
    switched(&mut predict, 50_000);
    let at = Situation {
        now: Instant(8_000_000_000),
        current: 1,
        free: false,
        candidates: &candidates,
        category: None,
    };
    assert_eq!(predict.period(at, &period(20)).wish, Wish::Stay);
}

#[test]
fn who_promised_too_much_must_promise_more() {
    let margin = |done_bytes| {
        let mut predict = predict();
        switched(&mut predict, done_bytes);
        predict.margin()
    };
    let least = predict().margin();
    assert_eq!(margin(200_000), least, "it kept what it promised");
    assert!(margin(150_000) > least + 40, "a quarter less");
    assert!(margin(120_000) > margin(150_000));
}

#[test]
fn another_load_is_another_chance() {
    let mut predict = predict();
    questions(&mut predict, 1..20);
    predict.rests[3] = Instant::MAX;
    questions(&mut predict, 20..40);
    assert_eq!(predict.rests[3], Instant::MAX, "the same load");
    let asked = questions(&mut predict, 1001..1003);
    assert_eq!(predict.rests[3], Instant::ZERO);
    assert_eq!(asked[0].1.begun, Instant::ZERO + Duration::from_ms(100_000));
}

#[test]
fn where_loads_change_each_second_a_small_gain_is_left_to_the_next() {
    let (candidates, mut predict) = (two(), predict());
    // What is wanted in a load that lasts so long, if a prediction shows such a gain at that tenth of a second.
    let mut wish = |load: u64, (tenth, tenths): (u64, u64), gain: u64| {
        let mut wish = Wish::Stay;
        for place in 1..=tenths {
            let now = Instant::ZERO + Duration::from_ms(1000 * load + 100 * place);
            let at = Situation { now, current: 0, free: true, candidates: &candidates, category: None };
            predict.period(at, &period(if place == 1 { 20 } else { 0 }));
            if place == tenth {
                wish = predict.predicted(at, &[of(0, 1_000_000), of(1, 1_000_000 + gain)]).wish;
            }
        }
        wish
    };
    // At the beginning of each load the other one would be twice as good.
    (0..10).for_each(|load| assert_eq!(wish(load, (2, 10), 1_000_000), Wish::Use(1), "load {load}"));
    assert_eq!(wish(10, (2, 10), 1_000_000), Wish::Use(1));
    assert_eq!(wish(11, (9, 10), 200_000), Wish::Stay, "a tenth of a second is left");
    assert_eq!(wish(12, (20, 20), 200_000), Wish::Use(1), "this load lasts");
}
