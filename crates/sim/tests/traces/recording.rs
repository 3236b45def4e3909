//! A small recording, with the records that it must give.

use idlewise_core::{Class, Group, Priority};
use idlewise_sim::traces::Format;
use idlewise_sim::traces::recording::{Asked, Disk, Encoder, Entry, Event, Head, Name, Tail, What};

use super::{Fixture, Operation, Record, by, on, plain, sent, synchronous};
use Operation::{Discard, Flush, Read, Write};

/// A recording: a read that was given back once, a write that was split and merged, a flush, zeroes, and a process
/// that is forked and ends.
pub(super) fn recording() -> Fixture {
    let disk = |name: &str| Disk { name: name.to_owned(), ..Disk::default() };
    let head = Head { disks: vec![disk("sda"), disk("nvme0n1")], ..Head::default() };
    let mut bytes = Vec::new();
    Encoder::begin(&head, &mut bytes).unwrap();
    let asked = |operation, flags, disk| Asked { operation, flags, priority: 0, disk };
    let read = asked(Asked::READ, Asked::METADATA, 0);
    let (write, zeroes) = (asked(Asked::WRITE, Asked::SYNC, 1), asked(Asked::ZEROES, 0, 0));
    // The kernel knows the priority of a request, not of a bio.
    let [read_request, write_request] = [read, write].map(|asked| Asked { priority: 2 << 13 | 4, ..asked });
    let block = |what, asked, task, sector, length| Entry::Block(Event { what, asked, task, sector, length });
    let empty = asked(Asked::WRITE, Asked::FLUSH_BEFORE, 1);
    let flush = asked(Asked::FLUSH, Asked::FLUSH_BEFORE, 1);
    let entries = [
        (1000, Entry::Task { task: 7, process: 7, parent: 1, name: Name::default() }),
        (1000, block(What::Queue, read, 7, 8, 16)),
        (1100, block(What::Issue, read_request, 7, 8, 16)),
        (1150, block(What::Requeue, read_request, 0, 8, 16)),
        (1200, Entry::Fork { task: 8, process: 8, parent_task: 7, parent: 7 }),
        (1200, block(What::Queue, write, 9, 100, 24)),
        (1200, block(What::Split(116), write, 9, 100, 0)),
        (1210, block(What::MergeBio, write, 9, 116, 8)),
        (1220, block(What::Issue, write_request, 9, 100, 24)),
        (1250, block(What::Issue, read_request, 3, 8, 16)),
        (1300, block(What::Complete, write_request, 0, 100, 8)),
        (1310, block(What::Complete, write_request, 0, 108, 16)),
        (1400, block(What::Complete, read_request, 0, 8, 16)),
        (1500, block(What::Queue, empty, 7, 0, 0)),
        (1500, block(What::Issue, flush, 3, 0, 0)),
        (1600, block(What::Complete, flush, 0, 0, 0)),
        (1700, block(What::Queue, zeroes, 7, 0, 1 << 20)),
        (1700, Entry::Lost(2)),
        (1800, Entry::Exit { task: 7, process: 7 }),
        (1900, Entry::End(Box::new(Tail { lost: 2, ..Tail::default() }))),
    ];
    let (mut encoder, mut body) = (Encoder::default(), Vec::new());
    entries.iter().for_each(|(time, entry)| encoder.write(*time, entry, &mut body));
    bytes.extend(body);
    let priority = Some(Priority { class: Class::BestEffort, level: 4 });
    let known = |record, pid| Record { priority, ..by(record, pid) };
    let group = Some(Group(7));
    let records = vec![
        sent(Record { metadata: true, group, ..known(plain(0, Read, 8, 16), 7) }, 250, 400),
        on(sent(synchronous(known(plain(200, Write, 100, 16), 9)), 220, 310), 1),
        on(sent(synchronous(known(plain(200, Write, 116, 8), 9)), 220, 310), 1),
        Record { group, ..on(sent(by(plain(500, Flush, 0, 0), 7), 500, 600), 1) },
        Record { group, ..by(plain(700, Discard, 0, 1 << 20), 7) },
    ];
    Fixture { format: Format::Recording, bytes, records, devices: vec!["sda", "nvme0n1"] }
}
