//! What a sweep is asked for: the TOML file of `idlewise sweep`, or the same as JSON from a program.
//!
//! Lists of traces, workloads, fio jobs, disks, schedulers and seeds; the sweep is their product. Paths count from the
//! folder in which the program runs, as on a command line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::Failure;
use crate::input::args::Reading;
use crate::input::trace::format;

/// What a sweep is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct SweepFile {
    /// The folder of the dataset.
    pub(crate) output: PathBuf,
    /// Where traces are split by device, and what is known of them is kept.
    pub(crate) work: Option<PathBuf>,
    #[serde(default)]
    traces: Vec<Value>,
    /// Workloads, as `--workload` has them.
    #[serde(default)]
    pub(crate) workloads: Vec<String>,
    /// Job files, as `--fio` has them.
    #[serde(default)]
    pub(crate) fio: Vec<PathBuf>,
    /// Disks, as `--disk` has them.
    pub(crate) disks: Vec<String>,
    /// Schedulers and sets of them, as `--schedulers` has them.
    pub(crate) schedulers: Vec<String>,
    /// Seeds.
    #[serde(default = "one_seed")]
    pub(crate) seeds: Vec<u64>,
    /// All other options of `compare`, by name.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, Value>,
}

fn one_seed() -> Vec<u64> {
    vec![1]
}

/// A trace of a sweep and how to read it.
#[derive(Deserialize, Serialize, Clone)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Source {
    /// The trace, as `--trace` has it.
    pub(crate) file: PathBuf,
    /// What results call it, if not by its path.
    name: Option<String>,
    format: Option<String>,
    #[serde(default)]
    devices: Vec<String>,
    #[serde(default)]
    lenient: bool,
}

impl Source {
    /// What results call the trace.
    pub(crate) fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.file.display().to_string())
    }

    /// How to read it.
    pub(crate) fn reading(&self) -> Reading {
        Reading { format: self.format.clone(), devices: self.devices.clone(), lenient: self.lenient }
    }
}

impl SweepFile {
    /// Reads a file, TOML; JSON if its name ends in .json.
    pub(crate) fn read(path: &Path) -> Result<SweepFile, Failure> {
        let name = path.display();
        let failed = |error: &dyn std::fmt::Display| Failure::failed(format!("{name}: {error}"));
        let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        let parsed = if is_json {
            serde_json::from_str(&text).map_err(|error| error.to_string())
        } else {
            toml::from_str(&text).map_err(|error| error.to_string())
        };
        let file: SweepFile = parsed.map_err(|error| Failure::usage(format!("{name}: {error}")))?;
        file.check(&name.to_string())?;
        Ok(file)
    }

    /// The same from a program, as JSON.
    pub(crate) fn from_json(text: &str) -> Result<SweepFile, Failure> {
        let file: SweepFile =
            serde_json::from_str(text).map_err(|error| Failure::usage(format!("sweep: {error}")))?;
        file.check("sweep")?;
        Ok(file)
    }

    fn check(&self, name: &str) -> Result<(), Failure> {
        let wrong = |what: &str| Err(Failure::usage(format!("{name}: {what}")));
        if self.output.as_os_str().is_empty() {
            return wrong("output: name a folder for the results");
        }
        if self.traces.is_empty() && self.workloads.is_empty() && self.fio.is_empty() {
            return wrong(
                "what shall the disks do? Give traces = [\"FILE\"], workloads = [\"NAME\"] or fio = [\"JOB\"]",
            );
        }
        if self.fio.iter().any(|path| path == Path::new("-")) {
            return wrong("fio: a sweep reads its jobs again and again: name files, not -");
        }
        if self.disks.is_empty() {
            return wrong("disks: name one or more (`idlewise list disks` names them all)");
        }
        if self.seeds.is_empty() {
            return wrong("seeds: name one or more, such as [1, 2, 3]");
        }
        Ok(())
    }

    /// The traces, each with how to read it.
    pub(crate) fn sources(&self) -> Result<Vec<Source>, Failure> {
        let source = |entry: &Value| -> Result<Source, Failure> {
            let source =
                match entry {
                    Value::String(path) => Ok(Source {
                        file: path.into(),
                        name: None,
                        format: None,
                        devices: Vec::new(),
                        lenient: false,
                    }),
                    Value::Object(_) => Source::deserialize(entry).map_err(|error| error.to_string()),
                    _ => Err("write \"FILE\" or {file = \"FILE\", format = \"NAME\", devices = [\"NAME\"]}"
                        .to_owned()),
                };
            let source = source.map_err(|error| Failure::usage(format!("traces: {entry}: {error}")))?;
            if source.file == Path::new("-") {
                return Err(Failure::usage(
                    "traces: a sweep reads its traces again and again: name files, not -",
                ));
            }
            source.format.as_deref().map(format).transpose()?;
            Ok(source)
        };
        self.traces.iter().map(source).collect()
    }

    /// Where traces are split by device, and what is known of them is kept.
    pub(crate) fn work(&self) -> PathBuf {
        // Readers of datasets pass over names that begin so.
        self.work.clone().unwrap_or_else(|| self.output.join("_work"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_a_path_or_a_table() {
        let text = r#"{"output": "out", "disks": ["barracuda"], "schedulers": ["noop"],
            "traces": ["a.csv", {"file": "b.csv", "name": "b", "devices": ["1"]}]}"#;
        let sources = SweepFile::from_json(text).unwrap().sources().unwrap();
        assert_eq!(sources[0].label(), "a.csv");
        assert_eq!((sources[1].label().as_str(), sources[1].reading().devices), ("b", vec!["1".to_owned()]));
        let wrong = SweepFile::from_json(&text.replace("devices", "device")).unwrap().sources();
        assert!(matches!(wrong, Err(Failure::Usage(text)) if text.contains("unknown field `device`")));
    }
}
