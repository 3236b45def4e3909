//! fio's I/O log, version 3: requests with their times.
//!
//! First line `fio version 3 iolog`. Then `microseconds file add|open|close` and `microseconds
//! file read|write|trim|sync|datasync [offset length]` in bytes. Each file is a device here.
//!
//! The format lacks: completions, issuers.

use super::prelude::*;
use crate::traces::formats::fio::{FioEncoder, action_row, header};
use crate::traces::parse::{Words, number, scaled};
use idlewise_core::Instant;

pub(crate) const ABOUT: About =
    About { writable: true, ..About::plain("fio-v3", "fio iolog, version 3", "microseconds") };

pub(crate) const CODE: Code = Code { score, ..Code::text::<FioV3>().with(|| Box::new(FioEncoder::v3())) };

#[derive(Default)]
struct FioV3;

impl LineFormat for FioV3 {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        if let Some(version) = header(line) {
            let bad = Bad { cure: "say --format fio-v2 if it is that", ..Bad::row(NOT_3, line) };
            return if version == b"3" { Ok(Row::Comment) } else { Err(bad) };
        }
        let mut words = Words::of(line);
        let stamp = words.need("expected the time")?;
        let arrival = scaled(number(stamp, "expected the time in microseconds")?, 1_000, stamp)?;
        let file = words.need("expected a file")?;
        let action = words.need("expected an action")?;
        action_row(Instant(arrival), file, action, words, sink)
    }
}

const NOT_3: &str = "expected \"fio version 3 iolog\"";

fn score(head: &Head<'_>) -> u8 {
    match head.lines().next().and_then(header) {
        Some(b"3") => 100,
        Some(_) => 0,
        None => score_by_rows::<FioV3>(head),
    }
}
