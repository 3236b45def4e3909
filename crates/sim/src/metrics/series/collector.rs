//! Fills a [`Series`] while a run goes on.

use std::cmp::Reverse;

use idlewise_core::{Direction, Instant, Issuer, Request, RequestId, SECTOR_BYTES, Sector};
use rustc_hash::FxHashMap;

use super::super::issuers::counted_as;
use super::bins::{Bins, Sums};
use super::close_up::Closer;
use super::thinned::Thinned;
use super::{Bin, Dot, Series};

/// Processes that are told apart while a run goes on; those that come later share the last column.
const COLUMNS: usize = 64;

/// Processes that a series names; the others become one. More colours cannot be told apart.
const NAMED: usize = 8;

/// A request that is known and not yet done.
#[derive(Clone, Copy, Default)]
struct Known {
    issued: Instant,
    start: Sector,
    write: bool,
    /// Reads and writes have a place on the disk, flushes have none.
    transfer: bool,
    column: u8,
    /// When it went to the device.
    at: Instant,
}

/// What a run looked like so far.
#[derive(Default)]
pub(in super::super) struct Collector {
    bins: Bins,
    dots: Thinned<Dot>,
    closer: Closer,
    /// By id of requests.
    known: Vec<Known>,
    columns: FxHashMap<Issuer, u8>,
    /// Whose column it is.
    owners: Vec<Issuer>,
    outstanding: u64,
    /// Up to when outstanding requests are counted.
    counted: Instant,
    waiting_since: Option<Instant>,
    last_completion: Instant,
    /// Of the command that the device has just done, the time from its start to here belongs to requests that are still to be
    /// counted.
    unassigned: Instant,
    /// Devices before this one.
    devices: u32,
}

impl Collector {
    /// For request ids below `capacity`.
    pub(in super::super) fn new(capacity: usize) -> Collector {
        Collector { known: vec![Known::default(); capacity], ..Collector::default() }
    }

    /// The next requests are for another device, whose clock starts over.
    pub(in super::super) fn next_device(&mut self) {
        self.devices += 1;
        (self.outstanding, self.counted, self.waiting_since) = (0, Instant::ZERO, None);
    }

    fn is_first_device(&self) -> bool {
        self.devices <= 1
    }

    /// Whether the command is one of those that are drawn.
    fn is_drawn(&self, id: RequestId) -> bool {
        self.is_first_device() && self.known[id.index()].transfer
    }

    fn column(&mut self, request: &Request) -> u8 {
        let owner = counted_as(request);
        let next = self.columns.len().min(COLUMNS - 1) as u8;
        let column = *self.columns.entry(owner).or_insert(next);
        if usize::from(column) == self.owners.len() {
            self.owners.push(owner);
        }
        column
    }

    fn count(&mut self, now: Instant) {
        let outstanding = self.outstanding;
        self.bins.spread(self.counted, now, |sums, ns| sums.outstanding_ns += outstanding * ns);
        self.counted = now;
    }

    pub(in super::super) fn arrived(
        &mut self,
        now: Instant,
        id: RequestId,
        request: &Request,
        transfer: bool,
    ) {
        self.count(now);
        self.outstanding += 1;
        self.known[id.index()] = Known {
            issued: request.arrival,
            start: request.start,
            write: request.direction() == Direction::Write,
            transfer,
            column: self.column(request),
            at: Instant::ZERO,
        };
    }

    /// As it was when it went to the device.
    fn dot(&self, id: RequestId) -> Dot {
        let Known { start, write, column, at, .. } = self.known[id.index()];
        Dot { at, start, process: column, write }
    }

    pub(in super::super) fn dispatched(&mut self, now: Instant, id: RequestId) {
        if let Some(since) = self.waiting_since.take() {
            self.bins.spread(since, now, |sums, ns| sums.waiting_ns += ns);
        }
        self.known[id.index()].at = now;
        if self.is_drawn(id) {
            let dot = self.dot(id);
            self.dots.push(dot);
            self.closer.dispatched(dot, self.known[id.index()].issued);
        }
    }

    pub(in super::super) fn served(&mut self, now: Instant, id: RequestId) {
        self.unassigned = now;
        if self.is_drawn(id) {
            self.closer.served(now, &self.dot(id));
        }
    }

    pub(in super::super) fn completed(
        &mut self,
        now: Instant,
        id: RequestId,
        request: &Request,
        [latency_ns, service_ns]: [u64; 2],
    ) {
        let transfer = self.known[id.index()].transfer;
        self.count(now);
        self.outstanding -= 1;
        self.last_completion = self.last_completion.max(now);
        let column = usize::from(self.column(request));
        let direction = request.direction().index();
        let until = self.unassigned;
        self.unassigned = Instant(until.0.saturating_sub(service_ns));
        self.bins.spread(self.unassigned, until, |sums, ns| sums.serve(column, ns));
        if transfer {
            let sums = self.bins.at(now);
            sums.bytes[direction] += u64::from(request.length.0) * SECTOR_BYTES;
            sums.latencies[direction].record(latency_ns);
        }
    }

    pub(in super::super) fn waits(&mut self, now: Instant) {
        self.waiting_since.get_or_insert(now);
        if self.is_first_device() {
            self.closer.waits(now);
        }
    }

    /// The columns with the most device time, and for each column its place among them.
    fn places(&self) -> (Vec<usize>, Vec<u8>) {
        let total = |column: usize| -> u64 {
            self.bins.all().iter().filter_map(|sums| sums.service_ns.get(column)).sum()
        };
        let mut order: Vec<usize> = (0..self.owners.len()).collect();
        // The last column may be of several processes, which are nobody in particular.
        let shared = self.columns.len() > COLUMNS;
        order.sort_by_key(|column| (shared && *column == COLUMNS - 1, Reverse(total(*column))));
        let several = order.len() > NAMED || shared;
        let named = if several { order.len().min(NAMED + 1) - 1 } else { order.len() };
        let mut places = vec![named as u8; order.len()];
        for (place, column) in order[..named].iter().enumerate() {
            places[*column] = place as u8;
        }
        order.truncate(named);
        (order, places)
    }

    /// All of it. `name` is what an issuer is called, if that is known.
    pub(in super::super) fn finish(self, name: impl Fn(Issuer) -> Option<String>) -> Series {
        let (order, places) = self.places();
        let called = |column: &usize| {
            let owner = self.owners[*column];
            match name(owner).filter(|name| !name.is_empty()) {
                Some(name) => format!("{name} ({})", owner.0),
                None => owner.0.to_string(),
            }
        };
        let mut processes: Vec<String> = order.iter().map(called).collect();
        if processes.len() < self.owners.len() {
            processes.push("others".to_owned());
        }
        let width = self.bins.width();
        let used = ((self.last_completion.0 / width.0) as usize + 1).min(self.bins.all().len());
        let bin = |sums: &Sums| bin(sums, width.0, &places, processes.len());
        let mut bins = self.bins.all()[..used].to_vec();
        // Figures of a moment would be no figures of a bin.
        if let [.., before, last] = &mut bins[..]
            && self.last_completion.0 % width.0 < width.0 / 2
        {
            before.add(last);
            bins.pop();
        }
        let bins = bins.iter().map(bin).collect();
        let renamed = |dot: Dot| Dot { process: places[usize::from(dot.process)], ..dot };
        let mut close_up = self.closer.finish();
        close_up.commands.iter_mut().for_each(|command| command.dot = renamed(command.dot));
        let dots = self.dots.into_items().into_iter().map(renamed).collect();
        Series {
            bin: width,
            bins,
            end: self.last_completion,
            processes,
            dots,
            close_up,
            latencies: Default::default(),
        }
    }
}

/// A bin of `width_ns` with the columns at their places.
fn bin(sums: &Sums, width_ns: u64, places: &[u8], processes: usize) -> Bin {
    let mut service_ns = vec![0; processes];
    for (column, ns) in sums.service_ns.iter().enumerate() {
        service_ns[usize::from(places[column])] += ns;
    }
    let [read, write] = &sums.latencies;
    Bin {
        bytes: sums.bytes,
        read_ns_p99: read.quantile(0.99),
        write_ns_p99: write.quantile(0.99),
        outstanding: sums.outstanding_ns as f64 / width_ns as f64,
        waiting_ns: sums.waiting_ns,
        service_ns,
    }
}
