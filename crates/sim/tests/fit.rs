//! Fitting a disk to a recording: of real drives, and of modelled disks whose truth is known.

#[path = "fit/truth.rs"]
mod truth;

use std::io::Write as _;
use std::path::Path;

use idlewise_core::{Durable, Duration, Instant, Operation, Sector, Sectors};
use idlewise_disk::{AnySpec, DiskModel as _, FlashSpec, Profile, validate};
use idlewise_sim::fit::{self, Confidence, Known};
use idlewise_sim::traces::{Options, Record, Trace};
use truth::{Off, Random, Recorded, sequential_rate};

/// The share of the mean that the demerit of a held-out half may have.
const DEMERIT_MAX: f64 = 0.12;

fn drive(path: &Path) -> Vec<Record> {
    let mut trace = Trace::open(path, &Options::default()).unwrap();
    let mut records = Vec::new();
    while let Some(record) = trace.next().unwrap() {
        records.push(record);
    }
    records
}

#[test]
fn half_of_a_real_drives_recording_tells_the_other_half() {
    let Ok(folder) = std::env::var("IDLEWISE_TRACES") else {
        let _ =
            std::io::stderr().write_all(b"\nskipped: IDLEWISE_TRACES does not say where real traces are\n");
        return;
    };
    for name in ["atlas10k", "cheetah4LP", "cheetah9LP", "hp_c3323a"] {
        let path = Path::new(&folder).join("drives").join(name).with_extension("trace");
        let records = drive(&path);
        let half = records.len() / 2;
        let capacity = records.iter().map(|record| record.end().0).max();
        let known = Known { name: name.to_owned(), capacity, ..Known::default() };
        let fitted = fit::fit(&records[..half], &known).unwrap();
        let measured =
            validate::read_trace(std::io::BufReader::new(std::fs::File::open(&path).unwrap())).unwrap();
        let held_out = validate::validate(&fitted.profile, &measured[half..]).unwrap();
        let [fitted, within] =
            [fitted.report.fitted, fitted.report.held_out].map(|of| of.demerit_share * 100.0);
        let share = held_out.demerit_share * 100.0;
        println!(
            "{name}: demerit {fitted:.2} % on its half, {within:.2} % on stretches of it, {share:.2} % on the other"
        );
        assert!(held_out.demerit_share <= DEMERIT_MAX, "{name}: {:.4}", held_out.demerit_share);
    }
}

/// How far a fitted disk may be from the truth, as shares.
struct Bounds {
    rate: f64,
    period: f64,
    time: f64,
}

fn is_near(name: &str, fitted: &Profile, truth: &Profile, bounds: &Bounds) {
    let off = Off::between(fitted, truth, 0.0).unwrap();
    println!("{name}: {off:+.3?}");
    let [rate, time] = off.worst();
    assert!(off.period.abs() <= bounds.period, "{name}: rotation is off by {}", off.period);
    assert!(rate <= bounds.rate, "{name}: rates are off by {:?}", off.rates);
    assert!(time <= bounds.time, "{name}: times are off by {:?}", off.times);
}

const PLATTERS: [&str; 3] = ["hdd-4tb-7200", "hdd-2400gb-10k", "hdd-18tb-7200"];

#[test]
fn modelled_disks_with_platters_are_found_again() {
    for name in PLATTERS {
        let truth = Profile::named(name).unwrap();
        let mut recorded = Recorded::new(&truth);
        let mut random = Random(0x1d1e_0001);
        recorded.sequential(8, 300);
        recorded.random(&mut random, 1, 3000, 20);
        recorded.files(&mut random, 1500);
        recorded.random(&mut random, 4, 1000, 20);
        let known = Known { name: name.to_owned(), ..Known::default() };
        let fitted = fit::fit(&recorded.records, &known).unwrap();
        is_near(name, &fitted.profile, &truth, &Bounds { rate: 0.05, period: 0.01, time: 0.10 });
        let part = |name: &str| fitted.report.parts.iter().find(|part| part.name == name).unwrap();
        assert_eq!(part("rotation").confidence, Confidence::Sure);
        assert_eq!(part("zones").confidence, Confidence::Sure);
        assert_eq!(part("write settle").confidence, Confidence::Unknown);
        let line = "# write settle: unknown, as hdd-4tb-7200";
        assert!(fitted.text.contains(line), "what is unknown is said in the file:\n{}", fitted.text);
    }
}

/// A device that is like no profile.
fn another(spec: FlashSpec) -> FlashSpec {
    FlashSpec {
        channels: spec.channels / 2,
        read_ns: spec.read_ns * 3 / 2,
        program_ns: spec.program_ns * 2 / 3,
        overhead_ns: spec.overhead_ns * 2,
        interface_sector_ns: spec.interface_sector_ns * 5 / 3,
        channel_sector_ns: spec.channel_sector_ns * 4 / 3,
        page_sectors: spec.page_sectors / 2,
        ..spec
    }
}

#[test]
fn modelled_flash_is_found_again() {
    for (name, other) in [("sata-ssd", false), ("nvme-ssd", false), ("sata-ssd", true)] {
        let mut truth = Profile::named(name).unwrap();
        if let (AnySpec::Flash(spec), true) = (&mut truth.model, other) {
            *spec = another(*spec);
        }
        let mut recorded = Recorded::new(&truth);
        let mut random = Random(0x1d1e_0002);
        let capacity = recorded.disk.capacity().0;
        for depth in [1, 4, 16] {
            recorded.serve(depth, 800, || {
                let operation = if random.below(100) < 30 { Operation::Write } else { Operation::Read };
                let length = 8 << random.below(6);
                (random.below(200_000), operation, random.below(capacity / 8 - 64) * 8, length)
            });
        }
        recorded.sequential(1, 300);
        let known = Known { name: name.to_owned(), capacity: Some(capacity), ..Known::default() };
        let fitted = fit::fit(&recorded.records, &known).unwrap();
        is_near(name, &fitted.profile, &truth, &Bounds { rate: 0.05, period: 0.0, time: 0.10 });
    }
}

/// A modelled disk that is read.
struct Read(Recorded);

impl fit::Reader for Read {
    fn capacity(&self) -> u64 {
        self.0.disk.capacity().0
    }

    fn read(&mut self, extents: &[(u64, u32)], depth: usize) -> std::io::Result<Vec<(u64, u64)>> {
        let first = self.0.records.len();
        let mut next = extents.iter();
        self.0.serve(depth, extents.len(), || {
            let &(start, sectors) = next.next().unwrap();
            (15_000, Operation::Read, start, sectors)
        });
        Ok(self.0.records[first..].iter().map(|r| (r.arrival.0, r.completed.unwrap().0)).collect())
    }
}

#[test]
fn reading_finds_modelled_disks_again() {
    for name in PLATTERS {
        let truth = Profile::named(name).unwrap();
        let mut reader = Read(Recorded::new(&truth));
        let mut said = Vec::new();
        let budget = 120_000_000_000;
        let records = fit::calibrate(&mut reader, budget, &mut |what, _| said.push(what.to_owned())).unwrap();
        assert!(records.iter().all(|record| record.operation == Operation::Read));
        assert!(said.len() > 10 && reader.0.now <= budget, "{said:?}, {} ns", reader.0.now);
        let known = Known { capacity: Some(fit::Reader::capacity(&reader)), ..Known::default() };
        let fitted = fit::fit(&records, &known).unwrap();
        is_near(name, &fitted.profile, &truth, &Bounds { rate: 0.03, period: 0.005, time: 0.06 });
    }
}

#[test]
fn a_short_time_is_kept() {
    let mut reader = Read(Recorded::new(&Profile::named("hdd-4tb-7200").unwrap()));
    let budget = 5_000_000_000;
    fit::calibrate(&mut reader, budget, &mut |_, _| {}).unwrap();
    // The last batch may end after it.
    assert!(reader.0.now < budget + 1_000_000_000, "{} ns", reader.0.now);
}

#[test]
fn what_shows_no_disk_is_refused_with_a_cure() {
    let known = Known::default();
    let said = |records: &[Record]| fit::fit(records, &known).unwrap_err().to_string();
    let at = |index: u64, start: u64| {
        let time = Instant(index * 10_000_000);
        let done = Some(Instant(time.0 + 5_000_000));
        Record { completed: done, ..Record::read(time, Sector(start), Sectors(8)) }
    };
    let list = |count: u64, start: fn(u64) -> u64| {
        (0..count).map(|index| at(index, start(index))).collect::<Vec<_>>()
    };
    let untimed: Vec<Record> =
        list(300, |index| index * 1000).into_iter().map(|r| Record { completed: None, ..r }).collect();
    assert!(said(&untimed).contains("record completions too"));
    assert!(said(&list(20, |index| index * 1000)).contains("20 reads and writes"));
    assert!(said(&list(300, |_| 4096)).contains("goes to other places"));
    let instant: Vec<Record> = list(300, |index| index * 1000)
        .into_iter()
        .map(|r| Record { completed: Some(r.arrival), ..r })
        .collect();
    assert!(said(&instant).contains("too coarse"));
    let mut two = list(300, |index| index * 1000);
    two[7].device = 1;
    assert!(said(&two).contains("--device"));
}

/// Recordings that each leave something out: what is not shown is said, and what is shown is right.
#[test]
fn what_a_recording_leaves_out_is_said() {
    let name = "hdd-18tb-7200";
    let truth = Profile::named(name).unwrap();
    let recorded = |load: fn(&mut Recorded, &mut Random)| {
        let mut recorded = Recorded::new(&truth);
        load(&mut recorded, &mut Random(0x1d1e_0077));
        let fitted =
            fit::fit(&recorded.records, &Known { name: name.to_owned(), ..Known::default() }).unwrap();
        assert_eq!(fitted.report.kind, "mechanical");
        let parts = fitted.report.parts.clone();
        (fitted, move |name: &str| parts.iter().find(|part| part.name == name).unwrap().confidence)
    };
    let (fitted, confidence) = recorded(|disk, random| disk.random(random, 1, 4000, 0));
    assert_eq!(confidence("rotation"), Confidence::Sure);
    assert!(confidence("zones") < Confidence::Sure && confidence("write cache") == Confidence::Unknown);
    is_near(name, &fitted.profile, &truth, &Bounds { rate: 0.3, period: 0.01, time: 0.15 });

    let (fitted, confidence) = recorded(|disk, _| disk.sequential(16, 200));
    assert_eq!(
        (confidence("rotation"), confidence("positioning")),
        (Confidence::Unknown, Confidence::Unknown)
    );
    assert_eq!(confidence("zones"), Confidence::Sure);
    let rate = sequential_rate(&fitted.profile, 0.3) / sequential_rate(&truth, 0.3) - 1.0;
    assert!(rate.abs() < 0.05, "{rate}");

    let (fitted, confidence) = recorded(|disk, random| disk.random(random, 16, 3000, 10));
    assert_eq!(
        (confidence("rotation"), confidence("positioning")),
        (Confidence::Unknown, Confidence::Unknown)
    );
    assert!(fitted.text.contains("# positioning: unknown, as hdd-4tb-7200: too few commands were alone"));
}

#[test]
fn a_commit_shows_the_flush_that_it_waited_for() {
    let ms = |ms: u64| Instant(ms * 1_000_000);
    let commit = |n: u64| {
        let at = |after: u64| Some(ms(n * 40 + after));
        let durable = Durable { before: n % 2 == 1, itself: n % 2 == 1 };
        let mut row = Record::new(ms(n * 40), Operation::Write, Sector(n * 7919 % 100_000 * 8), Sectors(8));
        (row.durable, row.sync) = (durable, true);
        (row.dispatched, row.completed) = if durable.before { (at(9), at(17)) } else { (at(0), at(1)) };
        row
    };
    let rows = fit::rows(&(0..300).map(commit).collect::<Vec<_>>()).unwrap();
    assert_eq!(rows.len(), 450, "150 flushes");
    let shown: Vec<_> = rows[..3].iter().map(|row| (row.operation, row.issued, row.done, row.fua)).collect();
    let [flush, write] = [Operation::Flush, Operation::Write];
    let want = [(write, 0, 1, false), (flush, 40, 49, false), (write, 49, 57, true)];
    assert_eq!(shown, want.map(|(operation, issued, done, fua)| (operation, ms(issued).0, ms(done).0, fua)));
    // A disk that forces nothing does such writes in its buffer, and Linux flushes it afterwards.
    let unforced = |n: u64| Record {
        completed: Some(commit(n).dispatched.unwrap() + Duration::from_ms(1)),
        ..commit(n)
    };
    let rows = fit::rows(&(0..300).map(unforced).collect::<Vec<_>>()).unwrap();
    assert!(rows.iter().all(|row| !row.fua));
}
