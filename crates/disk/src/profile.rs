//! Disk profiles: one TOML file a drive, compiled into integers.
//!
//! A built-in profile is its file in `profiles/` and its name in `BUILT_IN`; others are read from a path. Every key carries its
//! unit, unknown keys are errors, and messages name the line.

mod error;
mod find;
mod flash;
mod mechanical;
mod number;

pub use error::ProfileError;

use crate::error::BuildError;
use crate::{AnyModel, AnySpec};
use error::Fault;
use serde::Deserialize;
use std::io::{self, Read as _};
use std::string::{String, ToString};
use std::{format, fs};

/// A named disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The profile's name: the file's, without `.toml`.
    pub name: String,
    /// One line for lists.
    pub description: String,
    /// Where the numbers come from.
    pub source: String,
    /// How far the model is from the drive, where that was measured: the demerit figure in thousandths of the mean response.
    pub demerit_permille: Option<u32>,
    /// The numbers.
    pub model: AnySpec,
}

macro_rules! built_in {
    ($($name:literal)+) => { &[$(($name, include_str!(concat!("../profiles/", $name, ".toml")))),+] };
}

/// Name and text of the profiles that are part of the program.
const BUILT_IN: &[(&str, &str)] = built_in! {
    "cheetah9lp" "cheetah4lp" "atlas10k" "atlas-iii" "barracuda" "ibm-18es" "hp-c3323a" "hp-c2490a"
    "hp-c2247a" "dec-rz26" "st41601n" "deskstar-34gxp" "cheetah-st318451lw" "maxtor-20g" "maxtor-40g"
    "hdd-4tb-7200" "hdd-2400gb-10k" "hdd-18tb-7200" "sata-ssd" "nvme-ssd" "sd-card" "fixed"
};

/// No profile is larger than this, in bytes.
const LARGEST: u64 = 1 << 20;

/// The text of a file that may be a profile.
fn text(path: &std::path::Path) -> io::Result<String> {
    let refused = |what: &str| {
        let message = format!("this is {what}, and a model of a disk is a text file of a few KiB");
        io::Error::new(io::ErrorKind::InvalidInput, message)
    };
    let file = fs::File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(refused("a folder"));
    }
    let mut bytes = std::vec::Vec::new();
    // Pipes and the like do not tell their length.
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(refused("larger than 1 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| refused("no text"))
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Kind {
    Mechanical(std::boxed::Box<mechanical::Mechanical>),
    Flash(flash::Flash),
    Fixed(flash::Fixed),
}

#[derive(Debug, Deserialize)]
struct File {
    description: String,
    source: String,
    demerit_permille: Option<u32>,
    #[serde(flatten)]
    kind: Kind,
}

/// Names of the built-in profiles.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|&(name, _)| name)
}

impl Profile {
    /// A built-in profile.
    pub fn named(name: &str) -> Result<Profile, ProfileError> {
        let (_, text) = BUILT_IN.iter().find(|&&(n, _)| n == name).ok_or_else(|| {
            let known = names().collect::<std::vec::Vec<_>>().join(", ");
            ProfileError::Unknown { name: name.to_string(), known }
        })?;
        Profile::parse(name, &format!("{name}.toml"), text)
    }

    /// Parses a profile; `file` is what messages call it.
    pub fn parse(name: &str, file: &str, text: &str) -> Result<Profile, ProfileError> {
        let parsed: File = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| text[..span.start].lines().count().max(1));
            ProfileError::Invalid { file: file.to_string(), line, message: error.message().to_string() }
        })?;
        let model = match &parsed.kind {
            Kind::Mechanical(keys) => keys.compile().map(AnySpec::Mechanical),
            Kind::Flash(keys) => keys.compile().map(AnySpec::Flash),
            Kind::Fixed(keys) => keys.compile().map(AnySpec::Fixed),
        };
        let model = model.map_err(|fault: Fault| fault.at(file, text))?;
        let File { description, source, demerit_permille, .. } = parsed;
        Ok(Profile { name: name.to_string(), description, source, demerit_permille, model })
    }

    /// Reads a profile from a file.
    ///
    /// # Errors
    /// Those of [`Profile::parse`]; [`ProfileError::Read`] of a folder and of a file that is larger than any profile.
    pub fn load(path: &std::path::Path) -> Result<Profile, ProfileError> {
        let file = path.display().to_string();
        let text = text(path).map_err(|error| ProfileError::Read { file: file.clone(), error })?;
        let name = path.file_stem().map_or_else(|| file.clone(), |stem| stem.to_string_lossy().into_owned());
        Profile::parse(&name, &file, &text)
    }

    /// Builds the disk.
    pub fn build(&self) -> Result<AnyModel, BuildError> {
        self.model.build()
    }

    /// Applies `key=value,key=value` from [`OPTIONS`](crate::OPTIONS).
    ///
    /// # Errors
    /// [`ProfileError::Option`]: no such option, a value that it does not take, or a kind of device
    /// that it does not fit.
    pub fn with(mut self, options: &str) -> Result<Profile, ProfileError> {
        self.model.set(options).map_err(|error| ProfileError::Option { message: error.to_string() })?;
        if !options.is_empty() {
            // Nobody has measured the altered drive.
            self.demerit_permille = None;
        }
        Ok(self)
    }
}
