//! The disks by name. A disk is asked for as on the command line of `idlewise`: `NAME` or
//! `NAME:key=value,key=value`.

use alloc::vec::Vec;
use core::fmt;

use idlewise_disk::mechanical::{BufferSpec, ExtraDisconnect, Overheads, ReadAhead, ZoneSpec};
#[allow(clippy::wildcard_imports, reason = "the specifications of all models")]
use idlewise_disk::*;

/// Makes the specification of a disk.
type Make = fn() -> Result<AnySpec, BuildError>;

include!(concat!(env!("OUT_DIR"), "/profiles.rs"));

/// Why a disk cannot be had.
pub(crate) enum Fault<'a> {
    /// No profile of that name.
    Unknown(&'a str),
    /// An option does not fit.
    Option(OptionError<'a>),
    /// The disk cannot be built.
    Build(BuildError),
}

impl fmt::Display for Fault<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unknown(name) => {
                write!(f, "no disk profile is called {name}; there are")?;
                PROFILES.iter().try_for_each(|(name, _)| write!(f, " {name}"))
            }
            Fault::Option(error) => error.fmt(f),
            Fault::Build(error) => error.fmt(f),
        }
    }
}

/// Builds the disk that `wanted` names. Returns its profile's name, the disk, and whether it has a
/// write cache.
pub(crate) fn build(wanted: &str) -> Result<(&'static str, AnyModel, bool), Fault<'_>> {
    let (name, options) = wanted.split_once(':').unwrap_or((wanted, ""));
    let (name, make) = PROFILES.iter().find(|(known, _)| *known == name).ok_or(Fault::Unknown(name))?;
    let mut model = make().map_err(Fault::Build)?;
    model.set(options).map_err(Fault::Option)?;
    let device = model.build().map_err(Fault::Build)?;
    Ok((name, device, model.write_cache()))
}

/// A copy of a table.
fn list<T: Copy>(table: &[T]) -> Result<Vec<T>, BuildError> {
    let mut list = Vec::new();
    list.try_reserve_exact(table.len()).map_err(|_| BuildError::Memory)?;
    list.extend_from_slice(table);
    Ok(list)
}

#[cfg(test)]
mod tests {
    use idlewise_disk::Profile;
    use idlewise_disk::profile::names;

    use super::*;

    #[test]
    fn the_kernel_has_the_same_disks() {
        assert!(names().eq(PROFILES.iter().map(|(name, _)| *name)));
        for (name, make) in PROFILES {
            let Ok(model) = make() else { panic!("{name} cannot be made") };
            assert_eq!(model, Profile::named(name).unwrap().model, "{name}");
        }
    }

    #[test]
    fn a_wrong_name_or_option_is_told_with_its_cure() {
        let said = |wanted| build(wanted).err().unwrap().to_string();
        assert!(said("deskstar").contains("called deskstar; there are cheetah9lp"));
        assert!(said("fixed:depth=0").contains("depth takes 1 to 65536"));
        assert!(matches!(build("fixed:depth=3"), Ok(("fixed", AnyModel::Fixed(_), false))));
    }
}
