//! An array on a command line: `raid5:n=5,of=maxtor-40g,chunk=64k`, or with `md` for `raid`.
//!
//! A member is named as a disk by itself is, but with `+` between its options, because commas divide those of the array:
//! `raid0:n=4,of=maxtor-40g:depth=8+cache=off,chunk=64k`.

use super::layout::Level;
use super::spec::{CHUNK, CHUNKS};
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// An option of an array: its name, the values it takes, what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayOption {
    /// The option's name.
    pub name: &'static str,
    /// The values that it takes.
    pub values: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

/// The options of an array.
pub static OPTIONS: &[ArrayOption] = &[
    ArrayOption {
        name: "n",
        values: "2 to 64; raid5 and raid10 have 3 or more, raid6 has 4 or more",
        meaning: "how many disks; must be given",
    },
    ArrayOption {
        name: "of",
        values: "a disk, with + between its options, such as maxtor-40g:depth=8+cache=off",
        meaning: "what each of them is; must be given",
    },
    ArrayOption {
        name: "chunk",
        values: "4k, 8k, 16k, … 4m (64k unless given); raid1 has none",
        meaning: "what lies on one disk before the next one follows",
    },
    ArrayOption {
        name: "depth",
        values: "1 to 4096 (64 unless given); md has none",
        meaning: "commands that the array accepts at once",
    },
    ArrayOption {
        name: "capacity",
        values: "a size such as 500g or 4t",
        meaning: "how large the array is; the disks are made larger or smaller for it",
    },
];

/// An array as it was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// Which level.
    pub level: Level,
    /// Each disk has a scheduler of its own.
    pub md: bool,
    /// How many disks.
    pub members: u32,
    /// Sectors in a chunk.
    pub chunk_sectors: u32,
    /// What each disk is: a name or the path of a profile.
    pub of: &'a str,
    /// The options of each disk, with `+` between them; may be empty.
    pub of_options: &'a str,
    /// Commands that the array accepts at once, if that was given: the text.
    pub depth: Option<&'a str>,
    /// How large the array is, if that was given: the text.
    pub capacity: Option<&'a str>,
}

impl Named<'_> {
    /// Each disk as it is named by itself.
    pub fn member(&self) -> String {
        if self.of_options.is_empty() {
            return self.of.to_string();
        }
        format!("{}:{}", self.of, self.of_options.replace('+', ","))
    }
}

/// Why a text names no array, although it begins as if.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum NameError<'a> {
    /// A level that there is not.
    Level { name: &'a str },
    /// An option that there is not.
    Unknown { option: &'a str },
    /// An option that must be given is not.
    Missing { name: &'static str },
    /// Too few or too many disks for the level.
    Members { level: Level, given: &'a str },
    /// No size of a chunk.
    Chunk { given: &'a str },
    /// An option that this array does not have.
    Unfit { option: &'static str, why: &'static str },
}

impl fmt::Display for NameError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            NameError::Level { name } => {
                write!(f, "there is no array '{name}'; there are")?;
                for (number, level) in Level::ALL.iter().enumerate() {
                    let comma = if number > 0 { "," } else { "" };
                    write!(f, "{comma} raid{}", level.number())?;
                }
                f.write_str(", and the same with md for raid: each disk then has a scheduler of its own")
            }
            NameError::Unknown { option } => {
                write!(f, "array option '{option}': no such option; there are ")?;
                for (number, known) in OPTIONS.iter().enumerate() {
                    write!(f, "{}{}", if number > 0 { ", " } else { "" }, known.name)?;
                }
                f.write_str(
                    "; options of the disks follow their name, as in of=maxtor-40g:seek=150+cache=off",
                )
            }
            NameError::Missing { name } => {
                write!(f, "an array wants {name}, as in raid0:n=4,of=maxtor-40g,chunk=64k")
            }
            NameError::Members { level, given } => {
                let allowed = level.members();
                write!(
                    f,
                    "n={given}: {level} takes {} to {} disks, and n says how many",
                    allowed.start(),
                    allowed.end()
                )
            }
            NameError::Chunk { given } => {
                write!(f, "chunk={given}: a chunk is a power of two from 4k to 4m, such as 64k")
            }
            NameError::Unfit { option, why } => write!(f, "{option}: {why}"),
        }
    }
}

impl core::error::Error for NameError<'_> {}

/// What `text` names, if it begins as the name of an array does.
///
/// # Errors
/// [`NameError`]: no such level or option, a value that it does not take, or something that is missing.
pub fn parse(text: &str) -> Option<Result<Named<'_>, NameError<'_>>> {
    let (name, options) = text.split_once(':').unwrap_or((text, ""));
    let (kind, number) = name.split_at_checked(name.find(|c: char| c.is_ascii_digit())?)?;
    let md = kind.eq_ignore_ascii_case("md");
    if !(md || kind.eq_ignore_ascii_case("raid")) {
        return None;
    }
    let level = Level::ALL.into_iter().find(|level| number.parse() == Ok(level.number()));
    Some(level.ok_or(NameError::Level { name }).and_then(|level| with_options(level, md, options)))
}

fn with_options(level: Level, md: bool, options: &str) -> Result<Named<'_>, NameError<'_>> {
    let (mut members, mut of, mut chunk, mut depth, mut capacity) = (None, None, None, None, None);
    for option in options.split(',').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let place = match name {
            "n" => &mut members,
            "of" => &mut of,
            "chunk" => &mut chunk,
            "depth" => &mut depth,
            "capacity" => &mut capacity,
            _ => return Err(NameError::Unknown { option }),
        };
        *place = Some(value);
    }
    let given = members.ok_or(NameError::Missing { name: "n=NUMBER" })?;
    let members = given.parse().ok().filter(|count| level.members().contains(count));
    let members = members.ok_or(NameError::Members { level, given })?;
    let of = of.filter(|of| !of.is_empty()).ok_or(NameError::Missing { name: "of=DISK" })?;
    let (of, of_options) = match of.rsplit_once(':') {
        Some((name, options)) if options.contains('=') => (name, options),
        _ => (of, ""),
    };
    if chunk.is_some() && !level.has_chunks() {
        return Err(NameError::Unfit { option: "chunk", why: "RAID-1 has no chunks; leave it out" });
    }
    if depth.is_some() && md {
        let why = "md has no queue of its own, and takes what comes; give it to the disks: of=DISK:depth=8";
        return Err(NameError::Unfit { option: "depth", why });
    }
    let chunk_sectors = match chunk {
        Some(given) => sectors(given).ok_or(NameError::Chunk { given })?,
        None => CHUNK,
    };
    Ok(Named { level, md, members, chunk_sectors, of, of_options, depth, capacity })
}

/// A chunk's size in sectors.
fn sectors(text: &str) -> Option<u32> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "k" | "K" => 2,
        "m" | "M" => 2048,
        _ => return None,
    };
    let sectors = digits.parse::<u32>().ok()?.checked_mul(unit)?;
    (sectors.is_power_of_two() && (CHUNKS.0..=CHUNKS.1).contains(&sectors)).then_some(sectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_named_with_its_disks() {
        let named = parse("raid5:n=5,of=maxtor-40g:depth=8+cache=off,chunk=256k,depth=32").unwrap().unwrap();
        assert_eq!(
            (named.level, named.md, named.members, named.chunk_sectors),
            (Level::Raid5, false, 5, 512)
        );
        assert_eq!((named.member().as_str(), named.depth), ("maxtor-40g:depth=8,cache=off", Some("32")));
        let named = parse("MD10:of=./my.toml,n=4,capacity=1t").unwrap().unwrap();
        assert_eq!((named.level, named.md, named.member().as_str()), (Level::Raid10, true, "./my.toml"));
        assert_eq!((named.chunk_sectors, named.capacity), (128, Some("1t")));
    }

    #[test]
    fn other_names_are_no_arrays() {
        for name in ["maxtor-40g", "raid", "md", "raidar5", "hdd-18tb-7200:depth=4", "./raid5.toml"] {
            assert!(parse(name).is_none(), "{name}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_what_is_allowed() {
        let cases = [
            ("raid4:n=4,of=fixed", "there are raid0, raid1, raid5, raid6, raid10, and the same with md"),
            ("raid5:n=2,of=fixed", "n=2: RAID-5 takes 3 to 64 disks"),
            ("raid6:n=3,of=fixed", "RAID-6 takes 4 to 64 disks"),
            ("raid0:n=65,of=fixed", "RAID-0 takes 2 to 64 disks"),
            ("raid0:n=four,of=fixed", "n=four: RAID-0 takes 2 to 64"),
            ("raid0:of=fixed", "an array wants n=NUMBER, as in raid0:n=4,of=maxtor-40g"),
            ("raid0", "an array wants n=NUMBER"),
            ("raid0:n=4", "an array wants of=DISK"),
            ("raid0:n=4,of=fixed,chunk=48k", "chunk=48k: a chunk is a power of two from 4k to 4m"),
            ("raid0:n=4,of=fixed,chunk=8m", "a power of two from 4k to 4m"),
            ("raid0:n=4,of=fixed,chunk=64", "a power of two from 4k to 4m"),
            ("raid1:n=2,of=fixed,chunk=64k", "RAID-1 has no chunks"),
            ("md0:n=2,of=fixed,depth=4", "give it to the disks"),
            ("raid0:n=4,of=fixed,seek=150", "there are n, of, chunk, depth, capacity; options of the disks"),
        ];
        for (text, wanted) in cases {
            let said = parse(text).unwrap().unwrap_err().to_string();
            assert!(said.contains(wanted), "{text}: {said}");
        }
    }
}
