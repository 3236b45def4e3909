//! What is wrong with options, in words for whoever gave them other than on a command line.

use std::error::Error as _;
use std::num::ParseIntError;

use clap::error::{ContextKind, ErrorKind};

/// What is wrong, with the options' names, and without the hints for those who type.
pub(crate) fn words(error: &clap::Error) -> String {
    let of = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    // An option is told with its value: --trace <FILE>.
    let option = |kind| of(kind).split(' ').next().unwrap_or_default().to_owned();
    let (own, value) = (option(ContextKind::InvalidArg), of(ContextKind::InvalidValue));
    match error.kind() {
        ErrorKind::ArgumentConflict => {
            format!("{own} and {}: give one of them, not both", option(ContextKind::PriorArg))
        }
        ErrorKind::ValueValidation => match error.source() {
            Some(source) if source.is::<ParseIntError>() => {
                format!("{own}: '{value}' is no whole number, or one that is too small or too large")
            }
            Some(source) => format!("{own}: {source}"),
            None => format!("{own}: '{value}' does not fit"),
        },
        ErrorKind::InvalidValue => {
            format!("{own}: there is no '{value}' (there are: {})", of(ContextKind::ValidValue))
        }
        _ => {
            let text = error.render().to_string();
            let tail = ["\n\nUsage:", "\n\nFor more information"];
            let end = tail.iter().filter_map(|tail| text.find(tail)).min().unwrap_or(text.len());
            text[..end].trim_start_matches("error: ").to_owned()
        }
    }
}
