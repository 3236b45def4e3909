//! What a format says of itself: its name, what it tells, and how it is recognised, read and written.

use crate::traces::encode::Encoder;
use crate::traces::error::TraceError;
use crate::traces::input::Input;
use crate::traces::reader::{LineFormat, Reader, TextReader};
use crate::traces::sink::{Row, Sink};
use serde::Serialize;

/// What a format is called and what it tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct About {
    /// What `--format` takes.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// What its times count.
    pub time_unit: &'static str,
    /// The format tells when a request was done.
    pub completions: bool,
    /// The format tells when a request went to the disk.
    pub dispatches: bool,
    /// The format tells who issued a request.
    pub issuers: bool,
    /// The format tells which device a request was for.
    pub devices: bool,
    /// The format is made of events that are put together to requests.
    pub events: bool,
    /// The format's times are times of arrival. Otherwise they are made up or too coarse to queue by.
    pub exact_times: bool,
    /// The format can be written.
    pub writable: bool,
}

impl About {
    /// A text format that tells time, extent and operation, and no more.
    pub(crate) const fn plain(name: &'static str, title: &'static str, time_unit: &'static str) -> About {
        About {
            name,
            title,
            time_unit,
            completions: false,
            dispatches: false,
            issuers: false,
            devices: true,
            events: false,
            exact_times: true,
            writable: false,
        }
    }

    /// A format of events, which tells who issued what, and when it was dispatched and done.
    pub(crate) const fn events(name: &'static str, title: &'static str, time_unit: &'static str) -> About {
        let plain = About::plain(name, title, time_unit);
        About { completions: true, dispatches: true, issuers: true, events: true, ..plain }
    }
}

/// Makes the reader of a stream.
type Opener = fn(Input, &Open) -> Result<Box<dyn Reader>, TraceError>;

/// How a format is recognised, read and written.
pub(crate) struct Code {
    /// How well the beginning fits, 0 to 100.
    pub(crate) score: fn(&Head<'_>) -> u8,
    /// A reader of one stream.
    pub(crate) open: Opener,
    /// A writer, if the format can be written.
    pub(crate) encode: Option<fn() -> Box<dyn Encoder>>,
}

impl Code {
    /// A text format that is recognised by its rows.
    pub(crate) const fn text<R: LineFormat>() -> Code {
        Code { score: score_by_rows::<R>, open: open_text::<R>, encode: None }
    }

    /// The same, which can also be written.
    pub(crate) const fn with(self, encode: fn() -> Box<dyn Encoder>) -> Code {
        Code { score: self.score, open: self.open, encode: Some(encode) }
    }
}

/// What a reader is told when it is made.
pub(crate) struct Open {
    /// What the format is called.
    pub(crate) format: &'static str,
    pub(crate) lenient: bool,
}

fn open_text<R: LineFormat>(input: Input, open: &Open) -> Result<Box<dyn Reader>, TraceError> {
    Ok(TextReader::<R>::boxed(input, open.format, open.lenient))
}

/// The beginning of a trace, for recognition.
pub(crate) struct Head<'a> {
    /// At most the first 64 KiB.
    pub(crate) bytes: &'a [u8],
    /// The head is the whole trace.
    pub(crate) complete: bool,
}

impl<'a> Head<'a> {
    /// The first lines that are not blank. The last line seen may be cut, so it is left out.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        let whole = match self.bytes.iter().rposition(|&b| b == b'\n') {
            _ if self.complete => self.bytes,
            Some(at) => &self.bytes[..at],
            None => &[],
        };
        let lines = whole.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
        lines.filter(|line| !line.is_empty()).take(LINES)
    }
}

/// Lines that recognition tries: a header and a bad row weigh a hundredth each.
const LINES: usize = 100;

/// The share of the first lines that are rows of the format, in percent.
pub(crate) fn score_by_rows<R: LineFormat>(head: &Head<'_>) -> u8 {
    let (mut rows, mut sink) = (R::default(), Sink::new(LINES, None, false));
    let (mut good, mut bad) = (0, 0);
    for line in head.lines() {
        match rows.row(line, &mut sink) {
            Ok(Row::Data) => good += 1,
            Ok(Row::Comment) => {}
            Err(_) => bad += 1,
        }
    }
    if good == 0 { 0 } else { (good * 100 / (good + bad)) as u8 }
}
