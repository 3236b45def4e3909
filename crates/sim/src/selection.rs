//! Hosting a selector: it follows a run, and switches the scheduler.
//!
//! | file | what |
//! |---|---|
//! | `selector_director` | the director of a run: feeds a chooser, carries out what it decides |
//! | `switching` | how the scheduler is switched: requests carried over, or the queue drained as in Linux |
//! | `script` | what the latest requests show of each process |
//! | `habits` | what processes did before the ring of latest requests forgot it |
//! | `looping` | these processes as a looping replay |
//! | `warm` | the model of the disk, as the latest requests have left it |
//! | `forecast` | playing it against every candidate on a model of the disk |
//! | `promises` | counts for the report how many switches brought what their prediction promised |
//! | `log` | every decision with its evidence, as JSON, and deciding again from it |
//! | `files` | the user's own matrices and rankings, in TOML |

mod aged;
mod beside;
pub mod files;
pub mod forecast;
mod habits;
pub mod log;
mod looping;
mod promises;
pub mod script;
mod selector_director;
mod switching;
mod warm;

pub use looping::LoopingReplay;
pub use selector_director::Selecting;
pub use switching::{Switch, Switching};

use std::sync::Arc;

use idlewise_core::Device as Traits;
use idlewise_core::registry::Assignment;
use idlewise_core::selectors::{Candidate, Chooser, ChooserError, Entry, Rank, Setup};
use idlewise_disk::{AnyModel, Profile};

use forecast::Forecaster;
use log::Log;

/// What selectors of an experiment are given besides their tunables.
#[derive(Clone, Default)]
pub struct Selection {
    /// The candidates; without it, those that the selector names, or its matrix or ranking.
    pub candidates: Option<Vec<Candidate>>,
    /// A decision matrix instead of the built-in ones.
    pub matrix: Option<files::Matrix>,
    /// A ranking by request size. Without it, one is measured on the disk's model.
    pub ranking: Option<files::Ranking>,
    /// How the scheduler is switched.
    pub switching: Switching,
    /// The model that predictions are made on, if it is not the disk itself.
    pub model: Option<Profile>,
    /// Every decision is kept with its evidence.
    pub logged: bool,
}

/// The candidates of a selector, with what is known of them beforehand.
pub struct Field {
    /// The candidates.
    pub candidates: Vec<Candidate>,
    /// The matrix's cells.
    pub cells: Option<[u8; 16]>,
    /// The ranking.
    pub ranks: Vec<Rank>,
}

impl Selection {
    /// Whether `entry` chooses among `candidates`, and not among the candidates of a matrix or ranking.
    pub fn free(&self, entry: &Entry) -> bool {
        !(entry.matrix || (entry.ranks && self.ranking.is_some()))
    }

    /// The candidates of `entry` here.
    pub fn field(&self, entry: &Entry) -> Field {
        let (cells, ranks) = (None, Vec::new());
        if let Some(matrix) = self.matrix.as_ref().filter(|_| entry.matrix) {
            return Field { candidates: matrix.candidates.clone(), cells: Some(matrix.cells), ranks };
        }
        if let Some(ranking) = self.ranking.as_ref().filter(|_| entry.ranks) {
            return Field { candidates: ranking.candidates.clone(), cells, ranks: ranking.ranks.clone() };
        }
        let given = self.candidates.clone().filter(|_| self.free(entry));
        let candidates = given.unwrap_or_else(|| entry.field().unwrap_or_default());
        Field { candidates, cells, ranks }
    }

    /// The chooser of `entry`. A ranking that it needs and was not given is `measured` for its candidates.
    pub fn chooser(
        &self,
        entry: &Entry,
        settings: &[Assignment<'_>],
        queue_size: usize,
        measured: impl FnOnce(&[Candidate]) -> Vec<Rank>,
    ) -> Result<Chooser, ChooserError> {
        let mut field = self.field(entry);
        if entry.ranks && field.ranks.is_empty() {
            field.ranks = measured(&field.candidates);
        }
        let setup = Setup { candidates: &field.candidates, cells: field.cells, ranks: &field.ranks };
        Chooser::new(entry, queue_size, setup, settings)
    }

    /// What directs a run on a disk with these traits, as `chooser` of `entry` wants it.
    pub fn director(
        &self,
        chooser: Chooser,
        entry: &Entry,
        (traits, queue_size): (&Traits, usize),
        model: AnyModel,
    ) -> Selecting {
        let forecaster = entry.predicts.then(|| {
            let candidates = chooser.candidates().to_vec();
            Arc::new(Forecaster::new(model, traits.clone(), candidates, queue_size))
        });
        let log = self.logged.then(Log::default);
        Selecting::new(chooser, forecaster, self.switching, log)
    }
}
