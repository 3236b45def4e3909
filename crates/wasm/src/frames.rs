//! What happens in a run, packed for the page: numbers in rows, the first of which says what the row is.
//!
//! | row | numbers after the first |
//! |---|---|
//! | 1 arrived | time, id, when it was issued, process, operation, first sector, sectors, radius, angle |
//! | 2 dispatched | time, id |
//! | 3 served | time, id, when the disk turned to it, seek, rotation, transfer, overhead, whether from the buffer |
//! | 4 done | time, id, the id under which it went to the disk |
//! | 5 decided | time, 1 to dispatch and 2 to wait, the id or the time of the wait's end, first sector, sectors, whether a reason follows |
//! | 6 waits | time: the disk idles although requests wait |
//!
//! Times are nanoseconds. Ids are given again when a request is done. The radius runs from 0, the outermost track, to 1; the
//! angle from 0 to 1, a whole turn. Both are 0 where nothing turns. What is dispatched may be larger than when it arrived: the
//! sectors of a decision are those of all that was merged. Reasons are lines of text, in the order of their rows.

use idlewise_core::{Decision, Instant, Request, RequestId, Why};
use idlewise_disk::mechanical::Geometry;
use idlewise_disk::{AnySpec, Completion};
use idlewise_sim::engine::Observer;
use idlewise_sim::metrics::counted_as;

use crate::part::Part;

/// Numbers that are gathered before they are told.
const CHUNK: usize = 16_384;

/// Packs what happens, and tells it in chunks.
pub(crate) struct Frames<'a> {
    tell: &'a mut dyn FnMut(Part, &[u8]),
    geometry: Option<Geometry>,
    rows: Vec<f64>,
    reasons: String,
    /// The command that was served last.
    served: RequestId,
    /// Requests that are told of, at most.
    shown: u64,
    arrived: u64,
}

impl<'a> Frames<'a> {
    /// Frames of the first `shown` requests of a run on a disk with these tracks, if it has any.
    pub(crate) fn new(
        geometry: Option<Geometry>,
        shown: u64,
        tell: &'a mut dyn FnMut(Part, &[u8]),
    ) -> Frames<'a> {
        let (rows, reasons) = (Vec::with_capacity(CHUNK + 16), String::new());
        Frames { tell, geometry, rows, reasons, served: RequestId(0), shown, arrived: 0 }
    }

    /// Whether everything that happened was told.
    pub(crate) fn complete(&self) -> bool {
        self.arrived <= self.shown
    }

    fn row(&mut self, row: &[f64]) {
        if !self.complete() {
            return;
        }
        self.rows.extend_from_slice(row);
        if self.rows.len() >= CHUNK {
            self.flush();
        }
    }

    /// Tells what is gathered: reasons first, then the rows that have them.
    pub(crate) fn flush(&mut self) {
        if !self.reasons.is_empty() {
            (self.tell)(Part::Reasons, self.reasons.as_bytes());
            self.reasons.clear();
        }
        let bytes: Vec<u8> = self.rows.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.rows.clear();
        (self.tell)(Part::Rows, &bytes);
    }

    /// Radius and angle of the first sector of a request.
    fn place(&self, request: &Request) -> (f64, f64) {
        let Some(geometry) = &self.geometry else { return (0.0, 0.0) };
        let place = geometry.locate(request.start.0.min(geometry.capacity() - 1));
        let radius = f64::from(place.cylinder) / f64::from(geometry.cylinders().max(1));
        (radius, f64::from(place.angle) / f64::from(geometry.period()))
    }
}

/// Where the tracks of a disk lie, if it has tracks.
pub(crate) fn geometry(disk: &AnySpec) -> Option<Geometry> {
    if let AnySpec::Mechanical(spec) = disk { Geometry::new(spec).ok() } else { None }
}

/// A time as a number: exact for a hundred days.
fn time(now: Instant) -> f64 {
    now.0 as f64
}

impl Observer for Frames<'_> {
    fn arrived(&mut self, now: Instant, id: RequestId, request: &Request) {
        self.arrived += 1;
        let (radius, angle) = self.place(request);
        let (process, operation) = (counted_as(request).0.into(), f64::from(request.operation as u8));
        let (start, length) = (request.start.0 as f64, request.length.0.into());
        let issued = time(request.arrival);
        self.row(&[1.0, time(now), id.0.into(), issued, process, operation, start, length, radius, angle]);
    }

    fn dispatched(&mut self, now: Instant, id: RequestId) {
        self.row(&[2.0, time(now), id.0.into()]);
    }

    fn served(&mut self, now: Instant, id: RequestId, completion: &Completion) {
        self.served = id;
        let timing = &completion.timing;
        let [seek, rotation, transfer, overhead] =
            [timing.seek, timing.rotation, timing.transfer, timing.overhead].map(|part| part.0 as f64);
        let cached = f64::from(u8::from(timing.cached));
        let started = time(completion.started);
        self.row(&[3.0, time(now), id.0.into(), started, seek, rotation, transfer, overhead, cached]);
    }

    fn completed(&mut self, now: Instant, id: RequestId, _request: &Request, _service_share: u64) {
        self.row(&[4.0, time(now), id.0.into(), self.served.0.into()]);
    }

    fn waits(&mut self, now: Instant, _until: Instant) {
        self.row(&[6.0, time(now)]);
    }

    fn decided(&mut self, now: Instant, decision: Decision, request: Option<&Request>, why: Option<Why>) {
        let (kind, what) = match decision {
            Decision::Dispatch(id) => (1.0, id.0.into()),
            Decision::WaitUntil(until) => (2.0, time(until)),
            Decision::Idle => return,
        };
        if !self.complete() {
            return;
        }
        if let Some(why) = why {
            use std::fmt::Write as _;
            let _ = writeln!(self.reasons, "{why}");
        }
        let (start, length) =
            request.map_or((0.0, 0.0), |request| (request.start.0 as f64, request.length.0.into()));
        self.row(&[5.0, time(now), kind, what, start, length, f64::from(u8::from(why.is_some()))]);
    }
}
