//! Tunables made of others: a scheduler that wraps another one has those of both.

use core::marker::PhantomData;

use super::{Tunable, Tunables, Unit};

/// Most tunables that two tables have together.
const MOST: usize = 32;

const NONE: Tunable = Tunable { name: "", doc: "", unit: Unit::Count, default: 0, min: 0, max: 0 };

/// Whether two names are the same, at compile time.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// The place of `name` in `table`, or its length.
const fn place_of(table: &[Tunable], name: &str) -> usize {
    let mut at = 0;
    while at < table.len() && !same(table[at].name, name) {
        at += 1;
    }
    at
}

/// The tunables of two, one table after the other. A name is in one of them only.
#[derive(Clone, Copy, Debug)]
pub struct Joined<A, B> {
    /// Those that come first.
    pub first: A,
    /// Those that come after.
    pub second: B,
}

impl<A: Tunables, B: Tunables> Joined<A, B> {
    const ALL: [Tunable; MOST] = {
        let mut all = [NONE; MOST];
        let mut at = 0;
        while at < A::TABLE.len() {
            all[at] = A::TABLE[at];
            at += 1;
        }
        let mut next = 0;
        while next < B::TABLE.len() {
            let twice = place_of(A::TABLE, B::TABLE[next].name) < A::TABLE.len();
            assert!(!twice, "two tunables have the same name");
            all[at + next] = B::TABLE[next];
            next += 1;
        }
        all
    };
}

impl<A: Tunables, B: Tunables> Tunables for Joined<A, B> {
    const TABLE: &'static [Tunable] = {
        let all: &'static [Tunable] = &Self::ALL;
        all.split_at(A::TABLE.len() + B::TABLE.len()).0
    };

    fn defaults() -> Self {
        Joined { first: A::defaults(), second: B::defaults() }
    }

    fn get(&self, index: usize) -> u64 {
        match index.checked_sub(A::TABLE.len()) {
            None => self.first.get(index),
            Some(index) => self.second.get(index),
        }
    }

    fn put(&mut self, index: usize, value: u64) {
        match index.checked_sub(A::TABLE.len()) {
            None => self.first.put(index, value),
            Some(index) => self.second.put(index, value),
        }
    }
}

/// Defaults other than those of a table, by name.
pub trait Presets: Copy {
    /// The tunables and their defaults.
    const PRESETS: &'static [(&'static str, u64)];
}

/// The tunables `T` with the defaults of `P`.
#[derive(Clone, Copy, Debug)]
pub struct Preset<T, P> {
    /// The tunables.
    pub tunables: T,
    presets: PhantomData<P>,
}

impl<T: Tunables, P: Presets> Preset<T, P> {
    const ALL: [Tunable; MOST] = {
        let mut all = [NONE; MOST];
        let mut at = 0;
        while at < T::TABLE.len() {
            all[at] = T::TABLE[at];
            at += 1;
        }
        let mut next = 0;
        while next < P::PRESETS.len() {
            let (name, default) = P::PRESETS[next];
            let place = place_of(T::TABLE, name);
            assert!(place < T::TABLE.len(), "a preset names no tunable");
            assert!(default >= all[place].min && default <= all[place].max, "a preset is out of range");
            all[place].default = default;
            next += 1;
        }
        all
    };
}

impl<T: Tunables, P: Presets> Tunables for Preset<T, P> {
    const TABLE: &'static [Tunable] = {
        let all: &'static [Tunable] = &Self::ALL;
        all.split_at(T::TABLE.len()).0
    };

    fn defaults() -> Self {
        let mut tunables = T::defaults();
        for (index, tunable) in Self::TABLE.iter().enumerate() {
            tunables.put(index, tunable.default);
        }
        Preset { tunables, presets: PhantomData }
    }

    fn get(&self, index: usize) -> u64 {
        self.tunables.get(index)
    }

    fn put(&mut self, index: usize, value: u64) {
        self.tunables.put(index, value);
    }
}

#[cfg(test)]
#[allow(unreachable_pub, reason = "the macro declares public structs")]
mod tests {
    use super::*;
    use crate::tunables::{Count, Milliseconds};

    crate::tunables! {
        /// Of one.
        pub struct One {
            /// A.
            alpha: Count = 1, 0..=9;
            /// B.
            beta: Milliseconds = 2, 0..=9;
        }
    }
    crate::tunables! {
        /// Of another.
        pub struct Other {
            /// C.
            gamma: Count = 3, 0..=9;
        }
    }
    #[derive(Clone, Copy)]
    struct Higher;
    impl Presets for Higher {
        const PRESETS: &'static [(&'static str, u64)] = &[("beta", 7)];
    }

    #[test]
    fn joined_tunables_are_set_in_their_own_tables() {
        type Both = Joined<Preset<One, Higher>, Other>;
        assert_eq!(Both::TABLE.iter().map(|t| t.default).collect::<alloc::vec::Vec<_>>(), [1, 7, 3]);
        let mut both = Both::defaults();
        assert_eq!(both.first.tunables.beta.0, crate::Duration::from_ms(7));
        both.put(Both::find("gamma").unwrap(), 5);
        both.put(Both::find("alpha").unwrap(), 6);
        assert_eq!((both.first.tunables.alpha.0, both.second.gamma.0), (6, 5));
        assert_eq!([both.get(0), both.get(1), both.get(2)], [6, 7, 5]);
    }
}
