//! What a trace shows at a glance: how far its addresses go, how long its reads take, which devices it has, and whether it
//! tells who issued what and when it was done.

use std::collections::HashMap;

use crate::traces::Record;
use idlewise_core::Operation;

/// Reads are told apart by latency in powers of two.
const OCTAVES: usize = 64;

/// What one device of a trace shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Its rows.
    pub rows: u64,
    /// The end of its highest address, in sectors.
    pub end: u64,
}

/// What a trace shows, so far.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Rows.
    pub rows: u64,
    /// Rows that tell who issued them.
    pub with_issuer: u64,
    /// Rows that tell when they were done.
    pub with_completion: u64,
    devices: HashMap<u32, Shown>,
    /// Reads by how long the disk took, in powers of two of a nanosecond.
    reads: [u64; OCTAVES],
    /// The second that runs, what came in it, and the most that came in one, in sectors.
    second: (u64, u64, u64),
}

impl Default for Survey {
    fn default() -> Survey {
        Survey {
            rows: 0,
            with_issuer: 0,
            with_completion: 0,
            devices: HashMap::new(),
            reads: [0; OCTAVES],
            second: (0, 0, 0),
        }
    }
}

impl Survey {
    /// Counts one more row.
    pub fn add(&mut self, record: &Record) {
        self.rows += 1;
        self.with_issuer += u64::from(record.issuer.is_some());
        self.with_completion += u64::from(record.completed.is_some());
        let shown = self.devices.entry(record.device).or_default();
        shown.rows += 1;
        shown.end = shown.end.max(record.end().0);
        if let Some(done) = record.completed.filter(|_| record.operation == Operation::Read) {
            let took = done.since(record.dispatched.unwrap_or(record.arrival)).0;
            self.reads[took.max(1).ilog2() as usize] += 1;
        }
        let now = record.arrival.0 / 1_000_000_000;
        if now != self.second.0 {
            (self.second.0, self.second.1) = (now, 0);
        }
        if matches!(record.operation, Operation::Read | Operation::Write) {
            self.second.1 += u64::from(record.length.0);
            self.second.2 = self.second.2.max(self.second.1);
        }
    }

    /// Devices, the busiest first.
    pub fn devices(&self) -> Vec<(u32, Shown)> {
        let mut all: Vec<(u32, Shown)> =
            self.devices.iter().map(|(device, shown)| (*device, *shown)).collect();
        all.sort_by_key(|(device, shown)| (std::cmp::Reverse(shown.rows), *device));
        all
    }

    /// The end of the highest address of any device, in sectors.
    pub fn end(&self) -> u64 {
        self.devices.values().map(|shown| shown.end).max().unwrap_or(0)
    }

    /// The share of reads that took the disk this long or longer, as far as powers of two tell; `None` without reads that
    /// tell.
    pub fn slower(&self, than_ns: u64) -> Option<f64> {
        let all: u64 = self.reads.iter().sum();
        let slow: u64 = self.reads[than_ns.max(1).ilog2() as usize..].iter().sum();
        (all > 0).then(|| slow as f64 / all as f64)
    }

    /// The most that came in a second, in bytes.
    pub fn busiest_second(&self) -> u64 {
        self.second.2 * idlewise_core::SECTOR_BYTES
    }

    /// Whether it tells who issued its rows. A few rows without are no matter: the first and last of a recording often lack a
    /// part.
    pub fn tells_issuers(&self) -> bool {
        self.told(self.with_issuer)
    }

    fn told(&self, rows: u64) -> bool {
        rows * 10 >= self.rows * 9
    }

    /// What the trace does not tell of its rows, in words; nothing if it tells both.
    pub fn missing(&self) -> Option<&'static str> {
        match (self.tells_issuers(), self.told(self.with_completion)) {
            (true, true) => None,
            (false, true) => Some("issuers"),
            (true, false) => Some("completions"),
            (false, false) => Some("issuers and completions"),
        }
    }
}

#[cfg(test)]
mod tests {
    use idlewise_core::{Duration, Instant, Issuer, Sector, Sectors};

    use super::*;

    #[test]
    fn a_trace_shows_its_size_its_latencies_and_what_it_lacks() {
        let mut survey = Survey::default();
        for n in 0..100u64 {
            let arrival = Instant(n * 20_000_000);
            let mut record = Record::read(arrival, Sector(n * 1000), Sectors(8));
            record.device = (n % 4 == 0).into();
            record.completed = Some(arrival + Duration(if n < 30 { 5_000_000 } else { 80_000 }));
            record.issuer = (n < 89).then_some(Issuer(1));
            survey.add(&record);
        }
        assert_eq!(survey.end(), 99_008);
        assert_eq!(survey.devices()[0], (0, Shown { rows: 75, end: 99_008 }));
        assert_eq!(survey.slower(2_000_000), Some(0.3));
        assert_eq!(survey.busiest_second(), 50 * 8 * 512);
        assert_eq!(survey.missing(), Some("issuers"));
    }
}
