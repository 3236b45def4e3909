//! Arrays: where their sectors lie, what their members are asked, and how fast they are.

use std::collections::{BTreeMap, BTreeSet};

use idlewise_core::{Duration, Instant, Operation, Sector, Sectors};
use idlewise_disk::array::{Array, ArraySpec, Layout, Level, MOST_MEMBERS, Place};
use idlewise_disk::{
    AnySpec, BuildError, Command, Completion, DiskModel, Fixed, FixedSpec, Profile, Spec, SubmitError,
};
use proptest::prelude::*;

/// Time of every command of a plain disk.
const LATENCY: u64 = 1_000_000;

/// A disk of fixed latency that keeps what it was asked, and when.
struct Log {
    disk: Fixed,
    asked: Vec<(u64, Command)>,
}

impl DiskModel for Log {
    fn capacity(&self) -> Sector {
        self.disk.capacity()
    }
    fn depth(&self) -> u32 {
        self.disk.depth()
    }
    fn rotational(&self) -> bool {
        true
    }
    fn submit(&mut self, now: Instant, command: Command) -> Result<(), SubmitError> {
        self.asked.push((now.0, command));
        self.disk.submit(now, command)
    }
    fn next_event(&self) -> Option<Instant> {
        self.disk.next_event()
    }
    fn advance(&mut self, now: Instant) -> Option<Completion> {
        self.disk.advance(now)
    }
}

fn plain(sectors: u64, depth: u32) -> FixedSpec {
    FixedSpec { capacity: sectors, latency_ns: LATENCY, sector_ns: 0, depth }
}

/// An array of plain disks of `sectors` with chunks of 8 sectors.
fn logged(level: Level, members: u32, sectors: u64, depth: u32) -> Array<Log> {
    let spec = ArraySpec { chunk_sectors: 8, ..ArraySpec::new(level, members, plain(sectors, depth)) };
    let log = |_| Log { disk: Fixed::new(&spec.member).unwrap(), asked: Vec::new() };
    Array::new(&spec, (0..members).map(log).collect()).unwrap()
}

fn command(operation: Operation, start: u64, length: u64) -> Command {
    Command { tag: 0, operation, start: Sector(start), length: Sectors(length as u32), fua: false }
}

/// Runs until nothing is under way.
fn finish(array: &mut impl DiskModel) -> Vec<Completion> {
    let mut done = Vec::new();
    while let Some(at) = array.next_event() {
        done.extend(array.advance(at));
    }
    done
}

/// What a member was asked: operation, first sector, sectors, forced to the medium.
type Asked = (Operation, u64, u64, bool);

/// What each member was asked for `command`, in order.
fn asked(array: &mut Array<Log>, command: Command) -> Vec<Vec<Asked>> {
    array.submit(Instant(0), command).unwrap();
    assert_eq!(finish(array).len(), 1);
    let plain = |(_, c): &(u64, Command)| (c.operation, c.start.0, u64::from(c.length.0), c.fua);
    array.members().map(|member| member.asked.iter().map(plain).collect()).collect()
}

fn count(asked: &[Vec<Asked>], operation: Operation) -> usize {
    asked.iter().flatten().filter(|own| own.0 == operation).count()
}

/// Rows of an array, written down chunk by chunk: which chunk of data each member has. Slow and plain.
fn rows(level: Level, members: usize, rows: usize) -> Vec<Vec<Option<u64>>> {
    let mut next = 0;
    let mut left = 0;
    let mut fill = |copies: u32| {
        if left == 0 {
            (next, left) = (next + 1, copies);
        }
        left -= 1;
        Some(next - 1)
    };
    let mut table = vec![vec![None; members]; rows];
    for (number, row) in table.iter_mut().enumerate() {
        match level {
            Level::Raid0 => row.iter_mut().for_each(|place| *place = fill(1)),
            Level::Raid10 => row.iter_mut().for_each(|place| *place = fill(2)),
            Level::Raid1 => row.fill(Some(number as u64)),
            Level::Raid5 | Level::Raid6 => {
                // Parity begins on the last member and moves to the left. Data goes round behind it.
                let (mut at, parities) = (members - 1, if level == Level::Raid5 { 1 } else { 2 });
                (0..number).for_each(|_| at = if at == 0 { members - 1 } else { at - 1 });
                for step in parities..members {
                    row[(at + step) % members] = fill(1);
                }
            }
        }
    }
    table
}

#[test]
fn parity_turns_as_md_has_it() {
    let shown = |level, members| -> Vec<String> {
        let cell = |chunk: Option<u64>| chunk.map_or("-".to_owned(), |chunk| chunk.to_string());
        let row = |row: Vec<Option<u64>>| row.into_iter().map(cell).collect::<Vec<_>>().join(" ");
        rows(level, members, 4).into_iter().map(row).collect()
    };
    // md(4): left-symmetric, and near with two copies.
    assert_eq!(shown(Level::Raid5, 4), ["0 1 2 -", "4 5 - 3", "8 - 6 7", "- 9 10 11"]);
    assert_eq!(shown(Level::Raid6, 5), ["- 0 1 2 -", "3 4 5 - -", "7 8 - - 6", "11 - - 9 10"]);
    assert_eq!(shown(Level::Raid10, 3), ["0 0 1", "1 2 2", "3 3 4", "4 5 5"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each sector of data lies where the table has it, on a place of its own, and never on parity.
    #[test]
    fn sectors_lie_where_the_table_has_them(level in 0usize..5, more in 0u32..6, chunk in 1u32..9, sectors in 40u64..200) {
        let level = Level::ALL[level];
        let members = level.members().start() + more;
        let layout = Layout::new(level, members, chunk, sectors);
        let size = if level == Level::Raid1 { 1 } else { u64::from(chunk) };
        let table = rows(level, members as usize, (sectors / size) as usize);
        let mut places: BTreeMap<u64, BTreeSet<(u32, u64)>> = BTreeMap::new();
        for (row, chunks) in table.iter().enumerate() {
            for (member, chunk) in chunks.iter().enumerate().filter_map(|(m, c)| Some((m as u32, (*c)?))) {
                for inside in 0..size {
                    let place = (member, row as u64 * size + inside);
                    places.entry(chunk * size + inside).or_default().insert(place);
                }
            }
        }
        // A chunk whose second copy would lie beyond the end is none.
        let copies = layout.copies() as usize;
        let whole = places.values().filter(|own| own.len() == copies).count() as u64;
        prop_assert_eq!(layout.capacity(), whole);
        for address in 0..layout.capacity() {
            let own: BTreeSet<_> = (0..layout.copies())
                .map(|copy| layout.place(address, copy))
                .map(|Place { member, sector }| (member, sector))
                .collect();
            prop_assert_eq!(&own, &places[&address], "{} at {}", level, address);
        }
        for row in 0..sectors / size {
            for which in 0..layout.parities() {
                prop_assert_eq!(table[row as usize][layout.parity(row, which) as usize], None);
            }
        }
    }

    /// A read touches each of its sectors once; a write each copy once and the parity of its columns, and what it
    /// reads before suffices to compute that.
    #[test]
    fn members_are_asked_for_what_is_needed(
        level in 0usize..5, more in 0u32..6, write in any::<bool>(), start in 0u64..600, length in 1u64..200,
    ) {
        let level = Level::ALL[level];
        let mut array = logged(level, level.members().start() + more, 1600, 4);
        let layout = *array.layout();
        let operation = if write { Operation::Write } else { Operation::Read };
        let asked = asked(&mut array, command(operation, start, length));
        let mut touched = [BTreeSet::new(), BTreeSet::new()];
        for (member, own) in asked.iter().enumerate() {
            for &(operation, first, length, _) in own {
                for sector in first..first + length {
                    let fresh = touched[usize::from(operation == Operation::Write)].insert((member as u32, sector));
                    prop_assert!(fresh, "{} {} twice", member, sector);
                }
            }
        }
        let [read, written] = touched;
        let place = |address, copy| {
            let Place { member, sector } = layout.place(address, copy);
            (member, sector)
        };
        let range = start..start + length;
        if !write {
            prop_assert_eq!(read.len() as u64, length);
            for address in range {
                prop_assert!((0..layout.copies()).any(|copy| read.contains(&place(address, copy))));
            }
            return Ok(());
        }
        let mut wanted: BTreeSet<_> = range
            .flat_map(|address| (0..layout.copies()).map(move |copy| (address, copy)))
            .map(|(address, copy)| place(address, copy))
            .collect();
        let columns: BTreeSet<u64> = wanted.iter().map(|(_, sector)| *sector).collect();
        for &sector in columns.iter().filter(|_| layout.parities() > 0) {
            let row = sector / layout.chunk();
            let data: Vec<_> = (0..layout.data_chunks()).map(|index| (layout.data(row, index), sector)).collect();
            let parity: Vec<_> = (0..layout.parities()).map(|which| (layout.parity(row, which), sector)).collect();
            let (new, old): (Vec<_>, Vec<_>) = data.iter().partition(|place| wanted.contains(*place));
            let all = |places: &[(u32, u64)]| places.iter().all(|place| read.contains(place));
            prop_assert!(all(&old) || all(&new) && all(&parity), "parity cannot be computed");
            let reads = (0..layout.data_chunks() + layout.parities())
                .filter(|member| read.contains(&(*member as u32, sector))).count();
            prop_assert_eq!(reads, old.len().min(new.len() + parity.len()), "the cheaper way");
            wanted.extend(parity);
        }
        prop_assert_eq!(written, wanted);
    }
}

#[test]
fn a_small_write_of_raid_5_takes_four_commands() {
    let mut array = logged(Level::Raid5, 5, 800, 1);
    let asked = asked(&mut array, command(Operation::Write, 10, 4));
    let both = |start| vec![(Operation::Read, start, 4, false), (Operation::Write, start, 4, false)];
    // The second chunk of the first row, and that row's parity on the last member.
    assert_eq!(asked, [vec![], both(2), vec![], vec![], both(2)]);
    let begun: Vec<_> =
        array.members().flat_map(|member| member.asked.iter().map(|one| one.1.operation)).collect();
    assert_eq!(begun.iter().filter(|operation| **operation == Operation::Read).count(), 2);
}

#[test]
fn the_way_that_reads_less_is_taken() {
    let small = |level, members| {
        let asked = asked(&mut logged(level, members, 800, 1), command(Operation::Write, 0, 8));
        (count(&asked, Operation::Read), count(&asked, Operation::Write))
    };
    // One of two chunks is written: the other is read. Of many, what is written and its parity.
    assert_eq!((small(Level::Raid5, 3), small(Level::Raid5, 4)), ((1, 2), (2, 2)));
    assert_eq!((small(Level::Raid6, 5), small(Level::Raid6, 15)), ((2, 3), (3, 3)));
}

#[test]
fn a_full_stripe_is_written_without_reading() {
    for (level, members) in [(Level::Raid5, 5), (Level::Raid6, 6)] {
        let mut array = logged(level, members, 800, 1);
        // Three rows of four chunks: each member has three chunks in a row, of data or parity.
        let asked = asked(&mut array, command(Operation::Write, 32, 96));
        assert!(asked.iter().all(|own| *own == [(Operation::Write, 8, 24, false)]), "{asked:?}");
    }
}

#[test]
fn writes_of_the_same_stripe_wait_for_one_another() {
    let mut array = logged(Level::Raid5, 5, 800, 8);
    for (tag, start) in [(1, 0), (2, 2), (3, 36), (4, 4)] {
        array.submit(Instant(0), Command { tag, ..command(Operation::Write, start, 4) }).unwrap();
    }
    let done: Vec<_> = finish(&mut array).iter().map(|done| (done.tag, done.at.0 / LATENCY)).collect();
    // The third lies in another row, and the fourth in other columns than the first: but not than the second.
    assert_eq!(done, [(1, 2), (3, 2), (2, 4), (4, 6)]);
}

#[test]
fn flushes_forced_writes_and_discards_go_to_all_that_they_concern() {
    let flush = asked(&mut logged(Level::Raid6, 5, 800, 1), command(Operation::Flush, 0, 0));
    assert!(flush.iter().all(|own| *own == [(Operation::Flush, 0, 0, false)]), "{flush:?}");
    let forced = Command { fua: true, ..command(Operation::Write, 0, 4) };
    let forced = asked(&mut logged(Level::Raid5, 5, 800, 1), forced);
    let flags = |operation| forced.iter().flatten().filter(move |one| one.0 == operation).map(|one| one.3);
    assert!(flags(Operation::Write).eq([true, true]) && flags(Operation::Read).eq([false, false]));
    // RAID-5 discards whole rows; parity is computed of what is left.
    let discard = asked(&mut logged(Level::Raid5, 5, 800, 1), command(Operation::Discard, 20, 100));
    assert!(discard.iter().all(|own| *own == [(Operation::Discard, 8, 16, false)]), "{discard:?}");
    let nothing = asked(&mut logged(Level::Raid5, 5, 800, 1), command(Operation::Discard, 20, 8));
    assert!(nothing.iter().all(Vec::is_empty));
    let mirrored = asked(&mut logged(Level::Raid10, 4, 800, 1), command(Operation::Discard, 0, 32));
    assert!(mirrored.iter().all(|own| *own == [(Operation::Discard, 0, 16, false)]), "{mirrored:?}");
}

#[test]
fn a_command_that_is_too_large_for_the_tables_goes_in_steps() {
    let mut array = logged(Level::Raid5, 5, 800_000, 1);
    let whole = array.capacity().0;
    let asked = asked(&mut array, command(Operation::Read, 0, whole));
    let read: u64 = asked.iter().flatten().map(|own| own.2).sum();
    assert_eq!((read, whole), (whole, 3_200_000));
}

#[test]
fn members_get_no_more_than_they_take() {
    let mut array = logged(Level::Raid0, 2, 8000, 2);
    for tag in 0..64 {
        array
            .submit(Instant(0), Command { tag, ..command(Operation::Read, u64::from(tag) * 160, 8) })
            .unwrap();
    }
    let error = array.submit(Instant(0), command(Operation::Read, 0, 8)).unwrap_err();
    assert_eq!(error, SubmitError::Full { depth: 64 });
    // All lie on the first member, which serves two at once.
    let done = finish(&mut array);
    assert_eq!((done.len(), done[63].at.0), (64, 32 * LATENCY));
}

#[test]
fn what_is_no_array_is_refused_with_its_cure() {
    let said = |change: fn(&mut ArraySpec<FixedSpec>)| -> String {
        let mut spec = ArraySpec::new(Level::Raid5, 5, plain(800, 1));
        change(&mut spec);
        spec.build().err().map_or_else(String::new, |error: BuildError| error.to_string())
    };
    assert_eq!(said(|_| {}), "");
    assert_eq!(said(|spec| spec.members = 2), "too few members for this level; give at least 3");
    assert!(said(|spec| spec.members = MOST_MEMBERS + 1).contains("the model holds 64"));
    assert!(said(|spec| spec.depth = 0).contains("the queue depth is zero"));
    assert!(said(|spec| spec.depth = 5000).contains("too many queued commands"));
    assert!(said(|spec| spec.chunk_sectors = 0).contains("sectors in a chunk"));
    assert!(said(|spec| spec.chunk_sectors = 1024).contains("the model holds 800"));
}

#[test]
fn an_array_can_be_made_as_large_as_wanted() {
    for level in Level::ALL {
        let disk = Profile::named("hdd-18tb-7200").unwrap().model;
        let mut array = AnySpec::Array(ArraySpec::new(level, 5, disk));
        array.set("capacity=40t,depth=7").unwrap();
        let built = array.build().unwrap();
        assert_eq!((built.capacity().0, built.depth()), (78_125_000_000, 7), "{level}");
        let curve = built.positioning_curve(64);
        assert!(curve.len() > 32 && curve.is_sorted() && curve.last().unwrap().0 < 78_125_000_000);
    }
}

fn maxtor(level: Level, members: u32) -> Array<idlewise_disk::AnyModel> {
    ArraySpec::new(level, members, Profile::named("maxtor-40g").unwrap().model).build().unwrap()
}

/// Sectors a second of a reader that keeps `depth` reads of `length` outstanding, in order or anywhere.
fn rate(disk: &mut impl DiskModel, depth: u32, length: u64, random: bool) -> f64 {
    let (reads, capacity) = (3000, disk.capacity().0);
    let mut seed = 1_u64;
    let (mut issued, mut now) = (0, Instant(0));
    let mut issue = |disk: &mut dyn FnMut(Command)| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let anywhere = (seed >> 33) * (capacity / length - 1) / (1 << 31) * length;
        let start = if random { anywhere } else { issued * length };
        issued += 1;
        disk(command(Operation::Read, start, length));
        issued
    };
    for _ in 0..depth {
        issue(&mut |command| disk.submit(now, command).unwrap());
    }
    let mut done = 0;
    while let Some(at) = disk.next_event() {
        now = now.max(at);
        while disk.advance(now).is_some() {
            done += 1;
            if done + u64::from(depth) <= reads {
                issue(&mut |command| disk.submit(now, command).unwrap());
            }
        }
    }
    assert_eq!(done, reads);
    (reads * length) as f64 / (now.0 as f64 / 1e9)
}

#[test]
fn four_disks_read_in_order_nearly_four_times_as_fast() {
    let alone = rate(&mut Profile::named("maxtor-40g").unwrap().build().unwrap(), 1, 128, false);
    let deep = rate(&mut maxtor(Level::Raid0, 4), 16, 128, false) / alone;
    assert!((3.6..4.1).contains(&deep), "{deep:.2} times");
    // One at a time is on one disk at a time, and each reads ahead meanwhile.
    let shallow = rate(&mut maxtor(Level::Raid0, 4), 1, 128, false) / alone;
    assert!(shallow < 0.8 * deep, "{shallow:.2} times");
}

#[test]
fn four_mirrors_read_at_random_nearly_four_times_as_fast() {
    let alone = rate(&mut Profile::named("maxtor-40g").unwrap().build().unwrap(), 1, 8, true);
    let times = rate(&mut maxtor(Level::Raid1, 4), 32, 8, true) / alone;
    // Heads that stand apart have shorter ways, too.
    assert!((3.6..8.0).contains(&times), "{times:.2} times");
    let pairs = rate(&mut maxtor(Level::Raid10, 4), 32, 8, true) / alone;
    assert!((3.4..6.0).contains(&pairs), "{pairs:.2} times");
}

#[test]
fn a_sequential_reader_stays_on_one_mirror() {
    let mut array = logged(Level::Raid1, 2, 80_000, 1);
    let mut now = Instant(0);
    for index in 0..20 {
        for start in [0, 40_000] {
            array.submit(now, command(Operation::Read, start + index * 8, 8)).unwrap();
        }
        now = finish(&mut array).last().unwrap().at;
    }
    for (member, first) in array.members().zip([0, 40_000]) {
        let expected: Vec<u64> = (0..20).map(|index| first + index * 8).collect();
        let starts: Vec<u64> = member.asked.iter().map(|(_, command)| command.start.0).collect();
        assert_eq!(starts, expected);
    }
    // Also if its member is busy and another is idle.
    let mut array = logged(Level::Raid1, 2, 80_000, 1);
    (0..20).for_each(|index| array.submit(Instant(0), command(Operation::Read, index * 8, 8)).unwrap());
    finish(&mut array);
    assert!(array.members().map(|member| member.asked.len()).eq([20, 0]));
}

#[test]
fn parts_of_a_commands_time_are_those_of_its_last_member() {
    let mut array = maxtor(Level::Raid5, 5);
    let forced = Command { fua: true, ..command(Operation::Write, 1 << 20, 8) };
    array.submit(Instant(5_000_000), forced).unwrap();
    let done = finish(&mut array)[0];
    let timing = done.timing;
    assert_eq!(
        timing.seek + timing.rotation + timing.transfer + timing.overhead,
        done.at.since(done.started)
    );
    // The reads, which came first, are overhead: they took a seek and part of a turn.
    assert!(timing.overhead > Duration::from_ms(3), "{timing:?}");
}
