//! What the file of a format needs, whatever the format.

pub(super) use crate::traces::counts::Skip;
pub(super) use crate::traces::encode::{Encoder, Keeps, Names, unit};
pub(super) use crate::traces::error::Bad;
pub(super) use crate::traces::format_info::{About, Code, Head, score_by_rows};
pub(super) use crate::traces::reader::LineFormat;
pub(super) use crate::traces::record::Record;
pub(super) use crate::traces::sink::{Row, Sink};
pub(super) use std::io::{self, Write};
