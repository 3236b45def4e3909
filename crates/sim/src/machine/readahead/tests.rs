//! Windows that are known: worked out by hand from the sources that each algorithm names.

use std::collections::BTreeSet;

use super::State;
use super::window::{Found, Unit, Window};
use crate::machine::parameters::Readahead;

/// A file of `end` units that is read, and the units in the cache.
struct Reader {
    state: State,
    unit_bytes: u64,
    end: u64,
    cached: BTreeSet<u64>,
    marks: BTreeSet<u64>,
}

impl Reader {
    fn new(readahead: Readahead, end: u64) -> Reader {
        let (state, unit_bytes) = (State::new(readahead), 4096 * u64::from(readahead.unit()));
        Reader { state, unit_bytes, end, cached: BTreeSet::new(), marks: BTreeSet::new() }
    }

    /// One call that reads `count` units from `start` on: the windows, as first unit and count.
    fn read(&mut self, start: u64, count: u64) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        self.state.call(start * self.unit_bytes, count * self.unit_bytes);
        for place in start..start + count {
            let found = match (self.cached.contains(&place), self.marks.remove(&place)) {
                (false, _) => Found::Absent,
                (true, true) => Found::Marked,
                (true, false) => Found::Here,
            };
            let mut windows = Vec::new();
            let cached = &self.cached;
            let here = Unit { place, left: start + count - place, found, end: self.end, whole: self.end };
            self.state.at(here, &|unit| cached.contains(&unit), &mut windows);
            for Window { start, count, marks } in windows {
                all.push((start, count));
                self.cached.extend(start..self.end.min(start + count));
                self.marks.extend(marks.into_iter().flatten());
            }
            if self.cached.insert(place) {
                self.state.missed();
                all.push((place, 1));
            }
        }
        all
    }

    /// What each of the calls reads, from the beginning on.
    fn sequence(&mut self, calls: u64, count: u64) -> Vec<(u64, Vec<(u64, u64)>)> {
        let each = (0..calls).map(|call| (call * count, self.read(call * count, count)));
        each.filter(|(_, windows)| !windows.is_empty()).collect()
    }
}

const LINUX_2_6_9: Readahead = Readahead::Hits { max: 32 };
const LINUX_2_6_11: Readahead = Readahead::Windows { max: 32 };
const LINUX_6_1: Readahead = Readahead::OnDemand { max: 32 };
const FREEBSD_4_3: Readahead = Readahead::Clusters { cluster: 8 };

/// `cat` with calls of one page: half the maximum; 18 pages from the second page on; then, at the second page of each window,
/// what 16 hits more have made of it.
#[test]
fn windows_by_hits_are_asked_for_at_the_second_page_of_the_one_before() {
    let known = [
        (0, vec![(0, 16)]),
        (1, vec![(16, 18)]),
        (17, vec![(34, 32)]),
        (35, vec![(66, 32)]),
        (67, vec![(98, 32)]),
    ];
    assert_eq!(Reader::new(LINUX_2_6_9, 1000).sequence(90, 1), known);
}

/// Pages anywhere: the window loses two pages each time, until there is none; what is missing then brings it back.
#[test]
fn windows_by_hits_shrink_to_nothing() {
    let mut reader = Reader::new(LINUX_2_6_9, 100_000);
    let sizes: Vec<u64> = (0..9).map(|place| reader.read(1000 * (place + 1), 1)[0].1).collect();
    assert_eq!(sizes, [16, 14, 12, 10, 8, 6, 4, 2, 1]);
    assert_eq!(reader.read(50_000, 1), [(50_000, 2)]);
}

/// `cat` with calls of one page: 8 pages, from the second page on 16 ahead, then 32 ahead each time that the ahead window is
/// entered.
#[test]
fn two_windows_grow_from_a_quarter_to_the_maximum() {
    let seen = Reader::new(LINUX_2_6_11, 1000).sequence(100, 1);
    let known = [
        (0, vec![(0, 8)]),
        (1, vec![(8, 16)]),
        (8, vec![(24, 32)]),
        (24, vec![(56, 32)]),
        (56, vec![(88, 32)]),
        (88, vec![(120, 32)]),
    ];
    assert_eq!(seen, known);
}

/// A call as long as the maximum opens both windows at once.
#[test]
fn a_long_call_has_two_windows_from_the_beginning() {
    let seen = Reader::new(LINUX_2_6_11, 1000).sequence(3, 32);
    assert_eq!(seen, [(0, vec![(0, 32), (32, 32)]), (32, vec![(64, 32)]), (64, vec![(96, 32)])]);
}

#[test]
fn reads_out_of_order_read_what_they_want() {
    let mut reader = Reader::new(LINUX_2_6_11, 1000);
    assert_eq!(reader.read(500, 2), [(500, 2)]);
    assert_eq!(reader.read(100, 4), [(100, 4)]);
    // What goes on in order from there opens windows again.
    assert_eq!(reader.read(104, 4), [(104, 8)]);
    assert_eq!(reader.read(108, 4), [(112, 16)]);
}

/// A page that was read ahead and is gone: the next window has two pages less.
#[test]
fn a_lost_page_makes_the_next_window_smaller() {
    let mut reader = Reader::new(LINUX_2_6_11, 1000);
    reader.sequence(60, 1);
    // The windows are 56 to 87 and 88 to 119 now.
    reader.cached.remove(&60);
    assert_eq!(reader.read(60, 1), [(60, 1)]);
    for page in 61..88 {
        assert_eq!(reader.read(page, 1), []);
    }
    assert_eq!(reader.read(88, 1), [(120, 30)]);
}

#[test]
fn a_file_in_memory_is_not_read_ahead() {
    let mut reader = Reader::new(LINUX_2_6_11, 1000);
    reader.cached.extend(0..600);
    assert_eq!(reader.sequence(600, 1), []);
    assert_eq!(reader.read(600, 1)[0].0, 600);
}

/// Calls of one page: 4, then 8, 16 and 32 each time that the mark is reached.
#[test]
fn one_window_doubles_at_its_mark() {
    let seen = Reader::new(LINUX_6_1, 1000).sequence(100, 1);
    let known = [
        (0, vec![(0, 4)]),
        (1, vec![(4, 8)]),
        (4, vec![(12, 16)]),
        (12, vec![(28, 32)]),
        (28, vec![(60, 32)]),
        (60, vec![(92, 32)]),
        (92, vec![(124, 32)]),
    ];
    assert_eq!(seen, known);
}

/// Calls of 32 pages, `cat` of today: the first window is all that the call wants, and its second half asks for the next.
#[test]
fn a_call_of_a_whole_window_asks_for_the_next_in_its_middle() {
    let seen = Reader::new(LINUX_6_1, 1000).sequence(3, 32);
    assert_eq!(seen, [(0, vec![(0, 32), (32, 32)]), (32, vec![(64, 32)]), (64, vec![(96, 32)])]);
}

#[test]
fn random_pages_are_read_alone_on_demand() {
    let mut reader = Reader::new(LINUX_6_1, 1000);
    assert_eq!(reader.read(700, 1), [(700, 1)]);
    assert_eq!(reader.read(300, 2), [(300, 2)]);
    // In order from there: a window.
    assert_eq!(reader.read(302, 2), [(302, 4)]);
}

/// Calls of one block: the count begins with one and grows with each call. Block 0 has two blocks' credit, so two are read ahead;
/// block 2, which is marked, has credit up to block 6, where the next cluster would begin.
#[test]
fn clusters_follow_what_was_read_in_order() {
    let known = [
        (0, vec![(0, 1), (1, 2)]),
        (1, vec![(3, 3)]),
        (3, vec![(6, 5)]),
        (5, vec![(11, 7)]),
        (10, vec![(18, 8)]),
        (17, vec![(26, 8)]),
        (18, vec![(34, 8)]),
    ];
    assert_eq!(Reader::new(FREEBSD_4_3, 1000).sequence(20, 1), known);
}

/// Calls of 64 KiB, SOSP'01's: each one counts four.
#[test]
fn long_calls_have_a_cluster_ahead() {
    let seen = Reader::new(FREEBSD_4_3, 1000).sequence(3, 8);
    assert_eq!(seen, [(0, vec![(0, 8), (8, 5)]), (8, vec![(13, 8), (21, 8)]), (16, vec![(29, 8)])]);
}

/// The block that a file fills in part is read when it is wanted, and not before.
#[test]
fn part_of_a_block_is_not_read_ahead() {
    let mut state = State::new(FREEBSD_4_3);
    state.call(0, 8192);
    let mut windows = Vec::new();
    let here = Unit { place: 0, left: 1, found: Found::Absent, end: 3, whole: 2 };
    state.at(here, &|_| false, &mut windows);
    assert_eq!(windows.iter().map(|one| (one.start, one.count)).collect::<Vec<_>>(), [(0, 1), (1, 1)]);
}

#[test]
fn random_blocks_are_read_as_the_call_wants_them() {
    let mut reader = Reader::new(FREEBSD_4_3, 1000);
    assert_eq!(reader.read(500, 1), [(500, 1)]);
    assert_eq!(reader.read(100, 4), [(100, 4)]);
    assert_eq!(reader.read(300, 1), [(300, 1)]);
}

#[test]
fn no_window_begins_behind_the_end() {
    for readahead in [LINUX_2_6_9, LINUX_2_6_11, LINUX_6_1, FREEBSD_4_3] {
        let mut reader = Reader::new(readahead, 5);
        let windows: Vec<(u64, u64)> = (0..5).flat_map(|place| reader.read(place, 1)).collect();
        assert!(windows.iter().all(|(start, _)| *start < 5), "{readahead:?}: {windows:?}");
        let read: u64 = windows.iter().map(|(start, count)| (*count).min(5 - start)).sum();
        assert_eq!(read, 5, "{readahead:?}: {windows:?}");
    }
}
