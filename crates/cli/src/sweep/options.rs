//! The options of a sweep: those of `compare`, by the same names, read by the same code.

use std::collections::BTreeMap;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser};
use serde_json::Value;

use crate::failure::Failure;
use crate::input::args::{LoadOptions, SelectionOptions};
use crate::input::names::did_you_mean;
use crate::input::wrong;

/// Options that a sweep has lists for, and where these stand.
const LISTED: [(&str, &str); 8] = [
    ("disk", "disks"),
    ("workload", "workloads"),
    ("trace", "traces"),
    ("fio", "fio"),
    ("seed", "seeds"),
    ("format", "the trace's table in traces"),
    ("device", "devices in the trace's table in traces"),
    ("lenient", "the trace's table in traces"),
];

/// Options that only traces have.
const OF_TRACES: [&str; 3] = ["open-loop", "one-disk", "speed"];

#[derive(Parser)]
#[command(no_binary_name = true)]
struct Given {
    #[command(flatten)]
    load: LoadOptions,
}

/// Whether only selectors have the option.
fn of_selectors(name: &str) -> bool {
    let command = SelectionOptions::augment_args(clap::Command::new("selectors"));
    command.get_arguments().any(|option| option.get_long() == Some(name))
}

/// Options of a sweep as words of a command line.
#[derive(Clone, Default)]
pub(crate) struct Options {
    /// Each option with its words.
    words: BTreeMap<String, Vec<String>>,
}

impl Options {
    /// Reads options by name.
    pub(crate) fn new(given: &BTreeMap<String, Value>) -> Result<Options, Failure> {
        let command = Given::command();
        let known: Vec<&str> = command.get_arguments().filter_map(|option| option.get_long()).collect();
        let mut words = BTreeMap::new();
        for (name, value) in given {
            if let Some((_, place)) = LISTED.iter().find(|(listed, _)| listed == name) {
                return Err(Failure::usage(format!("options: {name} is no option of a sweep: see {place}")));
            }
            if !known.contains(&name.as_str()) {
                let hint = did_you_mean(name, known.iter().copied());
                return Err(Failure::usage(format!(
                    "options: there is no option '{name}'{hint} (`idlewise compare --help` names them all)"
                )));
            }
            words.insert(name.clone(), words_of(name, value)?);
        }
        let options = Options { words };
        let set = options.parse(&options.all())?.set;
        if let Some(text) = set.iter().find(|text| !text.starts_with("weight.")) {
            return Err(Failure::usage(format!(
                "options: set = {text}: in a sweep only weights are set so; write a setting behind the scheduler's name, \
                 as in \"deadline:read_expire=100ms\""
            )));
        }
        Ok(options)
    }

    fn all(&self) -> Vec<String> {
        self.words.values().flatten().cloned().collect()
    }

    /// What a unit is given of them, as words.
    pub(crate) fn words(&self, is_trace: bool, selects: bool) -> Vec<String> {
        let applies =
            |name: &str| (is_trace || !OF_TRACES.contains(&name)) && (selects || !of_selectors(name));
        self.words.iter().filter(|(name, _)| applies(name)).flat_map(|(_, words)| words.clone()).collect()
    }

    /// All of them as `compare` has them.
    pub(crate) fn load(&self) -> Result<LoadOptions, Failure> {
        self.parse(&self.all())
    }

    fn parse(&self, words: &[String]) -> Result<LoadOptions, Failure> {
        parse(words)
    }
}

/// The options that these words give.
pub(crate) fn parse(words: &[String]) -> Result<LoadOptions, Failure> {
    let read = Given::command().try_get_matches_from(words).and_then(|found| Given::from_arg_matches(&found));
    read.map(|given| given.load).map_err(|error| Failure::usage(format!("options: {}", wrong::words(&error))))
}

/// The words that give an option this value.
fn words_of(name: &str, value: &Value) -> Result<Vec<String>, Failure> {
    match value {
        Value::Bool(true) => Ok(vec![format!("--{name}")]),
        Value::Bool(false) => Ok(Vec::new()),
        Value::String(text) => Ok(vec![format!("--{name}={text}")]),
        Value::Number(number) => Ok(vec![format!("--{name}={number}")]),
        Value::Array(values) => {
            let words: Result<Vec<_>, _> = values.iter().map(|value| words_of(name, value)).collect();
            Ok(words?.concat())
        }
        Value::Null | Value::Object(_) => {
            Err(Failure::usage(format!("options: {name}: write true, a number, a text or a list of texts")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn options(given: Value) -> Result<Options, Failure> {
        let Value::Object(given) = given else { unreachable!() };
        Options::new(&given.into_iter().collect())
    }

    fn message(given: Value) -> String {
        match options(given) {
            Err(Failure::Usage(text)) => text,
            _ => String::new(),
        }
    }

    #[test]
    fn each_unit_is_given_what_applies() {
        let given =
            options(json!({"open-loop": true, "queue-size": 64, "candidates": ["noop", "cfq"]})).unwrap();
        assert_eq!(given.words(false, false), ["--queue-size=64"]);
        assert_eq!(given.words(true, false), ["--open-loop", "--queue-size=64"]);
        assert_eq!(given.words(false, true), ["--candidates=noop", "--candidates=cfq", "--queue-size=64"]);
        assert_eq!(given.load().unwrap().queue_size, 64);
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(message(json!({"queue-sise": 64})).contains("did you mean 'queue-size'?"));
        assert!(message(json!({"queue-size": "many"})).contains("queue-size"));
        assert!(message(json!({"seed": 3})).contains("see seeds"));
        assert!(message(json!({"set": ["deadline.read_expire=100ms"]})).contains("deadline:read_expire"));
        assert!(message(json!({"duration": {}})).contains("duration: write"));
    }
}
