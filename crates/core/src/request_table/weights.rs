//! The weights of issuers, as the host has set them.

use crate::collections::{Issuers, OutOfMemory};
use crate::units::{Issuer, Weight};

/// The most issuers that can have a weight other than the default.
pub const WEIGHTS_MAX: usize = 256;

/// The weights that differ from the default.
pub(crate) struct Weights {
    set: Issuers<Weight>,
    /// How many are set: most queues have none.
    count: usize,
}

impl Weights {
    pub(crate) fn new() -> Result<Self, OutOfMemory> {
        Ok(Weights { set: Issuers::new(WEIGHTS_MAX)?, count: 0 })
    }

    #[inline]
    pub(crate) fn get(&self, who: Issuer) -> Weight {
        if self.count == 0 {
            return Weight::default();
        }
        self.set.get(who).copied().unwrap_or_default()
    }

    /// False if too many are set.
    pub(crate) fn set(&mut self, who: Issuer, weight: Weight) -> bool {
        if self.set.find(who).is_none() {
            if weight == Weight::default() {
                return true;
            }
            if self.count == WEIGHTS_MAX {
                return false;
            }
            self.count += 1;
        }
        let place = self.set.enter(who);
        self.set[place] = weight;
        true
    }

    pub(crate) fn forget(&mut self, who: Issuer) {
        if self.set.find(who).is_some() {
            self.set.forget(who);
            self.count -= 1;
        }
    }
}
