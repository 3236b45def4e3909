//! The model of a disk that remembers all that was ever written to it.
//!
//! What a drive with platters holds is the work of its latest commands, and those are in the ring of latest requests. A flash device
//! collects what was overwritten hours ago, and is slower from then on. So its model goes along with the disk, command
//! by command, and predictions begin with what has become of it.

use idlewise_core::Instant;
use idlewise_core::selectors::Row;
use idlewise_disk::{AnyModel, DiskModel};

use super::warm::{Warm, commands};

/// A model that has done what the disk has done.
#[derive(Clone, Debug)]
pub struct Aged {
    warm: Warm,
    /// What was done before this is in it.
    until: Instant,
}

impl Aged {
    /// The model, if it is of a disk that remembers; nothing was asked of it yet.
    pub fn new(model: &AnyModel) -> Option<Aged> {
        model.remembers().then(|| Aged { warm: Warm::fresh(model), until: Instant::ZERO })
    }

    /// Does what of `rows` was done since the last time, until `now`. Rows that the ring has forgotten in between
    /// are missing in it.
    pub fn learn<'a>(&mut self, rows: impl Iterator<Item = &'a Row>, now: Instant) {
        let new = |row: &&Row| row.done.is_some_and(|at| (self.until.0..now.0).contains(&at.get()));
        let rows: Vec<Row> = rows.filter(new).copied().collect();
        self.warm.give(&commands(&rows), Instant::ZERO);
        self.until = now;
    }

    /// What it is at `now`, with what the disk has got of `rows` and is not in it yet.
    pub(super) fn at(&self, now: Instant, rows: &[Row]) -> Warm {
        let new = |row: &&Row| row.done.is_none_or(|at| at.get() >= self.until.0);
        let rows: Vec<Row> = rows.iter().filter(new).copied().collect();
        let mut warm = self.warm.clone();
        warm.give(&commands(&rows), Instant::ZERO);
        warm.wait(now);
        warm
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use idlewise_core::{Operation, Sector, Sectors};
    use idlewise_disk::{Command, DiskModel, Profile};

    use super::*;

    /// Writes 64 KiB each, all over the disk, one after another: this many.
    fn written(disk: &mut AnyModel, now: &mut Instant, places: std::ops::Range<u64>) -> Vec<Row> {
        let write = |place: u64| {
            let (start, length) = (Sector(place * 99_991 * 128 % (disk.capacity().0 - 128)), Sectors(128));
            let operation = Operation::Write;
            disk.submit(*now, Command { tag: 0, operation, start, length, fua: false }).unwrap();
            let [dispatched, done] = [*now, disk.next_event().unwrap()].map(|at| NonZeroU64::new(at.0));
            *now = disk.next_event().unwrap();
            disk.advance(*now);
            Row {
                arrival: Instant(dispatched.unwrap().get()),
                dispatched,
                done,
                start,
                length,
                operation,
                ..Row::default()
            }
        };
        places.map(write).collect()
    }

    #[test]
    fn the_model_of_a_flash_device_is_as_slow_as_what_was_written_makes_it() {
        let model = Profile::named("sata-ssd").unwrap().build().unwrap();
        let (mut disk, mut now) = (model.clone(), Instant(1000));
        let mut aged = Aged::new(&model).unwrap();
        let mut rows = Vec::new();
        for tenth in 0..200 {
            // The ring forgets most, and the last of them were not learned yet.
            aged.learn(rows.iter(), Instant(now.0 + 1));
            rows = written(&mut disk, &mut now, tenth * 200..tenth * 200 + 200);
            aged.learn(rows.iter().take(150), rows[150].arrival);
        }
        let time = |mut device: AnyModel, begun: Instant| {
            let mut now = begun;
            written(&mut device, &mut now, 50_000..51_000);
            now.since(begun).0
        };
        let now = Instant(now.0 + 1);
        let warm = aged.at(now, &rows);
        let (real, aged) = (time(disk, now), time(warm.device, warm.now));
        let Warm { device, now, .. } = Warm::new(&model, &rows, now);
        let fresh = time(device, now);
        assert_eq!(aged, real);
        assert!(fresh < real / 2, "{fresh} and {real} ns");
    }

    #[test]
    fn what_the_disk_is_busy_with_is_in_it() {
        let model = Profile::named("sata-ssd").unwrap().build().unwrap();
        let aged = Aged::new(&model).unwrap();
        let row = Row { dispatched: NonZeroU64::new(1000), length: Sectors(8), ..Row::default() };
        assert_eq!(aged.at(Instant(2000), &[row, Row { dispatched: None, ..row }]).outstanding, 1);
    }

    #[test]
    fn platters_remember_nothing_that_the_stream_does_not_know() {
        assert!(Aged::new(&Profile::named("hdd-18tb-7200").unwrap().build().unwrap()).is_none());
    }
}
