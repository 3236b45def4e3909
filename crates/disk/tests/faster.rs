//! A drive with one part made faster, as options of `--disk` do it, does not become slower.

use idlewise_core::{Instant, Operation, Sector, Sectors};
use idlewise_disk::profile::{self, Profile};
use idlewise_disk::{AnySpec, Command, DiskModel};

fn mechanical() -> impl Iterator<Item = (&'static str, Profile)> {
    let named = |name| (name, Profile::named(name).expect("a built-in profile"));
    profile::names().map(named).filter(|(_, profile)| matches!(profile.model, AnySpec::Mechanical(_)))
}

/// Bytes a microsecond, which are MB/s, of one who reads in order, `each` sectors at a time.
fn in_order(profile: &Profile, options: &str, each: u32) -> f64 {
    let mut disk = profile.clone().with(options).expect("the options fit").build().expect("builds");
    let (mut now, reads) = (0, 16_384 / each);
    for index in 0..reads {
        let (start, length) = (Sector(u64::from(index * each)), Sectors(each));
        let command = Command { tag: 0, operation: Operation::Read, start, length, fua: false };
        disk.submit(Instant(now), command).expect("the disk is idle");
        now = loop {
            let at = disk.next_event().expect("a command is outstanding");
            if let Some(done) = disk.advance(at) {
                break done.at.0;
            }
        };
    }
    f64::from(reads * each) * 512.0 * 1000.0 / now as f64
}

/// Once the cable outruns the medium, the next read comes as its first sector is about to pass.
#[test]
fn a_faster_cable_makes_no_drive_slower() {
    let mut wrong = Vec::new();
    for (name, profile) in mechanical() {
        for each in [8, 128] {
            let mut best = 0.0_f64;
            for bus in [10, 20, 40, 80, 160, 320, 640, 1280, 10_000] {
                let rate = in_order(&profile, &format!("bus={bus}"), each);
                println!("{name}, {each} sectors, bus={bus}: {rate:.2} MB/s");
                if rate < best * 0.9 {
                    wrong.push(format!("{name}, {each} sectors, bus={bus}: {rate:.2} after {best:.2} MB/s"));
                }
                best = best.max(rate);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Skews are chosen for the time of a switch, whatever the spindle's speed. A drive that loses a turn at each track on its
/// own, such as `dec-rz26`, gains and loses some percent as the speed changes.
#[test]
fn a_faster_spindle_makes_no_drive_slower() {
    let mut wrong = Vec::new();
    for (name, profile) in mechanical() {
        let AnySpec::Mechanical(spec) = &profile.model else { continue };
        let own = 60_000_000_000 / u64::from(spec.period_ns);
        let mut best = in_order(&profile, "bus=10000", 128);
        for hundredths in [100, 105, 110, 120, 140, 160, 200] {
            let rate = in_order(&profile, &format!("bus=10000,rpm={}", own * hundredths / 100), 128);
            println!("{name}, {hundredths} % rpm: {rate:.2} MB/s");
            if rate < best * 0.95 {
                wrong.push(format!("{name}, {hundredths} % rpm: {rate:.2} after {best:.2} MB/s"));
            }
            best = best.max(rate);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
