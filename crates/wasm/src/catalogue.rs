//! What there is to choose from, as JSON: schedulers with their tunables, disks, workloads.

use idlewise_core::tunables::{Tunable, Unit};
use idlewise_disk::{Profile, profile};
use idlewise_sim::experiment::Chosen;
use idlewise_sim::workloads;
use serde_json::{Value, json};

/// Schedulers and selectors with their tunables, disks and workloads.
pub fn catalogue() -> String {
    let disk = |name| {
        let description = Profile::named(name).map(|disk| disk.description).unwrap_or_default();
        json!({"name": name, "description": description})
    };
    let workload = |kind: &workloads::Kind| json!({"name": kind.name, "summary": kind.summary});
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "schedulers": Chosen::all().map(chosen).collect::<Vec<_>>(),
        "disks": profile::names().map(disk).collect::<Vec<_>>(),
        "workloads": workloads::all().iter().map(workload).collect::<Vec<_>>(),
    })
    .to_string()
}

fn chosen(chosen: Chosen) -> Value {
    let family = match chosen {
        Chosen::Scheduler(entry) => entry.family,
        Chosen::Selector(_) => "selectors",
        Chosen::Foreign(_) => "foreign",
    };
    json!({
        "name": chosen.name(),
        "family": family,
        "summary": chosen.summary(),
        "source": chosen.source(),
        "tunables": chosen.tunables().iter().map(tunable).collect::<Vec<_>>(),
    })
}

fn tunable(tunable: &Tunable) -> Value {
    let words = match tunable.unit {
        Unit::Choice(words) => words,
        Unit::Switch => &["off", "on"],
        _ => &[],
    };
    json!({
        "name": tunable.name,
        "doc": tunable.doc,
        "unit": tunable.unit.suffix(),
        "default": tunable.default,
        "min": tunable.min,
        // Beyond what a number in JavaScript holds exactly no slider reaches anyway.
        "max": tunable.max.min(1 << 53),
        "words": words,
        "seed": tunable.unit == Unit::Seed,
    })
}
