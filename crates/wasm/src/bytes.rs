//! A trace that lies in memory: read once to see which devices it has, and again for each run.

use std::io::Cursor;
use std::sync::Arc;

use idlewise_core::Issuer;
use idlewise_sim::experiment::Load;
use idlewise_sim::replay::{Mode, Rows, RowsError};
use idlewise_sim::traces::{Exit, Options, Record, Survey, Trace, TraceError};

/// The bytes of a file, read without copying.
#[derive(Clone)]
struct Shared(Arc<[u8]>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// One reading of the trace.
struct TraceRows(Trace);

impl Rows for TraceRows {
    fn next(&mut self) -> Result<Option<Record>, RowsError> {
        Ok(self.0.next()?)
    }

    fn exits(&self) -> &[Exit] {
        self.0.exits()
    }

    fn unplugs_backwards(&self) -> bool {
        self.0.unplugs_backwards()
    }

    fn process(&self, issuer: Issuer) -> Option<String> {
        self.0.process(issuer).map(str::to_owned)
    }
}

/// A load that replays `trace`, the file called `name`, and what its user should know. Of several devices the busiest is
/// replayed, as with `--device`.
///
/// # Errors
/// The file is no trace that can be read.
pub(crate) fn load(name: &str, trace: Vec<u8>) -> Result<(Load, Vec<String>), TraceError> {
    let (name, bytes) = (name.to_owned(), Shared(trace.into()));
    let open = {
        let name = name.clone();
        move |options: &Options| Trace::from_reader(Cursor::new(bytes.clone()), &name, options)
    };
    let mut options = Options::default();
    let mut first = open(&options)?;
    let mut survey = Survey::default();
    while let Some(row) = first.next()? {
        survey.add(&row);
    }
    let mut notes = first.report().warnings;
    let devices = survey.devices();
    if let [(busiest, shown), _, ..] = devices[..] {
        let device = first.devices()[busiest as usize].clone();
        notes.push(format!(
            "the trace has {} devices: this is the busiest, {device}, with {} of {} requests",
            devices.len(),
            shown.rows,
            survey.rows
        ));
        options.devices = Some(vec![device]);
    }
    if let Some(missing) = survey.missing() {
        notes.push(format!("{name} does not tell the {missing} of its requests"));
    }
    let rows = move |_| -> Result<Box<dyn Rows>, RowsError> { Ok(Box::new(TraceRows(open(&options)?))) };
    Ok((Load::Trace { open: Box::new(rows), mode: Mode::Closed, speed: 1.0, devices: Vec::new() }, notes))
}
