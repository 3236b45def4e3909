//! x
/// y
pub struct TraceInfo;
