//! From results to text: tables, pages, CSV, JSON and verdicts, and where they are written to.
//!
//! | step | files |
//! |---|---|
//! | runs to means with confidence intervals | `summary` |
//! | all of a comparison, and who is better by how much | `comparison`, `verdict` |
//! | its table in a terminal | `table`, `columns`, `grid`, `numbers`, `phases` |
//! | one run on a page of text, one wait of it in detail | `page`, `timeline` |
//! | fronts of schedulers over many loads | `front` |
//! | the papers' claims | `papers` |
//! | other forms | `csv`, `html`, `json` |
//! | what a report rests on: command, version, hash of the trace | `origin` |
//! | to a file or standard output | `output` |

mod columns;
pub(crate) mod comparison;
pub(crate) mod csv;
pub(crate) mod front;
mod grid;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod numbers;
pub(crate) mod origin;
pub(crate) mod output;
pub(crate) mod page;
pub(crate) mod papers;
mod phases;
pub(crate) mod summary;
mod table;
pub(crate) mod timeline;
pub(crate) mod verdict;
