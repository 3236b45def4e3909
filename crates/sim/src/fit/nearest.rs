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

/// How far `profile`, made as large as the disk that was recorded if it can be, is from that disk: the demerit of its service
/// times, as a share of the recorded mean.
///
/// # Errors
/// The recording does not show a disk: [`FitError`] says why and what to record.
pub fn distance(records: &[Record], known: &Known, profile: &Profile) -> Result<f64, FitError> {
    let all = rows(records)?;
    let rows = &all[..all.len().min(ROWS)];
    let as_large = profile.clone().with(&capacity(setting(&all, known).capacity));
    let against = against(as_large.as_ref().unwrap_or(profile), rows, |_, _| true)?;
    against.map(|against| against.demerit_share).ok_or(FitError::TooFew { rows: rows.len() })
}

/// The option that gives a model this capacity.
fn capacity(sectors: u64) -> String {
    format!("capacity={}m", (sectors * SECTOR_BYTES).div_ceil(1_000_000))
}

/// The disk of the recorded one's kind whose times are nearest to those recorded.
///
/// # Errors
/// The recording does not show a disk: [`FitError`] says why and what to record.
pub fn nearest(records: &[Record], known: &Known) -> Result<Nearest, FitError> {
    let all = rows(records)?;
    let setting = setting(&all, known);
    let rows = &all[..all.len().min(ROWS)];
    let failed = |error: &dyn ToString| FitError::Profile { message: error.to_string() };
    let mut found: Option<Nearest> = None;
    for name in profile::names() {
        let profile = Profile::named(name).map_err(|error| failed(&error))?;
        if profile.model.name() != if setting.rotational { "mechanical" } else { "flash" } {
            continue;
        }
        // Not every model can be made as large.
        let Ok(profile) = profile.with(&capacity(setting.capacity)) else { continue };
        let Some(against) = against(&profile, rows, |_, _| true)? else { continue };
        if found.as_ref().is_none_or(|best| against.demerit_share < best.against.demerit_share) {
            found = Some(Nearest { profile, against });
        }
    }
    found.ok_or(FitError::TooFew { rows: rows.len() })
}
