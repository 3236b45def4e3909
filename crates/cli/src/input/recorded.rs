//! The model that stands for the disk of a recording, and how far the model is off.

use idlewise_disk::Profile;
use idlewise_sim::fit::{self, FAR, Fit, FitReport, Known, Nearest};
use idlewise_sim::traces::{Record, Survey};

use super::fitting::{class, fitting};
use super::trace::TraceFile;
use crate::failure::Failure;

/// Models of a disk's class are off by about that.
pub(crate) const UNKNOWN_ERROR: f64 = 0.1;
/// Rows that a fit is given at most: as many as a busy disk does in a quarter of an hour, in 100 MB of memory.
pub(crate) const FIT_ROWS: usize = 1 << 20;
/// Rows that a model is compared with; a recording begins with some that do not show their disk.
pub(crate) const COMPARED_ROWS: usize = 1 << 15;

/// How far a model is from the disk that was recorded: the demerit of its response times, as a share of the recorded mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Off {
    /// The recording does not show it.
    Unknown,
    /// Near enough to tell something.
    Near(f64),
    /// So far that nothing can be told of the disk with this model.
    Far(f64),
}

impl Off {
    fn of(share: f64) -> Off {
        if share <= FAR { Off::Near(share) } else { Off::Far(share) }
    }

    /// How much slower or faster than its model the disk may be. `None`: nothing can be told.
    pub(crate) fn error(self) -> Option<f64> {
        match self {
            Off::Unknown => Some(UNKNOWN_ERROR),
            Off::Near(share) => Some(share),
            Off::Far(_) => None,
        }
    }
}

/// How far off that is, in words.
fn differs(share: f64) -> String {
    format!(
        "its response times differ from the recorded ones by {:.0} % of their mean, and up to {:.0} % is trusted",
        100.0 * share,
        100.0 * FAR
    )
}

/// A model, and what it rests on.
pub(crate) struct Model {
    pub(crate) profile: Profile,
    /// Which it is, why, and how far off.
    pub(crate) words: String,
    pub(crate) off: Off,
    pub(crate) fit: Option<FitReport>,
    /// Why the model was not fitted, if it was not.
    pub(crate) not_fitted: Option<String>,
}

/// What a recording shows of one disk.
pub(crate) struct Shown<'a> {
    /// What it did, from the beginning, as its device 0.
    pub(crate) records: &'a [Record],
    pub(crate) survey: &'a Survey,
    /// What a fit need not find out.
    pub(crate) known: Known,
    /// The known disk that is most like what the kernel says of it, and why it is this one.
    pub(crate) class: Option<(Profile, String)>,
}

impl<'a> Shown<'a> {
    /// What a trace shows of its busiest device, whose rows these are.
    pub(crate) fn of(trace: &'a TraceFile, records: &'a [Record]) -> Shown<'a> {
        let class = trace.disk().as_ref().and_then(class);
        Shown { records, survey: trace.survey(), known: trace.known(), class }
    }

    /// The model that somebody named.
    pub(crate) fn named(&self, profile: Profile) -> Model {
        let words = format!("{} ({}), as --disk says", profile.name, profile.description);
        let (words, off) = match fit::distance(self.records, &self.known, &profile) {
            Ok(share) => (format!("{words}: {}", differs(share)), Off::of(share)),
            Err(_) => (words, Off::Unknown),
        };
        Model { profile, words, off, fit: None, not_fitted: None }
    }

    /// The model that is fitted to what the disk did, or the known disk that is nearer to that. If both are far from it, or
    /// cannot be had, one of its class.
    ///
    /// # Errors
    /// A demand to name one.
    pub(crate) fn model(self) -> Result<Model, Failure> {
        let (fitted, near) = (fit::fit(self.records, &self.known), fit::nearest(self.records, &self.known));
        let closest = match (fitted, near) {
            (Ok(fitted), Ok(near)) if near.against.demerit_share < fitted.report.error() => {
                let own =
                    format!("a model of its own is further from it: {}", differs(fitted.report.error()));
                nearest(near, own)
            }
            (Ok(fitted), _) => modelled(fitted),
            (Err(error), Ok(near)) => nearest(near, error.to_string()),
            (Err(error), Err(_)) => return self.of_class(error.to_string()),
        };
        // What is far is a stand-in at best, and one that the disk cannot be would be none.
        let not_fitted = match (closest.off, &closest.not_fitted) {
            (Off::Far(_), Some(why)) => why.clone(),
            (Off::Far(share), None) => format!("a model of its own is far from it: {}", differs(share)),
            _ => return Ok(closest),
        };
        Ok(self.of_class(not_fitted).unwrap_or(closest))
    }

    fn of_class(self, not_fitted: String) -> Result<Model, Failure> {
        let (profile, why) = self.class.map_or_else(|| fitting(self.survey), Ok)?;
        let words = format!("taken for {}, as {why}", profile.name);
        let (words, off) = match fit::distance(self.records, &self.known, &profile) {
            Ok(share) => (format!("{words}: {}", differs(share)), Off::of(share)),
            Err(_) => (format!("{words}: no model could be fitted"), Off::Unknown),
        };
        Ok(Model { profile, words, off, fit: None, not_fitted: Some(not_fitted) })
    }
}

/// The model that was fitted to what the disk did.
fn modelled(fitted: Fit) -> Model {
    let (off, report) = (fitted.report.error(), fitted.report);
    let description = format!("a {} disk, modelled from what it did", report.kind);
    let words = format!("{description}: {}", differs(off));
    let profile = Profile { description, ..fitted.profile };
    Model { profile, words, off: Off::of(off), fit: Some(report), not_fitted: None }
}

fn nearest(near: Nearest, not_fitted: String) -> Model {
    let (share, of) = (near.against.demerit_share, &near.profile.name);
    let words = format!("taken for {of}, the nearest of the known disks: {}", differs(share));
    Model { profile: near.profile, words, off: Off::of(share), fit: None, not_fitted: Some(not_fitted) }
}
