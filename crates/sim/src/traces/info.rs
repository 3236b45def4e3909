//! tmp
/// tmp
#[derive(serde::Serialize)]
pub struct TraceInfo;
impl TraceInfo {
    #[allow(missing_docs)]
    pub fn read(_: &mut super::Trace) -> Result<TraceInfo, super::TraceError> {
        Ok(TraceInfo)
    }
}
impl std::fmt::Display for TraceInfo {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
