//! Every decision of a selector with the evidence it was made from: one JSON object a line.
//!
//! The evidence is complete: [`decide_again`] makes the same decisions from it.

use idlewise_core::selectors::{Action, Chooser, Decision, Prediction, Summary};
use idlewise_core::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// What a decision was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// What a period showed.
    Period(Summary),
    /// What candidates were predicted to give.
    Predicted(Vec<Prediction>),
}

/// Declares a struct for JSON with the fields of one of core's: numbers as they are, times as nanoseconds.
macro_rules! mirror {
    (
        $(#[$outer:meta])* $name:ident of $of:ident {
            numbers: $($number:ident),*;
            times: $($time:ident = $field:ident),*;
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "core says what the fields mean")]
        pub struct $name { $(pub $number: u64,)* $(pub $time: u64,)* }

        impl From<$of> for $name {
            fn from(of: $of) -> Self {
                $name { $($number: of.$number.into(),)* $($time: of.$field.0,)* }
            }
        }

        impl From<$name> for $of {
            fn from(of: $name) -> Self {
                $of { $($number: of.$number as _,)* $($field: Duration(of.$time),)* }
            }
        }
    };
}

mirror! {
    /// What a period showed.
    PeriodLine of Summary {
        numbers: requests, reads, sync, merged, sequential, local, bytes, processes, newcomers, outstanding,
            thinks, think_ns, done, done_bytes, slowest_bytes, fastest_bytes, jain_permille;
        times: length_ns = length, busy_ns = busy, sync_read_p99_ns = sync_read_p99;
    }
}

mirror! {
    /// What a candidate was predicted to give.
    PredictionLine of Prediction {
        numbers: candidate, throughput, slowest, jain_permille, requests;
        times: sync_read_p99_ns = sync_read_p99, longest_ns = longest, settles_ns = settles;
    }
}

/// One decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When.
    pub at_ns: u64,
    /// The category of the latest period.
    pub category: Option<String>,
    /// The candidate in use before.
    pub from: String,
    /// `stay`, `switch` or `predict`.
    pub action: String,
    /// The candidate after a switch.
    pub to: Option<String>,
    /// Since when requests are looked at for a prediction.
    pub since_ns: Option<u64>,
    /// For so long each candidate is simulated.
    pub horizon_ns: Option<u64>,
    /// Why.
    pub why: String,
    /// What the period showed, if one has ended.
    pub period: Option<PeriodLine>,
    /// The predictions, if they have come.
    pub predictions: Option<Vec<PredictionLine>>,
}

/// All decisions of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    lines: Vec<Line>,
}

impl Line {
    /// A decision of `chooser` with its evidence.
    fn new(evidence: Evidence, decision: &Decision, chooser: &Chooser) -> Line {
        let name = |place: usize| super::files::label(&chooser.candidates()[place]);
        let (action, to, question) = match decision.action {
            Action::Stay => ("stay", None, None),
            Action::Switch(to) => ("switch", Some(name(to)), None),
            Action::Predict(question) => ("predict", None, Some(question)),
        };
        let (period, predictions) = match evidence {
            Evidence::Period(summary) => (Some(summary.into()), None),
            Evidence::Predicted(predictions) => {
                (None, Some(predictions.into_iter().map(PredictionLine::from).collect()))
            }
        };
        Line {
            at_ns: decision.at.0,
            category: decision.category.map(|category| category.to_string()),
            from: name(decision.from),
            action: action.to_owned(),
            to,
            since_ns: question.map(|question| question.since.0),
            horizon_ns: question.map(|question| question.horizon.0),
            why: decision.why.to_string(),
            period,
            predictions,
        }
    }

    /// The evidence.
    fn evidence(&self) -> Option<Evidence> {
        if let Some(period) = self.period {
            return Some(Evidence::Period(period.into()));
        }
        let predictions = self.predictions.as_ref()?;
        Some(Evidence::Predicted(predictions.iter().map(|line| (*line).into()).collect()))
    }
}

impl Log {
    /// Adds a decision.
    pub fn add(&mut self, evidence: Evidence, decision: &Decision, chooser: &Chooser) {
        self.lines.push(Line::new(evidence, decision, chooser));
    }

    /// All decisions in order.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }
}

/// The decisions that `chooser`, which was just built, makes from the evidence of `lines`.
pub fn decide_again(mut chooser: Chooser, lines: &[Line]) -> Vec<Line> {
    let mut again = Vec::with_capacity(lines.len());
    for line in lines {
        let at = Instant(line.at_ns);
        let Some(evidence) = line.evidence() else { continue };
        let decision = match &evidence {
            Evidence::Period(summary) => chooser.judge(at, summary),
            Evidence::Predicted(predictions) => chooser.predicted(at, predictions),
        };
        again.push(Line::new(evidence, &decision, &chooser));
    }
    again
}
