//! Reader of blktrace's records.

use super::ABOUT;
use super::layout::{MAGIC, SIZE, about};
use crate::traces::counts::Skip;
use crate::traces::error::{Bad, TraceError};
use crate::traces::event::{Action, Event, Flags};
use crate::traces::formats::blkparse::{check, device_name};
use crate::traces::input::Input;
use crate::traces::order::Reorder;
use crate::traces::pairing::Pairing;
use crate::traces::reader::{CUT, CUT_CURE, Reader, u16_le, u32_le, u64_le};
use crate::traces::sink::Sink;
use idlewise_core::{Durable, Issuer, Operation};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events held to put them in order: a stream may hold several CPUs' buffers in turn, of 512 KiB each.
const STREAM_WINDOW: usize = 16_384;

/// The same for the file of one CPU, in which interrupts alone disturb the order.
const FILE_WINDOW: usize = 64;

/// Events taken per call.
const BATCH: usize = 1024;

/// A reader of one stream, which may be the file of one CPU.
pub(super) fn one(input: Input, one_cpu: bool, lenient: bool) -> Box<dyn Reader> {
    boxed(vec![input], lenient, if one_cpu { FILE_WINDOW } else { STREAM_WINDOW })
}

/// A reader that merges the files of several CPUs.
pub(crate) fn several(inputs: Vec<Input>, lenient: bool) -> Box<dyn Reader> {
    boxed(inputs, lenient, FILE_WINDOW)
}

fn boxed(inputs: Vec<Input>, lenient: bool, window: usize) -> Box<dyn Reader> {
    let lane = |input| Lane { input, swap: false, head: None };
    let lanes: Vec<Lane> = inputs.into_iter().map(lane).collect();
    let next = BinaryHeap::with_capacity(lanes.len());
    let (order, pairing) = (Reorder::new(window), Pairing::default());
    Box::new(Blktrace { lanes, next, begun: false, order, pairing, lenient })
}

/// The files of all CPUs.
struct Blktrace {
    lanes: Vec<Lane>,
    /// The time of the next event of each lane that has one, and the lane.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    begun: bool,
    order: Reorder<Event>,
    pairing: Pairing,
    lenient: bool,
}

impl Reader for Blktrace {
    fn fill(&mut self, sink: &mut Sink) -> Result<bool, TraceError> {
        if !self.begun {
            self.begun = true;
            for lane in 0..self.lanes.len() {
                self.advance(lane, sink)?;
            }
        }
        let mut more = true;
        if let [lane] = self.lanes.as_mut_slice() {
            // One file needs no merging.
            lane.head.take().into_iter().for_each(|first| self.order.push(first));
            for _ in 0..BATCH {
                let Some(event) = lane.next(sink, self.lenient)? else {
                    more = false;
                    break;
                };
                self.order.push(event);
            }
        } else {
            for _ in 0..BATCH {
                let Some(Reverse((_, lane))) = self.next.pop() else {
                    more = false;
                    break;
                };
                self.lanes[lane].head.take().into_iter().for_each(|event| self.order.push(event));
                self.advance(lane, sink)?;
            }
        }
        while let Some(event) = self.order.pop(!more) {
            self.pairing.event(&event, sink).map_err(|bad| self.complain(bad))?;
        }
        if !more {
            self.pairing.end(sink).map_err(|bad| self.complain(bad))?;
        }
        Ok(more)
    }
}

impl Blktrace {
    fn advance(&mut self, lane: usize, sink: &mut Sink) -> Result<(), TraceError> {
        let event = self.lanes[lane].next(sink, self.lenient)?;
        event.iter().for_each(|event| self.next.push(Reverse((event.time, lane))));
        self.lanes[lane].head = event;
        Ok(())
    }

    fn complain(&self, bad: Bad<'_>) -> TraceError {
        self.lanes[0].complain(bad)
    }
}

/// The file of one CPU.
struct Lane {
    input: Input,
    /// The recording machine had the other byte order.
    swap: bool,
    /// The next event, for the merge.
    head: Option<Event>,
}

impl Lane {
    fn complain(&self, bad: Bad<'_>) -> TraceError {
        let place = crate::traces::Location::Byte(self.input.offset());
        bad.at(self.input.name(), place, ABOUT.name)
    }

    /// The next event that tells of a request.
    #[inline]
    fn next(&mut self, sink: &mut Sink, lenient: bool) -> Result<Option<Event>, TraceError> {
        loop {
            if self.input.available().len() < SIZE && self.input.at_least(SIZE)?.len() < SIZE {
                return self.rest(sink, lenient);
            }
            let header = &self.input.available()[..SIZE];
            let magic = u32_le(header, 0);
            if magic != MAGIC && magic.swap_bytes() != MAGIC {
                let what = "expected a blktrace record, version 7";
                let bad = Bad { what, text: &header[..4], cure: "record it again: the file is damaged" };
                return Err(self.complain(bad));
            }
            self.swap = magic != MAGIC;
            let raw = Raw::parse(header, self.swap);
            let whole = SIZE + raw.pdu;
            if self.input.available().len() < whole && self.input.at_least(whole)?.len() < whole {
                return self.rest(sink, lenient);
            }
            sink.report.rows += 1;
            let pdu = &self.input.available()[SIZE..whole];
            let event = match raw.event(pdu, sink) {
                Ok(event) => event,
                Err(_) if lenient => {
                    sink.skips.skip(Skip::Malformed);
                    None
                }
                Err(bad) => return Err(self.complain(bad)),
            };
            self.input.consume(whole);
            if event.is_some() {
                return Ok(event);
            }
        }
    }

    /// The end of the file: a complaint if it cuts a record.
    #[cold]
    fn rest(&mut self, sink: &mut Sink, lenient: bool) -> Result<Option<Event>, TraceError> {
        let left = self.input.available().len();
        if left > 0 && !lenient {
            return Err(self.complain(Bad { what: CUT, text: &[], cure: CUT_CURE }));
        }
        if left > 0 {
            sink.report.rows += 1;
            sink.skips.skip(Skip::Malformed);
            self.input.consume(left);
        }
        Ok(None)
    }
}

/// A record's fields in this machine's byte order.
struct Raw {
    time: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    pid: u32,
    device: u32,
    pdu: usize,
}

impl Raw {
    #[inline]
    fn parse(header: &[u8], swap: bool) -> Raw {
        let half = |at| if swap { u16_le(header, at).swap_bytes() } else { u16_le(header, at) };
        let word = |at| if swap { u32_le(header, at).swap_bytes() } else { u32_le(header, at) };
        let long = |at| if swap { u64_le(header, at).swap_bytes() } else { u64_le(header, at) };
        Raw {
            time: long(8),
            sector: long(16),
            bytes: word(24),
            action: word(28),
            pid: word(32),
            device: word(36),
            pdu: usize::from(half(46)),
        }
    }

    /// The event, if the record tells of a request.
    #[inline]
    fn event(&self, pdu: &[u8], sink: &mut Sink) -> Result<Option<Event>, Bad<'static>> {
        let about = self.action >> 16;
        if about & about::NOTIFY != 0 {
            return Ok(self.notice(pdu, sink));
        }
        let action = match self.action & 0xff {
            1 => Action::Queue,
            2 | 3 => Action::Merge,
            6 => Action::Requeue,
            7 => Action::Dispatch,
            8 => Action::Complete,
            12 => Action::Insert,
            13 => Action::Split(split_at(self.action, pdu)),
            15 => Action::Remap,
            _ => {
                sink.skips.skip(Skip::NotARequest);
                return Ok(None);
            }
        };
        let Some(operation) = operation(about, self.bytes) else {
            sink.skips.skip(Skip::OtherOperation);
            return Ok(None);
        };
        let number = u64::from(self.device >> 20) << 32 | u64::from(self.device & 0xf_ffff);
        let Some(device) = sink.devices.number(number, device_name) else {
            sink.skips.skip(Skip::OtherDevice);
            return Ok(None);
        };
        let length = self.bytes.div_ceil(512);
        check(self.sector, length, &[]).map_err(|bad| Bad { text: &[], ..bad })?;
        let issuer = (self.pid != 0).then_some(Issuer(self.pid));
        let sync = about & about::SYNC != 0 || matches!(operation, Operation::Read | Operation::Flush);
        let metadata = about & about::META != 0;
        let durable = Durable::of_write(Some(operation), about & about::FLUSH != 0, about & about::FUA != 0);
        let (time, sector, priority) = (self.time, self.sector, None);
        let flags = Flags { sync, metadata, durable };
        Ok(Some(Event { action, time, device, sector, length, operation, flags, issuer, priority }))
    }

    /// A message or the name of a process.
    #[cold]
    fn notice(&self, pdu: &[u8], sink: &mut Sink) -> Option<Event> {
        sink.skips.skip(Skip::NotARequest);
        if self.action & 0xff == 0 {
            let name = &pdu[..pdu.iter().position(|&b| b == 0).unwrap_or(pdu.len())];
            sink.processes.note(self.pid, name);
        }
        None
    }
}

/// What is asked; `None` for passthrough commands and requests without data.
#[inline]
fn operation(about: u32, bytes: u32) -> Option<Operation> {
    if about & about::PASSTHROUGH != 0 {
        return None;
    }
    if bytes == 0 {
        // The kernel clears the flush bit when it completes an empty write.
        return (about & (about::FLUSH | about::FUA | about::WRITE) != 0).then_some(Operation::Flush);
    }
    if about & about::DISCARD != 0 {
        return Some(Operation::Discard);
    }
    let write = about & about::WRITE != 0;
    Some(if write { Operation::Write } else { Operation::Read })
}

/// Where a split cuts: the last eight bytes of the pdu, most significant first. A cgroup's number
/// may stand before them.
fn split_at(action: u32, pdu: &[u8]) -> u64 {
    let skip = if action & 0x100 != 0 { 8 } else { 0 };
    let bytes = pdu.get(skip..).and_then(|rest| rest.first_chunk());
    bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes))
}
