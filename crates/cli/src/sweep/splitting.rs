//! Splitting a trace of several devices into a file for each, in one reading.
//!
//! Memory is bounded, whatever the trace's length: what waits to be written is at most [`WAITING`], dealt out to the devices.
//! No file stays open: each buffer that is full becomes one compressed frame at the end of its file. So a trace may have
//! as many devices as readers tell apart.

use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::Ordering;

use idlewise_sim::engine::{Control, WHOLE_RUN};
use idlewise_sim::traces::{Compression, Compressor, Format, Record, Trace, WriteError, Writer};

use crate::failure::Failure;

/// Bytes that wait to be written, of all devices.
const WAITING: usize = 256 << 20;

/// Bytes of one device that are written at once: frames that are smaller hardly compress, larger ones gain nothing.
const FRAME_LEAST: usize = 16 << 10;
const FRAME_MOST: usize = 1 << 20;

/// Rows between two looks at [`Control`].
const LOOK: u64 = 1 << 16;

/// The end of a file's name, which says how it is compressed.
pub(crate) const SUFFIX: &str = ".csv.zst";

/// A file that grows by compressed frames.
struct Growing {
    path: PathBuf,
    waiting: Vec<u8>,
    /// Files that grow beside this one, itself included.
    beside: Rc<Cell<usize>>,
}

impl Growing {
    fn append(&mut self) -> io::Result<()> {
        let mut frame = Compressor::new(Some(Compression::Zstd), Vec::new())?;
        frame.write_all(&self.waiting)?;
        let frame = frame.finish()?;
        OpenOptions::new().create(true).append(true).open(&self.path)?.write_all(&frame)?;
        self.waiting.clear();
        Ok(())
    }
}

impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= (WAITING / self.beside.get()).clamp(FRAME_LEAST, FRAME_MOST) {
            self.append()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() { Ok(()) } else { self.append() }
    }
}

/// The files of a trace that is being split.
struct Files<'a> {
    folder: &'a Path,
    writers: Vec<Option<Writer<Growing>>>,
    count: Rc<Cell<usize>>,
    rows: Vec<u64>,
}

impl Files<'_> {
    fn writer(&mut self, device: u32) -> Result<&mut Writer<Growing>, WriteError> {
        let place = device as usize;
        if self.writers.len() <= place {
            self.writers.resize_with(place + 1, || None);
            self.rows.resize(place + 1, 0);
        }
        if self.writers[place].is_none() {
            self.count.set(self.count.get() + 1);
            let path = self.folder.join(format!("{device}{SUFFIX}"));
            let file = Growing { path, waiting: Vec::new(), beside: Rc::clone(&self.count) };
            self.writers[place] = Some(Writer::new(Format::Idlewise, file)?);
        }
        Ok(self.writers[place].as_mut().expect("it was made"))
    }

    fn row(&mut self, record: &Record, device: &str, process: Option<&str>) -> Result<(), WriteError> {
        self.writer(record.device)?.write(record, device, process)?;
        self.rows[record.device as usize] += 1;
        Ok(())
    }

    /// Passes exits on to every device that has begun, as reading one device alone does: a replay wants to know that the
    /// trace tells exits, also of processes that never used the device.
    fn exits(&mut self, trace: &Trace) -> Result<(), WriteError> {
        let mut files = self.writers.iter_mut().flatten();
        files.try_for_each(|writer| trace.exits().iter().try_for_each(|exit| writer.exit(*exit)))
    }
}

/// Writes the rows of each device of `trace` to a file in `folder`, called by the device's index. Gives the rows of each.
/// `control` is told how far the reading is, and can end it.
pub(crate) fn split(trace: &mut Trace, folder: &Path, control: &Control) -> Result<Vec<u64>, Failure> {
    let failed = |error: WriteError| match error {
        WriteError::Io(error) => Failure::failed(format!(
            "{}: the trace could not be split by device: {error}; `work` names another folder",
            folder.display()
        )),
        error => Failure::failed(error),
    };
    let mut files = Files { folder, writers: Vec::new(), count: Rc::default(), rows: Vec::new() };
    loop {
        let record = trace.next().map_err(Failure::failed)?;
        files.exits(trace).map_err(failed)?;
        let Some(record) = record else { break };
        let device = trace.devices().get(record.device as usize).map_or("", String::as_str);
        let process = record.issuer.and_then(|issuer| trace.process(issuer));
        files.row(&record, device, process).map_err(failed)?;
        look(trace, control)?;
    }
    for writer in files.writers.into_iter().flatten() {
        writer.finish().map_err(failed)?;
    }
    files.rows.resize(trace.devices().len(), 0);
    Ok(files.rows)
}

/// Counts a row that was read; now and then tells how far the reading is, and whether somebody wants it to end.
pub(crate) fn look(trace: &Trace, control: &Control) -> Result<(), Failure> {
    if !control.completed.fetch_add(1, Ordering::Relaxed).is_multiple_of(LOOK) {
        return Ok(());
    }
    let share = trace.share_read().unwrap_or(0.0).min(1.0);
    control.millionths.store((share * WHOLE_RUN as f64) as u64, Ordering::Relaxed);
    if control.stop.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
}
