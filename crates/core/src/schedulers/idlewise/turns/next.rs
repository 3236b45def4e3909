//! The answers that `turns` may give to a dispatch.

use super::round::Party;
use crate::units::{Instant, RequestId};

/// What is next.
#[derive(Clone, Copy)]
pub(super) enum Next {
    /// As the turn continues, or because it is overdue.
    Send(RequestId),
    /// In a new turn.
    Begin(RequestId, Party),
    /// At this time something changes.
    Wait(Instant),
    /// What is in flight must be done first.
    Hold,
    /// A new round of shares must begin first.
    Round,
}
