//! Where a replay's rows come from.

use idlewise_core::Issuer;

use crate::traces::{Exit, Record};

/// Where rows come from.
pub trait Rows: Send {
    /// The next row, in order of arrival; `None` at the end.
    ///
    /// # Errors
    /// The trace cannot be read on.
    fn next(&mut self) -> Result<Option<Record>, RowsError>;

    /// Exits between the last two rows that [`Rows::next`] gave, or after the last one.
    fn exits(&self) -> &[Exit] {
        &[]
    }

    /// How much of the trace is read, from 0 to 1, if that is known.
    fn share_read(&self) -> Option<f64> {
        None
    }

    /// Whether the traced kernel gives a disk without a scheduler what was behind a plug backwards; see
    /// [`Trace::unplugs_backwards`](crate::traces::Trace::unplugs_backwards).
    fn unplugs_backwards(&self) -> bool {
        false
    }

    /// What a process is called, if the trace tells.
    fn process(&self, _issuer: Issuer) -> Option<String> {
        None
    }
}

/// Why a trace could not be read on.
pub type RowsError = Box<dyn std::error::Error + Send + Sync>;
