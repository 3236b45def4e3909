//! Flash: latency, parallelism, garbage collection.

use idlewise_core::{Instant, Operation, Sector, Sectors};
use idlewise_disk::{Command, DiskModel, Flash, FlashSpec};

/// Two channels of two dies, 8 MiB with an eighth on top.
fn spec() -> FlashSpec {
    FlashSpec {
        capacity: 16_384,
        channels: 2,
        dies_per_channel: 2,
        page_sectors: 8,
        block_pages: 16,
        mapping_sectors: 8,
        read_ns: 50_000,
        program_ns: 500_000,
        erase_ns: 3_000_000,
        channel_sector_ns: 1_000,
        interface_sector_ns: 500,
        overhead_ns: 10_000,
        buffer_sectors: 64,
        power_loss_protection: false,
        over_provision: 128,
        written: 1024,
        depth: 16,
    }
}

fn command(operation: Operation, start: u64, length: u32, fua: bool) -> Command {
    Command { tag: 0, operation, start: Sector(start), length: Sectors(length), fua }
}

/// Time of a command on an idle device.
fn time(flash: &mut Flash, now: u64, wanted: Command) -> u64 {
    flash.submit(Instant(now), wanted).expect("the device is idle");
    let done = flash.advance(Instant(u64::MAX)).expect("one command is outstanding");
    done.at.0 - now
}

/// Writes `count` pages one after the other; gives the mean time.
fn write_pages(flash: &mut Flash, count: u64, page: impl Fn(u64) -> u64) -> u64 {
    let mut now = 1 << 40;
    let begin = now;
    for index in 0..count {
        now += time(flash, now, command(Operation::Write, page(index) * 8, 8, false));
    }
    (now - begin) / count
}

/// A pseudo-random page below 2048.
fn scattered(index: u64) -> u64 {
    (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % 2048
}

#[test]
fn a_read_takes_overhead_sensing_channel_and_cable() {
    let mut flash = Flash::new(&spec()).expect("builds");
    let took = time(&mut flash, 1_000, command(Operation::Read, 80, 8, false));
    assert_eq!(took, 10_000 + 50_000 + 8 * 1_000 + 8 * 500);
}

#[test]
fn dies_work_side_by_side_and_one_die_does_not() {
    let mut flash = Flash::new(&spec()).expect("builds");
    // Four neighbouring pages lie on four dies: sensing overlaps.
    let four = time(&mut flash, 0, command(Operation::Read, 0, 32, false));
    assert!(four < 2 * 50_000, "{four}");
    let mut flash = Flash::new(&spec()).expect("builds");
    // The same page four times: its die senses one after the other.
    for _ in 0..4 {
        flash.submit(Instant(0), command(Operation::Read, 0, 8, false)).expect("room for four");
    }
    let last = std::iter::from_fn(|| flash.advance(Instant(u64::MAX))).last().expect("four completions");
    assert!(last.at.0 > 4 * 50_000, "{last:?}");
    assert_eq!(last.timing.rotation.0, 3 * 50_000, "it waited for three reads");
}

#[test]
fn writes_complete_in_the_buffer_until_it_is_full() {
    let mut flash = Flash::new(&spec()).expect("builds");
    let first = time(&mut flash, 0, command(Operation::Write, 0, 8, false));
    assert_eq!(first, 10_000 + 8 * 500);
    let durable = time(&mut flash, 1 << 40, command(Operation::Write, 8, 8, true));
    assert!(durable >= 500_000, "FUA waits for programming: {durable}");
    let sustained = write_pages(&mut flash, 4_000, |index| index % 2048);
    assert!((110_000..200_000).contains(&sustained), "four dies program a page in 125 us: {sustained} ns");
}

#[test]
fn collection_slows_scattered_writes() {
    let mut sequential = Flash::new(&spec()).expect("builds");
    let mut random = sequential.clone();
    let in_order = write_pages(&mut sequential, 10_000, |index| index % 2048);
    let scattered_time = write_pages(&mut random, 10_000, scattered);
    assert!(scattered_time > in_order * 3 / 2, "{scattered_time} ns against {in_order} ns");
    let mut roomy = Flash::new(&FlashSpec { over_provision: 1024, ..spec() }).expect("builds");
    let with_room = write_pages(&mut roomy, 10_000, scattered);
    assert!(with_room < scattered_time * 3 / 4, "room makes collection cheap: {with_room} ns");
}

#[test]
fn trim_makes_collection_cheap() {
    let mut full = Flash::new(&spec()).expect("builds");
    let mut trimmed = full.clone();
    time(&mut trimmed, 0, command(Operation::Discard, 8_192, 8_192, false));
    let half = |index: u64| scattered(index) / 2;
    let before = write_pages(&mut full, 10_000, half);
    let after = write_pages(&mut trimmed, 10_000, half);
    assert!(after < before * 9 / 10, "{after} ns after trimming, {before} ns before");
}

#[test]
fn a_write_of_part_of_a_unit_costs_a_read() {
    let coarse = FlashSpec { mapping_sectors: 64, ..spec() };
    let mut flash = Flash::new(&coarse).expect("builds");
    let small = write_pages(&mut flash, 500, scattered);
    let mut fine = Flash::new(&spec()).expect("builds");
    let page_mapped = write_pages(&mut fine, 500, scattered);
    assert!(small > 4 * page_mapped, "{small} ns against {page_mapped} ns");
}

#[test]
fn impossible_devices_are_refused() {
    for bad in [
        FlashSpec { channels: 0, ..spec() },
        FlashSpec { depth: 0, ..spec() },
        FlashSpec { capacity: 0, ..spec() },
        FlashSpec { channels: u32::MAX, dies_per_channel: 2, ..spec() },
    ] {
        let error = Flash::new(&bad).expect_err("no such device").to_string();
        assert!(!error.is_empty(), "{bad:?}");
    }
}
