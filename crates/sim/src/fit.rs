//! A disk model from what a recording shows, without touching the disk.
//!
//! [`fit`] turns the rows of a recording into a profile and a report on how far that is to be trusted. What can be read
//! off is: `position` has rotation and positioning time by distance, `zones` transfer rates. `search` finds the rest by
//! replaying the recording on the model (`compare`). What a recording does not show is taken from a profile of the same
//! class, and said so in the profile's comments.
//!
//! The error that the report states is of rows which were not used: a second model is fitted in the same way to every
//! second stretch of the recording, and compared with the other stretches.

mod calibrate;
mod compare;
mod flash;
mod mechanical;
mod nearest;
mod parts;
mod platters;
mod position;
mod report;
mod rows;
mod search;
mod turning;
mod zones;

use idlewise_core::Operation;
use idlewise_disk::{Profile, validate};

use crate::traces::Record;

pub use calibrate::{Reader, calibrate};
pub use nearest::{Nearest, distance, nearest};
pub use parts::Known;
pub use report::{Against, Confidence, FAR, FitReport, Part};
pub use rows::{FitError, Row, rows};

/// Stretches of a recording, of which every second one is held out.
const STRETCHES: usize = 10;

/// A fitted disk.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The model.
    pub profile: Profile,
    /// Its profile file, with a comment for each part.
    pub text: String,
    /// How far it is to be trusted.
    pub report: FitReport,
}

/// A model that was fitted, before it is described.
enum Model {
    Platters(Box<mechanical::Found>),
    Flash(Box<flash::Found>),
}

impl Model {
    fn fitted(rows: &[Row], setting: &Setting) -> Model {
        if setting.rotational {
            Model::Platters(Box::new(mechanical::fit(rows, setting.capacity, setting.depth)))
        } else {
            Model::Flash(Box::new(flash::fit(rows, setting.capacity, setting.depth)))
        }
    }

    fn parts(&self, rows: &[Row], known: &Known) -> Vec<Part> {
        match self {
            Model::Platters(found) => parts::platters(found, rows, known),
            Model::Flash(found) => parts::flash(found, rows, known),
        }
    }

    fn class(&self) -> &'static str {
        match self {
            Model::Platters(found) => found.class,
            Model::Flash(found) => found.class,
        }
    }

    fn text(&self, name: &str, parts: &[Part]) -> String {
        let note = |part: &str| {
            let found = parts.iter().filter(|one| one.name == part);
            let class = self.class();
            found
                .map(|one| match one.confidence {
                    Confidence::Unknown => format!("# {part}: unknown, as {class}: {}\n", one.why),
                    confidence => format!("# {part}: {confidence}: {}\n", one.why),
                })
                .collect()
        };
        let clean: String = name.chars().filter(|c| !c.is_control() && !"\"\\".contains(*c)).collect();
        let source = "Fitted to a recording by idlewise; the comments say what each part rests on";
        match self {
            Model::Platters(found) => found.disk.profile(&clean, source, &note),
            Model::Flash(found) => found.disk.profile(&clean, source, &note),
        }
    }
}

/// What is settled before anything is fitted.
struct Setting {
    rotational: bool,
    why: String,
    capacity: u64,
    depth: u32,
}

fn setting(rows: &[Row], known: &Known) -> Setting {
    let mut far: Vec<u64> = rows
        .windows(2)
        .filter(|two| {
            let row = &two[1];
            row.operation == Operation::Read && row.alone && row.start.abs_diff(two[0].end()) > 1 << 16
        })
        .map(|two| two[1].service())
        .collect();
    let few = far.len() < 4;
    if few {
        far = rows.iter().filter(|row| row.moves_data()).map(Row::service).collect();
    }
    far.sort_unstable();
    // Without such reads, the slowest commands are those that went far.
    let place = if few { far.len() * 99 / 100 } else { far.len() / 2 };
    let typical = far.get(place).copied().unwrap_or(0);
    let (rotational, why) = match known.rotational {
        Some(true) => (true, "the kernel says that it rotates".to_owned()),
        Some(false) => (false, "the kernel says that it does not rotate".to_owned()),
        None => (
            typical > rows::PLATTERS_NS,
            if few {
                format!("the slowest hundredth of commands takes {:.3} ms", typical as f64 / 1e6)
            } else {
                format!("a read far from the one before takes {:.3} ms at the median", typical as f64 / 1e6)
            },
        ),
    };
    let last = rows.iter().map(Row::end).max().unwrap_or(0);
    // A disk that takes two commands at once has a queue, and those have 32 places or more.
    let beside = match rows.iter().map(|row| row.beside + 1).max().unwrap_or(1) {
        1 => 1,
        most => most.max(32),
    };
    Setting {
        rotational,
        why,
        capacity: known.capacity.unwrap_or(last + last / parts::BEYOND).max(last),
        depth: known.depth.unwrap_or(0).max(beside).min(4096),
    }
}

/// Rows in a stretch.
fn stretch(rows: &[Row]) -> usize {
    rows.len().div_ceil(STRETCHES).max(1)
}

/// The rows of every second stretch.
fn stretches(rows: &[Row]) -> Vec<Row> {
    let mut kept: Vec<Row> = rows.chunks(stretch(rows)).step_by(2).flatten().copied().collect();
    rows::link(&mut kept);
    kept
}

/// A profile against the rows that are `counted`, by place; all are replayed, so that the model's buffer holds what the disk's
/// held. `None` if there is no such row.
fn against(
    profile: &Profile,
    rows: &[Row],
    counted: impl Fn(usize, &Row) -> bool,
) -> Result<Option<Against>, FitError> {
    let failed = |message: String| FitError::Profile { message };
    let mut disk = profile.build().map_err(|error| failed(error.to_string()))?;
    let times = compare::replay(&mut disk, rows).map_err(|error| failed(error.to_string()))?;
    let data = || rows.iter().enumerate().filter(|&(index, row)| row.moves_data() && counted(index, row));
    let mut measured: Vec<u64> = data().map(|(_, row)| row.service()).collect();
    let mut model: Vec<u64> = data().map(|(index, _)| times[index]).collect();
    let found = validate::demerit(&mut measured, &mut model);
    Ok((found.requests > 0).then_some(Against {
        rows: found.requests,
        demerit_ns: found.demerit_ns,
        demerit_share: found.demerit_share,
        measured_mean_ns: found.measured_mean_ns,
        model_mean_ns: found.model_mean_ns,
    }))
}

/// Fits a disk to a recording.
///
/// # Errors
/// The recording does not show a disk: [`FitError`] says why and what to record.
pub fn fit(records: &[Record], known: &Known) -> Result<Fit, FitError> {
    if let Some(other) = records.iter().map(|record| record.device).max().filter(|&device| device > 0) {
        return Err(FitError::Devices { devices: other as usize + 1 });
    }
    let rows = rows(records)?;
    let setting = setting(&rows, known);
    let parse = |text: &str| {
        Profile::parse(&known.name, "the fitted profile", text)
            .map_err(|error| FitError::Profile { message: error.to_string() })
    };
    let model = Model::fitted(&rows, &setting);
    let parts = model.parts(&rows, known);
    let text = model.text(&known.name, &parts);
    let profile = parse(&text)?;
    let half = Model::fitted(&stretches(&rows), &setting);
    let half = parse(&half.text("", &[]))?;
    let others = |index: usize| (index / stretch(&rows)) % 2 == 1;
    let none = || FitError::TooFew { rows: rows.len() / 2 };
    let report = FitReport {
        kind: profile.model.name(),
        kind_why: setting.why,
        class: model.class(),
        parts,
        fitted: against(&profile, &rows, |_, _| true)?.ok_or_else(none)?,
        held_out: against(&half, &rows, |index, _| others(index))?.ok_or_else(none)?,
        held_out_alone: against(&half, &rows, |index, row| others(index) && row.beside == 0)?,
    };
    let permille = (report.error() * 1000.0).round() as u32;
    let text = format!(
        "# On rows that were not used, in thousandths of the mean.\ndemerit_permille = {permille}\n{text}"
    );
    Ok(Fit { profile: Profile { demerit_permille: Some(permille), ..profile }, text, report })
}
