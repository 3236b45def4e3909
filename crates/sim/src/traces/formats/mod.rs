//! The formats, one file each, and the table that lists them.
//!
//! A format is one file here, its `mod` line, and its line in `formats!` below. Names for
//! `--format`, help, recognition, readers and writers all come from that table.

mod alibaba;
mod blkparse;
pub(crate) mod blktrace;
mod cloudphysics;
mod disksim;
mod drive;
mod fio;
mod fio3;
mod fiu;
mod ftrace;
mod mqsim;
mod msr;
mod oracle;
pub(crate) mod own;
pub(crate) mod rwbs;
mod spc;
mod systor;
mod tencent;
mod vscsi;

use crate::traces::error::TraceError;
use crate::traces::input::Input;
use crate::traces::reader::{Reader, Row, Rows, TextReader};
use crate::traces::sink::Sink;
use crate::traces::write::Encoder;
use serde::Serialize;

macro_rules! formats {
    ($($(#[doc = $doc:literal])+ $variant:ident = $module:ident;)+) => {
        /// The formats that can be read. [`Format::ALL`] lists them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Format {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Format {
            /// Every format.
            pub const ALL: &'static [Format] = &[$(Format::$variant),+];

            /// What it is called and what it tells.
            pub const fn about(self) -> &'static About {
                match self { $(Format::$variant => &$module::ABOUT,)+ }
            }

            pub(crate) const fn code(self) -> &'static Code {
                match self { $(Format::$variant => &$module::CODE,)+ }
            }
        }
    };
}

formats! {
    /// idlewise's own comma-separated text.
    Idlewise = own;
    /// Linux blktrace, binary.
    Blktrace = blktrace;
    /// What blkparse prints of it.
    Blkparse = blkparse;
    /// Block events as ftrace, trace-cmd and perf print them.
    Ftrace = ftrace;
    /// fio's log, version 2: waits between requests.
    FioV2 = fio;
    /// fio's log, version 3: a time for each request.
    FioV3 = fio3;
    /// Microsoft Research Cambridge.
    Msr = msr;
    /// Storage Performance Council.
    Spc = spc;
    /// Alibaba's block storage.
    Alibaba = alibaba;
    /// Tencent's block storage.
    Tencent = tencent;
    /// SYSTOR'17: a company's virtual desktops.
    Systor = systor;
    /// VMware's vscsiStats, binary.
    Vscsi = vscsi;
    /// CloudPhysics, as text.
    CloudPhysics = cloudphysics;
    /// Florida International University.
    Fiu = fiu;
    /// DiskSim's default.
    Disksim = disksim;
    /// DiskSim's validation traces: measured drives.
    Drive = drive;
    /// MQSim.
    Mqsim = mqsim;
    /// libCacheSim's oracleGeneral, binary: recognised and refused.
    OracleGeneral = oracle;
}

/// What a format is called and what it tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct About {
    /// What `--format` takes.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// What its times count.
    pub time_unit: &'static str,
    /// It tells when a request was done.
    pub completions: bool,
    /// It tells when a request went to the disk.
    pub dispatches: bool,
    /// It tells who issued a request.
    pub issuers: bool,
    /// It tells which device a request was for.
    pub devices: bool,
    /// It is made of events that are put together to requests.
    pub events: bool,
    /// Its times are those of arrival. Otherwise they are made up or too coarse to queue by.
    pub exact_times: bool,
    /// It can be written.
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
    pub(crate) const fn text<R: Rows>() -> Code {
        Code { score: score_by_rows::<R>, open: open_text::<R>, encode: None }
    }

    /// The same, which can also be written.
    pub(crate) const fn with(self, encode: fn() -> Box<dyn Encoder>) -> Code {
        Code { score: self.score, open: self.open, encode: Some(encode) }
    }
}

/// What a reader is told when it is made.
pub(crate) struct Open {
    pub(crate) format: Format,
    pub(crate) lenient: bool,
    /// The name says that this is the file of one CPU.
    pub(crate) one_cpu: bool,
}

fn open_text<R: Rows>(input: Input, open: &Open) -> Result<Box<dyn Reader>, TraceError> {
    Ok(TextReader::<R>::boxed(input, open.format, open.lenient))
}

/// The beginning of a trace, for recognition.
pub(crate) struct Head<'a> {
    /// At most the first 64 KiB.
    pub(crate) bytes: &'a [u8],
    /// That is all there is.
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

/// Lines that recognition tries.
const LINES: usize = 100;

/// The share of the first lines that are rows of the format, in percent.
pub(crate) fn score_by_rows<R: Rows>(head: &Head<'_>) -> u8 {
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

impl Format {
    /// What `--format` calls it.
    pub const fn name(self) -> &'static str {
        self.about().name
    }

    /// The format that `--format` calls `name`.
    pub fn by_name(name: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// All names, separated by commas.
    pub fn names() -> String {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        names.join(", ")
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    /// As [`Format::by_name`]; the error lists the names.
    fn from_str(name: &str) -> Result<Format, String> {
        Format::by_name(name)
            .ok_or_else(|| format!("no trace format is called {name:?}; there are: {}", Format::names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for &format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(format));
            assert_eq!(format.about().writable, format.code().encode.is_some(), "{format}");
        }
        assert!("nonesuch".parse::<Format>().unwrap_err().contains("blkparse"));
    }
}
