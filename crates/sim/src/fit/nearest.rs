//! The known disk that is nearest to a recording. A recording that is short, or of one kind of load, shows too little of its
//! disk for a model of its own; a model of another disk of the same kind may then be nearer.

use idlewise_core::SECTOR_BYTES;
use idlewise_disk::{Profile, profile};

use super::{Against, FitError, Known, against, rows, setting};
use crate::traces::Record;

/// Rows that are compared at most: enough for a distribution, and a fraction of a second for each disk.
const ROWS: usize = 20_000;

/// A known disk, made as large as the recorded one.
#[derive(Clone, Debug)]
pub struct Nearest {
    /// Its model.
    pub profile: Profile,
    /// How far it is from the recording.
    pub against: Against,
}

/// The disk of the recorded one's kind whose times are nearest to those recorded.
///
/// # Errors
/// The recording does not show a disk: [`FitError`] says why and what to record.
pub fn nearest(records: &[Record], known: &Known) -> Result<Nearest, FitError> {
    let all = rows(records)?;
    let setting = setting(&all, known);
    let rows = &all[..all.len().min(ROWS)];
    let megabytes = (setting.capacity * SECTOR_BYTES).div_ceil(1_000_000);
    let failed = |error: &dyn ToString| FitError::Profile { message: error.to_string() };
    let mut found: Option<Nearest> = None;
    for name in profile::names() {
        let profile = Profile::named(name).map_err(|error| failed(&error))?;
        if profile.model.name() != if setting.rotational { "mechanical" } else { "flash" } {
            continue;
        }
        // Not every model can be made as large.
        let Ok(profile) = profile.with(&format!("capacity={megabytes}m")) else { continue };
        let Some(against) = against(&profile, rows, |_, _| true)? else { continue };
        if found.as_ref().is_none_or(|best| against.demerit_share < best.against.demerit_share) {
            found = Some(Nearest { profile, against });
        }
    }
    found.ok_or(FitError::TooFew { rows: rows.len() })
}
