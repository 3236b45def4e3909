//! A run from its beginning to its report.

use idlewise_disk::DiskModel as _;
use idlewise_sim::engine::Control;
use serde_json::json;

use crate::Wanted;
use crate::frames::{Frames, geometry};

/// What kind of bytes the page is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Part {
    /// Rows of numbers: the head of `frames.rs` says which.
    Rows = 0,
    /// Reasons, a line each, of rows that come next.
    Reasons = 1,
    /// The disk and what is to be known of the load, as JSON: before everything else.
    Head = 2,
    /// The report, as JSON: the last.
    Report = 3,
    /// What went wrong, in words: the last.
    Failure = 4,
    /// What there is to choose from, as JSON.
    Catalogue = 5,
}

/// Runs what `wanted`, a [`Wanted`] as JSON, asks for, and tells all of it.
///
/// # Errors
/// What is wrong with what is wanted, or why the run broke off, in words.
pub fn play(wanted: &[u8], trace: Vec<u8>, mut tell: impl FnMut(Part, &[u8])) -> Result<(), String> {
    let wanted: Wanted = serde_json::from_slice(wanted).map_err(|error| error.to_string())?;
    let (experiment, notes) = wanted.experiment(trace)?;
    let disk = experiment.disk.build().map_err(|error| error.to_string())?;
    let geometry = geometry(&experiment.disk.model);
    let tracks = geometry.as_ref().map(|geometry| {
        // Where each zone ends, as a part of the way inwards.
        let cylinders = f64::from(geometry.cylinders().max(1));
        let zones = geometry.zones().iter().map(|zone| f64::from(zone.last_cylinder) / cylinders);
        json!({"period_ns": geometry.period(), "zones": zones.collect::<Vec<_>>()})
    });
    let head = json!({
        "disk": experiment.disk.name,
        "description": experiment.disk.description,
        "capacity": disk.capacity().0,
        "depth": disk.depth(),
        "tracks": tracks,
        "notes": notes,
    });
    tell(Part::Head, head.to_string().as_bytes());
    let mut frames = Frames::new(geometry, wanted.shown, &mut tell);
    let outcome = experiment.run_watched(0, wanted.seed, &Control::default(), Some(&mut frames));
    frames.flush();
    let complete = frames.complete();
    let outcome = outcome.map_err(|error| error.to_string())?;
    let folded = outcome.account.map_or(0, |account| account.folded);
    let report = json!({"result": outcome.report, "complete": complete, "folded": folded});
    tell(Part::Report, report.to_string().as_bytes());
    Ok(())
}
