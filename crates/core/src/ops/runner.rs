//! Running lines on a queue.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::{Error, Event, Line, Logged, Outcome, Problem, Wanted};
use crate::device::Device;
use crate::host;
use crate::queue::Queue;
use crate::registry::{self, AnyScheduler, Assignment, Entry, SwitchError};
use crate::scheduler::Setup;
use crate::tunables::TunableError;
use crate::units::{Duration, Instant};

/// A sequence is shorter than this: 73 years.
const LONGEST: Instant = Instant(1 << 61);

/// Runs lines on a queue, and writes them with what came of them.
pub struct Runner {
    device: Device,
    size: usize,
    scheduler: Option<&'static Entry>,
    settings: Vec<Assignment<'static>>,
    explain: bool,
    /// Built at the first event.
    queue: Option<Queue<AnyScheduler>>,
    now: Instant,
    line: usize,
}

impl Default for Runner {
    fn default() -> Self {
        Runner {
            device: Device::default(),
            size: 64,
            scheduler: None,
            settings: Vec::new(),
            explain: false,
            queue: None,
            now: Instant::ZERO,
            line: 0,
        }
    }
}

/// Runs all lines of `text` and writes them to `out` with what came of them.
///
/// # Errors
/// The first line that is wrong. What the lines before it gave has been written.
pub fn run(text: &str, out: &mut impl fmt::Write) -> Result<(), Error> {
    let mut runner = Runner::default();
    text.lines().try_for_each(|line| runner.line(line, out))
}

impl Runner {
    /// Runs one line and writes it with what came of it. Comments and blank lines stay as they are.
    ///
    /// # Errors
    /// What is wrong with the line; nothing was then run or written.
    pub fn line(&mut self, text: &str, out: &mut impl fmt::Write) -> Result<(), Error> {
        self.line += 1;
        let line = self.line;
        self.try_line(text, out).map_err(|problem| Error { line, problem })
    }

    /// The queue, once an event has built it.
    pub fn queue(&self) -> Option<&Queue<AnyScheduler>> {
        self.queue.as_ref()
    }

    /// The time of the last event.
    pub fn now(&self) -> Instant {
        self.now
    }

    fn try_line(&mut self, text: &str, out: &mut impl fmt::Write) -> Result<(), Problem> {
        let line = Line::parse(text)?;
        let comment_at = text.find('#').unwrap_or(text.len());
        let comment = &text[comment_at..];
        let written = match line {
            Line::Blank => String::from(text.trim_end()),
            Line::Event(after, event) => {
                let outcome = self.event(after, event)?;
                let why = self.queue.as_ref().and_then(Queue::why);
                Logged { after, event, outcome, why }.to_string()
            }
            _ => {
                self.describe(line)?;
                line.to_string()
            }
        };
        let done = match line {
            Line::Blank => writeln!(out, "{written}"),
            _ if comment.is_empty() => writeln!(out, "{written}"),
            // The comment stays in its column, if there is room.
            _ => {
                let width = text[..comment_at].chars().count().max(written.chars().count() + 2);
                writeln!(out, "{written:<width$}{}", comment.trim_end())
            }
        };
        // A writer that fails loses text, not the run.
        let _ = done;
        Ok(())
    }

    /// Takes in a line that describes the queue.
    fn describe(&mut self, line: Line<'_>) -> Result<(), Problem> {
        if self.queue.is_some() {
            return Err(Problem::TooLate);
        }
        match line {
            Line::Device(settings) => self.device = settings.device()?,
            Line::Queue(size) => self.size = size,
            Line::Explain => self.explain = true,
            Line::Scheduler(name, settings) => {
                let entry = find(name)?;
                self.settings = host::settings(entry.tunables, settings.iter())?;
                self.scheduler = Some(entry);
            }
            Line::Blank | Line::Event(..) => {}
        }
        Ok(())
    }

    fn event(&mut self, after: Duration, event: Event<'_>) -> Result<Outcome, Problem> {
        let now = self.now + after;
        if now >= LONGEST {
            return Err(Problem::TooLong);
        }
        let queue = match &mut self.queue {
            Some(queue) => queue,
            None => {
                let entry = self.scheduler.ok_or(Problem::NoScheduler)?;
                let mut queue = Queue::new(self.size, self.device.clone(), entry, &self.settings)?;
                if self.explain {
                    queue.explain();
                }
                self.queue.insert(queue)
            }
        };
        let outcome = match event {
            Event::Set { tunable, value } => {
                let known = queue.scheduler().tunables();
                let found = known.iter().find(|known| known.name == tunable);
                let value = found.ok_or(TunableError::Unknown(known))?.parse(value)?;
                queue.set(tunable, value)?;
                Outcome::Done
            }
            Event::Switch { scheduler, settings } => {
                let entry = find(scheduler)?;
                let settings = host::settings(entry.tunables, settings.iter())?;
                match queue.switch_to(now, entry, &settings) {
                    Ok(()) => Outcome::Done,
                    Err(SwitchError::Host(error)) => Outcome::Refused(error),
                    Err(SwitchError::Build(error)) => return Err(error.into()),
                }
            }
            Event::Begin { scheduler, settings } => {
                let entry = find(scheduler)?;
                let settings = host::settings(entry.tunables, settings.iter())?;
                let setup = Setup { capacity: queue.requests().capacity(), device: queue.device() };
                let successor = entry.build(setup, &settings)?;
                queue.begin(now, successor).map_or_else(Outcome::Refused, |_| Outcome::Done)
            }
            // Only those above need the registry.
            event => event.apply(queue, now).unwrap_or(Outcome::Done),
        };
        self.now = now;
        Ok(outcome)
    }
}

fn find(name: &str) -> Result<&'static Entry, Problem> {
    registry::find(name).ok_or_else(|| Problem::Word(name.into(), Wanted::Scheduler))
}
