//! Units, tunables and the positioning curve.

use alloc::string::ToString;
use alloc::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::{prop_assert, prop_assert_eq};

use super::scene::runner;
use crate::learned::Curve;
use crate::registry::all;
use crate::scheduler::Setup;
use crate::tunables::{Setting, TunableError, Unit};
use crate::units::{Duration, Instant, Sector, Sectors};
use crate::{Device, Request, choices, tunables};

#[test]
fn arithmetic_on_units_saturates() {
    assert_eq!(Instant(5) + Duration::MAX, Instant::MAX);
    assert_eq!(Instant(5) - Duration(6), Instant::ZERO);
    assert_eq!(Instant(5).since(Instant(6)), Duration::ZERO);
    assert_eq!(Duration::MAX + Duration(1), Duration::MAX);
    assert_eq!(Duration(1) - Duration(2), Duration::ZERO);
    assert_eq!(Duration(u64::MAX / 2) * 3, Duration::MAX);
    assert_eq!(Duration::from_s(u64::MAX), Duration::MAX);
    assert_eq!(Sector(u64::MAX - 1) + Sectors(2), Sector(u64::MAX));
    assert_eq!(Request::read(Sector(u64::MAX), Sectors(u32::MAX)).end(), Sector(u64::MAX));
    assert_eq!(Sector(3).distance(Sector(u64::MAX)), u64::MAX - 3);
    assert_eq!(Sectors::holding(513), Some(Sectors(2)));
    assert_eq!(Sectors::holding(u64::MAX), None);
}

#[test]
fn durations_show_three_digits() {
    let shown = |ns| Duration(ns).to_string();
    assert_eq!(shown(999), "999 ns");
    assert_eq!(shown(2_100_000), "2.10 ms");
    assert_eq!(shown(10_990), "10.9 us");
    assert_eq!(shown(999_999), "999 us");
    assert_eq!(shown(1_000_000_000), "1.00 s");
}

choices! {
    /// A choice.
    pub enum Colour {
        /// The first.
        Red = "red",
        /// The second.
        Green = "green",
    }
}

tunables! {
    /// One of each unit.
    pub struct Every {
        /// Milliseconds.
        milliseconds: crate::tunables::Milliseconds = 500, 0..=60_000;
        /// Microseconds.
        microseconds: crate::tunables::Microseconds = 6_000, 1..=1_000_000;
        /// Nanoseconds.
        nanoseconds: crate::tunables::Nanoseconds = 2_000_000, 0..=u64::MAX;
        /// A count.
        count: crate::tunables::Count = 16, 1..=1024;
        /// Kibibytes.
        kibibytes: crate::tunables::Kibibytes = 16_384, 0..=1_000_000;
        /// Sectors.
        sectors: crate::tunables::SectorCount = 64, 0..=1_000_000;
        /// Hundredths.
        percent: crate::tunables::Percent = 50, 0..=100;
        /// A seed.
        seed: crate::tunables::Seed = 1, 0..=u64::MAX;
        /// A switch.
        switch: bool = 1, 0..=1;
        /// A choice.
        colour: Colour = 1, 0..=1;
    }
}

#[test]
fn what_a_tunable_shows_it_can_parse() {
    use crate::tunables::Tunables as _;
    runner(500)
        .run(&any::<u64>(), |random| {
            for tunable in Every::TABLE {
                let value = tunable.min + random % (tunable.max - tunable.min).saturating_add(1).max(1);
                let shown = tunable.show(value).to_string();
                prop_assert_eq!(tunable.parse(&shown), Ok(value), "{}: {}", tunable.name, shown);
                if !matches!(tunable.unit, Unit::Choice(_)) {
                    prop_assert_eq!(tunable.parse(&value.to_string()), Ok(value));
                }
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_tunable_is_what_it_was_set_to() {
    use crate::tunables::Tunables as _;
    let mut every = Every::defaults();
    for (index, tunable) in Every::TABLE.iter().enumerate() {
        assert_eq!(every.get(index), tunable.default);
        for value in [tunable.min, tunable.max.min(1 << 40), tunable.default] {
            every.put(index, value);
            assert_eq!(every.get(index), value, "{}", tunable.name);
        }
    }
    assert_eq!(Colour::from_raw(0), Colour::Red);
}

#[test]
fn values_out_of_range_and_nonsense_are_refused() {
    use crate::tunables::Tunables as _;
    let table: &'static [crate::tunables::Tunable] = Every::TABLE;
    let [milliseconds, _, _, count, ..] = table else { unreachable!() };
    assert_eq!(count.parse("0"), Err(TunableError::OutOfRange(count)));
    assert_eq!(count.parse("1025"), Err(TunableError::OutOfRange(count)));
    assert_eq!(milliseconds.parse("2s"), Ok(2_000));
    for text in ["", "-1", "ms", "1.5s", "1us", "5 parsecs", "99999999999999999999", "20000000000000s", "%"] {
        assert_eq!(milliseconds.parse(text), Err(TunableError::NotAValue(milliseconds)), "{text}");
    }
}

#[test]
fn tunables_of_the_registry_are_sound() {
    let device = Device::default();
    let setup = Setup { capacity: 4, device: &device };
    for entry in all() {
        let mut scheduler = entry.build(setup, &[]).unwrap();
        for tunable in entry.tunables {
            let name = (entry.name, tunable.name);
            assert!((tunable.min..=tunable.max).contains(&tunable.default), "{name:?}");
            assert!(!tunable.doc.is_empty() && tunable.doc.ends_with('.'), "{name:?}: {}", tunable.doc);
            assert_eq!(scheduler.get(tunable.name), Ok(tunable.default), "{name:?}");
            for value in [tunable.min, tunable.max] {
                scheduler.set(tunable.name, value).unwrap();
                assert_eq!(scheduler.get(tunable.name), Ok(value), "{name:?}");
            }
            if let Unit::Choice(words) = tunable.unit {
                assert_eq!((tunable.min, tunable.max), (0, words.len() as u64 - 1), "{name:?}");
            }
        }
        let unknown = entry.build(setup, &[("no_such_tunable", 1)]).err();
        assert!(unknown.is_some_and(|error| error.to_string().contains("tunable")), "{}", entry.name);
    }
}

#[test]
fn names_and_words_of_the_registry_are_sound() {
    let mut names: Vec<&str> = all().iter().map(|entry| entry.name).collect();
    for entry in all() {
        assert!(!entry.name.contains(|c: char| c.is_whitespace() || c.is_uppercase()), "{}", entry.name);
        assert!(entry.summary.ends_with('.') && !entry.source.is_empty(), "{}", entry.name);
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all().len(), "two schedulers have one name");
}

/// Points in order of distance.
fn points() -> impl Strategy<Value = Vec<(u64, Duration)>> {
    let point = (any::<u8>(), any::<u64>(), 0..20_000_000u64);
    vec(point, 0..8).prop_map(|points| {
        let near = |(bits, distance, time): (u8, u64, u64)| (distance >> (20 + bits % 44), Duration(time));
        let mut points: Vec<_> = points.into_iter().map(near).collect();
        points.sort_unstable_by_key(|point| point.0);
        points.dedup_by_key(|point| point.0);
        points
    })
}

const HEAD: Sector = Sector(1 << 50);

/// Targets at distances that grow by quarters of an octave, on one side of the head.
fn targets(up: bool) -> impl Iterator<Item = Sector> {
    (0..184u32).map(move |step| {
        let distance = (1u64 << (step / 4)) * u64::from(4 + step % 4) / 4;
        Sector(if up { HEAD.0 + distance } else { HEAD.0 - distance })
    })
}

/// The floor at each distance is the least expectation at or beyond it: not above, and reached.
fn floor_is_tight(curve: &Curve) -> Result<(), proptest::test_runner::TestCaseError> {
    for up in [true, false] {
        let mut least = u64::MAX;
        let all: Vec<Sector> = targets(up).collect();
        // Buckets beyond the last target count, too.
        for far in [1u64 << 47, (1 << 47) + (1 << 46), 1 << 46, (1 << 46) + (1 << 45)] {
            let target = Sector(if up { HEAD.0 + far } else { HEAD.0 - far });
            least = least.min(curve.expected(HEAD, target).0);
        }
        for target in all.into_iter().rev() {
            least = least.min(curve.expected(HEAD, target).0);
            prop_assert_eq!(curve.at_least(HEAD, target).0, least, "at distance {}", HEAD.distance(target));
        }
    }
    Ok(())
}

#[test]
fn no_farther_target_is_expected_sooner_than_the_floor() {
    let lesson = (any::<bool>(), 0..184usize, 0..30_000_000u64);
    runner(300)
        .run(&(points(), vec(lesson, 0..40)), |(points, lessons)| {
            let mut curve = Curve::through(&points);
            floor_is_tight(&curve)?;
            for (up, which, time) in lessons {
                let target = targets(up).nth(which).unwrap_or(HEAD);
                curve.learn(HEAD, target, Duration(time));
                floor_is_tight(&curve)?;
            }
            Ok(())
        })
        .unwrap();
}

/// Above, this curve is level with the default one; below, it is lower.
#[test]
fn a_curve_keeps_nothing_of_the_default_ones_floor() {
    floor_is_tight(&Curve::through(&[(0, Duration(0)), (1 << 44, Duration::from_ms(16))])).unwrap();
}

#[test]
fn a_curve_goes_through_its_points_where_a_bucket_begins() {
    let curve = Curve::through(&[(0, Duration(0)), (1 << 10, Duration(1_000)), (1 << 20, Duration(9_000))]);
    let at = |distance: u64| curve.expected(HEAD, Sector(HEAD.0 + distance)).0;
    assert_eq!((at(0), at(1 << 10), at(1 << 20)), (0, 1_000, 9_000));
    assert_eq!(at(1 << 9), 500, "half way between two points");
    assert_eq!(at(1 << 40), 9_000, "level beyond the last");
    assert_eq!(Curve::through(&[]), Curve::default());
}

#[test]
fn a_curve_learns_what_it_is_taught_and_nothing_else() {
    runner(200)
        .run(&(any::<bool>(), 0..184usize, 0..30_000_000u64), |(up, which, time)| {
            let mut curve = Curve::default();
            let target = targets(up).nth(which).unwrap_or(HEAD);
            let mirrored = Sector(2 * HEAD.0 - target.0);
            let other_side = curve.expected(HEAD, mirrored);
            let mut error = curve.expected(HEAD, target).0.abs_diff(time);
            for _ in 0..300 {
                curve.learn(HEAD, target, Duration(time));
                let now = curve.expected(HEAD, target).0.abs_diff(time);
                prop_assert!(now <= error, "each sample brings it nearer");
                error = now;
            }
            prop_assert!(error < 16, "still {} ns off", error);
            if target != HEAD {
                prop_assert_eq!(curve.expected(HEAD, mirrored), other_side);
            }
            Ok(())
        })
        .unwrap();
}
