//! Block events as text: trace, trace_pipe, `trace-cmd report`, `perf script`.
//!
//! `process-pid [cpu] flags seconds: event: …` (ftrace; the thread group may follow the pid) or
//! `process pid [cpu] seconds: block:event: …` (perf). A process name may have spaces. Events:
//! block_bio_queue, block_rq_insert, block_rq_issue, block_rq_complete, block_bio_complete,
//! block_rq_requeue, block_split; merges and remaps are counted. sched_process_exit tells that a process has
//! ended (`comm=… pid=…`), sched_process_fork who started it (`comm=… pid=… child_comm=… child_pid=…`). … is `major,minor rwbs [bytes]
//! [(command)] sector + sectors [class,hint,level] [[process or error]]`; the priority came with
//! Linux 6.x. Lines that begin with `#` are passed over, other events are counted.
//!
//! The format lacks: nothing, if queue, issue and complete are all recorded.

use super::prelude::*;
use crate::traces::event::{Action, Event};
use crate::traces::formats::blkparse::{bracketed, device_name, device_number, extent};
use crate::traces::pairing::Pairing;
use crate::traces::parse::{Words, decimal, integer};
use crate::traces::record::Exit;
use crate::traces::rwbs::Rwbs;
use idlewise_core::{Class, Instant, Issuer, Priority};

pub(crate) const ABOUT: About =
    About::events("ftrace", "ftrace, trace-cmd or perf script text", "seconds, decimal");

pub(crate) const CODE: Code = Code::text::<Ftrace>();

#[derive(Default)]
struct Ftrace {
    pairing: Pairing,
}

impl LineFormat for Ftrace {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        if line[0] == b'#' || line.starts_with(b"cpus=") || line.starts_with(b"version =") {
            return Ok(Row::Comment);
        }
        if let Some(lost) = lost(line) {
            sink.report.lost_events += lost;
            return Ok(Row::Comment);
        }
        let Some(head) = Head::parse(line) else {
            return Err(Bad::row("expected \"process-pid [cpu] seconds: event:\"", line));
        };
        let Some(action) = action(head.event) else {
            match head.event {
                b"sched_process_exit" => {
                    let issuer = Issuer(field(head.body, b" pid=")?);
                    self.pairing.exit(Exit { at: Instant(head.time), issuer }, sink);
                    return Ok(Row::Data);
                }
                b"sched_process_fork" => {
                    sink.processes.forked(field(head.body, b" pid=")?, field(head.body, b" child_pid=")?);
                    return Ok(Row::Data);
                }
                _ => {}
            }
            return sink.left_out(Skip::NotARequest);
        };
        self.event(&head, action, sink)
    }

    fn end(&mut self, sink: &mut Sink) -> Result<(), Bad<'static>> {
        self.pairing.end(sink)
    }
}

impl Ftrace {
    fn event<'a>(&mut self, head: &Head<'a>, action: Action, sink: &mut Sink) -> Result<Row, Bad<'a>> {
        let mut words = Words::of(head.body);
        let device = device_number(words.need("expected the device")?)?;
        let letters = words.need("expected letters such as WS")?;
        let ((sector, length, split), rest) = extent(after_command(words.rest()))?;
        let action = split.map_or(action, Action::Split);
        let rwbs = Rwbs::parse(letters, length == 0 && split.is_none())
            .ok_or_else(|| Bad::row("expected letters such as WS", letters))?;
        let Some(operation) = rwbs.operation else {
            return sink.left_out(Skip::OtherOperation);
        };
        let Some(device) = sink.devices.number(device, device_name) else {
            return sink.left_out(Skip::OtherDevice);
        };
        if matches!(action, Action::Queue | Action::Insert) {
            sink.processes.note(head.pid, bracketed(rest).unwrap_or_default());
        }
        let issuer = (head.pid != 0).then_some(Issuer(head.pid));
        let (time, priority) = (head.time, priority(rest));
        let event =
            Event { action, time, device, sector, length, operation, flags: rwbs.flags, issuer, priority };
        self.pairing.event(&event, sink)?;
        Ok(Row::Data)
    }
}

/// The parts of a line that all events share.
struct Head<'a> {
    pid: u32,
    /// Nanoseconds.
    time: u64,
    /// The event's name, without `block:` or `sched:`.
    event: &'a [u8],
    body: &'a [u8],
}

impl<'a> Head<'a> {
    /// Looks for ` seconds: event: `. A process name may look like anything, so what comes before
    /// is read from its end.
    #[inline]
    fn parse(line: &'a [u8]) -> Option<Head<'a>> {
        for colon in memchr::memchr_iter(b':', line) {
            if !line.get(colon + 1).is_some_and(|&b| b == b' ' || b == b'\t') {
                continue;
            }
            let mut before = Words::of(&line[..colon]);
            let Some(time) = before.next_back().filter(|t| t.contains(&b'.')).and_then(|t| decimal(t, 9))
            else {
                continue;
            };
            let after = line[colon + 1..].trim_ascii_start();
            let mut event = &after[..after.iter().position(|&b| b == b' ').unwrap_or(after.len())];
            let body = &after[event.len()..];
            event = event.strip_suffix(b":")?;
            event = event.strip_prefix(b"block:").or(event.strip_prefix(b"sched:")).unwrap_or(event);
            let pid = pid(before)?;
            return Some(Head { pid, time, event, body });
        }
        None
    }
}

/// The number behind `name`, the last that is called so.
fn field<'a>(body: &'a [u8], name: &[u8]) -> Result<u32, Bad<'a>> {
    let at = memchr::memmem::rfind(body, name).map(|at| at + name.len());
    let digits = at.and_then(|at| Words::of(&body[at..]).next()).and_then(integer);
    digits
        .and_then(|pid| u32::try_from(pid).ok())
        .ok_or_else(|| Bad::row("expected a pid, as in pid=123", body))
}

/// The process number, from what stands before the time.
#[inline]
fn pid(mut before: Words<'_>) -> Option<u32> {
    let mut word = before.next_back()?;
    // Flags such as `d..2.` are optional, and so is the CPU.
    if !is_cpu(word) && ends_in_cpu(before.rest()) {
        word = before.next_back()?;
    }
    if is_cpu(word) {
        word = before.next_back()?;
    }
    // The thread group, `(1234)` or `( 12)` or `(-----)`.
    if word.ends_with(b")") {
        while !word.starts_with(b"(") {
            word = before.next_back()?;
        }
        word = before.next_back()?;
    }
    let number = match word.iter().rposition(|&b| b == b'-') {
        Some(at) => &word[at + 1..],
        None => &word[..word.iter().position(|&b| b == b'/').unwrap_or(word.len())],
    };
    integer(number).and_then(|pid| u32::try_from(pid).ok())
}

fn is_cpu(word: &[u8]) -> bool {
    word.first() == Some(&b'[')
        && word.last() == Some(&b']')
        && word[1..word.len() - 1].iter().all(u8::is_ascii_digit)
}

fn ends_in_cpu(text: &[u8]) -> bool {
    Words::of(text).next_back().is_some_and(is_cpu)
}

#[inline]
fn action(event: &[u8]) -> Option<Action> {
    Some(match event {
        b"block_bio_queue" => Action::Queue,
        b"block_rq_insert" => Action::Insert,
        b"block_rq_issue" => Action::Dispatch,
        b"block_rq_complete" | b"block_bio_complete" => Action::Complete,
        b"block_rq_requeue" => Action::Requeue,
        b"block_split" => Action::Split(0),
        b"block_bio_backmerge" | b"block_bio_frontmerge" | b"block_rq_merge" => Action::Merge,
        b"block_bio_remap" | b"block_rq_remap" => Action::Remap,
        _ => return None,
    })
}

/// The events that a line such as `CPU:2 [LOST 17 EVENTS]` tells of.
fn lost(line: &[u8]) -> Option<u64> {
    let text = &line[memchr::memmem::find(line, b"[LOST ")? + 6..];
    let count = &text[..text.iter().position(|&b| b == b' ')?];
    text.ends_with(b"EVENTS]").then(|| integer(count).unwrap_or(1))
}

/// What follows the bytes and the command in brackets, if they are there.
#[inline]
fn after_command(text: &[u8]) -> &[u8] {
    let mut words = Words::of(text);
    let open = text.iter().position(|&b| b == b'(');
    let first = words.next().unwrap_or_default();
    let bytes = first.first().is_some_and(u8::is_ascii_digit) && words.rest().first() == Some(&b'(');
    match open {
        Some(at) if first.first() == Some(&b'(') || bytes => {
            let close = text[at..].iter().position(|&b| b == b')').map_or(text.len(), |to| at + to + 1);
            text[close..].trim_ascii_start()
        }
        _ => text,
    }
}

/// `be,0,4` before the brackets.
#[inline]
fn priority(rest: &[u8]) -> Option<Priority> {
    let word = Words::of(rest).next()?;
    let mut parts = word.split(|&b| b == b',');
    let class = match parts.next()? {
        b"rt" => Class::RealTime,
        b"be" => Class::BestEffort,
        b"idle" => Class::Idle,
        _ => return None,
    };
    let level = integer(parts.nth(1)?)?;
    Some(Priority { class, level: u8::try_from(level).ok().filter(|&level| level < 8)? })
}
