//! What a fit says of itself: what each part rests on, and how far the model is from what it did not see.

use std::fmt;

use serde::Serialize;

/// How much a part of the model is to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The recording does not show the part: the value comes from another disk of the class.
    Unknown,
    /// The recording shows it from afar: right within a fifth or so.
    Rough,
    /// The recording shows it.
    Sure,
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Confidence::Unknown => "unknown",
            Confidence::Rough => "rough",
            Confidence::Sure => "sure",
        })
    }
}

/// A part of a fitted model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// What it is called.
    pub name: &'static str,
    /// Its value, for people.
    pub value: String,
    /// How much it is to be trusted.
    pub confidence: Confidence,
    /// What it rests on; of what is unknown, why, and what would show it.
    pub why: String,
}

/// A model against rows of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Against {
    /// Commands compared.
    pub rows: u64,
    /// The demerit figure: the root mean square distance between the distributions of service times, in ns.
    pub demerit_ns: u64,
    /// The same as a share of the measured mean.
    pub demerit_share: f64,
    /// Mean measured service time, in ns.
    pub measured_mean_ns: u64,
    /// Mean service time of the model, in ns.
    pub model_mean_ns: u64,
}

/// What a fit says of itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FitReport {
    /// The kind of model: `mechanical` or `flash`.
    pub kind: &'static str,
    /// Why that kind.
    pub kind_why: String,
    /// The profile from which what is unknown was taken.
    pub class: &'static str,
    /// The parts of the model.
    pub parts: Vec<Part>,
    /// The model against the rows that it was fitted to.
    pub fitted: Against,
    /// A model fitted in the same way to every second stretch of the recording, against the other stretches.
    pub held_out: Against,
    /// The same of the commands that came while the disk held no other. Which of several commands a disk serves first
    /// hangs on its exact angle, so that the times of single commands then differ between two runs of the same disk.
    pub held_out_alone: Option<Against>,
}

/// A model that is off by a larger share is far from its disk: twice what is usual for a fitted one.
pub const FAR: f64 = 0.25;

impl FitReport {
    /// How far the model is from the disk, as a share of the mean service time.
    pub fn error(&self) -> f64 {
        self.held_out.demerit_share
    }

    /// The model is too far from the disk to rest anything on it.
    pub fn is_far(&self) -> bool {
        self.error() > FAR
    }
}
