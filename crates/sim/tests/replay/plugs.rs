//! What Linux held back behind a plug comes together.

use std::collections::VecDeque;
use std::io::Cursor;

use idlewise_core::{Duration, Instant, Issuer, Operation, Sector, Sectors};
use idlewise_sim::engine::Workload;
use idlewise_sim::replay::{Mode, Replay, Rows, RowsError, Settings};
use idlewise_sim::traces::recording::{Asked, Disk, Encoder, Entry, Event, Head, What};
use idlewise_sim::traces::{Exit, Options, Record, Trace};

use super::{Constant, List, MS, replay_on, replay_under, row, run};

/// Four reads in a row of 1 KiB each, 4 us apart, which went to the disk as one command; another process reads meanwhile.
fn plugged() -> Vec<Record> {
    let part = |n: u64| Record {
        dispatched: Some(Instant(100_000)),
        completed: Some(Instant(5 * MS)),
        issuer: Some(Issuer(1)),
        ..Record::read(Instant(n * 4_000), Sector(1000 + n * 2), Sectors(2))
    };
    let other = Record {
        dispatched: Some(Instant(9_000)),
        completed: Some(Instant(20 * MS)),
        issuer: Some(Issuer(2)),
        ..Record::read(Instant(9_000), Sector(900_000), Sectors(8))
    };
    vec![part(0), part(1), part(2), other, part(3)]
}

#[test]
fn parts_of_one_command_reach_the_queue_together() {
    let mut device = Constant { service: Duration::from_ms(1), held: None, log: Vec::new() };
    let (report, account) = replay_on(&mut device, plugged(), false, 1.0);
    assert_eq!((report.requests, account.rows), (5, 5));
    let sent: Vec<(u64, u32)> =
        device.log.iter().map(|command| (command.start.0, command.length.0)).collect();
    assert_eq!(sent, [(900_000, 8), (1000, 8)], "the other one did not wait for the plug");
}

/// Where the disk was asked to go, in order.
fn places(rows: Vec<Record>) -> Vec<u64> {
    let mut device = Constant { service: Duration::from_us(1), held: None, log: Vec::new() };
    replay_on(&mut device, rows, false, 1.0);
    device.log.iter().map(|command| command.start.0).collect()
}

#[test]
fn what_a_process_issued_behind_the_same_plug_comes_with_it() {
    let mut rows = plugged();
    // Another command of the process, issued between the parts.
    rows[1].start = Sector(500_000);
    rows[1].completed = Some(Instant(9 * MS));
    assert_eq!(places(rows), [900_000, 1000, 500_000, 1004], "the process's order stays");
}

#[test]
fn a_plug_is_of_one_process_and_no_longer_than_a_batch() {
    let first = |change: fn(&mut Record)| {
        let mut rows = plugged();
        rows.iter_mut().filter(|row| row.start.0 > 1000 && row.start.0 < 2000).for_each(change);
        places(rows)[0]
    };
    assert_eq!(first(|_| {}), 900_000);
    assert_eq!(first(|row| row.issuer = Some(Issuer(5))), 1000);
    let late = |row: &mut Record| {
        (row.arrival, row.dispatched) = (row.arrival + Duration::from_us(101), Some(Instant(300_000)));
    };
    assert_eq!(first(late), 1000, "the parts come too late");
}

#[test]
fn of_what_a_busy_disk_did_not_get_at_once_only_one_command_was_behind_a_plug() {
    let first = |change: fn(&mut Record)| {
        let mut rows = plugged();
        rows.iter_mut().filter(|row| row.start.0 > 1000 && row.start.0 < 2000).for_each(change);
        let busy = Record {
            dispatched: Some(Instant(0)),
            completed: Some(Instant(MS)),
            issuer: Some(Issuer(3)),
            ..Record::read(Instant(0), Sector(0), Sectors(8))
        };
        rows.insert(0, busy);
        places(rows)[1]
    };
    assert_eq!(first(|_| {}), 900_000);
    assert_eq!(first(|row| (row.operation, row.sync) = (Operation::Write, true)), 1000);
    assert_eq!(first(|row| row.completed = Some(Instant(6 * MS))), 1000);
    assert_eq!(first(|row| row.completed = None), 1000);
}

#[test]
fn a_trace_of_one_time_is_read_a_little_ahead() {
    struct Endless(u64);
    impl Rows for Endless {
        fn next(&mut self) -> Result<Option<Record>, RowsError> {
            self.0 += 1;
            assert!(self.0 < 50_000, "all of it is read at once");
            let dispatched = Some(Instant(0));
            Ok(Some(Record { dispatched, ..row(0, Some(1), Some(1), self.0 * 16) }))
        }
    }
    let settings =
        Settings { mode: Mode::Closed, speed: 1.0, capacity: Sector(1_000_000), unscheduled: false };
    let mut replay = Replay::new(Box::new(Endless(0)), settings);
    assert_eq!(Workload::next(&mut replay), Some(Instant(0)));
}

#[test]
fn rows_and_exits_before_an_error_are_replayed() {
    struct Broken(VecDeque<(Record, Vec<Exit>)>, Vec<Exit>);
    impl Rows for Broken {
        fn next(&mut self) -> Result<Option<Record>, RowsError> {
            let Some((record, exits)) = self.0.pop_front() else { return Err("cut off".into()) };
            self.1 = exits;
            Ok(Some(record))
        }
        fn exits(&self) -> &[Exit] {
            &self.1
        }
    }
    let exits =
        |n: usize| if n == 4 { vec![Exit { at: Instant(10_000), issuer: Issuer(3) }] } else { Vec::new() };
    let rows: VecDeque<_> = plugged().into_iter().enumerate().map(|(n, row)| (row, exits(n))).collect();
    let settings =
        Settings { mode: Mode::Closed, speed: 1.0, capacity: Sector(1_000_000), unscheduled: false };
    let mut replay = Replay::new(Box::new(Broken(rows, Vec::new())), settings);
    Workload::next(&mut replay);
    assert_eq!(replay.account().rows, 5);
    assert_eq!(replay.take_error().unwrap().to_string(), "cut off");
}

#[test]
fn commands_that_a_process_issued_one_by_one_stay_apart() {
    let mut rows = plugged();
    // The disk got the third by itself.
    rows[2].dispatched = Some(Instant(8_500));
    let mut device = Constant { service: Duration::from_ms(1), held: None, log: Vec::new() };
    replay_on(&mut device, rows, false, 1.0);
    let sent: Vec<u64> = device.log.iter().map(|command| command.start.0).collect();
    assert_eq!(sent[0], 1004, "it comes when it came: {sent:?}");
}

/// Two writes of 4 KiB, 4 us apart, which were sent one after the other when both had been issued.
fn apart(first: Record) -> Vec<Record> {
    let write = |at: u64, sent: u64, start: u64| Record {
        dispatched: Some(Instant(sent)),
        completed: Some(Instant(sent + MS)),
        issuer: Some(Issuer(1)),
        operation: Operation::Write,
        ..Record::read(Instant(at), Sector(start), Sectors(8))
    };
    vec![first, write(5 * MS, 5 * MS + 9_000, 900_000), write(5 * MS + 4_000, 5 * MS + 12_000, 1000)]
}

/// A read by another process, which was done at `completed`.
fn before(completed: u64) -> Record {
    Record {
        dispatched: Some(Instant(0)),
        completed: Some(Instant(completed)),
        issuer: Some(Issuer(2)),
        ..Record::read(Instant(0), Sector(0), Sectors(8))
    }
}

#[test]
fn what_an_idle_disk_did_not_get_at_once_was_behind_a_plug() {
    let lowest_first = |completed: u64| {
        let mut device = Constant { service: Duration::from_us(1), held: None, log: Vec::new() };
        replay_under("sstf", &mut device, apart(before(completed)), false, 1.0);
        device.log.iter().map(|command| command.start.0).collect::<Vec<_>>()
    };
    assert_eq!(lowest_first(4 * MS), [0, 1000, 900_000], "the scheduler sees both");
    assert_eq!(lowest_first(6 * MS), [0, 900_000, 1000], "the first may have waited for the disk");
}

/// Rows from a kernel that unplugs backwards.
struct Backwards(List);

impl Rows for Backwards {
    fn next(&mut self) -> Result<Option<Record>, RowsError> {
        self.0.next()
    }

    fn unplugs_backwards(&self) -> bool {
        true
    }
}

#[test]
fn without_a_scheduler_a_plug_is_emptied_as_the_kernel_does() {
    let sent = |rows: Box<dyn Rows>, unscheduled: bool| {
        let mut device = Constant { service: Duration::from_us(1), held: None, log: Vec::new() };
        let settings = Settings { mode: Mode::Closed, speed: 1.0, capacity: Sector(1_000_000), unscheduled };
        run("none", &mut device, Replay::new(rows, settings));
        device.log.iter().map(|command| command.start.0).collect::<Vec<_>>()
    };
    let list = || List(apart(before(4 * MS)).into());
    assert_eq!(sent(Box::new(Backwards(list())), true), [0, 1000, 900_000]);
    assert_eq!(
        sent(Box::new(Backwards(list())), false),
        [0, 900_000, 1000],
        "a scheduler gets them in order"
    );
    assert_eq!(sent(Box::new(list()), true), [0, 900_000, 1000], "another kernel");
}

#[test]
fn kernels_that_unplug_backwards_are_known() {
    let backwards = |kernel: &str| {
        let head = Head { kernel: kernel.to_owned(), disks: vec![Disk::default()], ..Head::default() };
        let (mut bytes, mut body) = (Vec::new(), Vec::new());
        Encoder::begin(&head, &mut bytes).unwrap();
        let asked = Asked { operation: Asked::READ, ..Asked::default() };
        let read = Event { what: What::Queue, asked, task: 7, sector: 8, length: 8 };
        Encoder::default().write(1000, &Entry::Block(read), &mut body);
        bytes.append(&mut body);
        let mut trace = Trace::from_reader(Cursor::new(bytes), "recording", &Options::default()).unwrap();
        trace.next().unwrap();
        trace.unplugs_backwards()
    };
    assert!(["5.16.0", "6.1.0-56-amd64", "6.12.3"].into_iter().all(backwards));
    assert!(!["4.19.0", "5.15.0-100-generic", "6.13.0", "7.3.4", "", "unknown"].into_iter().any(backwards));
}
