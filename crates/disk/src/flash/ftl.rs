//! The flash translation layer: page map, free blocks, greedy garbage collection.
//!
//! Memory is bounded: at most 2^19 mapping units are tracked. A larger device is modelled by a
//! smaller one: neighbouring units share an entry, and erase blocks shrink so that each die keeps
//! enough of them. Write amplification, which depends on over-provisioning and on how writes are
//! spread but not on size, stays what it is; a run reaches the steady state sooner than the real
//! device would, and rewriting one of the units that share an entry counts as rewriting all.
//!
//! Collection is incremental: each write pays its part, so that a block is free when the open one
//! is full.

use super::spec::FlashSpec;
use crate::error::{BuildError, filled, reserve};
use alloc::vec::Vec;

/// Most mapping units tracked.
const MOST_UNITS: u64 = 1 << 19;

/// Blocks a die should have, so that the free ones are a small share.
const BLOCKS_PER_DIE: u64 = 96;

/// Blocks of a die beyond those that hold data: the open one, one being collected, one in reserve.
const SPARE_BLOCKS: u32 = 3;

/// No unit, no slot, no block.
const NONE: u32 = u32::MAX;

/// What a write made the die do besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Collected {
    /// Units moved.
    pub(super) moved: u32,
    /// Blocks erased.
    pub(super) erased: u32,
}

#[derive(Clone, Copy, Debug)]
struct Die {
    open: u32,
    /// Next slot in the open block.
    next: u32,
    free: u32,
    victim: u32,
    /// Next slot of the victim to look at.
    scan: u32,
    /// Units to move at each write.
    pace: u32,
    /// Units alive.
    alive: u32,
}

/// The translation layer.
#[derive(Clone, Debug)]
pub(super) struct Ftl {
    /// Slot of each unit.
    map: Vec<u32>,
    /// Unit in each slot.
    owner: Vec<u32>,
    /// Units alive in each block.
    alive: Vec<u32>,
    /// Free blocks of each die, a stack each.
    free: Vec<u32>,
    is_free: Vec<bool>,
    dies: Vec<Die>,
    blocks_per_die: u32,
    block_slots: u32,
    shift: u32,
    /// Mapping units in a page.
    page_units: u32,
    /// Share of a real block's erase time that erasing a modelled block takes, in 1/1024.
    erase_share: u32,
}

impl Ftl {
    pub(super) fn new(spec: &FlashSpec) -> Result<Ftl, BuildError> {
        let units = spec.capacity.div_ceil(u64::from(spec.mapping_sectors));
        let mut shift = 0;
        while (units >> shift) > MOST_UNITS {
            shift += 1;
        }
        let units = ((units - 1) >> shift) + 1;
        let dies = u64::from(spec.channels) * u64::from(spec.dies_per_channel);
        let real_block = u64::from(spec.block_pages) * u64::from(spec.page_sectors);
        let real_slots = (real_block / u64::from(spec.mapping_sectors)).max(1);
        let physical = units + units * u64::from(spec.over_provision) / 1024;
        let per_die = physical.div_ceil(dies);
        let slots = real_slots.min(per_die / BLOCKS_PER_DIE).max(1);
        let page_units = (spec.page_sectors / spec.mapping_sectors).max(1);
        let data = units.div_ceil(dies).div_ceil(slots);
        let blocks = per_die.div_ceil(slots).max(data + u64::from(SPARE_BLOCKS));
        let total = blocks * dies;
        if total * slots >= u64::from(NONE) || total * slots > 8 * MOST_UNITS {
            return Err(BuildError::TooMany { what: "dies or pages in a block", limit: 8 * MOST_UNITS });
        }
        let mut ftl = Ftl {
            map: filled(units as usize, NONE)?,
            owner: filled((total * slots) as usize, NONE)?,
            alive: filled(total as usize, 0)?,
            free: filled(total as usize, NONE)?,
            is_free: filled(total as usize, true)?,
            dies: Vec::new(),
            blocks_per_die: blocks as u32,
            block_slots: slots as u32,
            shift,
            page_units,
            erase_share: ((slots << 10) / real_slots).clamp(1, 1024) as u32,
        };
        reserve(&mut ftl.dies, dies as usize)?;
        for die in 0..dies as u32 {
            let base = die * ftl.blocks_per_die;
            ftl.is_free[base as usize] = false;
            // The lowest block is open; the stack gives the others in ascending order.
            for index in 0..ftl.blocks_per_die - 1 {
                ftl.free[(base + index) as usize] = base + ftl.blocks_per_die - 1 - index;
            }
            let free = ftl.blocks_per_die - 1;
            ftl.dies.push(Die { open: base, next: 0, free, victim: NONE, scan: 0, pace: 0, alive: 0 });
        }
        ftl.fill((units * u64::from(spec.written.min(1024)) / 1024) as u32);
        Ok(ftl)
    }

    /// Writes the first `written` units in order, a page to each die in turn. Nothing is there yet, so nothing is collected.
    fn fill(&mut self, written: u32) {
        let dies = 0..self.dies.len() as u32;
        let pages = (0..written).step_by(self.page_units as usize);
        for (page, die) in pages.zip(dies.cycle()) {
            for unit in page..(page + self.page_units).min(written) {
                self.put(unit, die, &mut Collected::default());
            }
        }
    }

    /// Time of erasing a modelled block, if a real one takes `real`.
    pub(super) fn erase_ns(&self, real: u64) -> u64 {
        real * u64::from(self.erase_share) / 1024
    }

    /// The die that holds a mapping unit.
    #[inline]
    pub(super) fn die_of(&self, unit: u64) -> u32 {
        let dies = self.dies.len() as u32;
        let slot = self.map[(unit >> self.shift) as usize];
        let within = (unit & ((1 << self.shift) - 1)) as u32 / self.page_units;
        // Units that share an entry lie on neighbouring dies, as a stripe would put them.
        let first = if slot == NONE {
            (unit >> self.shift) as u32 / self.page_units
        } else {
            slot / (self.block_slots * self.blocks_per_die)
        };
        (first.wrapping_add(within)) % dies
    }

    /// Writes a mapping unit, to `die` if it has room; gives the die and what it did besides.
    #[inline]
    pub(super) fn write(&mut self, unit: u64, die: u32) -> (u32, Collected) {
        self.write_tracked((unit >> self.shift) as u32, die)
    }

    fn write_tracked(&mut self, unit: u32, die: u32) -> (u32, Collected) {
        let mut work = Collected::default();
        self.invalidate(unit);
        let die = self.put(unit, die, &mut work);
        let pace = self.dies[die as usize].pace;
        self.collect(die, pace, &mut work);
        (die, work)
    }

    /// Puts a unit that is nowhere on `die`, or on the emptiest if that is full; gives the die.
    fn put(&mut self, unit: u32, die: u32, work: &mut Collected) -> u32 {
        let most = (self.blocks_per_die - SPARE_BLOCKS) * self.block_slots;
        let die = if self.dies[die as usize].alive < most { die } else { self.emptiest() };
        if self.dies[die as usize].next == self.block_slots {
            self.open_block(die, work);
        }
        self.append(unit, die);
        die
    }

    /// Forgets mapping units `first..end`. Entries shared with units outside are kept.
    pub(super) fn trim(&mut self, first: u64, end: u64) {
        let round = (1u64 << self.shift) - 1;
        for entry in ((first + round) >> self.shift)..(end >> self.shift) {
            self.invalidate(entry as u32);
            self.map[entry as usize] = NONE;
        }
    }

    fn invalidate(&mut self, unit: u32) {
        let slot = self.map[unit as usize];
        if slot != NONE {
            self.owner[slot as usize] = NONE;
            let block = slot / self.block_slots;
            self.alive[block as usize] -= 1;
            self.dies[(block / self.blocks_per_die) as usize].alive -= 1;
        }
    }

    fn emptiest(&self) -> u32 {
        let dies = 0..self.dies.len() as u32;
        dies.min_by_key(|&die| self.dies[die as usize].alive).unwrap_or(0)
    }

    /// Puts a unit into the die's open block, which has room.
    #[inline]
    fn append(&mut self, unit: u32, die: u32) {
        let state = &mut self.dies[die as usize];
        let slot = state.open * self.block_slots + state.next;
        state.next += 1;
        state.alive += 1;
        self.alive[state.open as usize] += 1;
        self.owner[slot as usize] = unit;
        self.map[unit as usize] = slot;
    }

    /// Opens a free block in place of a full one. The last free block is for collection only: what
    /// is left of the victim fits into it.
    fn open_block(&mut self, die: u32, work: &mut Collected) {
        let state = &mut self.dies[die as usize];
        state.free -= 1;
        state.open = self.free[(die * self.blocks_per_die + state.free) as usize];
        state.next = 0;
        let block = state.open as usize;
        self.is_free[block] = false;
        if self.dies[die as usize].free == 0 {
            self.choose_victim(die);
            self.collect(die, u32::MAX, work);
        }
        if self.dies[die as usize].free < 2 {
            self.choose_victim(die);
        }
    }

    /// Greedy: of the full blocks, the one with the fewest units alive. Keeps a victim under way.
    fn choose_victim(&mut self, die: u32) {
        let state = self.dies[die as usize];
        if state.victim != NONE {
            return;
        }
        let base = die * self.blocks_per_die;
        let victim = (base..base + self.blocks_per_die)
            .filter(|&block| block != state.open && !self.is_free[block as usize])
            .min_by_key(|&block| self.alive[block as usize]);
        let Some(victim) = victim else { return };
        let alive = self.alive[victim as usize];
        if alive == self.block_slots {
            return;
        }
        let state = &mut self.dies[die as usize];
        state.victim = victim;
        state.scan = 0;
        state.pace = alive.div_ceil(self.block_slots - alive).max(1);
    }

    /// Moves up to `pace` units out of the victim while the open block has room; erases it when empty.
    fn collect(&mut self, die: u32, pace: u32, work: &mut Collected) {
        let victim = self.dies[die as usize].victim;
        if victim == NONE {
            return;
        }
        let mut moved = 0;
        while moved < pace
            && self.alive[victim as usize] > 0
            && self.dies[die as usize].next < self.block_slots
        {
            let scan = self.dies[die as usize].scan;
            self.dies[die as usize].scan += 1;
            let unit = self.owner[(victim * self.block_slots + scan) as usize];
            if unit != NONE {
                self.invalidate(unit);
                self.append(unit, die);
                moved += 1;
            }
        }
        work.moved += moved;
        if self.alive[victim as usize] == 0 {
            let state = &mut self.dies[die as usize];
            self.free[(die * self.blocks_per_die + state.free) as usize] = victim;
            state.free += 1;
            state.victim = NONE;
            state.pace = 0;
            self.is_free[victim as usize] = true;
            work.erased += 1;
        }
    }
}
