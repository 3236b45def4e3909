//! Fitting a disk to a recording: of real drives, and of modelled disks whose truth is known.

use std::io::Write as _;
use std::path::Path;

use idlewise_core::{Instant, Operation, Sector, Sectors};
use idlewise_disk::{AnyModel, Command, DiskModel, FlashSpec, Model, Profile, validate};
use idlewise_sim::fit::{self, Confidence, Known};
use idlewise_sim::traces::{Options, Record, Trace};

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

/// A small generator: the sequence must not depend on a library's version.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// A disk that is recorded.
struct Recorded {
    disk: AnyModel,
    now: u64,
    records: Vec<Record>,
}

impl Recorded {
    fn new(profile: &Profile) -> Recorded {
        Recorded { disk: profile.build().unwrap(), now: 0, records: Vec::new() }
    }

    /// Serves `count` commands, `depth` at once; each place asks again after a think time.
    fn serve(&mut self, depth: usize, count: usize, mut next: impl FnMut() -> (u64, Operation, u64, u32)) {
        let mut places: Vec<Option<(u64, Operation, u64, u32)>> = vec![None; depth];
        let mut waiting: Vec<(u64, usize)> = (0..depth).map(|place| (self.now, place)).collect();
        let (mut sent, mut done) = (0, 0);
        let first = self.records.len();
        while done < count {
            let event = self.disk.next_event().map_or(u64::MAX, |at| at.0);
            waiting.sort_unstable();
            let issue = waiting.first().map_or(u64::MAX, |&(at, _)| if sent < count { at } else { u64::MAX });
            if issue <= event {
                let (at, place) = waiting.remove(0);
                let (think, operation, start, length) = next();
                let command = Command {
                    tag: self.records.len() as u32,
                    operation,
                    start: Sector(start),
                    length: Sectors(length),
                    fua: false,
                };
                self.disk.submit(Instant(at), command).unwrap();
                let record = Record::new(Instant(at), operation, Sector(start), Sectors(length));
                self.records.push(Record { dispatched: Some(Instant(at)), ..record });
                places[place] = Some((think, operation, start, self.records.len() as u32 - 1));
                sent += 1;
                self.now = at;
                continue;
            }
            while let Some(completion) = self.disk.advance(Instant(event)) {
                self.records[completion.tag as usize].completed = Some(completion.at);
                let place = places.iter().position(|p| p.is_some_and(|p| p.3 == completion.tag)).unwrap();
                waiting.push((completion.at.0 + places[place].unwrap().0, place));
                places[place] = None;
                done += 1;
            }
            self.now = event;
        }
        assert_eq!(self.records.len(), first + count);
    }

    /// Reads one after the other from several places.
    fn sequential(&mut self, runs: u64, commands: usize) {
        let capacity = self.disk.capacity().0;
        for run in 0..runs {
            let mut at = capacity / runs * run;
            self.serve(1, commands, || {
                at += 512;
                (10_000, Operation::Read, at - 512, 512)
            });
        }
    }

    /// Small reads anywhere, a share of them writes.
    fn random(&mut self, random: &mut Random, depth: usize, count: usize, writes: u64) {
        let capacity = self.disk.capacity().0;
        self.serve(depth, count, || {
            let operation = if random.below(100) < writes { Operation::Write } else { Operation::Read };
            let length = 8 << random.below(4);
            (50_000 + random.below(4_000_000), operation, random.below(capacity / 8 - 8) * 8, length)
        });
    }

    /// Small reads within some files.
    fn files(&mut self, random: &mut Random, count: usize) {
        let capacity = self.disk.capacity().0;
        let files: Vec<u64> = (0..20).map(|_| random.below(capacity - (1 << 22)) / 8 * 8).collect();
        self.serve(1, count, || {
            let file = files[random.below(20) as usize / (1 + random.below(20) as usize)];
            (20_000 + random.below(1_000_000), Operation::Read, file + random.below(1 << 18) * 8, 8)
        });
    }
}

/// The rate of a long sequential read at a share of the capacity, in bytes a second.
fn sequential_rate(profile: &Profile, at: f64) -> f64 {
    let mut recorded = Recorded::new(profile);
    let mut from = (recorded.disk.capacity().0 as f64 * at) as u64;
    recorded.serve(1, 1000, || {
        from += 512;
        (0, Operation::Read, from - 512, 512)
    });
    let (early, late) = (&recorded.records[200], &recorded.records[999]);
    let time = late.completed.unwrap().0 - early.completed.unwrap().0;
    (late.start.0 - early.start.0) as f64 * 512e9 / time as f64
}

/// The median time of reads that lie a share of the capacity from the one before, in ns.
fn positioning(profile: &Profile, share: f64) -> u64 {
    let mut recorded = Recorded::new(profile);
    let mut random = Random(7);
    let capacity = recorded.disk.capacity().0;
    let distance = (capacity as f64 * share) as u64;
    let mut at = 0;
    recorded.serve(1, 2000, || {
        let distance = distance - distance / 20 + random.below(distance / 10);
        let down = at > distance && (at + distance + 8 >= capacity || random.below(2) == 0);
        at = if down { at - distance } else { (at + distance).min(capacity - 8) };
        (30_000_000 + random.below(10_000_000), Operation::Read, at, 8)
    });
    let mut times: Vec<u64> = recorded.records[1..].iter().map(|r| r.response().unwrap().0).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn period(profile: &Profile) -> f64 {
    let idlewise_disk::Model::Mechanical(spec) = &profile.model else {
        panic!("{} has platters", profile.name)
    };
    f64::from(spec.period_ns)
}

/// How far a fitted disk may be from the truth, as shares.
struct Bounds {
    rate: f64,
    period: f64,
    positioning: f64,
}

fn is_near(name: &str, fitted: &Profile, truth: &Profile, bounds: &Bounds) {
    let off = |a: f64, b: f64| a / b - 1.0;
    let turn = off(period(fitted), period(truth));
    let rates =
        [0.02, 0.3, 0.55, 0.8, 0.95].map(|at| off(sequential_rate(fitted, at), sequential_rate(truth, at)));
    let far = [0.001, 0.01, 0.05, 0.2, 0.4, 0.8]
        .map(|share| off(positioning(fitted, share) as f64, positioning(truth, share) as f64));
    println!("{name}: rotation {:+.3} %, rates {rates:+.3?}, positioning {far:+.3?}", turn * 100.0);
    assert!(turn.abs() <= bounds.period, "{name}: rotation is off by {turn}");
    assert!(rates.iter().all(|off| off.abs() <= bounds.rate), "{name}: rates are off by {rates:?}");
    assert!(far.iter().all(|off| off.abs() <= bounds.positioning), "{name}: positioning is off by {far:?}");
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
        is_near(name, &fitted.profile, &truth, &Bounds { rate: 0.05, period: 0.01, positioning: 0.10 });
        let part = |name: &str| fitted.report.parts.iter().find(|part| part.name == name).unwrap();
        assert_eq!(part("rotation").confidence, Confidence::Sure);
        assert_eq!(part("zones").confidence, Confidence::Sure);
        assert_eq!(part("write settle").confidence, Confidence::Unknown);
        let line = "# write settle: unknown, as hdd-4tb-7200";
        assert!(fitted.text.contains(line), "what is unknown is said in the file:\n{}", fitted.text);
    }
}

fn median(mut times: Vec<u64>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2] as f64
}

/// The median time of random commands, in ns.
fn latency(profile: &Profile, operation: Operation, sectors: u32, depth: usize) -> f64 {
    let mut recorded = Recorded::new(profile);
    let capacity = recorded.disk.capacity().0;
    let mut random = Random(11);
    recorded.serve(depth, 2000, || (20_000, operation, random.below(capacity / 512 - 1) * 512, sectors));
    median(recorded.records.iter().map(|r| r.response().unwrap().0).collect())
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
        if let (Model::Flash(spec), true) = (&mut truth.model, other) {
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
        let mut worst = 0.0f64;
        for depth in [1, 4, 16] {
            for operation in [Operation::Read, Operation::Write] {
                for sectors in [8, 256] {
                    let [a, b] =
                        [&fitted.profile, &truth].map(|disk| latency(disk, operation, sectors, depth));
                    worst = worst.max((a / b - 1.0).abs());
                }
            }
        }
        let rate = sequential_rate(&fitted.profile, 0.1) / sequential_rate(&truth, 0.1) - 1.0;
        println!(
            "{name}, changed: {other}: latency {:.1} % at worst, rate {:+.1} %",
            worst * 100.0,
            rate * 100.0
        );
        assert!(rate.abs() <= 0.05, "{name}: the rate is off by {rate}");
        assert!(worst <= 0.10, "{name}: a latency is off by {worst}");
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
        is_near(name, &fitted.profile, &truth, &Bounds { rate: 0.03, period: 0.005, positioning: 0.06 });
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
    is_near(name, &fitted.profile, &truth, &Bounds { rate: 0.3, period: 0.01, positioning: 0.15 });

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
