//! What a disk does, measured on its model, and how far two are apart: what tests of a fit and the table of
//! `scripts/kernel/fit.sh` compare.

use idlewise_core::{Instant, Operation, Sector, Sectors};
use idlewise_disk::{AnyModel, AnySpec, Command, DiskModel as _, Profile};
use idlewise_sim::traces::Record;

/// A small generator: the sequence must not depend on a library's version.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// A disk that is recorded.
pub(crate) struct Recorded {
    pub(crate) disk: AnyModel,
    pub(crate) now: u64,
    pub(crate) records: Vec<Record>,
}

impl Recorded {
    pub(crate) fn new(profile: &Profile) -> Recorded {
        Recorded { disk: profile.build().unwrap(), now: 0, records: Vec::new() }
    }

    /// Serves `count` commands, `depth` at once; each place asks again after a think time.
    pub(crate) fn serve(
        &mut self,
        depth: usize,
        count: usize,
        mut next: impl FnMut() -> (u64, Operation, u64, u32),
    ) {
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
    pub(crate) fn sequential(&mut self, runs: u64, commands: usize) {
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
    pub(crate) fn random(&mut self, random: &mut Random, depth: usize, count: usize, writes: u64) {
        let capacity = self.disk.capacity().0;
        self.serve(depth, count, || {
            let operation = if random.below(100) < writes { Operation::Write } else { Operation::Read };
            let length = 8 << random.below(4);
            (50_000 + random.below(4_000_000), operation, random.below(capacity / 8 - 8) * 8, length)
        });
    }

    /// Small reads within some files.
    pub(crate) fn files(&mut self, random: &mut Random, count: usize) {
        let capacity = self.disk.capacity().0;
        let files: Vec<u64> = (0..20).map(|_| random.below(capacity - (1 << 22)) / 8 * 8).collect();
        self.serve(1, count, || {
            let file = files[random.below(20) as usize / (1 + random.below(20) as usize)];
            (20_000 + random.below(1_000_000), Operation::Read, file + random.below(1 << 18) * 8, 8)
        });
    }
}

/// The rate of a long sequential read at a share of the capacity, in bytes a second.
pub(crate) fn sequential_rate(profile: &Profile, at: f64) -> f64 {
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

/// The median time of reads that lie a share of the capacity from the one before, in ns. Waits for the sector are anything up to a
/// revolution: of so many reads the median is off by 1 % of one.
fn positioning(profile: &Profile, share: f64) -> u64 {
    let mut recorded = Recorded::new(profile);
    let mut random = Random(7);
    let capacity = recorded.disk.capacity().0;
    let distance = (capacity as f64 * share) as u64;
    // To and fro across the disk: what lies near a place that was just read may be in the buffer.
    let (mut at, mut down) = (0, false);
    recorded.serve(1, 20_000, || {
        let distance = distance - distance / 20 + random.below(distance / 10);
        down = at > distance && (down || at + distance + 8 >= capacity);
        at = if down { at - distance } else { (at + distance).min(capacity - 8) };
        (30_000_000 + random.below(10_000_000), Operation::Read, at, 8)
    });
    let mut times: Vec<u64> = recorded.records[1..].iter().map(|r| r.response().unwrap().0).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// The time of a revolution in ns, of a disk that has platters.
fn period(profile: &Profile) -> Option<f64> {
    let AnySpec::Mechanical(spec) = &profile.model else { return None };
    Some(f64::from(spec.period_ns))
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
    let depth = depth.min(recorded.disk.depth() as usize);
    recorded.serve(depth, 2000, || (20_000, operation, random.below(capacity / 512 - 1) * 512, sectors));
    median(recorded.records.iter().map(|r| r.response().unwrap().0).collect())
}

/// By how much a disk is off, as shares of the truth.
#[derive(Debug)]
pub(crate) struct Off {
    /// The rate of sequential reads, at five places.
    pub(crate) rates: [f64; 5],
    /// The time of a revolution; 0 for flash.
    pub(crate) period: f64,
    /// Median times: of reads by distance with platters, of commands by direction, size and depth with flash.
    pub(crate) times: Vec<f64>,
}

impl Off {
    /// How far `disk` is from `truth`, of whose commands each took up to `host_ns` more where it was recorded; nothing if one of them
    /// has platters and the other does not.
    pub(crate) fn between(disk: &Profile, truth: &Profile, host_ns: f64) -> Option<Off> {
        let off = |of: &dyn Fn(&Profile) -> f64| of(disk) / of(truth) - 1.0;
        // Around a place: where on the next few tracks a zone begins, nobody can see elsewhere.
        let around = |disk: &Profile, at: f64| -> f64 {
            [-0.015, 0.0, 0.015].map(|by| sequential_rate(disk, at + by)).iter().sum()
        };
        let rates = [0.02, 0.3, 0.55, 0.8, 0.95].map(|at| off(&|disk| around(disk, at)));
        let (period, times) = match (period(disk), period(truth)) {
            (Some(found), Some(truth)) => {
                let shares = [0.001, 0.01, 0.05, 0.2, 0.4, 0.8];
                let far = shares.map(|share| off(&|disk| positioning(disk, share) as f64));
                (found / truth - 1.0, far.to_vec())
            }
            (None, None) => {
                let each = [1, 4, 16].into_iter().flat_map(|depth| [(depth, 8), (depth, 256)]);
                let each = each.flat_map(|(depth, sectors)| {
                    [(Operation::Read, sectors, depth), (Operation::Write, sectors, depth)]
                });
                let time = |(operation, sectors, depth)| {
                    let [found, real] = [disk, truth].map(|disk| latency(disk, operation, sectors, depth));
                    let host = (found - real).clamp(0.0, host_ns);
                    (found - host) / real - 1.0
                };
                (0.0, each.map(time).collect())
            }
            _ => return None,
        };
        Some(Off { rates, period, times })
    }

    /// The worst rate and the worst time.
    pub(crate) fn worst(&self) -> [f64; 2] {
        [&self.rates[..], &self.times].map(|list| list.iter().fold(0.0f64, |worst, off| worst.max(off.abs())))
    }
}
