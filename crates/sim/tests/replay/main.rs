//! Replaying traces: what waits for what, and that memory and time behave.

mod plugs;

use std::collections::VecDeque;

use idlewise_core::{
    Device as Traits, Durable, Duration, Group, Host, Instant, Issuer, Operation, Queue, Sector, Sectors,
    registry,
};
use idlewise_disk::{Command, Completion, DiskModel, SubmitError, Timing};
use idlewise_sim::engine::{Control, Engine, Limits};
use idlewise_sim::metrics::{Recorder, Report};
use idlewise_sim::replay::{Account, Mode, Replay, Rows, RowsError, Settings};
use idlewise_sim::traces::infer::{Cause, HAND_OVER, Inference, SILENCE};
use idlewise_sim::traces::{Exit, Record};

const MS: u64 = 1_000_000;

/// A device with a constant service time, one command at a time.
struct Constant {
    service: Duration,
    held: Option<(Instant, Instant, u32)>,
    /// What was submitted.
    log: Vec<Command>,
}

impl DiskModel for Constant {
    fn capacity(&self) -> Sector {
        Sector(1_000_000)
    }
    fn depth(&self) -> u32 {
        1
    }
    fn rotational(&self) -> bool {
        true
    }
    fn submit(&mut self, now: Instant, command: Command) -> Result<(), SubmitError> {
        assert!(command.start + command.length <= self.capacity());
        self.held = Some((now + self.service, now, command.tag));
        self.log.push(command);
        Ok(())
    }
    fn next_event(&self) -> Option<Instant> {
        self.held.map(|held| held.0)
    }
    fn advance(&mut self, now: Instant) -> Option<Completion> {
        let (at, started, tag) = self.held.take_if(|held| held.0 <= now)?;
        Some(Completion { tag, at, started, timing: Timing::default() })
    }
}

struct List(VecDeque<Record>);

impl Rows for List {
    fn next(&mut self) -> Result<Option<Record>, RowsError> {
        Ok(self.0.pop_front())
    }
}

fn row(arrival_ms: u64, completed_ms: Option<u64>, issuer: Option<u32>, start: u64) -> Record {
    Record {
        completed: completed_ms.map(|ms| Instant(ms * MS)),
        issuer: issuer.map(Issuer),
        ..Record::read(Instant(arrival_ms * MS), Sector(start), Sectors(8))
    }
}

fn replay(rows: Vec<Record>, service: Duration, open: bool, speed: f64) -> (Report, Account) {
    replay_on(&mut Constant { service, held: None, log: Vec::new() }, rows, open, speed)
}

fn replay_on(device: &mut Constant, rows: Vec<Record>, open: bool, speed: f64) -> (Report, Account) {
    replay_under("noop", device, rows, open, speed)
}

fn replay_under(
    scheduler: &str,
    device: &mut Constant,
    rows: Vec<Record>,
    open: bool,
    speed: f64,
) -> (Report, Account) {
    let mode = if open { Mode::Open } else { Mode::Closed };
    let settings = Settings { mode, speed, capacity: device.capacity(), unscheduled: false };
    run(scheduler, device, Replay::new(Box::new(List(rows.into())), settings))
}

fn run(scheduler: &str, device: &mut Constant, mut replay: Replay) -> (Report, Account) {
    let mut host =
        Host::new(Queue::new(256, Traits::default(), registry::find(scheduler).unwrap(), &[]).unwrap(), ());
    let mut recorder = Recorder::new(256);
    Engine::new(&mut replay, &mut host, device, &mut recorder, Limits::default())
        .run(&Control::default())
        .unwrap();
    assert!(replay.take_error().is_none());
    (recorder.report(scheduler, 0, |_| (None, idlewise_core::Weight::default())), replay.account())
}

/// A process that reads ten times: 5 ms on the traced disk, then computes for 2 ms.
fn reader() -> Vec<Record> {
    (0..10).map(|n| row(n * 7, Some(n * 7 + 5), Some(7), n * 1000)).collect()
}

#[test]
fn a_faster_disk_shortens_a_closed_loop_by_its_service_alone() {
    let (report, account) = replay(reader(), Duration::from_ms(1), false, 1.0);
    // Ten services of 1 ms and nine times 2 ms of computing.
    assert_eq!(report.elapsed_ns, (10 + 9 * 2) * MS);
    assert_eq!((account.at_recorded_time, account.after_completion), (1, 9));
}

#[test]
fn an_open_loop_keeps_the_recorded_times() {
    let (report, _) = replay(reader(), Duration::from_ms(1), true, 1.0);
    assert_eq!(report.elapsed_ns, 64 * MS);
    let (report, _) = replay(reader(), Duration::from_ms(1), true, 2.0);
    assert_eq!(report.elapsed_ns, (31 * MS + MS / 2) + MS, "twice as fast");
}

#[test]
fn rows_without_issuer_are_streams_or_one_process() {
    // Two streams far apart, each of whose reads takes 5 ms, in turn.
    let rows =
        || (0..20).map(|n| row(n * 5, Some(n * 5 + 5), None, n % 2 * 500_000 + n * 4)).collect::<Vec<_>>();
    let issuers = |mode| {
        let mut device = Constant { service: Duration::from_ms(1), held: None, log: Vec::new() };
        let settings = Settings { mode, speed: 1.0, capacity: device.capacity(), unscheduled: false };
        let (report, _) = run("noop", &mut device, Replay::new(Box::new(List(rows().into())), settings));
        (report.issuers.len(), report.elapsed_ns / MS)
    };
    assert_eq!(issuers(Mode::Closed), (2, 24));
    assert_eq!(issuers(Mode::OneProcess), (1, 20));
    assert_eq!(issuers(Mode::Open).0, 1);
}

#[test]
fn speed_scales_what_the_process_computes() {
    let (report, _) = replay(reader(), Duration::from_ms(1), false, 2.0);
    assert_eq!(report.elapsed_ns, (10 + 9) * MS);
}

#[test]
fn a_commit_flushes_the_disk_and_is_forced_and_goes_before_what_waits() {
    let write = |at: u64, start: u64, durable: Durable| Record {
        operation: Operation::Write,
        sync: true,
        durable,
        ..row(at, None, Some(1), start)
    };
    let commit = Durable { before: true, itself: true };
    let plain = Durable::default();
    let rows = vec![write(0, 0, plain), write(0, 800, plain), write(1, 1600, commit)];
    let mut device = Constant { service: Duration::from_ms(5), held: None, log: Vec::new() };
    let (report, _) = replay_on(&mut device, rows, true, 1.0);
    let got: Vec<_> = device.log.iter().map(|it| (it.operation, it.start.0, it.fua)).collect();
    let write = |start, fua| (Operation::Write, start, fua);
    assert_eq!(got, [write(0, false), (Operation::Flush, 0, false), write(1600, true), write(800, false)]);
    assert_eq!((report.requests, report.elapsed_ns), (3, 20 * MS));
}

#[test]
fn two_processes_overlap_as_they_did() {
    let mut rows = reader();
    rows.extend((0..10).map(|n| row(n * 7 + 1, Some(n * 7 + 6), Some(8), 500_000 + n * 1000)));
    rows.sort_by_key(|row| row.arrival);
    let (report, _) = replay(rows, Duration::from_ms(1), false, 1.0);
    assert_eq!(report.requests, 20);
    // Each waits at most 1 ms for the other, so neither needs more than 1 ms more a round.
    assert!(report.elapsed_ns <= (10 * 2 + 9 * 2 + 1) * MS, "{}", report.elapsed_ns);
}

#[test]
fn addresses_beyond_the_end_are_folded_and_counted() {
    let rows =
        vec![row(0, None, None, 5_000_000_000), row(1, None, None, 5_000_000_008), row(2, None, None, 64)];
    let (report, account) = replay(rows, Duration::from_ms(1), true, 1.0);
    assert_eq!((report.requests, account.folded, account.rows), (3, 2, 3));
}

#[test]
fn many_more_rows_than_the_window_are_replayed_once_each() {
    let rows: Vec<_> = (0..200_000)
        .map(|n| row(n, Some(n + 1), Some(((n * 2_654_435_761) >> 20) as u32 % 50 + 1), n * 8 % 900_000))
        .collect();
    let (report, account) = replay(rows, Duration(1000), false, 1.0);
    assert_eq!((report.requests, account.rows), (200_000, 200_000));
    let share = report.mostly_done_ns as f64 / report.elapsed_ns as f64;
    assert!(
        (0.94..0.96).contains(&share),
        "95 in 100 requests of a steady load are done after {share} of it"
    );
}

#[test]
fn a_row_far_behind_holds_the_window_but_loses_nothing() {
    // The first process's second request comes only after a long computation.
    let mut rows = vec![row(0, Some(1), Some(1), 0), row(100_000, Some(100_001), Some(1), 8)];
    rows.extend((0..100_000).map(|n| row(n + 1, Some(n + 2), Some(2), 1000 + n * 8 % 900_000)));
    rows.sort_by_key(|row| row.arrival);
    let (report, _) = replay(rows, Duration(1000), false, 1.0);
    assert_eq!(report.requests, 100_002);
}

fn causes(rows: &[Record]) -> Vec<Cause> {
    let mut inference = Inference::default();
    rows.iter().enumerate().map(|(number, row)| inference.infer(row, number as u64).cause).collect()
}

#[test]
fn a_request_comes_when_its_process_has_no_more_under_way_than_it_had() {
    let rows = [
        row(0, Some(5), Some(1), 0),
        row(1, Some(9), Some(1), 8),
        row(6, Some(12), Some(1), 16),
        row(8, Some(15), Some(1), 24),
    ];
    let own =
        |under_way: u32, ms: u64| Cause::Own { under_way, in_order: true, think: Duration::from_ms(ms) };
    assert_eq!(causes(&rows)[1..], [own(1, 1), own(1, 1), own(2, 2)]);
}

#[test]
fn a_process_issues_in_order_and_computes_for_one_request_after_another() {
    // A reader with one request under way while it takes in the data of the one before: 2 ms each.
    let rows: Vec<_> = (0..10).map(|n| row(n * 7, Some(n * 7 + 12), Some(7), n * 1000)).collect();
    // On a disk that does each in no time, the reader is all that takes time.
    let (report, _) = replay(rows, Duration(1), false, 1.0);
    assert_eq!(report.elapsed_ns, (7 + 8 * 2) * MS + 1);
}

#[test]
fn a_process_that_keeps_two_requests_under_way_needs_no_particular_one() {
    // Of the first two, the second is done first: the third comes then.
    let rows = [row(0, Some(9), Some(1), 0), row(0, Some(5), Some(1), 8), row(6, Some(12), Some(1), 16)];
    let think = Duration::from_ms(1);
    assert_eq!(causes(&rows)[2], Cause::Own { under_way: 1, in_order: false, think });
    // Here the first is done first, at 1 ms, and the second at 2; the third comes at 2 ms.
    let (report, _) = replay(rows.to_vec(), Duration::from_ms(1), false, 1.0);
    assert_eq!(report.elapsed_ns, 3 * MS);
}

#[test]
fn who_reads_on_waits_for_what_came_first_in_the_file() {
    // Process 1 has two requests under way, and issues the next one 1 ms after the first of them is done.
    let length = Traits::default().max_sectors;
    let read = |at: u64, done: u64, who: u32, place: u64| Record {
        length,
        ..row(at, Some(done), Some(who), place * u64::from(length.0))
    };
    let rows = |second: u64, third: u64| {
        vec![
            read(0, 2, 2, 2),
            read(1, 6, 1, 0),
            read(1, second, 1, 1),
            read(third, 12, 1, 2),
            read(13, 14, 1, 3),
        ]
    };
    // Here the second is nearer to the head, so that it is done at 4 ms and the first at 6; the third comes at 7 ms.
    let elapsed = |rows: Vec<Record>| {
        let mut device = Constant { service: Duration::from_ms(2), held: None, log: Vec::new() };
        replay_under("sstf", &mut device, rows, false, 1.0).0.elapsed_ns / MS
    };
    assert_eq!(elapsed(rows(10, 7)), 12);
    // Unless the third did not wait for the first in the trace: it comes 1 ms after the second.
    assert_eq!(elapsed(rows(4, 5)), 11);
}

#[test]
fn a_reader_ahead_does_not_wait_for_what_the_disk_does_early() {
    // 2 ms of computing for each request; one is under way meanwhile, and the drive reorders or buffers some.
    let done = [10, 20, 30, 40, 39, 50];
    let came = [0, 1, 12, 22, 32, 42];
    let rows: Vec<_> = (0..6).map(|n| row(came[n], Some(done[n]), Some(1), 1000 * n as u64)).collect();
    let think = Duration::from_ms(2);
    // The last came when none was under way: 2 ms after the one before the last of those issued.
    assert_eq!(causes(&rows)[2..], [Cause::Own { under_way: 1, in_order: false, think }; 4]);
    // One that computes for longer before it goes on has waited for the latest.
    let rows: Vec<_> = (0..6)
        .map(|n| row(came[n] + 3 * (n as u64 / 5), Some(done[n] + 3 * (n as u64 / 5)), Some(1), 0))
        .collect();
    assert_eq!(causes(&rows)[5], Cause::Own { under_way: 0, in_order: false, think: Duration::from_ms(5) });
}

/// The causes of the rows of `who` in a load of two processes.
fn causes_of(who: u32, mut rows: Vec<Record>) -> Vec<Cause> {
    rows.sort_by_key(|row| row.arrival);
    let all = causes(&rows);
    rows.iter().zip(all).filter(|(row, _)| row.issuer == Some(Issuer(who))).map(|(_, cause)| cause).collect()
}

#[test]
fn a_database_waits_for_the_journal_that_commits_for_it() {
    // Process 1 writes, 9 commits that, 1 goes on.
    let rows = (0..20).flat_map(|n| {
        [
            row(n * 20, Some(n * 20 + 5), Some(1), n * 1000),
            row(n * 20 + 5, Some(n * 20 + 19), Some(9), 800_000),
        ]
    });
    let causes = causes_of(1, rows.collect());
    for cause in &causes[5..] {
        assert!(
            matches!(cause, Cause::AfterCompletion { think, .. } if *think == Duration::from_ms(1)),
            "{cause:?}"
        );
    }
}

#[test]
fn a_database_whose_people_think_waits_for_its_journal_too() {
    // Process 1 reads when somebody asks, writes a little later, goes on after the commit, which 9 does, and then
    // waits for the next question: one pause in three ends with the other's request, but shortly after it.
    let at = |us: u64, until: u64, who: u32| Record {
        arrival: Instant(us * 1000),
        completed: Some(Instant(until * 1000)),
        ..row(0, None, Some(who), us)
    };
    let rows = (0..20).flat_map(|n| {
        let begun = 40_000 * n + 1000 * (n % 7);
        [
            at(begun, begun + 5000, 1),
            at(begun + 5300, begun + 5400, 1),
            at(begun + 5450, begun + 20_000, 9),
            at(begun + 20_040, begun + 25_000, 1),
        ]
    });
    let all: Vec<_> = rows.collect();
    let waits = |who: u32, every: usize, row: usize, think: u64| {
        for cause in causes_of(who, all.clone()).iter().skip(row).step_by(every).skip(5) {
            let after = matches!(cause, Cause::AfterCompletion { think: own, .. } if own.0 == think * 1000);
            assert!(after, "{who}: {cause:?}");
        }
    };
    waits(1, 3, 2, 40);
    waits(9, 1, 0, 50);
    for cause in causes_of(1, all.clone()).iter().step_by(3).skip(1) {
        assert!(matches!(cause, Cause::Own { under_way: 0, .. }), "a question comes of itself: {cause:?}");
    }
}

/// Backends 1 to 3 of a database: 1 flushes from 20 ms on for 8 ms, and 2, whose read was done at 10 ms, goes on
/// `after_us` later. The latter's group is `group`; 3 flushes at other times.
fn group_commit(group: u32, after_us: u64) -> Cause {
    let of = |record: Record, group: u32| Record { group: Some(Group(group)), ..record };
    let flush = |at: u64, who: u32| Record {
        operation: Operation::Flush,
        length: Sectors(0),
        ..row(at, Some(at + 8), Some(who), 0)
    };
    let rows = [
        of(row(0, Some(5), Some(1), 0), 7),
        of(row(1, Some(10), Some(2), 800), group),
        of(flush(6, 3), 7),
        of(flush(20, 1), 7),
        of(Record { arrival: Instant(28 * MS + after_us * 1000), ..row(28, Some(40), Some(2), 900) }, group),
    ];
    causes(&rows)[4]
}

#[test]
fn a_backend_waits_for_the_one_that_commits_for_both() {
    let own = |cause: Cause| matches!(cause, Cause::Own { under_way: 0, .. });
    let (flush, think) = (3, Duration::from_us(1900));
    assert_eq!(group_commit(7, 1900), Cause::AfterCompletion { of: flush, think });
    assert!(own(group_commit(7, 2100)), "too long after");
    assert!(own(group_commit(8, 1900)), "a stranger's flush is nobody's reason");
}

#[test]
fn who_reads_beside_a_reader_does_not_wait_for_it() {
    // Process 9 reads every 2 ms and computes for 1 ms in between; process 1 reads now and then, mostly in that time.
    let other = (0..400).map(|n| row(n * 2, Some(n * 2 + 1), Some(9), 800_000 + n * 8));
    let rows = (0..36).map(|n| row(n * 22 + 1, Some(n * 22 + 2), Some(1), n * 1000)).chain(other);
    let causes = causes_of(1, rows.collect());
    for cause in &causes[1..] {
        assert!(matches!(cause, Cause::Own { under_way: 0, .. }), "{cause:?}");
    }
}

#[test]
fn a_first_request_soon_after_a_completion_is_a_hand_over() {
    let near = [row(0, Some(5), Some(1), 0), row(6, Some(9), Some(2), 8)];
    assert_eq!(causes(&near)[1], Cause::AfterCompletion { of: 0, think: Duration::from_ms(1) });
    // Another process keeps the disk busy meanwhile.
    let late = 5 + HAND_OVER.as_ms() + 1;
    let busy = row(1, Some(100), Some(3), 80);
    let far = [row(0, Some(5), Some(1), 0), busy, row(late, Some(late + 1), Some(2), 8)];
    assert_eq!(causes(&far)[2], Cause::At(Instant(late * MS)));
}

#[test]
fn a_first_request_on_an_idle_disk_goes_on_after_the_latest() {
    let begins = |at: u64| {
        let rows =
            [row(0, Some(5), Some(1), 0), row(1, Some(9), Some(3), 80), row(at, Some(at + 1), Some(2), 8)];
        causes(&rows)[2]
    };
    assert_eq!(begins(20), Cause::AfterCompletion { of: 1, think: Duration::from_ms(11) });
    let after_silence = 9 + SILENCE.as_ms() + 1;
    assert_eq!(begins(after_silence), Cause::At(Instant(after_silence * MS)));
}

#[test]
fn a_first_request_waits_for_those_of_its_group_that_have_exited() {
    let of = |group: u32, row: Record| Record { group: Some(Group(group)), ..row };
    let cause = |group: u32, exits: bool| {
        let mut inference = Inference::default();
        let stream = row(0, Some(400), Some(1), 800);
        inference.infer(&of(1, stream), 0);
        inference.infer(&of(7, row(2, Some(8), Some(2), 0)), 1);
        if exits {
            inference.exit(&Exit { at: Instant(9 * MS), issuer: Issuer(2) });
        }
        inference.infer(&of(group, row(13, Some(20), Some(3), 16)), 2).cause
    };
    assert_eq!(cause(7, true), Cause::AfterCompletion { of: 1, think: Duration::from_ms(5) });
    assert_eq!(cause(7, false), Cause::At(Instant(13 * MS)), "it goes on beside the newcomer");
    assert_eq!(cause(8, true), Cause::At(Instant(13 * MS)), "they have nothing to do with each other");
}

#[test]
fn an_asynchronous_write_follows_the_last_issue() {
    let write = Record { operation: Operation::Write, sync: false, ..row(6, Some(9), Some(1), 8) };
    let rows = [row(0, Some(5), Some(1), 0), write];
    assert_eq!(
        causes(&rows)[1],
        Cause::Own { under_way: u32::MAX, in_order: false, think: Duration::from_ms(6) }
    );
}

#[test]
fn without_completions_the_shortest_gap_counts_as_service() {
    let rows: Vec<_> = [0, 4, 14, 18].map(|at| row(at, None, Some(1), at * 100)).to_vec();
    let thinks: Vec<_> = causes(&rows)[1..]
        .iter()
        .map(|cause| match cause {
            Cause::AfterCompletion { think, .. } => think.as_us(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(thinks[0], 0);
    assert!((5_000..=6_000).contains(&thinks[1]), "{thinks:?}");
    assert!(thinks[2] < 500, "{thinks:?}");
}

#[test]
fn rows_issued_together_share_their_cause() {
    let mut together = row(4, None, Some(1), 800);
    together.arrival = Instant(4 * MS + 20_000);
    let rows = [row(0, None, Some(1), 0), row(4, None, Some(1), 400), together];
    let causes = causes(&rows);
    assert_eq!(causes[1], Cause::AfterCompletion { of: 0, think: Duration::ZERO });
    assert_eq!(causes[2], Cause::AfterCompletion { of: 0, think: Duration::from_us(20) });
}

#[test]
fn without_issuers_streams_stand_in_for_processes() {
    let rows: Vec<_> = (0..6).map(|n| row(n * 5, None, None, (n % 2) * 500_000 + n / 2 * 8)).collect();
    let mut inference = Inference::default();
    let issuers: Vec<_> =
        rows.iter().enumerate().map(|(number, row)| inference.infer(row, number as u64).issuer).collect();
    assert_eq!(issuers[0], issuers[2]);
    assert_eq!(issuers[1], issuers[5]);
    assert_ne!(issuers[0], issuers[1]);
}
