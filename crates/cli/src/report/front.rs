//! Fronts of schedulers as text and as JSON: how each stands over all loads, and who lies on the front of each.

pub(crate) mod plot;

use std::fmt::Write as _;

use idlewise_disk::Profile;
use idlewise_sim::experiment::Choice;
use idlewise_sim::experiment::front::{self, Counts, Overall, Panel, Standing};
use serde_json::{Value, json};

use super::grid::aligned;
use super::numbers::{three, width, wrap};
use super::summary::Figure;
use super::{json as numbers_for_programs, origin};
use crate::failure::Failure;

/// All loads on one disk.
pub(crate) struct DiskFronts<'a> {
    pub(crate) disk: &'a Profile,
    pub(crate) panels: Vec<Panel>,
    pub(crate) schedulers: &'a [Choice],
}

/// How to read the tables.
const LEGEND: &str = "* set aside: nobody tunes on it. \
    share: throughput as a part of the best among schedulers under which nobody waits longer than a \
    second and twice mq-deadline's longest wait, geometric mean over the loads, with a 95 % confidence interval over \
    the runs. least: the lowest, and where. too long: loads in which somebody waits longer than that; there a share \
    counts at most as 1. p99: the 99th percentile of reads of the process that has the highest, as a multiple of the \
    lowest among schedulers under which nobody waits too long and that have at least nine tenths of this one's \
    throughput, geometric mean; 1 where there is none. A read counts again for each tenth of a second of waiting. \
    front: loads in which nobody has more throughput and a lower p99.";

impl DiskFronts<'_> {
    fn name(&self, place: usize) -> &str {
        &self.schedulers[place].label
    }

    /// The schedulers, the greatest share first.
    fn ranked(&self) -> Vec<(usize, Overall)> {
        let mut all: Vec<(usize, Overall)> =
            (0..self.schedulers.len()).map(|place| (place, front::overall(&self.panels, place))).collect();
        all.sort_by(|a, b| b.1.share.total_cmp(&a.1.share));
        all
    }
}

/// A load, marked if it is set aside.
fn load(panel: &Panel) -> String {
    format!("{}{}", panel.load.name, if panel.load.aside { " *" } else { "" })
}

/// The fronts as text.
pub(crate) fn text(fronts: &[DiskFronts<'_>]) -> String {
    let mut text = String::new();
    for one in fronts {
        let aside = if front::is_aside(&one.disk.name) { " *" } else { "" };
        let _ = writeln!(text, "{}{aside} ({})\n", one.disk.name, one.disk.description);
        text += &aligned(&overall(one));
        text.push('\n');
        text += &by_load(one);
        text.push('\n');
    }
    text += &wrap(LEGEND, width());
    text + "\n\n" + &origin::with_hash(None)
}

/// A share and, of several runs, half the width of its 95 % confidence interval.
fn share(over: &Overall) -> String {
    let ci95 = Figure::of(&over.shares).ci95;
    if over.shares.len() > 1 {
        format!("{:.3} ± {ci95:.3}", over.share)
    } else {
        format!("{:.3}", over.share)
    }
}

fn overall(one: &DiskFronts<'_>) -> Vec<Vec<String>> {
    let heads = ["scheduler", "share", "least", "too long", "p99", "front"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for (place, over) in one.ranked() {
        let (least, at) = &over.least;
        rows.push(vec![
            one.name(place).to_owned(),
            share(&over),
            format!("{least:.2} ({at})"),
            format!("{} of {}", over.starved, one.panels.len()),
            format!("{} ×", three(over.p99_ratio)),
            over.front.to_string(),
        ]);
    }
    rows
}

/// Of each load the front, the greatest throughput first.
fn by_load(one: &DiskFronts<'_>) -> String {
    let mut text = String::from("the front of each load: MB/s, p99 and longest wait in ms\n");
    for panel in &one.panels {
        let mut front: Vec<&Standing> = panel.standings.iter().filter(|one| one.front).collect();
        front.sort_by(|a, b| b.throughput.total_cmp(&a.throughput));
        // Schedulers that decide alike share a point.
        front.dedup_by(|a, b| {
            a.throughput.total_cmp(&b.throughput).is_eq() && a.p99_ns.total_cmp(&b.p99_ns).is_eq()
        });
        let point = |standing: &&Standing| {
            let [rate, p99, longest] = point(standing).map(three);
            format!("{} {rate}, {p99}, {longest}", one.name(standing.scheduler))
        };
        let mut points: Vec<String> = front.iter().take(SHOWN).map(point).collect();
        if front.len() > SHOWN {
            points.push(format!("{} more", front.len() - SHOWN));
        }
        let limit = three(panel.limit_ns / 1e9);
        let line =
            format!("{} (nobody shall wait longer than {limit} s): {}", load(panel), points.join("; "));
        for (number, line) in wrap(&line, width() - 4).lines().enumerate() {
            let _ = writeln!(text, "{}{line}", if number == 0 { "  " } else { "    " });
        }
    }
    text
}

/// Points of a front that are printed; JSON and the plot have all.
const SHOWN: usize = 3;

/// MB/s, p99 in ms, longest wait in ms.
fn point(standing: &Standing) -> [f64; 3] {
    [standing.throughput / 1e6, standing.p99_ns / 1e6, standing.longest_ns / 1e6]
}

/// The fronts for programs.
pub(crate) fn json(fronts: &[DiskFronts<'_>]) -> Result<String, Failure> {
    let disks: Vec<Value> = fronts.iter().map(disk).collect();
    numbers_for_programs::text(&json!({
        "schema": "idlewise-front-1",
        "version": env!("CARGO_PKG_VERSION"),
        "command": origin::command(),
        "disks": disks,
    }))
}

fn disk(one: &DiskFronts<'_>) -> Value {
    let overall = one.ranked().into_iter().map(|(place, over)| {
        json!({
            "scheduler": one.name(place),
            "share": over.share,
            "share_ci95": Figure::of(&over.shares).ci95,
            "least_share": over.least.0,
            "least_load": over.least.1,
            "waits_too_long": over.starved,
            "front": over.front,
            "p99_ratio": over.p99_ratio,
        })
    });
    let panels = one.panels.iter().map(|panel| {
        let standings = panel.standings.iter().map(|standing| {
            json!({
                "scheduler": one.name(standing.scheduler),
                "throughput_bytes_per_s": standing.throughput,
                "throughput_bytes_per_s_ci95": Figure::of(&standing.samples).ci95,
                "slowest_read_ns_p99": standing.p99_ns,
                "longest_wait_ns": standing.longest_ns,
                "share": standing.share,
                "waits_too_long": standing.starves,
                "front": standing.front,
                "p99_ratio": standing.p99_ratio,
            })
        });
        json!({
            "load": panel.load.name,
            "workload": panel.load.workload,
            "aside": panel.load.aside,
            "counts": match panel.load.counts {
                Counts::Throughput => "throughput",
                Counts::Parties => "geometric mean over processes",
            },
            "limit_ns": panel.limit_ns,
            "schedulers": standings.collect::<Vec<_>>(),
        })
    });
    json!({
        "disk": one.disk.name,
        "aside": front::is_aside(&one.disk.name),
        "overall": overall.collect::<Vec<_>>(),
        "loads": panels.collect::<Vec<_>>(),
    })
}
