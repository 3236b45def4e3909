//! Physics of the models.
use idlewise_core::{Instant, Operation, Sector, Sectors};
use idlewise_disk::{Command, Completion, Device, Profile, profile};

fn run<D: Device>(disk: &mut D, now: &mut u64, start: u64, length: u32, operation: Operation) -> Completion {
    let command = Command { tag: 0, operation, start: Sector(start), length: Sectors(length), fua: false };
    disk.submit(Instant(*now), command).unwrap();
    loop {
        let at = disk.next_event().unwrap();
        if let Some(done) = disk.advance(at) {
            *now = done.at.0;
            return done;
        }
    }
}

#[test]
fn dump() {
    for name in profile::names() {
        let mut disk = Profile::named(name).unwrap().build().unwrap();
        let cap = disk.capacity().0;
        let mut now = 0;
        let mut at = 0;
        for _ in 0..1000 {
            run(&mut disk, &mut now, at, 128, Operation::Read);
            at += 128;
        }
        let seq = 128.0 * 512.0 * 1000.0 / now as f64 * 1e3;
        let t0 = now;
        let (mut a, mut b) = (at, cap / 16);
        for _ in 0..200 {
            run(&mut disk, &mut now, a, 128, Operation::Read);
            a += 128;
            run(&mut disk, &mut now, b, 128, Operation::Read);
            b += 128;
        }
        let alt = (now - t0) as f64 / 400.0 / 1e6;
        let t0 = now;
        let mut x = 12345u64;
        for _ in 0..2000 {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            run(&mut disk, &mut now, (x >> 11) % (cap / 8 - 1) * 8, 8, Operation::Read);
        }
        let rr = (now - t0) as f64 / 2000.0 / 1e6;
        let t0 = now;
        for _ in 0..2000 {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            run(&mut disk, &mut now, (x >> 11) % (cap / 8 - 1) * 8, 8, Operation::Write);
        }
        let rw = (now - t0) as f64 / 2000.0 / 1e6;
        let t0 = now;
        let mut at = cap / 2;
        for _ in 0..1000 {
            run(&mut disk, &mut now, at, 128, Operation::Write);
            at += 128;
        }
        let sw = 128.0 * 512.0 * 1000.0 / (now - t0) as f64 * 1e3;
        println!(
            "{name:20} seq {seq:7.1} MB/s  alternating {alt:6.2} ms  random read {rr:7.3} ms  random write {rw:7.3} ms  seq write(mid) {sw:6.1}"
        );
    }
}
#[test]
fn alternating() {
    let mut disk = Profile::named("deskstar-34gxp").unwrap().build().unwrap();
    for mb in [100u64, 300, 500, 1000, 2000, 4000, 8000] {
        let (mut a, mut b) = (0, mb * 2048);
        let mut now = disk.next_event().map_or(1_000_000_000_000, |x| x.0) + mb * 1_000_000_000_000;
        let t0 = now;
        for _ in 0..400 {
            run(&mut disk, &mut now, a, 128, Operation::Read);
            a += 128;
            run(&mut disk, &mut now, b, 128, Operation::Read);
            b += 128;
        }
        println!("alternating {mb} MB apart: {:.2} ms", (now - t0) as f64 / 800.0 / 1e6);
    }
}
