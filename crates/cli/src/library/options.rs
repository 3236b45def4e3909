//! The options of `idlewise compare`, for programs that have them under names of their own.

use std::any::TypeId;
use std::path::PathBuf;

use clap::{Arg, ArgAction, CommandFactory as _};

use super::Alone;
use crate::commands::compare::Compare;

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it is given or not.
    Nothing,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// A file, or what may be one.
    File,
    /// A time, such as `30s`.
    Time,
    /// Words.
    Text,
}

/// An option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opt {
    /// Its name, without the dashes.
    pub name: String,
    /// What it takes.
    pub takes: Takes,
    /// It may be given more than once.
    pub repeats: bool,
}

/// The options of `idlewise compare`.
pub fn options() -> Vec<Opt> {
    let command = Alone::<Compare>::command();
    let option = |arg: &Arg| {
        let name = arg.get_long().filter(|name| *name != "help")?.to_owned();
        Some(Opt { name, takes: takes(arg), repeats: matches!(arg.get_action(), ArgAction::Append) })
    };
    command.get_arguments().filter_map(option).collect()
}

fn takes(arg: &Arg) -> Takes {
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return Takes::Nothing;
    }
    let kind = arg.get_value_parser().type_id();
    let shown = arg.get_value_names().unwrap_or_default().first().map_or("", |name| name.as_str());
    if kind == TypeId::of::<u32>() || kind == TypeId::of::<u64>() {
        Takes::Whole
    } else if kind == TypeId::of::<f64>() {
        Takes::Number
    } else if kind == TypeId::of::<PathBuf>() || shown.contains("FILE") {
        Takes::File
    } else if shown == "TIME" {
        Takes::Time
    } else {
        Takes::Text
    }
}
