//! Changing a profile from a command line: `NAME:depth=32,cache=off`.

use core::fmt;

use crate::{Alteration, AnySpec, Spec as _};

/// An option: its name, the values it takes, what it does, for which kinds of device.
pub struct DiskOption {
    /// The option's name.
    pub name: &'static str,
    /// The values that it takes.
    pub values: &'static str,
    /// What it does.
    pub meaning: &'static str,
    apply: fn(&mut AnySpec, &str) -> Option<bool>,
}

/// The options of a disk. An option that does not fit the kind of device is an error.
pub static OPTIONS: &[DiskOption] = &[
    DiskOption {
        name: "cache",
        values: "off",
        meaning: "no read cache, read-ahead or write cache in the drive (disks with platters)",
        apply: |model, value| alter(model, (value == "off").then_some(Alteration::CacheOff)),
    },
    DiskOption {
        name: "write-cache",
        values: "off",
        meaning: "no write cache in the drive (disks with platters)",
        apply: |model, value| alter(model, (value == "off").then_some(Alteration::WriteCacheOff)),
    },
    DiskOption {
        name: "buffer",
        values: "1 to 1000, in hundredths",
        meaning: "size of the drive's buffer (disks with platters)",
        apply: |model, value| alter(model, number(value, 1000).map(Alteration::Buffer)),
    },
    DiskOption {
        name: "seek",
        values: "1 to 1000, in hundredths",
        meaning: "time of seeks (disks with platters)",
        apply: |model, value| alter(model, number(value, 1000).map(Alteration::Seek)),
    },
    DiskOption {
        name: "rpm",
        values: "1000 to 30000",
        meaning: "revolutions a minute (disks with platters); tracks stay skewed for the time of a switch",
        apply: |model, value| {
            let rpm = number(value, 30_000).filter(|rpm| *rpm >= 1000);
            alter(model, rpm.map(Alteration::Rpm))
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
        name: "capacity",
        values: "a size such as 500g or 4t, 1 MB to 1000 TB",
        meaning: "how large the device is; a larger disk has more platters",
        apply: |model, value| {
            let fits = size(value).is_some_and(|sectors| model.set_capacity(sectors));
            Some(fits)
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

/// Makes a change, if the value that was given tells which.
fn alter(model: &mut AnySpec, what: Option<Alteration>) -> Option<bool> {
    what.map_or(Some(false), |what| model.alter(what).then_some(true))
}

fn number(text: &str, most: u32) -> Option<u32> {
    text.parse().ok().filter(|number| (1..=most).contains(number))
}

/// A size in sectors: bytes, or with m, g or t millions, milliards and billions of them, as drives are sold.
fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text.as_bytes()[digits.len()..] {
        [] => 1,
        [b'm' | b'M', ..] => 1_000_000,
        [b'g' | b'G', ..] => 1_000_000_000,
        [b't' | b'T', ..] => 1_000_000_000_000,
        _ => return None,
    };
    let bytes: u64 = digits.parse::<u64>().ok()?.checked_mul(unit)?;
    // Whole blocks of 4 KiB, as file systems have them.
    (1_000_000..=1_000_000_000_000_000).contains(&bytes).then_some(bytes / 4096 * 8)
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

impl AnySpec {
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

    fn disk(name: &str) -> AnySpec {
        Profile::named(name).unwrap().model
    }

    #[test]
    fn options_change_the_model() {
        let mut changed = disk("cheetah9lp");
        changed.set("depth=8,cache=off,bus=80").unwrap();
        let AnySpec::Mechanical(spec) = changed else { panic!("a disk with platters") };
        assert_eq!((spec.depth, spec.bus_read_ns), (8, 6_400));
        assert!(!spec.buffer.write_cache && !spec.buffer.read_cache);
    }

    #[test]
    fn a_drive_becomes_another_of_its_kind() {
        let before = disk("hdd-18tb-7200");
        let mut changed = before.clone();
        changed.set("seek=150,rpm=5400,buffer=50,write-cache=off").unwrap();
        let (AnySpec::Mechanical(old), AnySpec::Mechanical(new)) = (before, changed) else {
            panic!("disks with platters")
        };
        assert!(
            old.seek.iter().zip(&new.seek).all(|(old, new)| new.1 == old.1 / 2 * 3 || new.1 == old.1 * 3 / 2)
        );
        assert_eq!((old.period_ns, new.period_ns), (8_333_333, 11_111_111));
        assert_eq!(new.zones[0].track_skew_ns, old.zones[0].track_skew_ns * 4 / 3);
        assert_eq!(new.buffer.segment_sectors, old.buffer.segment_sectors / 2);
        assert!(old.buffer.write_cache && !new.buffer.write_cache && new.buffer.read_cache);
    }

    #[test]
    fn every_disk_can_be_larger_and_smaller() {
        for name in crate::profile::names() {
            for (size, sectors) in [("capacity=600m", 1_171_872), ("capacity=40t", 78_125_000_000)] {
                let mut model = disk(name);
                // A drive of 1 GB has no room for 40 000 times as many platters.
                if model.set(size).is_ok() {
                    use crate::DiskModel as _;
                    // Flash of 40 TB wants a table of its own in memory.
                    if !matches!(model, AnySpec::Flash(_)) || sectors < 1 << 30 {
                        assert_eq!(model.build().unwrap().capacity().0, sectors, "{name}");
                    }
                }
            }
        }
        assert!(
            disk("hdd-18tb-7200").set("capacity=60t").is_ok() && disk("nvme-ssd").set("capacity=3t").is_ok()
        );
        let said = disk("dec-rz26").set("capacity=900t").unwrap_err().to_string();
        assert!(said.contains("capacity takes a size such as"), "{said}");
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_cure() {
        let said = |name: &str, options: &str| -> String { disk(name).set(options).unwrap_err().to_string() };
        assert!(said("fixed", "cache=off").contains("this disk has no cache: no read cache"));
        assert!(said("cheetah9lp", "depth=0").contains("depth takes 1 to 65536"));
        assert!(
            said("cheetah9lp", "colour=red")
                .contains("there are cache, write-cache, buffer, seek, rpm, depth")
        );
        assert!(said("cheetah9lp", "cache").contains("cache takes off"));
    }
}
