//! When it asks, and what it makes of answers.

use alloc::vec::Vec;

use super::*;
use crate::selectors::contract::Candidate;
use crate::tunables::Tunables as _;

/// A period of 100 ms in which some of 20 requests came from processes that were not there before.
fn period(newcomers: u64) -> Summary {
    let (length, bytes) = (Duration::from_ms(100), 20 * 4096);
    Summary {
        length,
        busy: length,
        requests: 20,
        reads: 20,
        newcomers,
        bytes,
        outstanding: 60,
        ..Summary::default()
    }
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

/// What is wanted, if the answer comes twice, with `current` in use.
fn wish_of(names: &[&str], current: usize, answer: &[Prediction]) -> [Wish; 2] {
    let find = |name: &&str| Candidate::plain(crate::registry::find(name).expect("it is registered"));
    let candidates: Vec<Candidate> = names.iter().map(find).collect();
    let at = Situation { now: Instant::ZERO, current, free: true, candidates: &candidates, category: None };
    let mut predict = predict();
    [0; 2].map(|_| predict.predicted(at, answer).wish)
}

#[test]
fn nobody_waits_too_long_whatever_would_be_gained() {
    // What is wanted if `current` is in use and somebody would wait so long under each, in milliseconds.
    let wish = |current, waits: [u64; 3]| {
        let one = |place: u8, throughput| Prediction {
            longest: Duration::from_ms(waits[usize::from(place)]),
            ..of(place, throughput)
        };
        let answer = [one(0, 2_000_000), one(1, 1_000_000), one(2, 3_000_000)];
        wish_of(&["turns", USUAL, "as"], current, &answer)[1]
    };
    assert_eq!(wish(0, [400, 500, 500]), Wish::Use(2), "half as long as people take for a pause");
    assert_eq!(wish(0, [400, 500, 501]), Wish::Stay, "what comes may be worse");
    assert_eq!(wish(0, [400, 700, 700]), Wish::Use(2), "what they are used to");
    assert_eq!(wish(2, [400, 700, 1400]), Wish::Stay, "twice what they are used to");
    assert_eq!(wish(2, [400, 700, 1401]), Wish::Use(0), "less is gained, but in time");
    assert_eq!(wish(1, [1500, 600, 1500]), Wish::Stay);
    assert_eq!(wish(0, [9000, 9000, 9000]), Wish::Use(2), "where waits are usual");
}

#[test]
fn to_leave_home_two_predictions_must_agree_and_to_come_back_one_will_do() {
    let wish = |current, gives: [u64; 3]| {
        let answer = [0, 1, 2].map(|place| of(place, gives[usize::from(place)]));
        wish_of(&["noop", "deadline", "cfq"], current, &answer)
    };
    assert_eq!(wish(0, [1_000_000, 1_060_000, 1_050_000]), [Wish::Stay, Wish::Use(1)]);
    assert_eq!(wish(0, [1_000_000, 1_040_000, 1_050_000]), [Wish::Stay; 2], "the margin is a twentieth");
    assert_eq!(wish(1, [1_001_000, 1_000_000, 900_000])[0], Wish::Use(0), "by a thousandth");
    assert_eq!(wish(1, [1_000_000, 1_000_000, 1_040_000]), [Wish::Stay; 2], "no better than this one");
    assert_eq!(wish(1, [900_000, 1_000_000, 2_000_000]), [Wish::Stay, Wish::Use(2)]);
    assert_eq!(wish(1, [1_100_000, 1_000_000, 2_000_000])[0], Wish::Use(0), "until it is said twice");
}

#[test]
fn who_is_left_by_a_prediction_rests() {
    let (candidates, mut predict) = (two(), predict());
    let mut wish = |now, current, other| {
        let at =
            Situation { now: Instant(now), current, free: true, candidates: &candidates, category: None };
        predict.predicted(at, &[of(0, 1_000_000), of(1, other)]).wish
    };
    let answers = [wish(0, 0, 2_000_000), wish(1, 0, 2_000_000), wish(2, 1, 999_000)];
    assert_eq!(answers, [Wish::Stay, Wish::Use(1), Wish::Use(0)]);
    assert_eq!([wish(3, 0, 2_000_000), wish(4, 0, 2_000_000)], [Wish::Stay; 2]);
    let later = 21_000_000_000;
    assert_eq!([wish(later, 0, 2_000_000), wish(later + 1, 0, 2_000_000)], [Wish::Stay, Wish::Use(1)]);
}

#[test]
fn a_load_is_expected_to_last_as_long_as_it_has_lasted() {
    let tenths = |span: Duration| span.as_ms() / 100;
    for (place, question) in questions(&mut predict(), 1..1000) {
        assert_eq!(question.begun, Instant::ZERO);
        assert_eq!(tenths(question.horizon), place.clamp(40, 200), "after {place} tenths of a second");
        assert_eq!(tenths(question.since.since(Instant::ZERO)), place.saturating_sub(100));
        assert_eq!(
            question.due,
            Instant::ZERO + Duration::from_ms(100) * place + Duration::from_ms(50),
            "delay"
        );
    }
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
        (0..2).for_each(|_| _ = predict.predicted(at, &[of(0, 1_000_000), of(1, 2_000_000)]));
        wishes
    };
    go(50, 0, 100_000);
    go(20, 1, done_bytes)
}

#[test]
fn from_a_wrong_switch_it_comes_home_as_soon_as_nothing_holds_it_back() {
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
    assert_eq!(predict.period(at, &period).wish, Wish::Stay, "it is at home");
    assert!(predict.rests[1] > at.now && predict.rests[0] == Instant::ZERO);
    at.current = 1;
    assert_eq!(predict.period(at, &period).wish, Wish::Stay, "chosen again, by hand");
}

#[test]
fn where_hardly_anything_queues_nothing_is_asked() {
    let asks_if_busy =
        |predict: &mut Predict, tenths: core::ops::Range<u64>, outstanding, newcomers, busy| {
            let wishes = tenths.map(|tenth| {
                let now = Instant::ZERO + Duration::from_ms(100) * tenth;
                let at = Situation { now, current: 0, free: true, candidates: &[], category: None };
                let busy = Duration::from_ms(busy);
                predict.period(at, &Summary { outstanding, busy, ..period(newcomers) }).wish
            });
            wishes.filter(|wish| matches!(wish, Wish::Predict(_))).count()
        };
    let asks = |predict: &mut Predict, tenths, outstanding, newcomers| {
        asks_if_busy(predict, tenths, outstanding, newcomers, 100)
    };
    let mut bursts = predict();
    assert_eq!(asks_if_busy(&mut bursts, 1..1000, 200, 0, 4), 0, "all at once, and then nothing for long");
    assert_eq!(asks_if_busy(&mut predict(), 1..10, 200, 0, 5), 1);
    let mut quiet = predict();
    assert_eq!(asks(&mut quiet, 1..1000, 9, 0), 0, "twenty come in a period: half of one is there already");
    assert_eq!(asks(&mut quiet, 1000..1001, 10, 20) + asks(&mut quiet, 1001..1003, 10, 0), 1, "another load");
}

#[test]
fn another_load_is_a_reason_to_go_home() {
    let (candidates, mut predict) = (two(), predict());
    let mut wish = |tenth: u64, current, newcomers| {
        let now = Instant::ZERO + Duration::from_ms(100) * tenth;
        let at = Situation { now, current, free: false, candidates: &candidates, category: None };
        predict.period(at, &period(newcomers)).wish
    };
    wish(1, 1, 20);
    assert_eq!((2..20).map(|tenth| wish(tenth, 0, 0)).filter(|wish| *wish != Wish::Stay).count(), 0);
    assert_eq!(wish(20, 1, 0), Wish::Stay, "the same load");
    assert_eq!([wish(21, 1, 20), wish(22, 1, 0), wish(23, 0, 0)], [Wish::Use(0), Wish::Use(0), Wish::Stay]);
}

#[test]
fn after_two_wrong_switches_it_asks_nothing_for_a_while() {
    let (candidates, mut predict) = (two(), predict());
    for _ in 0..2 {
        switched(&mut predict, 50_000);
        (predict.rests, predict.back) = ([Instant::ZERO; CANDIDATES_MAX], None);
    }
    let mut asks = |ms: u64| {
        let now = Instant::ZERO + Duration::from_ms(ms);
        let at = Situation { now, current: 0, free: true, candidates: &candidates, category: None };
        matches!(predict.period(at, &period(0)).wish, Wish::Predict(_))
    };
    assert!(!(71..260).any(|tenth| asks(100 * tenth)), "what the model says counts for nothing");
    assert!((260..280).any(|tenth| asks(100 * tenth)));
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
fn who_simulates_much_asks_less() {
    let mut predict = predict();
    let asked = questions(&mut predict, 0..20).len();
    assert!(asked > 1);
    let at = Situation { now: Instant::ZERO, current: 0, free: true, candidates: &two(), category: None };
    // A million requests are forty seconds.
    predict.predicted(
        at,
        &[Prediction { requests: 600_000, ..of(0, 1) }, Prediction { requests: 400_000, ..of(1, 1) }],
    );
    predict.hurry(Instant::ZERO);
    let again = questions(&mut predict, 20..400);
    assert_eq!(again.first().map(|(place, _)| *place), Some(20 + 299), "until ten seconds are left");
}
