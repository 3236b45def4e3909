//! A trace that is being read: records one after the other, and what was found on the way.

use crate::traces::error::TraceError;
use crate::traces::findings::Findings;
use crate::traces::format_info::Open;
use crate::traces::formats::Format;
use crate::traces::input::{CUT_SHORT, Input, Watch};
use crate::traces::reader::Reader;
use crate::traces::recognise::{recognise, refuse};
use crate::traces::record::{Exit, Record};
use crate::traces::recorded::{Disk, Head};
use crate::traces::sink::{Entry, Sink};
use idlewise_core::{Instant, Issuer};
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How a trace is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The format; recognised by its content if `None`.
    pub format: Option<Format>,
    /// The devices to keep, by name; all if `None`.
    pub devices: Option<Vec<String>>,
    /// Rows that cannot be understood are counted and passed over, instead of ending the trace.
    pub lenient: bool,
    /// Requests that were merged before they reached the disk become one record, as the disk saw
    /// them. Otherwise each is a record, as it was issued, with the times of the whole.
    pub fold_merges: bool,
    /// Rows that are held to put them in order of time. A row may be that many places late.
    pub window: usize,
}

impl Options {
    /// The window unless another is set, in rows.
    pub const WINDOW: usize = 16_384;

    /// The largest window, in rows.
    pub const MAX_WINDOW: usize = 65_536;
}

impl Default for Options {
    /// Any format, all devices, strict, requests as issued.
    fn default() -> Self {
        Options { format: None, devices: None, lenient: false, fold_merges: false, window: Options::WINDOW }
    }
}

/// A trace that is being read. Memory is bounded, whatever the trace's length.
pub struct Trace {
    name: String,
    format: Format,
    reader: Box<dyn Reader>,
    sink: Sink,
    /// The arrival of the first record, which is time 0 of what is returned.
    base: Option<Instant>,
    /// Exits between the last two records returned.
    exits: Vec<Exit>,
    ended: bool,
    failure: Option<TraceError>,
    notes: Vec<String>,
    watch: Arc<Watch>,
    /// Bytes of all its files, if they are known.
    pub(super) length: Option<u64>,
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace")
            .field("name", &self.name)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

impl Trace {
    /// Reads a trace from a stream, which need not be seekable. `name` is for messages.
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn from_reader(
        source: impl Read + Send + 'static,
        name: &str,
        options: &Options,
    ) -> Result<Trace, TraceError> {
        let watch = Arc::new(Watch { lenient: options.lenient, ..Watch::default() });
        let mut input = Input::new(Box::new(source), name, Arc::clone(&watch))?;
        refuse(&input)?;
        let format = match options.format {
            Some(format) if input.at_least(1)?.is_empty() => {
                return Err(TraceError::Empty { name: format!("{name} (read as {format})") });
            }
            Some(format) => format,
            None => recognise(&mut input)?,
        };
        let open = Open { format: format.name(), lenient: options.lenient };
        let reader = (format.code().open)(input, &open)?;
        Ok(Trace::of(name, format, (reader, watch), options))
    }

    /// A trace of what `reader` gives.
    pub(crate) fn of(
        name: &str,
        format: Format,
        (reader, watch): (Box<dyn Reader>, Arc<Watch>),
        options: &Options,
    ) -> Trace {
        let window = options.window.min(Options::MAX_WINDOW);
        let sink = Sink::new(window, options.devices.clone(), options.fold_merges);
        Trace {
            name: name.to_owned(),
            format,
            reader,
            sink,
            base: None,
            exits: Vec::new(),
            ended: false,
            failure: None,
            notes: Vec::new(),
            watch,
            length: None,
        }
    }

    /// Adds a sentence to the report's warnings.
    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// The next record in order of arrival; `None` at the end. The first arrives at time 0.
    ///
    /// # Errors
    /// A row cannot be understood, the source fails, or the trace ends without a single request.
    /// What was read before is returned first; after an error the trace has ended.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "an iterator's next cannot be used with `?`")]
    pub fn next(&mut self) -> Result<Option<Record>, TraceError> {
        self.exits.clear();
        loop {
            match self.sink.pop(self.ended) {
                Some(Entry::Request(record)) => {
                    self.sink.report.records += 1;
                    return Ok(Some(self.rebased(record)));
                }
                Some(Entry::Exit(exit)) => {
                    self.note_exit(exit);
                    continue;
                }
                None => {}
            }
            if self.ended {
                return self.failure.take().map_or(Ok(None), Err);
            }
            self.read_on();
        }
    }

    /// The processes that exited between the last two records that [`Trace::next`] returned, or after the last
    /// one. Empty where the format does not tell.
    pub fn exits(&self) -> &[Exit] {
        &self.exits
    }

    #[cold]
    fn note_exit(&mut self, exit: Exit) {
        let base = self.base.unwrap_or(exit.at);
        self.exits.push(Exit { at: Instant(exit.at.0.saturating_sub(base.0)), ..exit });
    }

    #[inline]
    fn rebased(&mut self, mut record: Record) -> Record {
        let base = *self.base.get_or_insert(record.arrival);
        let shifted = |time: Instant| Instant(time.0.saturating_sub(base.0));
        record.arrival = shifted(record.arrival);
        record.dispatched = record.dispatched.map(|time| shifted(time).max(record.arrival));
        record.completed = record.completed.map(|time| shifted(time).max(record.arrival));
        record
    }

    /// Reads until there is something to give, or the end.
    fn read_on(&mut self) {
        while !self.ended && !self.sink.is_full() {
            match self.reader.fill(&mut self.sink) {
                Ok(more) => self.ended = !more,
                Err(error) => {
                    self.failure = Some(error);
                    self.ended = true;
                    return;
                }
            }
        }
        let nothing = self.ended && self.base.is_none() && self.sink.is_empty();
        if nothing {
            self.failure = Some(self.no_requests());
        }
    }

    fn no_requests(&self) -> TraceError {
        let devices = &self.sink.devices;
        if devices.names().is_empty() && !devices.unwanted.is_empty() {
            let what = format!("no such device; there are {}", devices.unwanted.join(", "));
            return TraceError::Path { name: self.name.clone(), what, cure: "name one of these" };
        }
        TraceError::NoRequests {
            name: self.name.clone(),
            format: self.format.name(),
            rows: self.sink.report.rows,
            skipped: self.sink.skips.words(),
            cure: match self.reader.head() {
                Some(_) => "the disk was asked for nothing: record while your programs run, or for longer",
                None => "record queue or issue events, or check --format and --device",
            },
        }
    }

    /// The trace's name: its path, or `(standard input)`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How much of the trace is read, from 0 to 1, if the length of its files is known.
    pub fn share_read(&self) -> Option<f64> {
        let length = self.length.filter(|length| *length > 0)?;
        Some(self.watch.read.load(Ordering::Relaxed) as f64 / length as f64)
    }

    /// The format it is read as.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The names of the devices seen so far; [`Record::device`] is an index into them.
    pub fn devices(&self) -> &[String] {
        self.sink.devices.names()
    }

    /// What a recording says of itself and of its disks, where the format tells.
    pub fn head(&self) -> Option<&Head> {
        self.reader.head()
    }

    /// What the recorded disks are, where the format tells.
    pub fn disks(&self) -> &[Disk] {
        self.head().map_or(&[], |head| &head.disks)
    }

    /// Whether the kernel that made the trace gives a disk whose scheduler is `none` what was behind a plug backwards: Linux
    /// from 5.16, where a plug became a list with one end, to 6.12. False where the format does not tell.
    pub fn unplugs_backwards(&self) -> bool {
        let Some(head) = self.head() else { return false };
        let mut numbers = head.kernel.split(|other: char| !other.is_ascii_digit()).map(str::parse::<u32>);
        let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return false };
        ((5, 16)..=(6, 12)).contains(&(major, minor))
    }

    /// What a process is called, if the trace tells and it is among the first 4096.
    pub fn process(&self, issuer: Issuer) -> Option<&str> {
        self.sink.processes.name(issuer.0)
    }

    /// What was found so far; complete once [`Trace::next`] has given `None`.
    pub fn report(&self) -> Findings {
        let disorder = self.sink.disorder();
        let mut report = Findings {
            format: self.format.name(),
            time_unit: self.format.about().time_unit,
            skipped: self.sink.skips.listed(),
            out_of_order_rows: disorder.rows,
            late_rows: disorder.late,
            out_of_order_max_ns: disorder.furthest,
            moved_rows: disorder.clamped,
            crowded_devices: self.sink.devices.crowded,
            warnings: self.notes.clone(),
            ..self.sink.report.clone()
        };
        if self.watch.cut.load(Ordering::Relaxed) {
            let records = report.records;
            report.warnings.push(format!("{CUT_SHORT}: {records} requests were read before that"));
        }
        report.warn(self.format.about().events, self.sink.grain, self.devices());
        report
    }
}
