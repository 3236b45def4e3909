//! `idlewise list`: what there is to choose from.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use idlewise_core::tunables::{Tunable, Unit};
use idlewise_core::{registry, selectors};
use idlewise_disk::array::Level;
use idlewise_disk::{Profile, profile};
use idlewise_sim::experiment::Chosen;
use idlewise_sim::traces::Format;
use idlewise_sim::workloads;
use idlewise_sim::workloads::phases::{Kind, MIXES, Mix};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::report::{json, numbers, output};

/// List schedulers, workloads, disks and trace formats
#[derive(Args)]
pub(crate) struct List {
    /// What to list
    #[arg(default_value = "schedulers")]
    what: Catalogue,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Catalogue {
    /// Schedulers with their tunables
    Schedulers,
    /// Selectors, which choose among schedulers, with their tunables
    Selectors,
    /// Named workloads with their options
    Workloads,
    /// Mixes of phases, for loads that change (`--workload phases:mix=NAME`)
    Mixes,
    /// Kinds of phases, of which mixes are made
    Phases,
    /// Disk models
    Disks,
    /// Trace formats
    Formats,
}

impl List {
    /// Lists a catalogue.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let mix = |mix: &Mix| json!({"name": mix.name, "summary": mix.summary, "phases": mix.phases});
        let phase = |kind: &Kind| json!({"name": kind.name(), "summary": kind.summary()});
        let values = match self.what {
            Catalogue::Schedulers => registry::all().iter().map(Chosen::Scheduler).map(chosen).collect(),
            Catalogue::Selectors => {
                selectors::registry::all().iter().map(Chosen::Selector).map(chosen).collect()
            }
            Catalogue::Workloads => all_workloads(),
            Catalogue::Mixes => MIXES.iter().map(mix).collect(),
            Catalogue::Phases => Kind::ALL.iter().map(phase).collect(),
            Catalogue::Disks => disks()?,
            Catalogue::Formats => formats(),
        };
        if self.json {
            let what =
                self.what.to_possible_value().map_or_else(String::new, |word| word.get_name().to_owned());
            let document = json!({"schema": "idlewise/list/1", "what": what, "items": values});
            return output::print(&json::text(&document)?);
        }
        let width = values.iter().filter_map(|value| value["name"].as_str()).map(str::len).max().unwrap_or(0);
        let mut text = String::new();
        for value in &values {
            let field = |key: &str| value[key].as_str().unwrap_or("");
            let _ = writeln!(text, "{:width$}  {}", field("name"), field("summary"));
            if !field("phases").is_empty() {
                let _ = writeln!(text, "{:width$}    {}", "", field("phases"));
            }
            for option in value["options"].as_array().into_iter().flatten() {
                let field = |key: &str| option[key].as_str().unwrap_or("");
                let (default, doc) = (field("default"), field("doc"));
                let equals = if default.is_empty() { "" } else { "=" };
                let _ = writeln!(text, "{:width$}    {}{equals}{default}  {doc}", "", field("name"));
            }
        }
        output::print(&match numbers::terminal() {
            Some(columns) => numbers::folded(&text, width + 6, columns),
            None => text,
        })
    }
}

/// The words that a tunable takes, for lists and tables.
pub(crate) fn range(tunable: &Tunable) -> String {
    match tunable.unit {
        Unit::Choice(words) => words.join(" | "),
        Unit::Switch => "on | off".to_owned(),
        Unit::Seed => "any".to_owned(),
        _ => format!("{} … {}", tunable.show(tunable.min), tunable.show(tunable.max)),
    }
}

/// A scheduler or selector.
fn chosen(chosen: Chosen) -> Value {
    let tunable = |t: &Tunable| {
        json!({"name": t.name, "default": t.show(t.default).to_string(), "range": range(t), "doc": t.doc,
               "unit": t.unit.suffix()})
    };
    json!({"name": chosen.name(), "summary": chosen.summary(), "source": chosen.source(),
           "options": chosen.tunables().iter().map(tunable).collect::<Vec<_>>()})
}

fn all_workloads() -> Vec<Value> {
    let option = |row: &(&str, &str, &str)| json!({"name": row.0, "default": row.1, "doc": row.2});
    let kind = |kind: &workloads::Kind| {
        json!({"name": kind.name, "summary": kind.summary,
               "options": kind.options.iter().map(option).collect::<Vec<_>>()})
    };
    workloads::all().iter().map(kind).collect()
}

fn disks() -> Result<Vec<Value>, Failure> {
    let disk = |name| {
        let profile = Profile::named(name).map_err(Failure::failed)?;
        Ok(json!({"name": name, "summary": profile.description, "source": profile.source}))
    };
    // An array is made of any of them.
    let array = |level: Level| {
        let number = level.number();
        let example = format!("raid{number}:n=4,of=DISK; md{number}: a scheduler for each disk");
        Ok(
            json!({"name": format!("raid{number}"), "summary": format!("array: {} ({example})", level.summary())}),
        )
    };
    profile::names().map(disk).chain(Level::ALL.into_iter().map(array)).collect()
}

fn formats() -> Vec<Value> {
    let format = |format: &Format| {
        let about = format.about();
        let tells = [
            ("issuers", about.issuers),
            ("dispatches", about.dispatches),
            ("completions", about.completions),
        ];
        let told: Vec<_> = tells.iter().filter(|(_, tells)| *tells).map(|(what, _)| *what).collect();
        let also =
            if told.is_empty() { "arrivals only".to_owned() } else { format!("with {}", told.join(", ")) };
        let summary =
            format!("{} ({also}{})", about.title, if about.writable { "; can be written" } else { "" });
        json!({"name": about.name, "summary": summary, "about": about})
    };
    Format::ALL.iter().map(format).collect()
}
