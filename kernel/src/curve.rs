//! A disk's positioning time by distance, as its user has measured it.
//!
//! The file takes what `idlewise disk show NAME --curve` writes: a distance in sectors and a time in each line.
//!
//! ```text
//! 0 0us
//! 2048 1500us
//! 1000000 9ms
//! ```

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::{c_char, c_int};
use core::fmt;

use idlewise_core::Duration;
use idlewise_core::collections::OutOfMemory;
use idlewise_core::learned::{Curve, Learned};

use crate::boundary::{INVALID, NO_MEMORY, keep, put_c, text};
use crate::catalogue::{MESSAGE, tell};

/// The most points: a curve keeps two for each power of two, and a file holds these.
const POINTS_MAX: usize = 192;

/// The longest time that a curve keeps.
const LONGEST: Duration = Duration(u32::MAX as u64);

/// The points that a user has given, and what is known by them.
pub struct Known {
    points: Vec<(u64, Duration)>,
    pub(crate) learned: Learned,
}

/// What is wrong with the text of a curve.
#[derive(Debug, PartialEq, Eq)]
enum CurveError<'a> {
    OutOfMemory,
    Distance(&'a str),
    Time(&'a str),
    Order(u64),
    Short(u64),
    Many,
    Empty,
}

impl From<OutOfMemory> for CurveError<'_> {
    fn from(_: OutOfMemory) -> Self {
        CurveError::OutOfMemory
    }
}

impl fmt::Display for CurveError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CurveError::OutOfMemory => OutOfMemory.fmt(f),
            CurveError::Distance(word) => write!(f, "a distance in sectors, such as 2048, is not {word}"),
            CurveError::Time(word) => write!(f, "a time, such as 1500us or 9ms, up to 4s, is not {word}"),
            CurveError::Order(distance) => write!(f, "distances increase, and {distance} does not"),
            CurveError::Short(distance) => write!(f, "the distance {distance} has no time"),
            CurveError::Many => write!(f, "there are more than {POINTS_MAX} points"),
            CurveError::Empty => {
                f.write_str("there is no point: write lines of a distance and a time, or learned")
            }
        }
    }
}

/// The points that a text has.
fn points(text: &str) -> Result<Vec<(u64, Duration)>, CurveError<'_>> {
    let mut points = Vec::new();
    points.try_reserve_exact(POINTS_MAX).map_err(|_| OutOfMemory)?;
    let mut words = text.split_ascii_whitespace();
    while let Some(word) = words.next() {
        let distance =
            word.parse().ok().filter(|_| !word.starts_with('+')).ok_or(CurveError::Distance(word))?;
        let word = words.next().ok_or(CurveError::Short(distance))?;
        let time = Duration::parse(word).filter(|time| *time <= LONGEST).ok_or(CurveError::Time(word))?;
        if points.last().is_some_and(|(last, _)| *last >= distance) {
            return Err(CurveError::Order(distance));
        }
        if points.len() == POINTS_MAX {
            return Err(CurveError::Many);
        }
        points.push((distance, time));
    }
    if points.is_empty() { Err(CurveError::Empty) } else { Ok(points) }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.points.iter().try_for_each(|(distance, time)| match time.0 {
            ns if ns.is_multiple_of(1_000) => writeln!(f, "{distance} {}us", ns / 1_000),
            ns => writeln!(f, "{distance} {ns}ns"),
        })
    }
}

/// A curve of its text. Null, an error number and what is wrong, ended by a zero byte, if it cannot be had. May sleep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_curve_new(
    words: *const c_char,
    length: usize,
    failure: &mut c_int,
    wrong: &mut [c_char; MESSAGE],
) -> Option<Box<Known>> {
    *failure = NO_MEMORY;
    match points(unsafe { text(words, length) }) {
        Ok(points) => {
            let learned = Curve::through(&points).into();
            keep(Known { points, learned })
        }
        Err(error) => {
            if error != CurveError::OutOfMemory {
                *failure = INVALID;
            }
            tell(wrong, format_args!("{error}"));
            None
        }
    }
}

/// Frees a curve; null is none.
#[unsafe(no_mangle)]
pub extern "C" fn iw_curve_free(curve: Option<Box<Known>>) {
    drop(curve);
}

/// Writes a curve as its file takes it; returns the length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_curve_show(curve: &Known, room: *mut c_char, size: usize) -> usize {
    unsafe { put_c(room, size, format_args!("{curve}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};

    #[test]
    fn a_curve_shows_what_it_was_given() {
        let points = points("0 0us\n2048 1500us 1000000 9ms\n2000000 9500001ns").unwrap();
        let known = Known { learned: Curve::through(&points).into(), points };
        assert_eq!(known.to_string(), "0 0us\n2048 1500us\n1000000 9000us\n2000000 9500001ns\n");
    }

    #[test]
    fn what_is_no_curve_is_refused() {
        let wrong = |text: &str| points(text).unwrap_err().to_string();
        assert_eq!(wrong("near 1ms"), "a distance in sectors, such as 2048, is not near");
        assert_eq!(wrong("-1 1ms"), "a distance in sectors, such as 2048, is not -1");
        assert_eq!(wrong("1 1"), "a time, such as 1500us or 9ms, up to 4s, is not 1");
        assert_eq!(wrong("1 5s"), "a time, such as 1500us or 9ms, up to 4s, is not 5s");
        assert_eq!(
            wrong("1 99999999999999999999ms"),
            "a time, such as 1500us or 9ms, up to 4s, is not 99999999999999999999ms"
        );
        assert_eq!(wrong("5 1ms 5 2ms"), "distances increase, and 5 does not");
        assert_eq!(wrong("5 1ms 6"), "the distance 6 has no time");
        assert!(wrong(" \n").starts_with("there is no point"));
        let many: String = (0..200).map(|n| std::format!("{n} 1us ")).collect();
        assert_eq!(wrong(&many), "there are more than 192 points");
    }
}
