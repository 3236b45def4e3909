//! `.ops`: what happened to a queue, as text, of which a trace has the requests.
//!
//! Golden files, reports of failures and the web page share the text (`idlewise_core::ops`). Lines such as
//! `+2ms insert 3 R 1024+8 by=7 group=2 sync` are requests, with the time since the line before; `gone 7` is the exit of a
//! process. All other lines, and what came of each behind ` = `, only pass time.
//!
//! The format lacks: completions, more than one device, what must be on the medium.

use super::prelude::*;
use crate::traces::record::Exit;
use idlewise_core::ops::{Event, Line};
use idlewise_core::{Group, Instant, Issuer, Priority, Request};

pub(crate) const ABOUT: About =
    About { issuers: true, devices: false, ..About::plain("ops", ".ops text", "nanoseconds") };

pub(crate) const CODE: Code = Code::text::<Ops>();

const WANTED: &str = "expected a line of .ops text, such as +2ms insert 3 R 1024+8 by=7";

#[derive(Default)]
struct Ops {
    now: u64,
}

impl LineFormat for Ops {
    fn row<'a>(&mut self, line: &'a [u8], sink: &mut Sink) -> Result<Row, Bad<'a>> {
        let text = std::str::from_utf8(line).map_err(|_| Bad::row(WANTED, line))?;
        let parsed = Line::parse(text).map_err(|_| Bad::row(WANTED, line))?;
        let Line::Event(after, event) = parsed else { return Ok(Row::Comment) };
        self.now = self.now.saturating_add(after.0);
        let at = Instant(self.now);
        match event {
            Event::Insert { request, .. } => {
                let device = sink.devices.number(0, |_| "disk".to_owned());
                sink.take(device, true, record(at, &request))
            }
            Event::Gone(issuer) => {
                sink.push_exit(Exit { at, issuer });
                Ok(Row::Data)
            }
            _ => Ok(Row::Comment),
        }
    }
}

fn record(at: Instant, request: &Request) -> Record {
    let Request { operation, start, length, sync, metadata, issuer, group, priority, .. } = *request;
    Record {
        sync,
        metadata,
        issuer: (issuer != Issuer::UNKNOWN).then_some(issuer),
        group: (group != Group::UNKNOWN).then_some(group),
        priority: (priority != Priority::default()).then_some(priority),
        ..Record::new(at, operation, start, length)
    }
}
