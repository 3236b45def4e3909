//! Disks by name. Arrays have no file, but a name that says all, and disks that have profiles.

use super::{Profile, ProfileError, names};
use crate::AnySpec;
use crate::array::{self, ArraySpec, Named};
use std::format;
use std::string::{String, ToString};

impl Profile {
    /// The disk that `text` names: `NAME[:key=value,…]` with the name of a built-in profile, capital or small, or the
    /// name of [an array](crate::array) of such disks. `other` gives the disks of all other names.
    ///
    /// # Errors
    /// Those of `other` and of [`Profile::with`], and [`ProfileError::Option`]: an array that cannot be.
    pub fn find(
        text: &str,
        other: &dyn Fn(&str) -> Result<Profile, ProfileError>,
    ) -> Result<Profile, ProfileError> {
        if let Some(named) = array::parse(text) {
            let named = named.map_err(|error| ProfileError::Option { message: error.to_string() })?;
            return Profile::array(text, &named, Profile::find(&named.member(), other)?);
        }
        let (name, options) = match text.rsplit_once(':') {
            Some((name, options)) if options.contains('=') => (name, options),
            _ => (text, ""),
        };
        let built_in = names().find(|known| known.eq_ignore_ascii_case(name));
        built_in.map_or_else(|| other(name), Profile::named)?.with(options)
    }

    /// The array that `text` names, which was read as `named`, of disks that are `member`.
    fn array(text: &str, named: &Named<'_>, member: Profile) -> Result<Profile, ProfileError> {
        if matches!(&member.model, AnySpec::Array(inside) if inside.md) {
            let message = "of: a disk of an array is no md array; take raid for md".to_string();
            return Err(ProfileError::Option { message });
        }
        let mut spec = ArraySpec::new(named.level, named.members, member.model);
        (spec.chunk_sectors, spec.md) = (named.chunk_sectors, named.md);
        let chunks = if named.level.has_chunks() {
            format!(", chunks of {} KiB", named.chunk_sectors / 2)
        } else {
            String::new()
        };
        let kind = if named.md { "md, a scheduler for each disk: " } else { "" };
        let profile = Profile {
            name: text.to_string(),
            description: format!(
                "{kind}{} of {} disks{chunks}; each is {}",
                named.level, named.members, member.description
            ),
            source: member.source,
            demerit_permille: None,
            model: AnySpec::Array(spec),
        };
        let option = |name: &str, value: Option<&str>| value.map(|value| format!("{name}={value}"));
        let options = [option("depth", named.depth), option("capacity", named.capacity)];
        options.into_iter().flatten().try_fold(profile, |profile, option| profile.with(&option))
    }
}
