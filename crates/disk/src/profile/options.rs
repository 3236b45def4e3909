//! Changing a profile from a command line: `NAME:depth=32,cache=off`.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::{Model, Profile, ProfileError};

/// An option: its name, the values it takes, what it does, for which kinds of device.
pub struct DiskOption {
    /// Its name.
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
        apply: |model, value| match model {
            Model::Mechanical(spec) if value == "off" => {
                spec.buffer = spec.buffer.off();
                Some(true)
            }
            Model::Mechanical(_) => Some(false),
            _ => None,
        },
    },
    DiskOption {
        name: "depth",
        values: "1 to 65536",
        meaning: "commands that the device accepts at once",
        apply: |model, value| {
            let Some(depth) = number(value, 1 << 16) else { return Some(false) };
            match model {
                Model::Mechanical(spec) => spec.depth = depth,
                Model::Flash(spec) => spec.depth = depth,
                Model::Fixed(spec) => spec.depth = depth,
            }
            Some(true)
        },
    },
    DiskOption {
        name: "bus",
        values: "MB/s, 1 to 100000",
        meaning: "rate of the cable",
        apply: |model, value| {
            let Some(rate) = number(value, 100_000) else { return Some(false) };
            let sector_ns = (512_000 / rate).max(1);
            match model {
                Model::Mechanical(spec) => (spec.bus_read_ns, spec.bus_write_ns) = (sector_ns, sector_ns),
                Model::Flash(spec) => spec.interface_sector_ns = u64::from(sector_ns),
                Model::Fixed(spec) => spec.sector_ns = u64::from(sector_ns),
            }
            Some(true)
        },
    },
    DiskOption {
        name: "latency",
        values: "microseconds, 1 to 10000000",
        meaning: "time of every command (devices of fixed latency)",
        apply: |model, value| {
            let Model::Fixed(spec) = model else { return None };
            let Some(us) = number(value, 10_000_000) else { return Some(false) };
            spec.latency_ns = u64::from(us) * 1000;
            Some(true)
        },
    },
];

fn number(text: &str, most: u32) -> Option<u32> {
    text.parse().ok().filter(|number| (1..=most).contains(number))
}

impl Profile {
    /// Applies `key=value,key=value` from [`OPTIONS`].
    ///
    /// # Errors
    /// [`ProfileError::Option`]: no such option, a value that it does not take, or a kind of device
    /// that it does not fit.
    pub fn with(mut self, options: &str) -> Result<Profile, ProfileError> {
        for part in options.split(',').filter(|part| !part.is_empty()) {
            let wrong = |why: String| ProfileError::Option { option: part.to_string(), why };
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let Some(option) = OPTIONS.iter().find(|option| option.name == name) else {
                let names: Vec<_> = OPTIONS.iter().map(|option| option.name).collect();
                return Err(wrong(format!("no such option; there are {}", names.join(", "))));
            };
            match (option.apply)(&mut self.model, value) {
                Some(true) => {}
                Some(false) => return Err(wrong(format!("{name} takes {}", option.values))),
                None => return Err(wrong(format!("{} has no {name}: {}", self.name, option.meaning))),
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(name: &str) -> Profile {
        Profile::named(name).unwrap()
    }

    #[test]
    fn options_change_the_model() {
        let changed = disk("cheetah9lp").with("depth=8,cache=off,bus=80").unwrap();
        let Model::Mechanical(spec) = changed.model else { panic!("a disk with platters") };
        assert_eq!((spec.depth, spec.bus_read_ns), (8, 6_400));
        assert!(!spec.buffer.write_cache && !spec.buffer.read_cache);
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_cure() {
        let said = |name: &str, options: &str| disk(name).with(options).unwrap_err().to_string();
        assert!(said("fixed", "cache=off").contains("fixed has no cache"));
        assert!(said("cheetah9lp", "depth=0").contains("depth takes 1 to 65536"));
        assert!(said("cheetah9lp", "colour=red").contains("there are cache, depth, bus, latency"));
        assert!(said("cheetah9lp", "cache").contains("cache takes off"));
    }
}
