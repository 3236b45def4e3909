//! From results to text: tables, pages, CSV, JSON and verdicts, and where they are written to.

mod columns;
pub(crate) mod comparison;
pub(crate) mod csv;
mod grid;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod numbers;
pub(crate) mod origin;
pub(crate) mod output;
pub(crate) mod page;
mod phases;
pub(crate) mod summary;
mod table;
pub(crate) mod verdict;
