//! Reading lines.

use core::fmt;
use core::str::SplitWhitespace;

use super::{CLASSES, Event, MERGING, OPERATIONS, Problem, Time, Wanted};
use crate::device::Device;
use crate::learned::Curve;
use crate::request::{Operation, Priority, Request};
use crate::units::{Duration, Group, Issuer, RequestId, Sector, Sectors, Weight};

/// The most request ids that a `queue` line may ask for.
const QUEUE_MAX: u64 = 1 << 16;
/// The most points that a curve may have.
const POINTS_MAX: usize = 64;

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Nothing but space or a comment.
    Blank,
    /// Properties of the device.
    Device(Settings<'a>),
    /// How many request ids there are.
    Queue(usize),
    /// Decisions are written with their reasons.
    Explain,
    /// The scheduler and its settings.
    Scheduler(&'a str, Settings<'a>),
    /// An event, and the time since the line before.
    Event(Duration, Event<'a>),
}

/// Words of the form `name=value`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings<'a>(&'a str);

impl<'a> Settings<'a> {
    /// The names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> + 'a {
        self.0.split_whitespace().filter_map(|word| word.split_once('='))
    }

    fn parse(words: &Words<'a>) -> Result<Settings<'a>, Problem> {
        let settings = Settings(words.rest);
        match settings.0.split_whitespace().find(|word| !word.contains('=')) {
            Some(word) => Err(wrong(word, Wanted::Setting)),
            None => Ok(settings),
        }
    }

    /// The device that has these properties and else the default ones.
    ///
    /// # Errors
    /// [`Problem::Word`] if one is unknown or out of range.
    pub fn device(&self) -> Result<Device, Problem> {
        let mut device = Device::default();
        for (name, value) in self.iter() {
            if put(&mut device, name, value).is_none() {
                return Err(Problem::Word(alloc::format!("{name}={value}"), Wanted::DeviceProperty));
            }
        }
        Ok(device)
    }
}

impl PartialEq for Settings<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Settings<'_> {}

impl fmt::Display for Settings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Blank => Ok(()),
            Line::Device(settings) => write!(f, "device{settings}"),
            Line::Queue(size) => write!(f, "queue {size}"),
            Line::Explain => f.write_str("explain"),
            Line::Scheduler(name, settings) => write!(f, "scheduler {name}{settings}"),
            Line::Event(Duration::ZERO, event) => event.fmt(f),
            Line::Event(after, event) => write!(f, "+{} {event}", Time(*after)),
        }
    }
}

/// The words of a line, and where the rest of it begins.
#[derive(Clone)]
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let mut words: SplitWhitespace<'a> = self.rest.split_whitespace();
        let word = words.next()?;
        let text = self.rest.trim_start();
        self.rest = &text[word.len()..];
        Some(word)
    }

    /// The next word as `read` understands it.
    fn take<T>(&mut self, wanted: Wanted, read: impl FnOnce(&'a str) -> Option<T>) -> Result<T, Problem> {
        let word = self.next().ok_or(Problem::Missing(wanted))?;
        read(word).ok_or_else(|| wrong(word, wanted))
    }

    fn end(mut self) -> Result<(), Problem> {
        self.next().map_or(Ok(()), |word| Err(Problem::Surplus(word.into())))
    }
}

fn wrong(word: &str, wanted: Wanted) -> Problem {
    Problem::Word(word.into(), wanted)
}

impl<'a> Line<'a> {
    /// Reads a line. Its result and its comment are not looked at.
    ///
    /// # Errors
    /// The [`Problem`] with it.
    pub fn parse(text: &'a str) -> Result<Line<'a>, Problem> {
        let text = text.split('#').next().unwrap_or_default().trim();
        // A result stands behind an equals sign of its own; settings have theirs inside a word.
        let text = text.find(" = ").map_or(text, |at| &text[..at]);
        let text = text.strip_suffix(" =").unwrap_or(text);
        let mut words = Words { rest: text };
        let Some(mut verb) = words.next() else { return Ok(Line::Blank) };
        let mut after = None;
        if let Some(text) = verb.strip_prefix('+') {
            after = Some(time(text).ok_or_else(|| wrong(verb, Wanted::Time))?);
            verb = words.next().ok_or(Problem::Missing(Wanted::Verb))?;
        }
        match (verb, after) {
            ("device", None) => {
                let settings = Settings::parse(&words)?;
                settings.device()?;
                Ok(Line::Device(settings))
            }
            ("queue", None) => {
                let size = words.take(Wanted::QueueSize, |word| {
                    number(word).filter(|size| (1..=QUEUE_MAX).contains(size))
                })?;
                words.end()?;
                Ok(Line::Queue(size as usize))
            }
            ("explain", None) => {
                words.end()?;
                Ok(Line::Explain)
            }
            ("scheduler", None) => {
                let name = words.take(Wanted::Scheduler, Some)?;
                Ok(Line::Scheduler(name, Settings::parse(&words)?))
            }
            _ => Ok(Line::Event(after.unwrap_or_default(), event(verb, words)?)),
        }
    }
}

fn event<'a>(verb: &'a str, mut words: Words<'a>) -> Result<Event<'a>, Problem> {
    let request_id = |words: &mut Words<'a>| words.take(Wanted::Id, id);
    let event = match verb {
        "insert" => {
            let id = request_id(&mut words)?;
            return Ok(Event::Insert { id, request: request(words)? });
        }
        "switch" | "begin" => {
            let scheduler = words.take(Wanted::Scheduler, Some)?;
            let settings = Settings::parse(&words)?;
            return Ok(match verb {
                "switch" => Event::Switch { scheduler, settings },
                _ => Event::Begin { scheduler, settings },
            });
        }
        "carry" => Event::Carry(words.take(Wanted::Count, |word| number(word)?.try_into().ok())?),
        "dispatch" => Event::Dispatch,
        "complete" => Event::Complete(request_id(&mut words)?),
        "requeue" => Event::Requeue(request_id(&mut words)?),
        "cancel" => Event::Cancel(request_id(&mut words)?),
        "gone" => Event::Gone(words.take(Wanted::Issuer, issuer)?),
        "weight" => {
            let who = words.take(Wanted::Issuer, issuer)?;
            let weight = words.take(Wanted::Weight, |word| Weight::new(number(word)?.try_into().ok()?))?;
            Event::Weigh(who, weight)
        }
        "set" => Event::Set {
            tunable: words.take(Wanted::Tunable, Some)?,
            value: words.take(Wanted::Value, Some)?,
        },
        _ => return Err(wrong(verb, Wanted::Verb)),
    };
    words.end()?;
    Ok(event)
}

fn request(mut words: Words<'_>) -> Result<Request, Problem> {
    let operation = words.take(Wanted::Operation, |word| meaning(&OPERATIONS, word))?;
    let (start, length) = words.take(Wanted::Extent, |word| {
        let (start, length) = word.split_once('+')?;
        Some((Sector(number(start)?), Sectors(number(length)?.try_into().ok()?)))
    })?;
    let sync = operation == Operation::Read;
    let mut request = Request { operation, start, length, sync, ..Request::default() };
    while let Some(word) = words.next() {
        property(&mut request, word).ok_or_else(|| wrong(word, Wanted::Property))?;
    }
    Ok(request)
}

fn property(request: &mut Request, word: &str) -> Option<()> {
    match word.split_once('=').unwrap_or((word, "")) {
        ("by", value) => request.issuer = issuer(value)?,
        ("group", value) => request.group = Group(number(value)?.try_into().ok()?),
        ("prio", value) => {
            let (class, level) = value.split_once('/')?;
            let level = level.parse().ok().filter(|level| *level < 8)?;
            request.priority = Priority { class: meaning(&CLASSES, class)?, level };
        }
        ("sync", "") => request.sync = true,
        ("async", "") => request.sync = false,
        ("meta", "") => request.metadata = true,
        ("more", "") => request.more_follows = true,
        ("past", "") => request.past = true,
        _ => return None,
    }
    Some(())
}

/// Gives `device` the property `name`.
fn put(device: &mut Device, name: &str, value: &str) -> Option<()> {
    let positive = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    match name {
        "rotational" => {
            let learned = |device: &Device| Device::usual(device.rotational).learned;
            let usual = device.learned == learned(device);
            device.rotational = meaning(&[("on", true), ("off", false)], value)?;
            if usual {
                device.learned = learned(device);
            }
        }
        "depth" => device.depth = positive(value)?,
        "queues" => device.hardware_queues = positive(value)?,
        "capacity" => device.capacity = Sector(number(value)?),
        "merging" => device.merging = meaning(&MERGING, value)?,
        "max_sectors" => device.max_sectors = Sectors(positive(value)?),
        "max_parts" => device.max_parts = positive(value)?,
        "curve" => device.learned = curve(value)?.into(),
        _ => return None,
    }
    Some(())
}

/// Points such as `0:0,1000:2ms`, in order of distance.
fn curve(text: &str) -> Option<Curve> {
    let mut points = [(0, Duration::ZERO); POINTS_MAX];
    let mut count = 0;
    for word in text.split(',') {
        let (distance, duration) = word.split_once(':')?;
        let point = (number(distance)?, time(duration)?);
        if count > 0 && points[count - 1].0 >= point.0 {
            return None;
        }
        *points.get_mut(count)? = point;
        count += 1;
    }
    Some(Curve::through(&points[..count]))
}

fn meaning<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    words.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
}

fn number(text: &str) -> Option<u64> {
    // `parse` alone would take a plus sign.
    if text.starts_with('+') { None } else { text.parse().ok() }
}

fn issuer(text: &str) -> Option<Issuer> {
    Some(Issuer(number(text)?.try_into().ok()?))
}

fn id(text: &str) -> Option<RequestId> {
    Some(RequestId(number(text)?.try_into().ok()?))
}

fn time(text: &str) -> Option<Duration> {
    if text == "0" { Some(Duration::ZERO) } else { Duration::parse(text) }
}
