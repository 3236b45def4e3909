//! How well a model fits a real drive: replay of a measured trace, and the demerit figure.
//!
//! A drive trace is closed loop: one command at a time, the next one a think time after the last
//! completed. The demerit figure (Ruemmler & Wilkes) is the root of the mean squared horizontal
//! distance between the two distributions of response times: both are sorted and compared in order.

use crate::device::{Command, DiskModel};
use crate::error::BuildError;
use crate::profile::Profile;
use core::fmt;
use idlewise_core::{Instant, Operation, Sector, Sectors};
use std::format;
use std::io::{self, BufRead};
use std::string::{String, ToString};
use std::vec::Vec;

/// One line of a drive trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Read or write.
    pub operation: Operation,
    /// First sector.
    pub start: Sector,
    /// Length.
    pub length: Sectors,
    /// Measured service time in ns.
    pub service_ns: u64,
    /// From the completion to the next command, in ns.
    pub think_ns: u64,
}

/// How far a model is from a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demerit {
    /// Root mean square distance between the response time distributions, in ns.
    pub demerit_ns: u64,
    /// The same as a share of the measured mean.
    pub demerit_share: f64,
    /// Mean measured response time, in ns.
    pub measured_mean_ns: u64,
    /// Mean response time of the model, in ns.
    pub model_mean_ns: u64,
    /// Commands compared.
    pub requests: u64,
}

/// A trace that cannot be replayed.
#[derive(Debug)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum TraceError {
    /// Reading failed.
    Read(io::Error),
    /// A line is not a drive trace's.
    Line { line: usize, message: String },
    /// The trace has no command in it.
    Empty,
    /// The disk cannot be built.
    Build(BuildError),
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Read(error) => write!(f, "cannot read the drive trace: {error}"),
            TraceError::Line { line, message } => write!(f, "line {line}: {message}"),
            TraceError::Build(error) => write!(f, "cannot build the disk: {error}"),
            TraceError::Empty => f.write_str("the drive trace has no lines; give one with measured commands"),
        }
    }
}

impl std::error::Error for TraceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TraceError::Read(error) => Some(error),
            TraceError::Build(error) => Some(error),
            _ => None,
        }
    }
}

/// Reads a drive trace: `R|W Hit|Miss start blocks service_us think_us` on each line. Blank lines are skipped.
pub fn read_trace(reader: impl BufRead) -> Result<Vec<Measured>, TraceError> {
    let mut trace = Vec::new();
    for (index, line) in reader.lines().enumerate() {
        let line = line.map_err(TraceError::Read)?;
        if line.trim().is_empty() {
            continue;
        }
        let command = parse_line(&line).map_err(|message| TraceError::Line { line: index + 1, message })?;
        trace.push(command);
    }
    if trace.is_empty() { Err(TraceError::Empty) } else { Ok(trace) }
}

fn parse_line(line: &str) -> Result<Measured, String> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let &[direction, _, start, length, service, think] = fields.as_slice() else {
        return Err(format!(
            "{} fields; a drive trace has six: R or W, Hit or Miss, start, blocks, service us, think us",
            fields.len()
        ));
    };
    let operation = match direction {
        "R" => Operation::Read,
        "W" => Operation::Write,
        other => return Err(format!("direction {other:?}; give R or W")),
    };
    let number = |what: &str, text: &str| -> Result<u64, String> {
        text.parse().map_err(|_| format!("{what} {text:?} is not a whole number; give sectors of 512 bytes"))
    };
    let length = u32::try_from(number("blocks", length)?)
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| "blocks out of range; give 1 to 4294967295".to_string())?;
    Ok(Measured {
        operation,
        start: Sector(number("start", start)?),
        length: Sectors(length),
        service_ns: microseconds("service time", service)?,
        think_ns: microseconds("think time", think)?,
    })
}

fn microseconds(what: &str, text: &str) -> Result<u64, String> {
    let us: f64 = text.parse().map_err(|_| format!("{what} {text:?} is not a number; give microseconds"))?;
    if !(0.0..=1e12).contains(&us) {
        return Err(format!("{what} {us} us is out of range; give 0 to 1e12"));
    }
    Ok((us * 1e3).round() as u64)
}

/// Replays a trace on a device that holds no commands; gives the model's response times in ns, in order.
pub fn replay<D: DiskModel>(device: &mut D, trace: &[Measured]) -> Result<Vec<u64>, TraceError> {
    let mut now = Instant::ZERO;
    let mut responses = Vec::with_capacity(trace.len());
    for (index, measured) in trace.iter().enumerate() {
        let Measured { operation, start, length, .. } = *measured;
        let command = Command { tag: index as u32, operation, start, length, fua: false };
        device
            .submit(now, command)
            .map_err(|error| TraceError::Line { line: index + 1, message: error.to_string() })?;
        let done = complete(device);
        responses.push(done.since(now).0);
        now = Instant(done.0.saturating_add(measured.think_ns));
    }
    Ok(responses)
}

/// Runs a device until its one command completes.
fn complete<D: DiskModel>(device: &mut D) -> Instant {
    loop {
        let at = device.next_event().expect("a device with a command outstanding has a next event");
        if let Some(completion) = device.advance(at) {
            return completion.at;
        }
    }
}

/// Replays `trace` on a new disk of `profile` and compares the distributions of response times.
pub fn validate(profile: &Profile, trace: &[Measured]) -> Result<Demerit, TraceError> {
    if trace.is_empty() {
        return Err(TraceError::Empty);
    }
    let mut device = profile.build().map_err(TraceError::Build)?;
    let mut model = replay(&mut device, trace)?;
    let mut measured: Vec<u64> = trace.iter().map(|m| m.service_ns).collect();
    Ok(demerit(&mut measured, &mut model))
}

/// The demerit figure of two equally long lists of response times; sorts both.
pub fn demerit(measured: &mut [u64], model: &mut [u64]) -> Demerit {
    measured.sort_unstable();
    model.sort_unstable();
    let requests = measured.len().min(model.len());
    let squares: f64 = measured.iter().zip(&*model).map(|(&a, &b)| (a.abs_diff(b) as f64).powi(2)).sum();
    let mean = |list: &[u64]| list.iter().map(|&x| x as f64).sum::<f64>() / list.len().max(1) as f64;
    let (measured_mean, model_mean) = (mean(measured), mean(model));
    let rms = (squares / requests.max(1) as f64).sqrt();
    Demerit {
        demerit_ns: rms.round() as u64,
        demerit_share: if measured_mean > 0.0 { rms / measured_mean } else { 0.0 },
        measured_mean_ns: measured_mean.round() as u64,
        model_mean_ns: model_mean.round() as u64,
        requests: requests as u64,
    }
}
