//! Where a report comes from: the exact command, and the hash of the trace that was replayed.

use serde_json::{Value, json};

use super::numbers::width;
use crate::caller;
use crate::input::setup::Prepared;

/// The command line, as a shell takes it.
pub(crate) fn command() -> String {
    words().join(" ")
}

fn words() -> Vec<String> {
    let own = std::iter::once(std::ffi::OsString::from("idlewise"));
    own.chain(caller::words()).map(|word| quote(&word.to_string_lossy())).collect()
}

/// The command and the trace's hash as lines for a terminal.
pub(crate) fn lines(prepared: &Prepared) -> String {
    with_hash(prepared.trace.as_ref().and_then(|trace| trace.sha256()))
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
    if let Some(hash) = hash {
        text += &format!("trace sha256{}{hash}\n", if width < 77 { "\n" } else { " " });
    }
    text
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
