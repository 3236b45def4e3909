//! How an array serves commands: which pieces a step has, when it begins, and what follows.

use super::Array;
use super::balance;
use super::layout::strips;
use super::pieces::Piece;
use super::steps::{Lock, State, Step};
use crate::device::{Completion, DiskModel};
use idlewise_core::Operation;

impl<D: DiskModel> Array<D> {
    /// Divides what waits into steps, in order of arrival, as far as there is room.
    pub(super) fn proceed(&mut self) {
        while let Some(&slot) = self.line.front() {
            while self.slots[slot as usize].next < self.slots[slot as usize].end {
                if !self.make_step(slot) {
                    return;
                }
            }
            self.line.pop_front();
            // A discard may be of nothing that can be discarded.
            if self.slots[slot as usize].pending == 0 {
                self.finish(slot);
            }
        }
    }

    /// The next step of a command; false if there is no room for it.
    fn make_step(&mut self, slot: u32) -> bool {
        let own = &self.slots[slot as usize];
        let (from, end, operation) = (own.next, own.end, own.command.operation);
        let computes = operation == Operation::Write && self.layout.parities() > 0;
        let lock = computes.then(|| self.lock(from, end));
        let claim = lock.map_or(self.most_pieces(), |(_, _, claim)| claim);
        if self.steps.is_full() || !self.parts.claim(claim) {
            return false;
        }
        let mut step = Step { slot, from, to: end, pending: 0, claim, state: State::Last, lock: None };
        self.pieces.clear();
        if let Some((lock, to, _)) = lock {
            (step.lock, step.to, step.state) = (Some(lock), to, State::Blocked);
        } else {
            step.to = self.gather(operation, from, end);
            step.claim = self.pieces.list().len() as u32;
            self.parts.release(claim - step.claim);
        }
        self.slots[slot as usize].next = step.to;
        if step.state == State::Last && step.claim == 0 {
            return true;
        }
        self.slots[slot as usize].pending += 1;
        let id = self.steps.add(step);
        if step.state == State::Last {
            self.give(id);
        } else {
            self.begin_released();
        }
        true
    }

    /// Pieces that a step has at most: three strips of a row, each with all members, and room to spare for reads.
    pub(super) fn most_pieces(&self) -> u32 {
        4 * self.members.len() as u32
    }

    /// What a write that begins at `from` locks in a layout with parity: part of a row, or all the whole rows that
    /// follow. With it the end of that, and how many parts it takes at most.
    fn lock(&self, from: u64, end: u64) -> (Lock, u64, u32) {
        let (row, chunk, members) = (self.layout.row(), self.layout.chunk(), self.members.len() as u32);
        let (first, inside) = (from / row, from % row);
        let whole = if inside == 0 { (end - from) / row } else { 0 };
        if whole > 0 {
            let lock = Lock { rows: (first, first + whole - 1), columns: (0, chunk) };
            return (lock, from + whole * row, members);
        }
        let to = end.min((first + 1) * row);
        let one_chunk = from / chunk == (to - 1) / chunk;
        let columns = if one_chunk { (from % chunk, (to - 1) % chunk + 1) } else { (0, chunk) };
        (Lock { rows: (first, first), columns }, to, 3 * members)
    }

    /// Collects the pieces of a command that computes no parity, from `from` on. Returns how far there was room.
    fn gather(&mut self, operation: Operation, from: u64, end: u64) -> u64 {
        match operation {
            Operation::Flush => {
                for member in 0..self.members.len() as u32 {
                    self.pieces.add(Piece { member, operation, start: 0, length: 0 });
                }
                end
            }
            Operation::Discard if self.layout.parities() > 0 => {
                // The rest of a row must stay: parity is computed of it.
                let row = self.layout.row();
                self.add_rows(operation, from.div_ceil(row), end / row);
                end
            }
            Operation::Read => self.gather_chunks(from, end, operation, 1),
            Operation::Write | Operation::Discard => {
                self.gather_chunks(from, end, operation, self.layout.copies())
            }
        }
    }

    /// The same chunk by chunk: each of which goes to `copies` places; one place is chosen.
    fn gather_chunks(&mut self, from: u64, end: u64, operation: Operation, copies: u64) -> u64 {
        let mut at = from;
        while at < end && self.pieces.has_room(copies as usize) {
            let length = self.layout.left(at).min(end - at);
            let chosen = if copies == 1 { balance::choose(&self.layout, &self.members, at) } else { 0 };
            for copy in chosen..chosen + copies {
                let place = self.layout.place(at, copy);
                if operation == Operation::Read {
                    self.members[place.member as usize].follows = place.sector + length;
                }
                let (member, start) = (place.member, place.sector);
                self.pieces.add(Piece { member, operation, start, length: length as u32 });
            }
            at += length;
        }
        at
    }

    /// Adds the rows from `first` up to `end`, with their parity.
    fn add_rows(&mut self, operation: Operation, first: u64, end: u64) {
        let chunk = self.layout.chunk();
        if first < end {
            let length = ((end - first) * chunk) as u32;
            for member in 0..self.members.len() as u32 {
                self.pieces.add(Piece { member, operation, start: first * chunk, length });
            }
        }
    }

    /// Begins the steps that nobody blocks any more.
    fn begin_released(&mut self) {
        while let Some(id) = self.steps.released() {
            let step = self.steps[id];
            self.pieces.clear();
            self.gather_old(&step);
            let reads = !self.pieces.list().is_empty();
            self.steps[id].state = if reads { State::Reading } else { State::Last };
            if !reads {
                self.gather_new(&step);
            }
            self.give(id);
        }
    }

    /// Collects what is read before `step` can compute parity: what is overwritten and its parity (read-modify-write), or
    /// else what is not written (reconstruct-write). Whichever reads less, for each strip; as much of both is read in
    /// favour of the latter, as md has it by default.
    fn gather_old(&mut self, step: &Step) {
        let (layout, row) = (self.layout, self.layout.row());
        let (number, data, parities) = (step.from / row, layout.data_chunks(), layout.parities());
        if step.to - step.from >= row {
            return;
        }
        for strip in strips(layout.chunk(), step.from - number * row, step.to - number * row) {
            let (start, length) = (number * layout.chunk() + strip.from, (strip.to - strip.from) as u32);
            let mut read = |member: u32| {
                self.pieces.add(Piece { member, operation: Operation::Read, start, length });
            };
            let written = strip.last - strip.first + 1;
            if written + parities < data - written {
                (strip.first..=strip.last).for_each(|index| read(layout.data(number, index)));
                (0..parities).for_each(|which| read(layout.parity(number, which)));
            } else {
                let kept = (0..data).filter(|index| !(strip.first..=strip.last).contains(index));
                kept.for_each(|index| read(layout.data(number, index)));
            }
        }
    }

    /// Collects what `step` writes: data, and its parity.
    fn gather_new(&mut self, step: &Step) {
        let (layout, row) = (self.layout, self.layout.row());
        let number = step.from / row;
        if step.to - step.from >= row {
            self.add_rows(Operation::Write, number, step.to / row);
            return;
        }
        for strip in strips(layout.chunk(), step.from - number * row, step.to - number * row) {
            let (start, length) = (number * layout.chunk() + strip.from, (strip.to - strip.from) as u32);
            let mut write = |member: u32| {
                self.pieces.add(Piece { member, operation: Operation::Write, start, length });
            };
            (strip.first..=strip.last).for_each(|index| write(layout.data(number, index)));
            (0..layout.parities()).for_each(|which| write(layout.parity(number, which)));
        }
    }

    /// Gives the members the pieces that were collected for step `id`.
    fn give(&mut self, id: u32) {
        self.steps[id].pending = self.pieces.list().len() as u32;
        for &piece in self.pieces.list() {
            let part = self.parts.add(id, piece);
            self.members[piece.member as usize].join(part, &mut self.parts);
        }
        for place in 0..self.pieces.list().len() {
            self.send(self.pieces.list()[place].member as usize);
        }
    }

    /// Sends a member what it has room for.
    fn send(&mut self, member: usize) {
        let own = &mut self.members[member];
        while let Some(part) = own.next(&self.parts) {
            let slot = &self.slots[self.steps[self.parts[part].step].slot as usize];
            let fua = slot.command.fua && self.parts[part].piece.operation == Operation::Write;
            own.send(self.now, part, &self.parts, fua, &slot.request);
        }
    }

    /// A member has finished a part.
    pub(super) fn part_done(&mut self, member: usize, done: &Completion) {
        let part = self.parts.remove(done.tag);
        self.members[member].head = part.piece.start + u64::from(part.piece.length);
        let step = &mut self.steps[part.step];
        step.pending -= 1;
        let (slot, left, state) = (step.slot, step.pending, step.state);
        self.slots[slot as usize].account(done);
        if left == 0 && state == State::Reading {
            let step = self.steps[part.step];
            self.steps[part.step].state = State::Last;
            self.pieces.clear();
            self.gather_new(&step);
            self.give(part.step);
        } else if left == 0 {
            self.step_done(part.step);
        }
        self.send(member);
    }

    fn step_done(&mut self, id: u32) {
        let step = self.steps.remove(id);
        self.parts.release(step.claim);
        let slot = &mut self.slots[step.slot as usize];
        slot.pending -= 1;
        if slot.pending == 0 && slot.next == slot.end {
            self.finish(step.slot);
        }
        if step.lock.is_some() {
            self.begin_released();
        }
        self.proceed();
    }
}
