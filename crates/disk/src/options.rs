//! Changing a profile from a command line: `NAME:depth=32,cache=off`.

use core::fmt;

use crate::Model;

/// An option: its name, the values it takes, what it does, for which kinds of device.
pub struct DiskOption {
    /// The option's name.
    pub name: &'static str,
    /// The values that it takes.
    pub values: &'static str,
    /// What it does.
    pub meaning: &'static str,
    apply: fn(&mut Model, &str) -> Option<bool>,
}

/// The options of a disk. An option that does not fit the kind of device is an error.
pub static OPTIONS: &[DiskOption] = &[
    DiskOption {
        name: "cache",
        values: "off",
        meaning: "no read cache, read-ahead or write cache in the drive (disks with platters)",
        apply: |model, value| {
            let known = value == "off";
            (!known || model.cache_off()).then_some(known)
        },
    },
    DiskOption {
        name: "depth",
        values: "1 to 65536",
        meaning: "commands that the device accepts at once",
        apply: |model, value| {
            let Some(depth) = number(value, 1 << 16) else { return Some(false) };
            *model.depth() = depth;
            Some(true)
        },
    },
    DiskOption {
        name: "bus",
        values: "MB/s, 1 to 100000",
        meaning: "rate of the cable",
        apply: |model, value| {
            let Some(rate) = number(value, 100_000) else { return Some(false) };
            model.set_bus((512_000 / rate).max(1));
            Some(true)
        },
    },
    DiskOption {
        name: "latency",
        values: "microseconds, 1 to 10000000",
        meaning: "time of every command (devices of fixed latency)",
        apply: |model, value| {
            let latency = model.latency_ns()?;
            let us = number(value, 10_000_000);
            *latency = us.map_or(*latency, |us| u64::from(us) * 1000);
            Some(us.is_some())
        },
    },
];

fn number(text: &str, most: u32) -> Option<u32> {
    text.parse().ok().filter(|number| (1..=most).contains(number))
}

/// An option that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum OptionError<'a> {
    /// No option has that name.
    Unknown { option: &'a str },
    /// The option does not take that value.
    Value { option: &'a str, name: &'static str, values: &'static str },
    /// The option is for another kind of device.
    Kind { option: &'a str, name: &'static str, meaning: &'static str },
}

impl fmt::Display for OptionError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Unknown { option } => {
                write!(f, "disk option '{option}': no such option; there are ")?;
                for (number, known) in OPTIONS.iter().enumerate() {
                    write!(f, "{}{}", if number > 0 { ", " } else { "" }, known.name)?;
                }
                Ok(())
            }
            OptionError::Value { option, name, values } => {
                write!(f, "disk option '{option}': {name} takes {values}")
            }
            OptionError::Kind { option, name, meaning } => {
                write!(f, "disk option '{option}': this disk has no {name}: {meaning}")
            }
        }
    }
}

impl core::error::Error for OptionError<'_> {}

impl Model {
    /// Applies `key=value,key=value` from [`OPTIONS`].
    ///
    /// # Errors
    /// [`OptionError`]: no such option, a value that it does not take, or a kind of device that it
    /// does not fit.
    pub fn set<'a>(&mut self, options: &'a str) -> Result<(), OptionError<'a>> {
        for option in options.split(',').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let known = OPTIONS.iter().find(|known| known.name == name);
            let &DiskOption { name, values, meaning, apply } =
                known.ok_or(OptionError::Unknown { option })?;
            match apply(self, value) {
                Some(true) => {}
                Some(false) => return Err(OptionError::Value { option, name, values }),
                None => return Err(OptionError::Kind { option, name, meaning }),
            }
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::string::{String, ToString};

    use super::*;
    use crate::Profile;

    fn disk(name: &str) -> Model {
        Profile::named(name).unwrap().model
    }

    #[test]
    fn options_change_the_model() {
        let mut changed = disk("cheetah9lp");
        changed.set("depth=8,cache=off,bus=80").unwrap();
        let Model::Mechanical(spec) = changed else { panic!("a disk with platters") };
        assert_eq!((spec.depth, spec.bus_read_ns), (8, 6_400));
        assert!(!spec.buffer.write_cache && !spec.buffer.read_cache);
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_cure() {
        let said = |name: &str, options: &str| -> String { disk(name).set(options).unwrap_err().to_string() };
        assert!(said("fixed", "cache=off").contains("this disk has no cache: no read cache"));
        assert!(said("cheetah9lp", "depth=0").contains("depth takes 1 to 65536"));
        assert!(said("cheetah9lp", "colour=red").contains("there are cache, depth, bus, latency"));
        assert!(said("cheetah9lp", "cache").contains("cache takes off"));
    }
}
