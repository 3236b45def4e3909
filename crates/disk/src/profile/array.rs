//! Profiles of arrays: they have no file, but a name that says all, and disks that have profiles.

use super::{Profile, ProfileError};
use crate::AnySpec;
use crate::array::{ArraySpec, Named};
use std::format;
use std::string::{String, ToString};

impl Profile {
    /// The array that `text` names, which [`parse`](crate::array::parse) has read as `named`, of disks that are `member`.
    ///
    /// # Errors
    /// [`ProfileError::Option`]: a depth or a capacity that it cannot have, or a member that is an md array.
    pub fn array(text: &str, named: &Named<'_>, member: Profile) -> Result<Profile, ProfileError> {
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
