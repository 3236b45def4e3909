//! Disk profiles: one TOML file a drive, compiled into integers.
//!
//! Built-in profiles are part of the program; others are read from a path. Every key carries its
//! unit, unknown keys are errors, and messages name the line.

mod error;
mod flash;
mod mechanical;
mod number;

pub use error::ProfileError;

use crate::error::BuildError;
use crate::{AnyModel, Model};
use error::Fault;
use serde::Deserialize;
use std::string::{String, ToString};
use std::{format, fs};

/// A named disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name: the file's, without `.toml`.
    pub name: String,
    /// One line for lists.
    pub description: String,
    /// Where the numbers come from.
    pub source: String,
    /// The numbers.
    pub model: Model,
}

/// Name and text of the profiles that are part of the program.
const BUILT_IN: &[(&str, &str)] = &[
    ("cheetah9lp", include_str!("../profiles/cheetah9lp.toml")),
    ("cheetah4lp", include_str!("../profiles/cheetah4lp.toml")),
    ("atlas10k", include_str!("../profiles/atlas10k.toml")),
    ("atlas-iii", include_str!("../profiles/atlas-iii.toml")),
    ("barracuda", include_str!("../profiles/barracuda.toml")),
    ("ibm-18es", include_str!("../profiles/ibm-18es.toml")),
    ("hp-c3323a", include_str!("../profiles/hp-c3323a.toml")),
    ("hp-c2490a", include_str!("../profiles/hp-c2490a.toml")),
    ("hp-c2247a", include_str!("../profiles/hp-c2247a.toml")),
    ("dec-rz26", include_str!("../profiles/dec-rz26.toml")),
    ("st41601n", include_str!("../profiles/st41601n.toml")),
    ("deskstar-34gxp", include_str!("../profiles/deskstar-34gxp.toml")),
    ("cheetah-st318451lw", include_str!("../profiles/cheetah-st318451lw.toml")),
    ("maxtor-20g", include_str!("../profiles/maxtor-20g.toml")),
    ("maxtor-40g", include_str!("../profiles/maxtor-40g.toml")),
    ("hdd-4tb-7200", include_str!("../profiles/hdd-4tb-7200.toml")),
    ("hdd-2400gb-10k", include_str!("../profiles/hdd-2400gb-10k.toml")),
    ("hdd-18tb-7200", include_str!("../profiles/hdd-18tb-7200.toml")),
    ("sata-ssd", include_str!("../profiles/sata-ssd.toml")),
    ("nvme-ssd", include_str!("../profiles/nvme-ssd.toml")),
    ("sd-card", include_str!("../profiles/sd-card.toml")),
    ("fixed", include_str!("../profiles/fixed.toml")),
];

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
            Kind::Mechanical(keys) => keys.compile().map(Model::Mechanical),
            Kind::Flash(keys) => keys.compile().map(Model::Flash),
            Kind::Fixed(keys) => keys.compile().map(Model::Fixed),
        };
        let model = model.map_err(|fault: Fault| fault.at(file, text))?;
        Ok(Profile { name: name.to_string(), description: parsed.description, source: parsed.source, model })
    }

    /// Reads a profile from a file.
    pub fn load(path: &std::path::Path) -> Result<Profile, ProfileError> {
        let file = path.display().to_string();
        let text =
            fs::read_to_string(path).map_err(|error| ProfileError::Read { file: file.clone(), error })?;
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
        Ok(self)
    }
}
