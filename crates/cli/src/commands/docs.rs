//! `idlewise docs`: a scheduler's manual page, and reference tables in Markdown.
//!
//! The page of a scheduler or selector is the head of its source file, so the two cannot differ.

use std::fmt::Write as _;

use clap::Args;
use idlewise_core::request::{Class, Priority};
use idlewise_core::tunables::{Tunable, Unit};
use idlewise_core::{registry, selectors};
use idlewise_disk::array::{self, Level};
use idlewise_disk::{OPTIONS, Profile, profile};
use idlewise_sim::experiment::{Chosen, own_name};
use idlewise_sim::selection::files;
use idlewise_sim::traces::Format;
use idlewise_sim::workloads;
use idlewise_sim::workloads::phases::{Kind, MIXES};

use super::list::range;
use crate::failure::Failure;
use crate::input::names::did_you_mean;
use crate::report::output;

const TOPICS: [&str; 7] = ["schedulers", "selectors", "workloads", "disks", "formats", "glossary", "why"];

/// Print the manual page of a scheduler, or reference tables in Markdown
#[derive(Args)]
pub(crate) struct Docs {
    /// A scheduler's name, or a selector's, or one of: schedulers, selectors, workloads, disks, formats,
    /// glossary, why
    topic: String,
}

impl Docs {
    /// Prints a page.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let topic = self.topic.as_str();
        let text = match topic {
            "schedulers" => schedulers(),
            "selectors" => all_selectors(),
            "workloads" => all_workloads(),
            "disks" => disks()?,
            "formats" => formats(),
            "glossary" => include_str!("../../../../GLOSSARY.md").to_owned(),
            "why" => include_str!("../../../../docs/why.md").to_owned(),
            name => page(name)?,
        };
        output::print(&text)
    }
}

fn page(text: &str) -> Result<String, Failure> {
    // Settings do not change the page.
    let name = text.split(':').next().unwrap_or(text);
    let Some(entry) = Chosen::find(name) else {
        let hint = did_you_mean(name, Chosen::all().map(Chosen::name).chain(TOPICS));
        return Err(Failure::usage(format!(
            "there is no page '{name}'{hint} (pages: the names of `idlewise list`, and {})",
            TOPICS.join(", ")
        )));
    };
    let standings = match entry {
        Chosen::Scheduler(entry) => priority_effects(entry),
        Chosen::Selector(_) | Chosen::Foreign(_) => String::new(),
    };
    Ok(with_papers(
        "# ",
        format!("# {}\n\n{}\n{}{standings}", own_name(name), page_of(entry), tunables(entry.tunables())),
    ))
}

/// The head of the file of a scheduler or selector.
fn page_of(entry: Chosen) -> String {
    let source = match entry {
        Chosen::Scheduler(entry) => registry::source(entry.name),
        Chosen::Selector(entry) => selectors::registry::source(entry.name),
        Chosen::Foreign(_) => None,
    };
    let lines = source.unwrap_or_default().lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end()).collect();
    unlinked(lines.join("\n").trim())
}

/// The papers that pages name by a short name.
const PAPERS: [(&str, &str); 4] = [
    (
        "SOSP'01",
        "Sitaram Iyer and Peter Druschel, *Anticipatory scheduling: A disk scheduling framework to overcome deceptive \
         idleness in synchronous I/O*, Symposium on Operating Systems Principles 2001",
    ),
    (
        "OLS'05",
        "Seetharami Seelam, Rodrigo Romero, Patricia Teller and Bill Buros, *Enhancements to Linux I/O Scheduling*, \
         Ottawa Linux Symposium 2005",
    ),
    (
        "IOAZ",
        "Daniel Martens and Michael Katchabaw, *Optimizing System Performance Through Dynamic Disk Scheduling \
         Algorithm Selection*, 2006",
    ),
    (
        "UNC",
        "Asad Naweed, Joe Di Natale and Sarah Andrabi, *Modification and Evaluation of Linux I/O Schedulers*, \
         University of North Carolina at Chapel Hill",
    ),
];

/// `text`, and below it the papers that it names, in full.
fn with_papers(heading: &str, text: String) -> String {
    let named: Vec<String> = PAPERS
        .iter()
        .filter(|(short, _)| text.contains(short))
        .map(|(short, full)| format!("- {short}: {full}.\n"))
        .collect();
    if named.is_empty() { text } else { format!("{text}\n{heading}Papers\n\n{}", named.concat()) }
}

/// `text` with plain names where rustdoc has links.
fn unlinked(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`") {
        let (name, after) = link.split_once("`]").unwrap_or((link, ""));
        let _ = write!(plain, "{before}`{name}`");
        rest = after;
        if let Some((_, after)) = after.strip_prefix('(').and_then(|target| target.split_once(')')) {
            rest = after;
        }
    }
    plain + rest
}

fn tunables(table: &[Tunable]) -> String {
    if table.is_empty() {
        return "\nNo tunables.\n".to_owned();
    }
    let mut text = String::from("\n| tunable | default | range | meaning |\n|---|---|---|---|\n");
    for t in table {
        let range = range(t).replace('|', "\\|");
        let _ = writeln!(text, "| `{}` | {} | {range} | {} |", t.name, t.show(t.default), t.doc);
    }
    text
}

/// What I/O priorities give, for schedulers that look at them: one row for those that give the same.
fn priority_effects(entry: &registry::Entry) -> String {
    let classes = [(Class::RealTime, "real time"), (Class::BestEffort, "best effort"), (Class::Idle, "idle")];
    let mut rows: Vec<(&str, u8, u8, Vec<String>)> = Vec::new();
    let mut titles = String::new();
    for (class, word) in classes {
        for level in 0..8 {
            let effects: Vec<_> = entry.priority_effects(Priority { class, level }).collect();
            if effects.is_empty() {
                continue;
            }
            titles = effects.iter().map(|(title, ..)| format!(" {title} |")).collect();
            let show = |(_, value, unit): &(&str, u64, Unit)| match unit {
                Unit::Milliseconds => format!("{value} ms"),
                _ => value.to_string(),
            };
            let values: Vec<String> = effects.iter().map(show).collect();
            match rows.last_mut() {
                Some((last, _, to, same)) if *last == word && *same == values => *to = level,
                _ => rows.push((word, level, level, values)),
            }
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let columns = "---|".repeat(titles.matches('|').count());
    let mut text = format!("\n| I/O priority |{titles}\n|---|{columns}\n");
    for (word, from, to, values) in rows {
        let levels = if from == to { from.to_string() } else { format!("{from} to {to}") };
        let _ = writeln!(text, "| {word}, level {levels} | {} |", values.join(" | "));
    }
    text
}

fn schedulers() -> String {
    let mut text = String::from("# Schedulers\n\n| name | what it is | source |\n|---|---|---|\n");
    for entry in registry::all() {
        let _ = writeln!(text, "| [`{0}`](#{0}) | {1} | {2} |", entry.name, entry.summary, entry.source);
    }
    for entry in registry::all() {
        let (tunables, standings) = (tunables(entry.tunables), priority_effects(entry));
        let _ = write!(text, "\n## {}\n\n{}\n{tunables}{standings}", entry.name, entry.summary);
    }
    with_papers("## ", text)
}

/// The pages of all selectors, each with the candidates.
fn all_selectors() -> String {
    let mut text = String::from(
        "# Selectors\n\nA selector can be named wherever a scheduler can: `--schedulers auto-predict,deadline`; `auto` names \
         all of them. `run --scheduler auto-predict --why` prints what the schedulers decided, and then the selector's \
         decisions with their evidence.\n\n\
         | name | what it is | source |\n|---|---|---|\n",
    );
    for entry in selectors::registry::all() {
        let _ = writeln!(text, "| [`{0}`](#{0}) | {1} | {2} |", entry.name, entry.summary, entry.source);
    }
    for entry in selectors::registry::all() {
        // The sections are one level below the name.
        let header = page_of(Chosen::Selector(entry)).replace("\n# ", "\n### ");
        let field = entry.field().unwrap_or_default();
        let candidates: Vec<_> = field.iter().map(|one| format!("`{}`", files::label(one))).collect();
        let others = match (entry.matrix, entry.ranks) {
            (true, _) => "those of `--matrix`",
            (_, true) => "`--candidates`, or those of `--ranking`",
            _ => "`--candidates`",
        };
        let _ = write!(
            text,
            "\n## {}\n\n{header}\n\nCandidates: {}, or {others}.\n{}",
            entry.name,
            candidates.join(", "),
            tunables(entry.tunables)
        );
    }
    with_papers("## ", text)
}

fn all_workloads() -> String {
    let mut text = String::from("# Workloads\n\nName one as `NAME:key=value,key=value`.\n");
    for kind in workloads::all() {
        let _ = write!(
            text,
            "\n## {}\n\n{}\n\n| option | default | meaning |\n|---|---|---|\n",
            kind.name, kind.summary
        );
        for (name, default, doc) in kind.options {
            let _ = writeln!(text, "| `{name}` | {default} | {doc} |");
        }
    }
    text + &phases() + &job_files()
}

/// The mixes of phases, and what phases there are.
fn phases() -> String {
    let mut text = String::from(
        "\n## Mixes of phases\n\n| mix | what it is like | phases, in seconds |\n|---|---|---|\n",
    );
    for mix in MIXES {
        let _ = writeln!(text, "| `{}` | {} | {} |", mix.name, mix.summary, mix.phases.replace(':', ", "));
    }
    text += "\n| phase | its processes |\n|---|---|\n";
    for kind in Kind::ALL {
        let _ = writeln!(text, "| `{}` | {} |", kind.name(), kind.summary());
    }
    text
}

fn job_files() -> String {
    let mut text = String::from(
        "\n## Job files of fio\n\n`--fio JOB` reads one. Files lie one after the other from the start of the disk, \
         in the order in which the jobs name them, each at a multiple of 1 MiB; jobs with the same `filename` share \
         one. Keys that only fio itself needs are accepted, all others are named in a warning.\n\n\
         | keys | what is made of them |\n|---|---|\n",
    );
    for (keys, meaning) in workloads::fio::KEYS {
        let keys: Vec<String> = keys.split(", ").map(|key| format!("`{key}`")).collect();
        let _ = writeln!(text, "| {} | {meaning} |", keys.join(", "));
    }
    text
}

/// How arrays are named.
const ARRAYS: &str = "\n## Arrays\n\n`--disk raid5:n=5,of=maxtor-40g,chunk=64k` is five of these disks as one device: a \
     LUN with a queue of its own, and one scheduler above it. With `md` for `raid`, as in `md5:n=5,of=maxtor-40g`, each disk has a \
     queue and a scheduler of its own below the array, as in Linux's md. A disk's own options follow its name, with `+` between \
     them: `of=maxtor-40g:depth=8+cache=off`. A disk may be an array itself: `raid0:n=2,of=raid5:n=5+of=maxtor-40g`.\n\n\
     | level | what it is |\n|---|---|\n";

fn disks() -> Result<String, Failure> {
    let mut text = String::from("# Disks\n\n| name | what it is | source of its figures |\n|---|---|---|\n");
    for name in profile::names() {
        let disk = Profile::named(name).map_err(Failure::failed)?;
        let _ = writeln!(text, "| `{name}` | {} | {} |", disk.description, disk.source);
    }
    text.push_str(
        "\n## Options\n\nAfter a colon: `--disk hdd-18tb-7200:depth=8,seek=150` is that disk with a queue of 8 commands and with \
         seeks that take half as long again.\n\n| option | values | meaning |\n|---|---|---|\n",
    );
    for option in OPTIONS {
        let _ = writeln!(text, "| `{}` | {} | {} |", option.name, option.values, option.meaning);
    }
    text.push_str(ARRAYS);
    for level in Level::ALL {
        let _ = writeln!(text, "| `raid{0}`, `md{0}` | {1} |", level.number(), level.summary());
    }
    text.push_str("\n| option | values | meaning |\n|---|---|---|\n");
    for option in array::OPTIONS {
        let _ = writeln!(text, "| `{}` | {} | {} |", option.name, option.values, option.meaning);
    }
    Ok(text)
}

fn formats() -> String {
    let mut text = String::from(
        "# Trace formats\n\nRecognised by content. `.gz`, `.bz2`, `.xz` and `.zst` are decompressed.\n\n\
         | name | what it is | time unit | issuers | dispatches | completions | can be written |\n\
         |---|---|---|---|---|---|---|\n",
    );
    let yes = |flag: bool| if flag { "yes" } else { "" };
    for format in Format::ALL {
        let a = format.about();
        let flags = [a.issuers, a.dispatches, a.completions, a.writable].map(yes).join(" | ");
        let _ = writeln!(text, "| `{}` | {} | {} | {flags} |", a.name, a.title, a.time_unit);
    }
    text
}
