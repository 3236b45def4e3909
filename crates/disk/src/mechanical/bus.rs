//! The bus between drive and host: one transfer at a time.
//!
//! When the arm sets out to read, it is known when its data will cross. Until then the bus is free for what
//! the buffer gives or takes.

/// What the bus is known to carry. Times in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bus {
    /// Until then it carries what the buffer gives or takes.
    taken: u64,
    /// From and until when it carries what the arm reads.
    held: (u64, u64),
}

impl Bus {
    /// When all is over that it is known to carry.
    #[inline]
    pub(super) fn free(&self) -> u64 {
        self.taken.max(self.held.1)
    }

    /// Carries something that takes `length`, from `earliest` on as soon as it fits. Gives the time it begins.
    #[inline]
    pub(super) fn carry(&mut self, earliest: u64, length: u64) -> u64 {
        let soonest = earliest.max(self.taken);
        let fits = soonest + length <= self.held.0;
        let start = if fits { soonest } else { soonest.max(self.held.1) };
        self.taken = start + length;
        start
    }

    /// What the arm reads will cross from `from` until `until`, which is after all that it carries.
    #[inline]
    pub(super) fn hold(&mut self, from: u64, until: u64) {
        self.taken = self.free();
        self.held = (from, until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_crosses_before_the_arm_is_there() {
        let mut bus = Bus::default();
        bus.hold(1000, 1500);
        assert_eq!(bus.carry(200, 300), 200);
        assert_eq!(bus.carry(200, 300), 500, "one after the other");
        assert_eq!(bus.carry(200, 300), 1500, "200 are left before it");
        assert_eq!(bus.free(), 1800);
    }

    #[test]
    fn the_next_read_waits_for_all() {
        let mut bus = Bus::default();
        bus.hold(1000, 1500);
        bus.hold(2000, 2500);
        assert_eq!(bus.carry(1200, 100), 1500, "the first still crosses");
        assert_eq!(bus.carry(2400, 100), 2500);
    }
}
