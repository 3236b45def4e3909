//! The full report of one run, for people.

use std::fmt::Write as _;

use idlewise_core::Duration;
use idlewise_sim::metrics::selector::InUse;
use idlewise_sim::metrics::{Kind, Latency, Metric, Report};

use super::grid::aligned;
use super::numbers::{grouped, three};
use super::summary::Summary;
use super::verdict::words::show;
use crate::input::setup::Prepared;

/// Processes listed by themselves.
const LISTED: usize = 20;

/// Figures for which the page has lines of its own, by the beginning of their paths.
const TOLD: [&str; 9] = [
    "elapsed_ns",
    "throughput_",
    "iops",
    "latency_ns.",
    "read.",
    "write.",
    "flush_latency_ns.",
    "device.",
    "fairness_jain",
];

/// A line: what it is about, and what it says.
type Line = (String, String);

/// The report of one run as text.
pub(crate) fn page(report: &Report, prepared: &Prepared) -> String {
    let disk = &prepared.experiment.disk;
    let mut text =
        format!("{} under {} on {} ({})\n\n", prepared.load, report.scheduler, disk.name, disk.description);
    for (name, value) in work(report).into_iter().chain(device(report)).chain(others(report)) {
        let _ = writeln!(text, "{name:<22}{value}");
    }
    let _ = write!(text, "\n{}\n{}", latencies(report), issuers(report));
    text
}

fn line(name: &str, value: String) -> Line {
    (name.to_owned(), value)
}

/// What was done, and by which schedulers.
fn work(report: &Report) -> Vec<Line> {
    let (reads, writes) = (count(report.read.requests), count(report.write.requests));
    let mut rest = String::new();
    for (name, requests) in [("discards", report.discard.requests), ("flushes", report.flushes)] {
        if requests > 0 {
            let _ = write!(rest, ", {} {name}", count(requests));
        }
    }
    let (rate, iops) = (three(report.throughput_bytes_per_s / 1e6), three(report.iops));
    let mut lines = vec![
        line("requests", format!("{} ({reads} reads, {writes} writes{rest})", count(report.requests))),
        line("run time", format!("{} s", three(report.elapsed_ns as f64 / 1e9))),
        line("throughput", format!("{rate} MB/s, {iops} IOPS")),
        line("requests in queue", format!("{} on average", three(report.queue_mean))),
        line("longest wait", Duration(report.longest_wait_ns).to_string()),
        line("longest in queue", Duration(report.longest_queued_ns).to_string()),
    ];
    if let Some(selector) = &report.selector {
        let mut used: Vec<&InUse> = selector.in_use.iter().filter(|used| used.time_ns > 0).collect();
        used.sort_by_key(|used| std::cmp::Reverse(used.time_ns));
        let share = |used: &&InUse| format!("{} {} %", used.scheduler, percent(used.time_ns, report));
        let used: Vec<String> = used.iter().map(share).collect();
        lines.push(line("schedulers", format!("{} switches; {}", count(selector.switches), used.join(", "))));
        if selector.questions > 0 {
            let (kept, all) = (count(selector.promises_kept), count(selector.promises));
            let kept = match selector.promises {
                0 => String::new(),
                _ => format!(
                    "; {kept} of {all} switches brought the predicted throughput within a factor of 1.5"
                ),
            };
            lines.push(line("predictions", format!("{}{kept}", count(selector.questions))));
        }
        if selector.blocked_ns > 0 {
            lines.push(line("blocked by switches", Duration(selector.blocked_ns).to_string()));
        }
    }
    lines.push(line("merges", count(report.merges)));
    lines
}

/// How the device spent its time.
fn device(report: &Report) -> Vec<Line> {
    let device = &report.device;
    let [seek, rotation, transfer] = [device.seek_ns_mean, device.rotation_ns_mean, device.transfer_ns_mean]
        .map(|ns| show(Kind::Millis, ns));
    let (busy, commands) = (three(device.utilization * 100.0), count(device.commands));
    let mut lines = vec![
        line("disk busy", format!("{busy} % of the time, {commands} commands")),
        line("a command on average", format!("seek {seek}, rotation {rotation}, transfer {transfer}")),
        line("served from buffer", count(device.cached)),
    ];
    let waits = &report.anticipation;
    if waits.waits > 0 {
        let (all, hits, timeouts) = (waits.waits, waits.hits, waits.timeouts);
        let share = percent(waits.time_ns, report);
        let value = format!("{all} waits, {hits} hits, {timeouts} in vain, {share} % of the time");
        lines.push(line("anticipation", value));
    }
    lines.push(line("fairness (Jain)", three(report.fairness_jain)));
    lines
}

/// All other figures that are declared as columns.
fn others(report: &Report) -> Vec<Line> {
    let summary =
        Summary { mean: serde_json::to_value(report).unwrap_or_default(), runs: Vec::new(), disks: false };
    let other = |metric: &Metric| !TOLD.iter().any(|told| metric.path.starts_with(told));
    let line = |metric: Metric| {
        let (unit, scale) = metric.kind.unit();
        let value = three(summary.figure(&metric.path).mean / scale);
        (metric.column.title.to_owned(), format!("{value} {unit}").trim_end().to_owned())
    };
    Report::GROUP.metrics().filter(other).map(line).collect()
}

/// A time in percent of the run.
fn percent(time_ns: u64, report: &Report) -> String {
    three(time_ns as f64 / report.elapsed_ns.max(1) as f64 * 100.0)
}

/// A count, in groups of three digits.
fn count(number: u64) -> String {
    grouped(number as i64)
}

fn heads(names: &[&str]) -> Vec<Vec<String>> {
    vec![names.iter().map(|name| (*name).to_owned()).collect()]
}

fn latencies(report: &Report) -> String {
    let (unit, scale) = Kind::Millis.unit_near(report.latency_ns.p50 as f64);
    let title = format!("latency {unit}");
    let mut rows = heads(&[&title, "mean", "p50", "p90", "p95", "p99", "p99.9", "max"]);
    let mut row = |name: &str, l: &Latency| {
        let tail = [l.p50, l.p90, l.p95, l.p99, l.p999, l.max].map(|ns| three(ns as f64 / scale));
        rows.push([name.to_owned(), three(l.mean / scale)].into_iter().chain(tail).collect());
    };
    row("all", &report.latency_ns);
    if report.read.requests > 0 {
        row("reads", &report.read.latency_ns);
    }
    if report.write.requests > 0 {
        row("writes", &report.write.latency_ns);
    }
    if report.flushes > 0 {
        row("flushes", &report.flush_latency_ns);
    }
    if report.discard.requests > 0 {
        row("discards", &report.discard.latency_ns);
    }
    aligned(&rows)
}

fn issuers(report: &Report) -> String {
    let (unit, scale) = Kind::Millis.unit_near(report.latency_ns.p50 as f64);
    let time = |ns: f64| three(ns / scale);
    let names = format!("process,requests,MB,disk time %,weight,mean {unit},p50,p95,p99,max,done s");
    let mut rows = heads(&names.split(',').collect::<Vec<_>>());
    for issuer in report.issuers.iter().take(LISTED) {
        let id = if issuer.id == u32::MAX { String::new() } else { format!("{} ", issuer.id) };
        let tail =
            [issuer.latency_ns_p50, issuer.latency_ns_p95, issuer.latency_ns_p99, issuer.latency_ns_max];
        let figures = [
            format!("{id}{}", issuer.name.as_deref().unwrap_or("")).trim_end().to_owned(),
            count(issuer.requests),
            three(issuer.bytes as f64 / 1e6),
            three(issuer.service_share * 100.0),
            issuer.weight.to_string(),
            time(issuer.latency_ns_mean),
        ];
        let done = three(issuer.finished_ns as f64 / 1e9);
        rows.push(figures.into_iter().chain(tail.map(|ns| time(ns as f64))).chain([done]).collect());
    }
    let mut text = aligned(&rows) + "Rows: most disk time first.";
    if report.issuers.len() > LISTED {
        let _ = write!(text, "\n… and {} more processes (--json lists them)", report.issuers.len() - LISTED);
    }
    text
}
