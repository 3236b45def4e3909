//! Processes that wait for their requests: what was recorded of them, and the same with our schedulers.

pub(crate) mod host;
pub(crate) mod recording;
