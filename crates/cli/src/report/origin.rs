//! Where a report comes from: the exact command, and the hash of the trace that was replayed.

use idlewise_sim::experiment::{Choice, Chosen};
use serde_json::{Value, json};

use super::numbers::{width, wrap};
use crate::caller;
use crate::input::setup::Prepared;

/// The command line, as a shell takes it.
pub(crate) fn command() -> String {
    words().join(" ")
}

/// The command line that gives the same as these runs, or why there is none.
pub(crate) fn repeats(prepared: &Prepared) -> Result<String, String> {
    let is_own = |choice: &&Choice| matches!(choice.entry, Chosen::Foreign(_));
    let own = prepared.experiment.schedulers.iter().filter(is_own);
    let own: Vec<&str> = own.map(|choice| choice.label.as_str()).collect();
    if own.is_empty() {
        return Ok(command());
    }
    Err(format!(
        "No command repeats this: the program that asked for it brought schedulers of its own along ({}).",
        own.join(", ")
    ))
}

fn words() -> Vec<String> {
    let own = std::iter::once(std::ffi::OsString::from("idlewise"));
    own.chain(caller::words()).map(|word| quote(&word.to_string_lossy())).collect()
}

/// The command and the trace's hash as lines for a terminal.
pub(crate) fn lines(prepared: &Prepared) -> String {
    let hash = prepared.trace.as_ref().and_then(|trace| trace.sha256());
    match repeats(prepared) {
        Ok(_) => with_hash(hash),
        Err(why) => wrap(&why, width()) + "\n" + &of_trace(hash),
    }
}

/// The command, and the hash if there is one. A command that is too long for a line goes on in the next.
pub(crate) fn with_hash(hash: Option<&str>) -> String {
    let (mut text, mut column, width) = (String::new(), 0, width());
    for word in words() {
        let length = word.chars().count();
        // Room for the sign that the line goes on.
        if column > 0 && column + 1 + length + 2 > width {
            text += " \\\n  ";
            column = 2;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text += &word;
        column += length;
    }
    text.push('\n');
    text + &of_trace(hash)
}

/// The hash in a line, if there is one.
fn of_trace(hash: Option<&str>) -> String {
    let between = if width() < 77 { "\n" } else { " " };
    hash.map_or_else(String::new, |hash| format!("trace sha256{between}{hash}\n"))
}

/// The trace for programs: its hash, and what reading it found. Null if there is none.
pub(crate) fn trace(prepared: &Prepared) -> Value {
    let Some(trace) = &prepared.trace else { return Value::Null };
    let mut value = trace.report().map_or_else(|| json!({}), |report| json!(report));
    value["name"] = trace.name().into();
    value["sha256"] = trace.sha256().into();
    value
}

/// A word as a shell takes it.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words_in_a_shell() {
        assert_eq!(quote("it's"), "'it'\\''s'");
        assert_eq!(quote("--set=a.b=1"), "--set=a.b=1");
    }
}
