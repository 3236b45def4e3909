//! The physics that any disk must have: layout, rotation, rates, conservation of commands.

use idlewise_core::{Instant, Operation, Sector, Sectors};
use idlewise_disk::AnySpec;
use idlewise_disk::mechanical::{Geometry, Mechanical, MechanicalSpec, Place};
use idlewise_disk::profile;
use idlewise_disk::{Command, Completion, DiskModel, Profile, SubmitError};
use proptest::prelude::*;

fn named(name: &str) -> Profile {
    Profile::named(name).expect("a built-in profile")
}

fn spec(name: &str) -> MechanicalSpec {
    let AnySpec::Mechanical(spec) = named(name).model else { panic!("{name} is mechanical") };
    spec
}

fn mechanical(name: &str) -> Mechanical {
    Mechanical::new(&spec(name)).expect("a built-in profile builds")
}

/// The address at a physical place; `None` for spares and cylinders outside the zones.
fn address_at(geometry: &Geometry, place: Place) -> Option<u64> {
    let Place { cylinder, head, sector, .. } = place;
    let inside = |zone: &&idlewise_disk::mechanical::Zone| {
        (zone.first_cylinder..=zone.last_cylinder).contains(&cylinder)
    };
    let zone = geometry.zones().iter().find(inside)?;
    if head >= geometry.heads() || sector >= zone.sectors_per_track {
        return None;
    }
    let in_cylinder = head * zone.sectors_per_track + sector;
    let cylinders = u64::from(cylinder - zone.first_cylinder);
    let address = zone.start + cylinders * u64::from(zone.per_cylinder) + u64::from(in_cylinder);
    (in_cylinder < zone.per_cylinder && address < zone.end).then_some(address)
}

fn mechanical_names() -> impl Iterator<Item = &'static str> {
    profile::names().filter(|name| matches!(named(name).model, AnySpec::Mechanical(_)))
}

/// Sends one command at `now` and waits for it.
fn one(device: &mut impl DiskModel, now: u64, operation: Operation, start: u64, length: u32) -> Completion {
    let command = Command { tag: 7, operation, start: Sector(start), length: Sectors(length), fua: false };
    device.submit(Instant(now), command).expect("the device is idle");
    loop {
        let at = device.next_event().expect("a command is outstanding");
        if let Some(completion) = device.advance(at) {
            return completion;
        }
    }
}

#[test]
fn every_profile_builds_and_serves() {
    for name in profile::names() {
        let profile = named(name);
        assert!(!profile.description.is_empty() && !profile.source.is_empty(), "{name}");
        let mut device = profile.build().expect(name);
        let end = device.capacity().0;
        for operation in [Operation::Read, Operation::Write, Operation::Discard, Operation::Flush] {
            let completion = one(&mut device, 1 << 40, operation, end - 8, 8);
            assert!(completion.at.0 >= 1 << 40, "{name} {operation:?}");
            let timing = completion.timing;
            let sum = timing.seek + timing.rotation + timing.transfer + timing.overhead;
            assert_eq!(sum, completion.at.since(completion.started), "{name} {operation:?}: {timing:?}");
        }
    }
}

/// Around every zone and track border, addresses map to places and back, and the next sector follows.
#[test]
fn layout_is_a_bijection_and_angles_continue() {
    for name in mechanical_names() {
        let disk = mechanical(name);
        let geometry = disk.geometry();
        let period = geometry.period();
        for zone in geometry.zones() {
            let track = u64::from(zone.sectors_per_track);
            let cylinder = u64::from(zone.per_cylinder);
            let borders = [zone.start, zone.start + track, zone.start + cylinder, zone.end];
            for border in borders {
                for address in border.saturating_sub(3)..(border + 3).min(geometry.capacity()) {
                    let place = geometry.locate(address);
                    let back = address_at(geometry, place);
                    assert_eq!(back, Some(address), "{name} {place:?}");
                    assert!(place.angle < period && place.left >= 1, "{name} {place:?}");
                    if place.left > 1 && address + 1 < geometry.capacity() {
                        let next = geometry.locate(address + 1);
                        assert_eq!((next.cylinder, next.head), (place.cylinder, place.head), "{name}");
                        let sector = geometry.zone(&place).passing(1) as i64;
                        let turned = i64::from(geometry.wait(place.angle, next.angle));
                        assert!((turned - sector).abs() <= 1, "{name}: {turned} ns for a sector of {sector}");
                    }
                }
            }
        }
        assert_eq!(geometry.zones().last().map(|zone| zone.end), Some(geometry.capacity()), "{name}");
    }
}

/// The seek table gives the published points exactly, and lies between neighbours elsewhere.
#[test]
fn seek_curve_passes_through_its_points() {
    for name in mechanical_names() {
        let disk = mechanical(name);
        let curve = disk.seek_curve();
        assert_eq!(curve.time(0), 0);
        let reach = disk.geometry().cylinders();
        let exact = reach < 12_000;
        for pair in spec(name).seek.windows(2) {
            let ((d0, t0), (d1, t1)) = (pair[0], pair[1]);
            if d1 >= reach {
                break;
            }
            if exact {
                assert_eq!((curve.time(d0), curve.time(d1)), (t0, t1), "{name} at {d0} and {d1}");
            }
            let middle = curve.time(d0.midpoint(d1));
            // Long curves are tabulated: a fiftieth of a percent of slack.
            let slack = t1.max(t0) / 5000 + 1;
            assert!(
                middle + slack >= t0.min(t1) && middle <= t0.max(t1) + slack,
                "{name} between {d0} and {d1}"
            );
        }
    }
}

/// Of today's mechanical disks no track skews are published: ours are large enough for writes.
const TODAYS: [&str; 3] = ["hdd-4tb-7200", "hdd-2400gb-10k", "hdd-18tb-7200"];

/// Writing in order misses no revolution where tracks change.
#[test]
fn writes_in_order_reach_the_zones_rate() {
    for name in TODAYS {
        let mut disk = named(name).build().expect(name);
        let rate = mechanical(name).sequential_rate(0);
        let (mut now, sectors) = (0, 1_000_000_000 / 512);
        for index in 0..sectors / 1024 {
            now = one(&mut disk, now, Operation::Write, index * 1024, 1024).at.0;
        }
        now = one(&mut disk, now, Operation::Flush, 0, 0).at.0;
        let measured = sectors as f64 * 512.0 / (now as f64 / 1e9);
        assert!(measured > 0.95 * rate as f64, "{name}: {measured:.0} B/s, the zone has {rate} B/s");
    }
}

/// Reading whole cylinders in order takes no longer than their revolutions plus the skews.
#[test]
fn sequential_rate_is_the_zones() {
    for name in ["deskstar-34gxp", "cheetah-st318451lw", "maxtor-20g", "maxtor-40g"].into_iter().chain(TODAYS)
    {
        let mut disk = named(name).build().expect(name);
        let rate = mechanical(name).sequential_rate(0);
        let sectors = 100_000_000 / 512;
        let mut now = one(&mut disk, 0, Operation::Read, 0, 256).at.0;
        let begin = now;
        for index in 1..sectors / 256 {
            now = one(&mut disk, now, Operation::Read, index * 256, 256).at.0;
        }
        let measured = (sectors / 256 - 1) as f64 * 256.0 * 512.0 / ((now - begin) as f64 / 1e9);
        let off = measured / rate as f64 - 1.0;
        assert!(off.abs() < 0.01, "{name}: {measured:.0} B/s, the zone has {rate} B/s");
    }
    let ratio = mechanical("cheetah-st318451lw").sequential_rate(0) as f64
        / mechanical("deskstar-34gxp").sequential_rate(0) as f64;
    assert!((ratio - 1.55).abs() < 0.03, "the paper's two disks differ by 1.55, not {ratio:.3}");
}

/// Two sequential streams far apart: each read pays for a seek (SOSP 2001, figure 2). Where exactly
/// the streams lie decides how their angles meet, hence the mean over distances.
#[test]
fn alternating_streams_cost_twelve_milliseconds() {
    let pairs = 200;
    let distances: Vec<u64> = (5..25).map(|tenths| tenths * 100_000_000 / 512).collect();
    let mut sum = 0.0;
    for &apart in &distances {
        let mut disk = named("deskstar-34gxp").build().expect("builds");
        let mut now = 0;
        for index in 0..pairs {
            now = one(&mut disk, now, Operation::Read, index * 128, 128).at.0;
            now = one(&mut disk, now, Operation::Read, apart + index * 128, 128).at.0;
        }
        sum += now as f64 / (2 * pairs) as f64 / 1e6;
    }
    let mean = sum / distances.len() as f64;
    assert!((11.0..13.0).contains(&mean), "{mean:.2} ms");
}

/// Switching the caches off makes a re-read pay for the medium again.
#[test]
fn caches_can_be_switched_off() {
    let mut with = named("cheetah9lp").build().expect("builds");
    let mut without = named("cheetah9lp").with("cache=off").expect("fits").build().expect("builds");
    let second = 1_000_000_000;
    for (disk, cached) in [(&mut with, true), (&mut without, false)] {
        one(disk, 0, Operation::Write, 1000, 8);
        assert_eq!(one(disk, second, Operation::Read, 1000, 8).timing.cached, cached);
        assert_eq!(one(disk, 2 * second, Operation::Write, 5000, 8).timing.cached, cached);
    }
}

#[test]
fn wrong_commands_are_refused_with_a_cure() {
    let mut disk = named("cheetah9lp").build().expect("builds");
    let end = disk.capacity();
    let command = |start: u64, length: u32| Command {
        tag: 0,
        operation: Operation::Read,
        start: Sector(start),
        length: Sectors(length),
        fua: false,
    };
    let now = Instant::ZERO;
    assert!(matches!(disk.submit(now, command(end.0 - 1, 2)), Err(SubmitError::BeyondEnd { .. })));
    assert!(matches!(disk.submit(now, command(u64::MAX, 2)), Err(SubmitError::BeyondEnd { .. })));
    assert!(matches!(disk.submit(now, command(0, 0)), Err(SubmitError::Empty { .. })));
    disk.submit(now, command(0, 8)).expect("the first fits");
    let error = disk.submit(now, command(0, 8)).expect_err("a depth of one");
    assert!(matches!(error, SubmitError::Full { depth: 1 }) && error.to_string().contains("wait"));
}

/// A hostile time or length makes a device slow, not wrong.
#[test]
fn absurd_times_and_lengths_do_no_harm() {
    for name in profile::names() {
        let mut device = named(name).build().expect("builds");
        let all = u32::try_from(device.capacity().0).unwrap_or(u32::MAX).min(1 << 24);
        one(&mut device, u64::MAX, Operation::Write, 0, all);
        one(&mut device, u64::MAX, Operation::Read, 0, all);
        one(&mut device, u64::MAX, Operation::Flush, 0, 0);
    }
}

/// Two streams of buffered writes in turns: those that continue the one on the medium must not pass
/// the limit on what waits in the buffer. Debug builds check it.
#[test]
fn a_full_write_buffer_takes_no_more() {
    for name in mechanical_names() {
        let mut device = mechanical(name);
        let mut now = 0;
        for index in 0..600u64 {
            let start = if index % 20 < 10 { index * 256 } else { 1_000_000 + index * 977 };
            let took = one(&mut device, now, Operation::Write, start, 256);
            assert!(took.at.0 >= now, "{name}");
            now = took.at.0;
        }
    }
}

#[test]
fn a_log_goes_on_beside_random_reads_when_the_buffer_is_full() {
    // Eight read anywhere, one writes in order; each waits for its request.
    let mut disk = mechanical("hdd-18tb-7200");
    let (capacity, minute) = (disk.capacity().0, 60_000_000_000);
    let mut at = 0x1234_5678_u64;
    let mut next = |tag: u32, written: u64| {
        at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (operation, start) = match tag {
            0 => (Operation::Write, written * 32),
            _ => (Operation::Read, (at >> 32) * (capacity >> 32)),
        };
        Command { tag, operation, start: Sector(start), length: Sectors(32), fua: false }
    };
    let (mut now, mut written, mut reads) = (0, [0u64; 4], [0u64; 4]);
    (0..9).for_each(|tag| disk.submit(Instant(0), next(tag, 0)).unwrap());
    while now < 2 * minute {
        now = disk.next_event().expect("nine are outstanding").0;
        while let Some(done) = disk.advance(Instant(now)) {
            let counts = if done.tag == 0 { &mut written } else { &mut reads };
            counts[(now * 2 / minute).min(3) as usize] += 1;
            disk.submit(Instant(now), next(done.tag, written.iter().sum())).unwrap();
        }
    }
    assert!(written[3] > 20 * reads[3] && reads[3] > reads[0] / 2, "written {written:?}, read {reads:?}");
}

/// While the arm reads on into a segment, buffered writes take the others, however many they are. A read that goes on
/// where the last one ended would else be taken for what the arm reads next.
#[test]
fn buffered_writes_leave_the_segment_that_is_read_into() {
    for name in ["hdd-4tb-7200", "hdd-18tb-7200", "hdd-2400gb-10k"] {
        for writes in 1..=40 {
            let mut disk = mechanical(name);
            let last = writes * 1_000_000;
            let first = [(Operation::Read, 0)];
            let between = (1..=writes).map(|n| (Operation::Write, n * 1_000_000));
            for (operation, start) in first.into_iter().chain(between).chain([(Operation::Read, last + 8)]) {
                let command =
                    Command { tag: 0, operation, start: Sector(start), length: Sectors(8), fua: false };
                // Writes are done at once: there is room for as many as the disk has segments, and more.
                while disk.submit(Instant(writes), command).is_err() {
                    assert!(disk.advance(Instant(1 << 20)).is_some(), "{name}: a write waits");
                }
            }
            while let Some(at) = disk.next_event() {
                assert!(at.0 < 2_000_000_000, "{name}, {writes} writes: {at:?}");
                disk.advance(at);
            }
        }
    }
}

/// The positioning curve starts at zero, ascends in distance, and ends near the full stroke.
#[test]
fn positioning_curve_is_a_curve() {
    for name in mechanical_names() {
        let disk = mechanical(name);
        let curve = disk.positioning_curve(64);
        assert!(curve.len() > 32 && curve[0] == (0, idlewise_core::Duration::ZERO), "{name}");
        assert!(curve.is_sorted_by(|a, b| a.0 < b.0), "{name}");
        let half = u64::from(disk.geometry().period()) / 2;
        assert!(curve[1..].iter().all(|&(_, time)| time.0 >= half), "{name}");
        assert_eq!(curve.last().map(|&(d, _)| d), Some(disk.geometry().capacity() - 1), "{name}");
    }
}

/// A place as a share of `most`.
fn spread(place: u32, most: u64) -> u64 {
    (u128::from(place) * u128::from(most) / u128::from(u32::MAX)) as u64
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// An address maps to one place and back.
    #[test]
    fn addresses_map_both_ways(which in 0usize..16, share in 0.0f64..1.0) {
        let name = mechanical_names().nth(which).expect("sixteen mechanical profiles");
        let disk = mechanical(name);
        let address = (disk.geometry().capacity() as f64 * share) as u64;
        let place = disk.geometry().locate(address);
        prop_assert_eq!(address_at(disk.geometry(), place), Some(address));
    }

    /// A miss on an idle disk without caches waits less than a revolution.
    #[test]
    fn rotation_is_less_than_a_revolution(
        which in 0usize..16,
        accesses in prop::collection::vec((any::<u32>(), 1u32..64, 0u64..50_000_000), 1..40),
    ) {
        let name = mechanical_names().nth(which).expect("sixteen mechanical profiles");
        let period = u64::from(mechanical(name).geometry().period());
        let mut disk = named(name).with("cache=off").expect("fits").build().expect("builds");
        let capacity = disk.capacity().0;
        let mut now = 0;
        for (place, length, gap) in accesses {
            let start = spread(place, capacity - 64);
            let done = one(&mut disk, now + gap, Operation::Read, start, length);
            prop_assert!(done.timing.rotation.0 < period, "{}: {:?}", name, done.timing);
            now = done.at.0;
        }
    }
}
