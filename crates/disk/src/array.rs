//! Several disks as one device: RAID-0, RAID-1, RAID-5, RAID-6, RAID-10.
//!
//! The array is one disk to its host: a LUN with a queue of its own. Each member has as many commands as it takes, and
//! the rest waits in a line for each member, first come first served. The controller takes no time and holds no data: a
//! write is done when all that belongs to it is. All memory is claimed at construction; a command that is too large
//! for it goes step by step. The parts:
//! - `layout`: where sectors lie; `spec`: what an array is; `name`: how it is named on a command line;
//! - `serve`: what a command asks of members, in steps; `steps`, `pieces`, `parts`: their tables;
//! - `member`: a disk and its line; `balance`: which copy is read.

mod balance;
mod layout;
mod member;
mod name;
mod parts;
mod pieces;
mod serve;
mod spec;
mod steps;

pub use layout::{Layout, Level, MOST_MEMBERS, Place, Strip, strips};
pub use name::{ArrayOption, NameError, Named, OPTIONS, parse};
pub use spec::{ArraySpec, CHUNK, CHUNKS, DEPTH};

use crate::completions::Completions;
use crate::device::{
    Alteration, Command, Completion, DiskModel, News, Spec, SubmitError, Timing, check_extent, sane,
};
use crate::error::{BuildError, reserve};
use alloc::collections::VecDeque;
use alloc::{vec, vec::Vec};
use idlewise_core::{Duration, Instant, Operation, Request, Sector};
use member::Member;
use parts::Parts;
use pieces::Pieces;
use steps::Steps;

/// Commands that an array accepts at most.
const MOST_DEPTH: u32 = 4096;

/// Parts that members have or that wait for them, at most.
const MOST_PARTS: u32 = 1 << 16;

/// A command under way.
#[derive(Clone, Debug)]
struct Slot {
    command: Command,
    /// What the command is for, as far as it was told.
    request: Request,
    arrival: u64,
    /// First sector that is in no step yet, and the sector behind the last.
    next: u64,
    end: u64,
    /// Steps that are not done.
    pending: u32,
    /// When the first member turned to it.
    started: u64,
    /// The part that was done last.
    timing: Timing,
    cached: bool,
}

impl Slot {
    /// A part is done.
    fn account(&mut self, done: &Completion) {
        self.started = self.started.min(done.started.0);
        self.timing = done.timing;
        self.cached &= done.timing.cached;
    }
}

/// Several disks as one device.
#[derive(Clone, Debug)]
pub struct Array<D> {
    layout: Layout,
    capacity: u64,
    depth: u32,
    members: Vec<Member<D>>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Commands that are not wholly divided into steps.
    line: VecDeque<u32>,
    steps: Steps,
    parts: Parts,
    /// Those of the step that is being made.
    pieces: Pieces,
    finished: Completions,
    /// Commands that were not handed back.
    outstanding: u32,
    now: u64,
}

impl<D: DiskModel> Array<D> {
    /// An array of `disks`, as `spec` describes it. Allocates all the memory it will ever use.
    ///
    /// # Errors
    /// [`BuildError`]: a number of members or a depth that is none, chunks that are none or larger than a disk, or no
    /// memory.
    pub fn new<S>(spec: &ArraySpec<S>, disks: Vec<D>) -> Result<Array<D>, BuildError> {
        let count = disks.len() as u32;
        if count > *spec.level.members().end() {
            return Err(BuildError::TooMany { what: "members", limit: u64::from(MOST_MEMBERS) });
        }
        let least = *spec.level.members().start();
        if count < least {
            return Err(BuildError::TooFew { what: "members for this level", least: u64::from(least) });
        }
        if spec.depth == 0 {
            return Err(BuildError::Zero { what: "the queue depth" });
        }
        if spec.depth > MOST_DEPTH {
            return Err(BuildError::TooMany { what: "queued commands", limit: u64::from(MOST_DEPTH) });
        }
        let sectors = disks.iter().map(|disk| disk.capacity().0).min().unwrap_or(0);
        if spec.chunk_sectors == 0 || u64::from(spec.chunk_sectors) > sectors {
            return Err(BuildError::TooMany { what: "sectors in a chunk, or none", limit: sectors });
        }
        let layout = Layout::new(spec.level, count, spec.chunk_sectors, sectors);
        let (depth, members) = (spec.depth as usize, disks.len());
        let most_parts = spec.depth.saturating_mul(3 * count).clamp(4 * count, MOST_PARTS);
        let (mut slots, mut free, mut line) = (Vec::new(), Vec::new(), VecDeque::new());
        reserve(&mut slots, depth)?;
        reserve(&mut free, depth)?;
        line.try_reserve_exact(depth).map_err(|_| BuildError::Memory)?;
        Ok(Array {
            layout,
            capacity: spec.limit.unwrap_or(u64::MAX).min(layout.capacity()),
            depth: spec.depth,
            members: disks.into_iter().zip(0..).map(|(disk, number)| Member::new(number, disk)).collect(),
            slots,
            free,
            line,
            steps: Steps::new(4 * depth)?,
            parts: Parts::new(most_parts)?,
            pieces: Pieces::new(members, 4 * members)?,
            finished: Completions::new(spec.depth)?,
            outstanding: 0,
            now: 0,
        })
    }

    /// Where its sectors lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The disks, in order.
    pub fn members(&self) -> impl Iterator<Item = &D> {
        self.members.iter().map(|member| &member.disk)
    }

    /// The next thing that happens in a member: when, and in which.
    #[inline]
    fn next_of_members(&self) -> Option<(u64, usize)> {
        let next = |(index, member): (usize, &Member<D>)| member.next_event().map(|at| (at, index));
        self.members.iter().enumerate().filter_map(next).min()
    }

    /// Brings all members to `until`, in order of time.
    fn bring(&mut self, until: u64) {
        while let Some((at, member)) = self.next_of_members()
            && at <= until
        {
            self.now = self.now.max(at);
            if let Some(done) = self.members[member].advance(self.now) {
                self.part_done(member, &done);
            }
        }
        self.now = self.now.max(until);
    }

    /// The last part of a command is done. What was before the member turned to it is overhead.
    fn finish(&mut self, slot: u32) {
        let own = &self.slots[slot as usize];
        let started = own.started.min(self.now).max(own.arrival);
        let mut left = self.now - started;
        let mut part = |own: Duration| {
            let own = own.0.min(left);
            left -= own;
            Duration(own)
        };
        let (seek, rotation) = (part(own.timing.seek), part(own.timing.rotation));
        let transfer = part(own.timing.transfer);
        let timing = Timing { seek, rotation, transfer, overhead: Duration(left), cached: own.cached };
        let (tag, at, started) = (own.command.tag, Instant(self.now), Instant(started));
        self.finished.push(Completion { tag, at, started, timing });
        self.free.push(slot);
    }
}

impl<D: DiskModel> DiskModel for Array<D> {
    fn capacity(&self) -> Sector {
        Sector(self.capacity)
    }

    fn depth(&self) -> u32 {
        self.depth
    }

    fn rotational(&self) -> bool {
        self.members.iter().any(|member| member.disk.rotational())
    }

    fn remembers(&self) -> bool {
        self.members.iter().any(|member| member.disk.remembers())
    }

    /// The curve of a member, with distances as they are on the array: longer by the chunks of data in a row.
    fn positioning_curve(&self, points: usize) -> Vec<(u64, Duration)> {
        let times = self.layout.data_chunks();
        let mut curve = self.members[0].disk.positioning_curve(points);
        curve.iter_mut().for_each(|(distance, _)| *distance *= times);
        curve.retain(|(distance, _)| *distance < self.capacity);
        curve
    }

    fn submit(&mut self, now: Instant, command: Command) -> Result<(), SubmitError> {
        self.submit_for(now, command, &Request::default())
    }

    fn submit_for(&mut self, now: Instant, command: Command, request: &Request) -> Result<(), SubmitError> {
        check_extent(&command, Sector(self.capacity))?;
        if self.outstanding >= self.depth {
            return Err(SubmitError::Full { depth: self.depth });
        }
        self.outstanding += 1;
        self.bring(sane(now));
        // A flush has no extent, and is one step.
        let (next, end) = match command.operation {
            Operation::Flush => (0, 1),
            _ => (command.start.0, command.start.0 + u64::from(command.length.0)),
        };
        let slot = Slot {
            command,
            request: *request,
            arrival: self.now,
            next,
            end,
            pending: 0,
            started: u64::MAX,
            timing: Timing::default(),
            cached: true,
        };
        let id = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(id as usize) {
            Some(place) => *place = slot,
            None => self.slots.push(slot),
        }
        self.line.push_back(id);
        self.proceed();
        Ok(())
    }

    fn tell(&mut self, now: Instant, news: News) {
        self.bring(sane(now));
        self.members.iter_mut().for_each(|member| member.tell(self.now, news));
    }

    #[inline]
    fn next_event(&self) -> Option<Instant> {
        let members = self.next_of_members().map(|(at, _)| Instant(at.max(self.now)));
        match (self.finished.next(), members) {
            (Some(finished), Some(member)) => Some(finished.min(member)),
            (finished, member) => finished.or(member),
        }
    }

    #[inline]
    fn advance(&mut self, now: Instant) -> Option<Completion> {
        self.bring(sane(now));
        let done = self.finished.pop(now)?;
        self.outstanding -= 1;
        Some(done)
    }
}

impl<S: Spec> Spec for ArraySpec<S> {
    type Disk = Array<S::Disk>;

    fn build(&self) -> Result<Array<S::Disk>, BuildError> {
        let disks = (0..self.members.min(MOST_MEMBERS + 1)).map(|_| self.member.build());
        Array::new(self, disks.collect::<Result<_, _>>()?)
    }

    fn write_cache(&self) -> bool {
        self.member.write_cache()
    }

    fn depth(&mut self) -> &mut u32 {
        &mut self.depth
    }

    /// Sets the rate of each member's cable.
    fn set_bus(&mut self, sector_ns: u32) {
        self.member.set_bus(sector_ns);
    }

    /// Members become as large as that needs.
    fn set_capacity(&mut self, sectors: u64) -> bool {
        let chunk = self.chunk_sectors.max(1);
        if !self.level.members().contains(&self.members) {
            return false;
        }
        let in_row = Layout::new(self.level, self.members, chunk, u64::from(chunk)).data_chunks();
        let rows = sectors.div_ceil(in_row * u64::from(chunk)) + 1;
        self.limit = Some(sectors);
        self.member.set_capacity(rows * u64::from(chunk))
    }

    fn alter(&mut self, what: Alteration) -> bool {
        self.member.alter(what)
    }

    fn latency_ns(&mut self) -> Option<&mut u64> {
        self.member.latency_ns()
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        let mut facts = vec![("members", u64::from(self.members))];
        if self.level.has_chunks() {
            facts.push(("chunk_bytes", u64::from(self.chunk_sectors) * 512));
        }
        facts
    }
}
