//! Tunables made of others: a scheduler that wraps another one has its own and the other's, each group under its name.

use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

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

/// The tunables of all `tables`, one after the other; those behind are not used. A name is in one of them only.
#[doc(hidden)]
pub const fn joined(tables: &[&[Tunable]]) -> [Tunable; MOST] {
    let mut all = [NONE; MOST];
    let (mut filled, mut table) = (0, 0);
    while table < tables.len() {
        let mut at = 0;
        while at < tables[table].len() {
            let tunable = tables[table][at];
            let mut before = 0;
            while before < filled {
                assert!(!same(all[before].name, tunable.name), "two tunables have the same name");
                before += 1;
            }
            all[filled] = tunable;
            filled += 1;
            at += 1;
        }
        table += 1;
    }
    all
}

/// Declares a struct of named groups of tunables. Its table joins the groups' tables, one after the other.
#[macro_export]
macro_rules! groups {
    (
        $(#[$outer:meta])*
        pub struct $name:ident $([$($generics:tt)*] [$($arguments:tt)*])? {
            $($(#[$inner:meta])* $group:ident: $kind:ty,)*
        }
    ) => {
        $(#[$outer])*
        pub struct $name $(<$($generics)*>)? {$($(#[$inner])* pub $group: $kind,)*}

        impl $(<$($generics)*>)? Clone for $name $(<$($arguments)*>)? {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl $(<$($generics)*>)? Copy for $name $(<$($arguments)*>)? {}

        impl $(<$($generics)*>)? $crate::tunables::Tunables for $name $(<$($arguments)*>)? {
            const TABLE: &'static [$crate::tunables::Tunable] = {
                let all = const {
                    &$crate::tunables::joined(&[$(<$kind as $crate::tunables::Tunables>::TABLE),*])
                };
                all.split_at(0 $(+ <$kind as $crate::tunables::Tunables>::TABLE.len())*).0
            };

            fn defaults() -> Self {
                $name {$($group: <$kind as $crate::tunables::Tunables>::defaults(),)*}
            }

            fn get(&self, index: usize) -> u64 {
                let at = index;
                $(
                    let Some(at) = at.checked_sub(<$kind as $crate::tunables::Tunables>::TABLE.len()) else {
                        return $crate::tunables::Tunables::get(&self.$group, at);
                    };
                )*
                panic!("tunable {at} is beyond the table")
            }

            fn put(&mut self, index: usize, value: u64) {
                let at = index;
                $(
                    let Some(at) = at.checked_sub(<$kind as $crate::tunables::Tunables>::TABLE.len()) else {
                        return $crate::tunables::Tunables::put(&mut self.$group, at, value);
                    };
                )*
                panic!("tunable {at} is beyond the table")
            }
        }
    };
}

/// Defaults other than a table's, by name.
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

impl<T, P> Deref for Preset<T, P> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.tunables
    }
}

impl<T, P> DerefMut for Preset<T, P> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.tunables
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
    pub struct Higher;
    impl Presets for Higher {
        const PRESETS: &'static [(&'static str, u64)] = &[("beta", 7)];
    }

    crate::groups! {
        /// Two groups.
        pub struct Both {
            /// Of one.
            one: Preset<One, Higher>,
            /// Of another.
            other: Other,
        }
    }

    #[test]
    fn groups_are_set_in_their_own_tables() {
        assert_eq!(Both::TABLE.iter().map(|t| t.default).collect::<alloc::vec::Vec<_>>(), [1, 7, 3]);
        let mut both = Both::defaults();
        assert_eq!(both.one.beta.0, crate::Duration::from_ms(7));
        both.put(Both::find("gamma").unwrap(), 5);
        both.put(Both::find("alpha").unwrap(), 6);
        assert_eq!((both.one.alpha.0, both.other.gamma.0), (6, 5));
        assert_eq!([both.get(0), both.get(1), both.get(2)], [6, 7, 5]);
    }
}
