//! What each part of a fitted model rests on, and what the recording does not show.

use idlewise_core::Operation;

use super::flash;
use super::mechanical;
use super::report::{Confidence, Part};
use super::rows::Row;
use super::{Known, position};

/// Commands that show something for sure, and that show it at all.
const MANY: usize = 400;
const SOME: usize = 40;

/// A period that may be off by a larger share is rough.
const PERIOD_SURE: f64 = 0.02;
