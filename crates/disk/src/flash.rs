//! A flash device: channels, dies, a write buffer, garbage collection behind it.
//!
//! A command's course is worked out when it comes. Reads wait for their dies, then share the
//! channel and the cable. Writes complete in the buffer; pages go from there to the dies in turn,
//! and a page's room in the buffer is free when it is programmed. Collection and erasing keep dies
//! busy, which is what makes latency vary. Dies serve in the order of arrival: no read overtakes
//! a program. A read of data still in the write buffer is served as if it were on its die.
//! `ftl` says how devices larger than its memory are modelled.

mod ftl;
mod spec;

pub use spec::FlashSpec;

use crate::completions::Completions;
use crate::device::{Command, Completion, DiskModel, Spec, SubmitError, Timing, check_extent, sane};
use crate::error::{BuildError, filled};
use alloc::{vec, vec::Vec};
use ftl::Ftl;
use idlewise_core::{Duration, Instant, Operation, Sector};

/// Most pages in the write buffer.
const MOST_BUFFER_PAGES: u32 = 1 << 16;

/// A flash device.
#[derive(Clone, Debug)]
pub struct Flash {
    spec: FlashSpec,
    ftl: Ftl,
    /// When each die is done with what it was given.
    dies: Vec<u64>,
    /// When each channel is done.
    channels: Vec<u64>,
    /// When the cable is done.
    interface: u64,
    /// When each place of the write buffer is free, in turn.
    buffer: Vec<u64>,
    buffer_next: usize,
    /// The die that takes the next page.
    next_die: u32,
    /// Sectors that wait for the rest of their page.
    open_sectors: u32,
    /// Address after the last sector written.
    stream_end: u64,
    /// When everything given to the dies is programmed.
    programmed: u64,
    completions: Completions,
}

impl Flash {
    /// Builds a device. Allocates all the memory it will ever use, at most 8 MB.
    pub fn new(spec: &FlashSpec) -> Result<Flash, BuildError> {
        let counts = [
            (spec.channels, "the number of channels"),
            (spec.dies_per_channel, "the number of dies on a channel"),
            (spec.page_sectors, "the page size"),
            (spec.block_pages, "the number of pages in a block"),
            (spec.mapping_sectors, "the mapping unit"),
            (spec.depth, "the queue depth"),
            (u32::from(spec.capacity != 0), "the capacity"),
        ];
        if let Some(&(_, what)) = counts.iter().find(|(n, _)| *n == 0) {
            return Err(BuildError::Zero { what });
        }
        let dies = u64::from(spec.channels) * u64::from(spec.dies_per_channel);
        if dies > 1024 || spec.depth > 1 << 16 {
            return Err(BuildError::TooMany { what: "dies (1024) or queued commands", limit: 1 << 16 });
        }
        let block = u64::from(spec.block_pages) * u64::from(spec.page_sectors);
        if block > u64::from(u32::MAX) {
            return Err(BuildError::TooMany { what: "sectors in a block", limit: u64::from(u32::MAX) });
        }
        let places = (spec.buffer_sectors / spec.page_sectors).clamp(1, MOST_BUFFER_PAGES);
        Ok(Flash {
            spec: *spec,
            ftl: Ftl::new(spec)?,
            dies: filled(dies as usize, 0)?,
            channels: filled(spec.channels as usize, 0)?,
            interface: 0,
            buffer: filled(places as usize, 0)?,
            buffer_next: 0,
            next_die: 0,
            open_sectors: 0,
            stream_end: u64::MAX,
            programmed: 0,
            completions: Completions::new(spec.depth)?,
        })
    }

    /// Moves `sectors` over the cable; gives the end if they are ready at `ready`.
    #[inline]
    fn cable(&mut self, now: u64, ready: u64, sectors: u32) -> u64 {
        let time = u64::from(sectors) * self.spec.interface_sector_ns;
        self.interface = self.interface.max(now) + time;
        self.interface.max(ready + time)
    }

    /// Occupies a die for `time` from `ready` on; gives the end.
    #[inline]
    fn occupy(&mut self, die: u32, ready: u64, time: u64) -> u64 {
        let busy = &mut self.dies[die as usize];
        *busy = (*busy).max(ready) + time;
        *busy
    }

    /// Moves `sectors` over a die's channel; gives the end.
    #[inline]
    fn channel(&mut self, die: u32, ready: u64, sectors: u32) -> u64 {
        let time = u64::from(sectors) * self.spec.channel_sector_ns;
        let busy = &mut self.channels[(die % self.spec.channels) as usize];
        *busy = (*busy).max(ready) + time;
        *busy
    }

    fn read(&mut self, now: u64, command: &Command) -> Timing {
        let decoded = now + self.spec.overhead_ns;
        let page = u64::from(self.spec.page_sectors);
        let (mut at, end) = (command.start.0, command.start.0 + u64::from(command.length.0));
        let mut ready = decoded;
        let mut waited = 0;
        while at < end {
            let piece_end = ((at / page + 1) * page).min(end);
            let sectors = (piece_end - at) as u32;
            let die = self.ftl.die_of(at / u64::from(self.spec.mapping_sectors));
            let start = self.dies[die as usize].max(decoded);
            waited = (start - decoded).max(waited);
            let sensed = self.occupy(die, decoded, self.spec.read_ns);
            ready = ready.max(self.channel(die, sensed, sectors));
            at = piece_end;
        }
        let done = self.cable(decoded, ready, command.length.0);
        Timing {
            rotation: Duration(waited),
            transfer: Duration(done - decoded - waited),
            overhead: Duration(decoded - now),
            ..Timing::default()
        }
    }

    fn write(&mut self, now: u64, command: &Command) -> Timing {
        let decoded = now + self.spec.overhead_ns;
        let arrived = self.cable(decoded, decoded, command.length.0);
        let unit = u64::from(self.spec.mapping_sectors);
        let (start, end) = (command.start.0, command.start.0 + u64::from(command.length.0));
        let continues = start == self.stream_end;
        self.stream_end = end;
        // A unit that a sequential writer is still filling was counted when its end was written.
        let first = if continues { (start.saturating_sub(1)) / unit + 1 } else { start / unit };
        let mut accepted = arrived;
        for index in first..end.div_ceil(unit) {
            let (unit_start, unit_end) = (index * unit, (index + 1) * unit);
            let partial = unit_start < start || unit_end > end;
            if partial && !continues {
                let die = self.ftl.die_of(index);
                let pages = unit.div_ceil(u64::from(self.spec.page_sectors));
                self.occupy(die, arrived, pages * self.spec.read_ns);
            }
            accepted = accepted.max(self.write_unit(index, arrived));
        }
        let mut done = accepted;
        if command.fua && !self.spec.power_loss_protection {
            done = done.max(self.flush(accepted));
        }
        Timing {
            rotation: Duration(done - arrived),
            transfer: Duration(arrived - decoded),
            overhead: Duration(decoded - now),
            cached: !command.fua || self.spec.power_loss_protection,
            ..Timing::default()
        }
    }

    /// Puts a mapping unit into the buffer; gives the time at which there was room.
    fn write_unit(&mut self, unit: u64, arrived: u64) -> u64 {
        let (die, work) = self.ftl.write(unit, self.next_die);
        let page = u64::from(self.spec.page_sectors);
        let moved = u64::from(work.moved) * u64::from(self.spec.mapping_sectors);
        let collecting = moved * (self.spec.read_ns + self.spec.program_ns) / page
            + u64::from(work.erased) * self.ftl.erase_ns(self.spec.erase_ns);
        if collecting > 0 {
            self.occupy(die, arrived, collecting);
        }
        self.open_sectors += self.spec.mapping_sectors;
        let mut accepted = arrived.max(self.buffer[self.buffer_next]);
        while self.open_sectors >= self.spec.page_sectors {
            self.open_sectors -= self.spec.page_sectors;
            accepted = accepted.max(self.buffer[self.buffer_next]);
            self.program(accepted);
        }
        accepted
    }

    /// Programs a page from the buffer on the next die.
    fn program(&mut self, ready: u64) {
        let die = self.next_die;
        self.next_die = (die + 1) % self.dies.len() as u32;
        let there = self.channel(die, ready, self.spec.page_sectors);
        let done = self.occupy(die, there, self.spec.program_ns);
        self.buffer[self.buffer_next] = done;
        self.buffer_next = (self.buffer_next + 1) % self.buffer.len();
        self.programmed = self.programmed.max(done);
    }

    /// Programs what is in the buffer; gives the time at which all of it is on flash.
    fn flush(&mut self, now: u64) -> u64 {
        if self.open_sectors > 0 {
            self.open_sectors = 0;
            self.program(now);
        }
        self.programmed.max(now)
    }

    fn control(&mut self, now: u64, command: &Command) -> Timing {
        let mut done = now + self.spec.overhead_ns;
        if command.operation == Operation::Flush {
            if !self.spec.power_loss_protection {
                done = done.max(self.flush(done));
            }
        } else {
            let unit = u64::from(self.spec.mapping_sectors);
            let end = command.start.0 + u64::from(command.length.0);
            self.ftl.trim(command.start.0.div_ceil(unit), end / unit);
        }
        Timing {
            rotation: Duration(done - now - self.spec.overhead_ns),
            overhead: Duration(self.spec.overhead_ns),
            cached: true,
            ..Timing::default()
        }
    }
}

impl Spec for FlashSpec {
    type Disk = Flash;

    fn build(&self) -> Result<Flash, BuildError> {
        Flash::new(self)
    }

    fn write_cache(&self) -> bool {
        !self.power_loss_protection
    }

    fn depth(&mut self) -> &mut u32 {
        &mut self.depth
    }

    fn set_bus(&mut self, sector_ns: u32) {
        self.interface_sector_ns = u64::from(sector_ns);
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("dies", u64::from(self.channels * self.dies_per_channel)),
            ("read_ns", self.read_ns),
            ("program_ns", self.program_ns),
            ("erase_ns", self.erase_ns),
            ("page_bytes", u64::from(self.page_sectors) * 512),
        ]
    }
}

impl DiskModel for Flash {
    fn capacity(&self) -> Sector {
        Sector(self.spec.capacity)
    }

    fn depth(&self) -> u32 {
        self.spec.depth
    }

    fn rotational(&self) -> bool {
        false
    }

    /// The drive collects what was overwritten hours ago.
    fn remembers(&self) -> bool {
        true
    }

    fn submit(&mut self, now: Instant, command: Command) -> Result<(), SubmitError> {
        check_extent(&command, Sector(self.spec.capacity))?;
        if self.completions.len() >= self.spec.depth as usize {
            return Err(SubmitError::Full { depth: self.spec.depth });
        }
        let time = sane(now);
        let timing = match command.operation {
            Operation::Read => self.read(time, &command),
            Operation::Write => self.write(time, &command),
            Operation::Discard | Operation::Flush => self.control(time, &command),
        };
        let at = Instant(time) + timing.rotation + timing.transfer + timing.overhead;
        self.completions.push(Completion { tag: command.tag, at, started: Instant(time), timing });
        Ok(())
    }

    #[inline]
    fn next_event(&self) -> Option<Instant> {
        self.completions.next()
    }

    #[inline]
    fn advance(&mut self, now: Instant) -> Option<Completion> {
        self.completions.pop(now)
    }
}
