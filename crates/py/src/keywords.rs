//! Options of `idlewise compare` as keywords of Python, and messages that speak of them.

use idlewise::library::{self, Takes};
use pyo3::prelude::*;

/// Keywords that are not called as their option is.
const OTHERWISE: [(&str, &str); 7] = [
    ("device", "devices"),
    ("html", "plots"),
    ("no-merges", "merges"),
    ("runs", "seeds"),
    ("seed", "seeds"),
    ("set", "settings_of"),
    ("uncalibrated", "calibrated"),
];

/// What the program's messages speak of, and what says the same in Python.
const PHRASES: [(&str, &str); 6] = [
    ("--set weight.", "weights: weight."),
    ("`idlewise compare --help`", "`help(idlewise.compare)`"),
    ("`idlewise list disks`", "`idlewise.disks()`"),
    ("`idlewise list workloads`", "`idlewise.workloads()`"),
    ("`idlewise list`", "`idlewise.schedulers()`"),
    ("`idlewise trace info`", "`Trace(FILE).info()`"),
];

/// The keyword of an option.
fn keyword(option: &str) -> String {
    let other = OTHERWISE.iter().find(|(name, _)| *name == option);
    other.map_or_else(|| option.replace('-', "_"), |(_, keyword)| (*keyword).to_owned())
}

/// `message` with options as Python has them: `--open-loop` is `open_loop`. Commands of a shell stay as they are.
pub(crate) fn told(message: &str) -> String {
    let message =
        PHRASES.iter().fold(message.to_owned(), |text, (shell, python)| text.replace(shell, python));
    let (mut text, mut rest) = (String::new(), message.as_str());
    while let Some(at) = rest.find("--") {
        let option = &rest[at + 2..];
        let length = option.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(option.len());
        text += &rest[..at];
        let in_command = text.matches('`').count() % 2 == 1;
        if length == 0 || in_command {
            text += &rest[at..at + 2 + length];
        } else {
            text += &keyword(&option[..length]);
        }
        rest = &option[length..];
    }
    text + rest
}

/// The options of `compare`: name, keyword, what it takes, and whether it takes several.
#[pyfunction]
pub(crate) fn options() -> Vec<(String, String, &'static str, bool)> {
    let told = |option: library::Opt| {
        let takes = match option.takes {
            Takes::Nothing => "flag",
            Takes::Whole => "whole",
            Takes::Number => "number",
            Takes::File => "path",
            Takes::Time => "time",
            Takes::Text => "text",
        };
        let keyword = keyword(&option.name);
        (option.name, keyword, takes, option.repeats)
    };
    library::options().into_iter().map(told).collect()
}
