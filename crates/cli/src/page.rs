//! The full report of one run, for people.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};
use idlewise_core::Duration;
use idlewise_sim::metrics::selector::InUse;
use idlewise_sim::metrics::{Latency, Report};

use crate::output::{grouped, ms, three};
use crate::setup::Prepared;

/// Processes listed by themselves.
const LISTED: usize = 20;

/// The report of one run as text.
pub(crate) fn page(report: &Report, prepared: &Prepared) -> String {
    let disk = &prepared.experiment.disk;
    let mut text =
        format!("{} under {} on {} ({})\n\n", prepared.load, report.scheduler, disk.name, disk.description);
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<22}{value}");
    };
    line(
        "requests",
        format!(
            "{} ({} reads, {} writes)",
            count(report.requests),
            count(report.read.requests),
            count(report.write.requests)
        ),
    );
    line("run time", format!("{} s", three(report.elapsed_ns as f64 / 1e9)));
    line(
        "throughput",
        format!("{} MB/s, {} IOPS", three(report.throughput_bytes_per_s / 1e6), three(report.iops)),
    );
    line("requests in queue", format!("{} on average", three(report.queue_mean)));
    line("longest wait", Duration(report.longest_wait_ns).to_string());
    if let Some(selector) = &report.selector {
        let longest = |used: &&InUse| used.time_ns > 0;
        let mut used: Vec<&InUse> = selector.in_use.iter().filter(longest).collect();
        used.sort_by_key(|used| std::cmp::Reverse(used.time_ns));
        let share = |used: &&InUse| {
            let percent = used.time_ns as f64 / report.elapsed_ns.max(1) as f64 * 100.0;
            format!("{} {} %", used.scheduler, three(percent))
        };
        let used: Vec<String> = used.iter().map(share).collect();
        line("schedulers", format!("{} switches; {}", count(selector.switches), used.join(", ")));
        if selector.questions > 0 {
            line("predictions", count(selector.questions));
        }
        if selector.blocked_ns > 0 {
            line("blocked by switches", Duration(selector.blocked_ns).to_string());
        }
    }
    line("merges", count(report.merges));
    let device = &report.device;
    let parts = [device.seek_ns_mean, device.rotation_ns_mean, device.transfer_ns_mean].map(ms);
    line(
        "disk busy",
        format!("{} % of the time, {} commands", three(device.utilization * 100.0), count(device.commands)),
    );
    line(
        "a command on average",
        format!("seek {} ms, rotation {} ms, transfer {} ms", parts[0], parts[1], parts[2]),
    );
    line("served by its buffer", count(device.cached));
    let waits = &report.anticipation;
    if waits.waits > 0 {
        let share = waits.time_ns as f64 / report.elapsed_ns.max(1) as f64 * 100.0;
        line(
            "anticipation",
            format!(
                "{} waits, {} hits, {} in vain, {} % of the time",
                waits.waits,
                waits.hits,
                waits.timeouts,
                three(share)
            ),
        );
    }
    line("fairness (Jain)", three(report.fairness_jain));
    let _ = write!(text, "\n{}\n\n{}", latencies(report), issuers(report));
    text
}

/// A count, in groups of three digits.
fn count(number: u64) -> String {
    grouped(number as i64)
}

fn new_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(header);
    table
}

fn finish(mut table: Table) -> String {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn latencies(report: &Report) -> String {
    let mut table = new_table(&["latency ms", "mean", "p50", "p90", "p95", "p99", "p99.9", "max"]);
    let mut row = |name: &str, l: &Latency| {
        let tail = [l.p50, l.p90, l.p95, l.p99, l.p999, l.max].map(|ns| ms(ns as f64));
        table.add_row([name.to_owned(), ms(l.mean)].into_iter().chain(tail));
    };
    row("all", &report.latency_ns);
    if report.read.requests > 0 {
        row("reads", &report.read.latency_ns);
    }
    if report.write.requests > 0 {
        row("writes", &report.write.latency_ns);
    }
    finish(table)
}

fn issuers(report: &Report) -> String {
    let mut table = new_table(&[
        "process",
        "requests",
        "MB",
        "disk time %",
        "weight",
        "mean ms",
        "p50",
        "p95",
        "p99",
        "max",
        "done s",
    ]);
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
            ms(issuer.latency_ns_mean),
        ];
        let done = three(issuer.finished_ns as f64 / 1e9);
        table.add_row(figures.into_iter().chain(tail.map(|ns| ms(ns as f64))).chain([done]));
    }
    let mut text = finish(table);
    if report.issuers.len() > LISTED {
        let _ = write!(text, "\n… and {} more processes (--json lists them)", report.issuers.len() - LISTED);
    }
    text
}
