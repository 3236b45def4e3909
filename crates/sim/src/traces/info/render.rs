//! A [`TraceInfo`] as text for people: an aligned table, a line for the rate, sentences for what is
//! missing.

use crate::traces::TraceInfo;
use crate::traces::info::tables::MAX_ISSUERS;
use crate::traces::info::{Kind, Range, Share};
use idlewise_core::Duration;
use std::fmt;

/// Eight heights of a bar.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A row of the table.
fn row(f: &mut fmt::Formatter<'_>, label: &str, value: impl fmt::Display) -> fmt::Result {
    writeln!(f, "{label:<14} {value}")
}

impl fmt::Display for TraceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        row(f, "trace", format_args!("{} ({})", self.name, self.format))?;
        let rates = match (self.requests_per_s, self.bytes_per_s) {
            (Some(requests), Some(bytes)) => format!(" ({requests:.1}/s, {}/s)", size(bytes)),
            _ => String::new(),
        };
        let span = Duration(self.span_ns);
        let total = size(self.bytes as f64);
        row(f, "requests", format_args!("{}, {total}, in {span}{rates}", self.requests))?;
        let kinds = [
            ("reads", self.reads),
            ("writes", self.writes),
            ("discards", self.discards),
            ("flushes", self.flushes),
        ];
        for (label, Kind { requests, bytes, share }) in kinds {
            if requests > 0 {
                let percent = share * 100.0;
                row(f, label, format_args!("{requests:>10}  {percent:5.1} %  {:>10}", size(bytes as f64)))?;
            }
        }
        if self.durable_writes > 0 {
            let words = "writes with a flush before them or past the disk's cache";
            row(f, "durable", format_args!("{:>10}  {words}", self.durable_writes))?;
        }
        self.distributions(f)?;
        self.parties(f)?;
        self.times(f)?;
        // A width is the most that the table takes.
        write!(f, "{:1$}", self.timeline, f.width().unwrap_or(usize::from(u16::MAX)))?;
        self.findings(f)
    }
}

impl TraceInfo {
    fn distributions(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(sizes) = &self.sizes {
            let [mean, p50, p90, p99] =
                [sizes.mean_bytes, sizes.p50_bytes as f64, sizes.p90_bytes as f64, sizes.p99_bytes as f64];
            let (max, bars) = (size(sizes.max_bytes as f64), bars(&sizes.histogram));
            let texts = [mean, p50, p90, p99].map(size);
            let [mean, p50, p90, p99] = texts;
            row(f, "size", format_args!("mean {mean}, p50 {p50}, p90 {p90}, p99 {p99}, max {max}  {bars}"))?;
        }
        if let Some(pattern) = &self.pattern {
            let percent = |share: f64| format!("{:.1} %", share * 100.0);
            let own = pattern
                .issuer_sequential_share
                .map_or(String::new(), |share| format!(", {} of each issuer's own", percent(share)));
            let (exact, near) = (percent(pattern.sequential_share), percent(pattern.near_share));
            row(f, "sequential", format_args!("{exact}, within 128 KiB {near}{own}"))?;
            let distance = |sectors: u64| size(sectors as f64 * 512.0);
            row(
                f,
                "distance",
                format_args!(
                    "p50 {}, p90 {}, p99 {}, max {}",
                    distance(pattern.distance_p50_sectors),
                    distance(pattern.distance_p90_sectors),
                    distance(pattern.distance_p99_sectors),
                    distance(pattern.distance_max_sectors),
                ),
            )?;
        }
        Ok(())
    }

    fn parties(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        row(f, "devices", self.device_count)?;
        if self.device_count > 1 {
            shares(f, &self.devices[..self.devices.len().min(10)])?;
        }
        if let Some(issuers) = &self.issuers {
            let more = if issuers.count >= MAX_ISSUERS as u64 { " or more" } else { "" };
            row(f, "issuers", format_args!("{}{more}", issuers.count))?;
            shares(f, &issuers.top)?;
        }
        Ok(())
    }

    fn times(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.rate.requests.iter().max().copied().unwrap_or(0);
        let line: String = self.rate.requests.iter().map(|&count| bar(count, most)).collect();
        let interval = Duration(self.rate.interval_ns);
        row(f, "rate", format_args!("{line}  {interval} a bar, at most {most}"))?;
        let kinds = [
            ("latency", &self.latency),
            ("of reads", &self.read_latency),
            ("of writes", &self.write_latency),
        ];
        for (name, latency) in kinds {
            let Some(latency) = latency else { continue };
            let mean = Duration(latency.mean_ns as u64);
            let [p50, p90, p99, max] =
                [latency.p50_ns, latency.p90_ns, latency.p99_ns, latency.max_ns].map(Duration);
            row(f, name, format_args!("mean {mean}, p50 {p50}, p90 {p90}, p99 {p99}, max {max}"))?;
        }
        if let Some(depth) = &self.queue_depth {
            let (mean, p50, p99, max) = (depth.mean, depth.p50, depth.p99, depth.max);
            row(f, "queue depth", format_args!("mean {mean:.1}, p50 {p50}, p99 {p99}, max {max}"))?;
        }
        Ok(())
    }

    fn findings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = &self.report;
        for skipped in &report.skipped {
            row(f, "left out", format_args!("{} rows {}", skipped.rows, skipped.reason.words()))?;
        }
        if report.out_of_order_rows > 0 {
            let far = Duration(report.out_of_order_max_ns);
            let rows = report.late_rows;
            row(f, "put in order", format_args!("{rows} rows, by at most {far}"))?;
        }
        let counts = [
            ("merges", report.merges),
            ("splits", report.splits),
            ("remaps", report.remaps),
            ("requeues", report.requeues),
            ("incomplete", report.without_completion),
            ("unaligned", report.unaligned_rows),
        ];
        for (label, count) in counts.iter().filter(|(_, count)| *count > 0) {
            row(f, label, count)?;
        }
        for missing in &self.missing {
            writeln!(f, "note: {} are missing: {}", missing.what, missing.consequence)?;
        }
        for warning in &report.warnings {
            writeln!(f, "note: {warning}")?;
        }
        Ok(())
    }
}

/// A line for each issuer or device.
fn shares(f: &mut fmt::Formatter<'_>, all: &[Share]) -> fmt::Result {
    for Share { id, name, requests, bytes } in all {
        let bytes = size(*bytes as f64);
        let name = name.as_deref().unwrap_or("");
        writeln!(f, "{id:>14} {requests:>10}  {bytes:>10}  {name}")?;
    }
    Ok(())
}

/// Bytes in the unit that a person would choose.
fn size(bytes: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 100.0 || value.fract() < 0.05 { 0 } else { 1 };
    format!("{value:.digits$} {}", units[unit])
}

/// The bar for `count` when the largest is `most`. Something is never drawn as nothing.
fn bar(count: u64, most: u64) -> char {
    if count == 0 {
        return ' ';
    }
    let height = u128::from(count) * (BARS.len() as u128) / u128::from(most.max(1) + 1);
    BARS[(height as usize).min(BARS.len() - 1)]
}

fn bars(ranges: &[Range]) -> String {
    let most = ranges.iter().map(|range| range.requests).max().unwrap_or(0);
    ranges.iter().map(|range| bar(range.requests, most)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_bars_read_well() {
        assert_eq!(size(0.0), "0 B");
        assert_eq!(size(512.0), "512 B");
        assert_eq!(size(4096.0), "4 KiB");
        assert_eq!(size(1536.0), "1.5 KiB");
        assert_eq!(size(300.0 * 1024.0 * 1024.0), "300 MiB");
        assert_eq!(bar(0, 10), ' ');
        assert_eq!(bar(1, 1000), '▁');
        assert_eq!(bar(1000, 1000), '█');
    }
}
