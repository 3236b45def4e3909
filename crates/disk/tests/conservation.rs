//! Commands are conserved by all models and by arrays of them: each completes once, in order of time, and its parts add up.

use idlewise_core::{Instant, Operation, Sector, Sectors};
use idlewise_disk::array::Level;
use idlewise_disk::{Command, DiskModel, Profile, profile};
use proptest::prelude::*;

fn named(name: &str) -> Profile {
    Profile::named(name).expect("a built-in profile")
}

/// An array of disks with these options.
fn array(level: Level, members: u32, disk: &str, options: &str) -> Profile {
    let text = format!("raid{}:n={members},of={disk}{options}", level.number());
    Profile::find(&text, &Profile::named).expect("an array's name")
}

/// A place as a share of `most`.
fn spread(place: u32, most: u64) -> u64 {
    (u128::from(place) * u128::from(most) / u128::from(u32::MAX)) as u64
}

/// A wish: gap before it, operation, place as a share of the disk, length.
type Wish = (u64, u8, u32, u32);

/// Drives a device with wishes within its first `span` sectors as room allows; checks that time flows and nothing is
/// lost or doubled.
fn check_conservation<D: DiskModel>(device: &mut D, span: u64, wishes: &[Wish]) -> Result<(), TestCaseError> {
    let depth = device.depth() as usize;
    let mut open: Vec<(u32, u64)> = Vec::new();
    let (mut now, mut last) = (0u64, 0u64);
    let mut collect = |device: &mut D, open: &mut Vec<(u32, u64)>, now: u64| {
        while let Some(done) = device.advance(Instant(now)) {
            let index = open.iter().position(|&(tag, _)| tag == done.tag);
            let (_, submitted) = open.swap_remove(index.ok_or_else(|| TestCaseError::fail("twice"))?);
            prop_assert!(done.at.0 >= last && done.at.0 <= now, "time goes back");
            prop_assert!(done.started.0 >= submitted && done.at >= done.started);
            let timing = done.timing;
            let sum = timing.seek + timing.rotation + timing.transfer + timing.overhead;
            prop_assert_eq!(sum, done.at.since(done.started), "{:?}", timing);
            last = done.at.0;
        }
        Ok(())
    };
    for (tag, &(gap, operation, place, length)) in wishes.iter().enumerate() {
        let mut wanted = now + gap;
        while open.len() >= depth || device.next_event().is_some_and(|at| at.0 <= wanted) {
            now = device.next_event().map_or(now, |at| at.0.max(now));
            collect(device, &mut open, now)?;
            wanted = wanted.max(now);
        }
        now = wanted;
        let operation = [Operation::Read, Operation::Write, Operation::Discard, Operation::Flush]
            [usize::from(operation.saturating_sub(60) / 2).min(3).max(usize::from(operation % 2)).min(3)];
        let start = spread(place, span - u64::from(length));
        let command = Command {
            tag: tag as u32,
            operation,
            start: Sector(start),
            length: Sectors(length),
            fua: operation == Operation::Write && place % 5 == 0,
        };
        device.submit(Instant(now), command).map_err(|error| TestCaseError::fail(error.to_string()))?;
        open.push((tag as u32, now));
    }
    while let Some(at) = device.next_event() {
        now = now.max(at.0);
        collect(device, &mut open, now)?;
    }
    prop_assert!(open.is_empty(), "{} commands never completed", open.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every command completes once, in order of time, and its parts add up; at any queue depth.
    #[test]
    fn commands_are_conserved(
        which in 0usize..20,
        depth in 1u32..40,
        wishes in prop::collection::vec((0u64..30_000_000, 0u8..66, any::<u32>(), 1u32..700), 1..120),
    ) {
        let name = profile::names().nth(which).expect("twenty profiles");
        let mut device = named(name).with(&format!("depth={depth}")).expect("fits").build().expect("builds");
        let capacity = device.capacity().0;
        check_conservation(&mut device, capacity, &wishes)?;
    }

    /// The same where all is near: reads ahead, hits and writes into what is held meet.
    #[test]
    fn commands_near_each_other_are_conserved(
        which in 0usize..20,
        span in 2_000u64..40_000,
        wishes in prop::collection::vec((0u64..300_000, 0u8..66, any::<u32>(), 1u32..300), 1..400),
    ) {
        let mut device = named(profile::names().nth(which).expect("twenty profiles")).build().expect("builds");
        check_conservation(&mut device, span, &wishes)?;
    }

    /// Arrays of all levels, near and far, with members of all kinds and queues of all lengths.
    #[test]
    fn arrays_conserve_commands(
        level in 0usize..5,
        more in 0u32..4,
        which in 0usize..22,
        depths in (1u32..40, 1u32..8),
        chunk in 0u32..6,
        near in any::<bool>(),
        wishes in prop::collection::vec((0u64..20_000_000, 0u8..68, any::<u32>(), 1u32..1500), 1..100),
    ) {
        let level = Level::ALL[level];
        let chunk = if level.has_chunks() { format!(",chunk={}k", 4 << chunk) } else { String::new() };
        let (name, (depth, own)) = (profile::names().nth(which).expect("22 profiles"), depths);
        // Flash of this size keeps a small table.
        let of = format!(":depth={own}+capacity=600m,depth={depth}{chunk}");
        let profile = array(level, level.members().start() + more, name, &of);
        let mut device = profile.build().expect("builds");
        let span = if near { 20_000 } else { device.capacity().0 };
        check_conservation(&mut device, span, &wishes)?;
    }

    /// The same load gives the same completions.
    #[test]
    fn arrays_are_deterministic(level in 0usize..5, places in prop::collection::vec((any::<u32>(), any::<bool>()), 1..40)) {
        let profile = array(Level::ALL[level], 4, "maxtor-40g", "");
        let run = || {
            let mut device = profile.build().expect("builds");
            for (tag, (place, write)) in places.iter().enumerate() {
                let operation = if *write { Operation::Write } else { Operation::Read };
                let start = Sector(spread(*place, device.capacity().0 - 64));
                let command = Command { tag: tag as u32, operation, start, length: Sectors(64), fua: false };
                device.submit(Instant(tag as u64), command).expect("there is room");
            }
            let mut done = Vec::new();
            while let Some(at) = device.next_event() {
                done.extend(device.advance(at));
            }
            done
        };
        prop_assert_eq!(run(), run());
    }
}
