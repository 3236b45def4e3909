//! The kinds of what the page is told.

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
