//! Tunables: declared once, shown everywhere.
//!
//! [`tunables!`](crate::tunables!) turns a struct of settings into the table that command lines,
//! documentation, sysfs files and sliders loop over. Values cross those borders as whole numbers in
//! the tunable's unit; inside, a field has the type that the scheduler wants.

mod groups;

use core::fmt;

pub use groups::{Preset, Presets, joined};

use crate::units::Duration;

/// What a tunable's number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
    /// Requests, batches, rounds: a plain count.
    Count,
    /// Kibibytes.
    Kibibytes,
    /// Sectors of 512 bytes.
    Sectors,
    /// Hundredths.
    Percent,
    /// 0 (off) or 1 (on).
    Switch,
    /// The seed of a random number generator.
    Seed,
    /// One of these words, by index.
    Choice(&'static [&'static str]),
}

/// One tunable, as its scheduler declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunable {
    /// The tunable's historic name.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// What its number counts.
    pub unit: Unit,
    /// The tunable's value unless set.
    pub default: u64,
    /// The least value allowed.
    pub min: u64,
    /// The greatest value allowed.
    pub max: u64,
}

/// Why a tunable cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TunableError {
    /// The scheduler has no tunable of that name; it has these.
    Unknown(&'static [Tunable]),
    /// The value is outside the tunable's range.
    OutOfRange(&'static Tunable),
    /// The text is not a value of the tunable's unit.
    NotAValue(&'static Tunable),
}

impl fmt::Display for TunableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TunableError::Unknown([]) => f.write_str("this scheduler has no tunables"),
            TunableError::Unknown(known) => {
                f.write_str("no such tunable; there are")?;
                known.iter().try_for_each(|tunable| write!(f, " {}", tunable.name))
            }
            TunableError::OutOfRange(t) => {
                let (min, max) = (t.show(t.min), t.show(t.max));
                write!(f, "{} is out of range: choose from {min} to {max}", t.name)
            }
            TunableError::NotAValue(t) => match t.unit {
                Unit::Choice(words) => {
                    write!(f, "{} wants one of", t.name)?;
                    words.iter().try_for_each(|word| write!(f, " {word}"))
                }
                Unit::Switch => write!(f, "{} wants on or off (1 or 0)", t.name),
                _ => write!(
                    f,
                    "{} wants a whole number{}, such as {}",
                    t.name,
                    t.suffix_hint(),
                    t.show(t.default)
                ),
            },
        }
    }
}

impl core::error::Error for TunableError {}

/// A value of a tunable, printed with its unit.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    unit: Unit,
    value: u64,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value;
        match self.unit {
            Unit::Switch => f.write_str(if value == 0 { "off" } else { "on" }),
            Unit::Choice(words) => f.write_str(words.get(value as usize).copied().unwrap_or("?")),
            Unit::Count | Unit::Seed => write!(f, "{value}"),
            unit => write!(f, "{value} {}", unit.suffix()),
        }
    }
}

impl Unit {
    /// The unit's short name, empty for plain counts.
    pub const fn suffix(self) -> &'static str {
        match self {
            Unit::Milliseconds => "ms",
            Unit::Microseconds => "us",
            Unit::Nanoseconds => "ns",
            Unit::Kibibytes => "KiB",
            Unit::Sectors => "sectors",
            Unit::Percent => "%",
            Unit::Count | Unit::Switch | Unit::Seed | Unit::Choice(_) => "",
        }
    }

    /// Nanoseconds in one of this unit, if it measures time.
    const fn nanoseconds(self) -> Option<u64> {
        match self {
            Unit::Milliseconds => Some(1_000_000),
            Unit::Microseconds => Some(1_000),
            Unit::Nanoseconds => Some(1),
            _ => None,
        }
    }
}

impl Tunable {
    /// `value` with its unit, for people.
    pub const fn show(&self, value: u64) -> Shown {
        Shown { unit: self.unit, value }
    }

    fn suffix_hint(&self) -> &'static str {
        if self.unit.nanoseconds().is_some() { " or a time" } else { "" }
    }

    /// Reads a value: a whole number in the tunable's unit, a time with its unit (`500ms`, `2s`),
    /// `on` or `off`, or one of the words of a choice.
    ///
    /// # Errors
    /// [`TunableError::NotAValue`] or [`TunableError::OutOfRange`].
    pub fn parse(&'static self, text: &str) -> Result<u64, TunableError> {
        let value = match self.unit {
            Unit::Choice(words) => words.iter().position(|word| *word == text).map(|index| index as u64),
            Unit::Switch => match text {
                "on" | "1" | "true" | "yes" => Some(1),
                "off" | "0" | "false" | "no" => Some(0),
                _ => None,
            },
            unit => parse_number(text, unit),
        };
        self.check(value.ok_or(TunableError::NotAValue(self))?)
    }

    /// `value`, if it is in range.
    ///
    /// # Errors
    /// [`TunableError::OutOfRange`].
    pub const fn check(&'static self, value: u64) -> Result<u64, TunableError> {
        if value < self.min || value > self.max { Err(TunableError::OutOfRange(self)) } else { Ok(value) }
    }
}

/// A whole number, alone or with its unit, or a time with another unit converted to `unit`. `None`
/// unless it comes out whole.
fn parse_number(text: &str, unit: Unit) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    if suffix.is_empty() {
        return Some(number);
    }
    let suffix = suffix.trim_start();
    if suffix == unit.suffix() {
        return Some(number);
    }
    let ns = Duration::of(number, suffix)?.0;
    let one = unit.nanoseconds()?;
    if ns % one == 0 { Some(ns / one) } else { None }
}

/// A type that a tunable's field can have.
pub trait Setting: Copy {
    /// What the outside number counts.
    const UNIT: Unit;
    /// From the outside number.
    fn from_raw(raw: u64) -> Self;
    /// To the outside number.
    fn to_raw(self) -> u64;
}

macro_rules! time_settings {
    ($($name:ident $unit:ident $ns:literal $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub Duration);

        impl Setting for $name {
            const UNIT: Unit = Unit::$unit;
            fn from_raw(raw: u64) -> Self {
                $name(Duration(raw.saturating_mul($ns)))
            }
            fn to_raw(self) -> u64 {
                self.0.0 / $ns
            }
        }
    )*};
}

time_settings! {
    Milliseconds Milliseconds 1_000_000 "A time, set in milliseconds.";
    Microseconds Microseconds 1_000 "A time, set in microseconds.";
    Nanoseconds Nanoseconds 1 "A time, set in nanoseconds.";
}

macro_rules! number_settings {
    ($($name:ident $unit:ident $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub u64);

        impl Setting for $name {
            const UNIT: Unit = Unit::$unit;
            fn from_raw(raw: u64) -> Self {
                $name(raw)
            }
            fn to_raw(self) -> u64 {
                self.0
            }
        }
    )*};
}

number_settings! {
    Count Count "A plain count.";
    Kibibytes Kibibytes "A size in kibibytes.";
    SectorCount Sectors "A length or distance in sectors.";
    Percent Percent "Hundredths.";
    Seed Seed "The seed of a random number generator.";
}

impl Setting for bool {
    const UNIT: Unit = Unit::Switch;
    fn from_raw(raw: u64) -> Self {
        raw != 0
    }
    fn to_raw(self) -> u64 {
        self as u64
    }
}

/// A struct of tunables.
pub trait Tunables: Copy {
    /// The table of them, in order of declaration.
    const TABLE: &'static [Tunable];
    /// All at their defaults.
    fn defaults() -> Self;
    /// The value of the tunable at `index` of the table.
    fn get(&self, index: usize) -> u64;
    /// Sets the tunable at `index` of the table to `value`, which is in range.
    fn put(&mut self, index: usize, value: u64);

    /// The place of `name` in the table.
    ///
    /// # Errors
    /// [`TunableError::Unknown`].
    fn find(name: &str) -> Result<usize, TunableError> {
        let found = Self::TABLE.iter().position(|tunable| tunable.name == name);
        found.ok_or(TunableError::Unknown(Self::TABLE))
    }
}

/// No tunables.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Tunables for Nothing {
    const TABLE: &'static [Tunable] = &[];
    fn defaults() -> Self {
        Nothing
    }
    fn get(&self, _: usize) -> u64 {
        0
    }
    fn put(&mut self, _: usize, _: u64) {}
}

/// Declares a scheduler's tunables: `name: Type = default, min..=max;` with a doc comment each.
/// `Type` implements [`Setting`](crate::tunables::Setting) and gives the unit.
///
/// ```
/// use idlewise_core::tunables::{Count, Milliseconds, Tunables as _};
/// idlewise_core::tunables! {
///     /// Settings of an example.
///     pub struct Settings {
///         /// How long a read may wait.
///         read_expire: Milliseconds = 500, 0..=60_000;
///         /// Requests in a batch.
///         fifo_batch: Count = 16, 1..=1024;
///     }
/// }
/// assert_eq!(Settings::TABLE[0].name, "read_expire");
/// assert_eq!(Settings::defaults().fifo_batch.0, 16);
/// ```
#[macro_export]
macro_rules! tunables {
    (
        $(#[$outer:meta])*
        pub struct $name:ident {$(
            $(#[doc = $doc:literal])+
            $field:ident: $kind:ty = $default:expr, $min:literal..=$max:expr;
        )*}
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name {$(
            $(#[doc = $doc])+
            pub $field: $kind,
        )*}

        impl $crate::tunables::Tunables for $name {
            const TABLE: &'static [$crate::tunables::Tunable] = &[$($crate::tunables::Tunable {
                name: stringify!($field),
                doc: concat!($($doc),+).trim_ascii(),
                unit: <$kind as $crate::tunables::Setting>::UNIT,
                default: $default,
                min: $min,
                max: $max,
            }),*];

            fn defaults() -> Self {
                $name {$($field: <$kind as $crate::tunables::Setting>::from_raw($default),)*}
            }

            fn get(&self, index: usize) -> u64 {
                let values = [$($crate::tunables::Setting::to_raw(self.$field)),*];
                values[index]
            }

            #[allow(unused_assignments, reason = "the last field's step is never read")]
            fn put(&mut self, index: usize, value: u64) {
                let mut place = 0;
                $(
                    if place == index {
                        self.$field = <$kind as $crate::tunables::Setting>::from_raw(value);
                    }
                    place += 1;
                )*
            }
        }
    };
}

/// Declares an enum whose variants are the words of a [`Unit::Choice`](crate::tunables::Unit).
#[macro_export]
macro_rules! choices {
    (
        $(#[$outer:meta])*
        pub enum $name:ident {$($(#[$inner:meta])* $variant:ident = $word:literal,)*}
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {$($(#[$inner])* $variant,)*}

        impl $crate::tunables::Setting for $name {
            const UNIT: $crate::tunables::Unit = $crate::tunables::Unit::Choice(&[$($word),*]);
            fn from_raw(raw: u64) -> Self {
                const ALL: &[$name] = &[$($name::$variant),*];
                ALL[raw as usize]
            }
            fn to_raw(self) -> u64 {
                self as u64
            }
        }
    };
}
