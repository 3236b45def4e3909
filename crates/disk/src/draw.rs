//! Drawings of a disk for a terminal: the seek curve and the zones, in block characters.

use crate::describe::{Description, Kind, MechanicalDescription};
use core::fmt::Write;
use idlewise_core::Duration;
use std::string::String;
use std::vec::Vec;
use std::{format, vec};

/// Eighths of a cell, from empty to full.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Eighths of a cell, growing to the right.
const BARS: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// Columns that labels take.
const LABEL: usize = 10;

/// A page on a disk: its numbers, its seek curve and its zones, at most `width` columns wide.
pub fn page(description: &Description, width: usize) -> String {
    let width = width.clamp(40, 100);
    let mut out = String::new();
    let gigabytes = description.capacity.0 as f64 * 512.0 / 1e9;
    let name = &description.name;
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{name}: {}", description.description);
    let _ = writeln!(
        out,
        "{gigabytes:.1} GB, {} sectors, queue depth {}",
        description.capacity, description.depth
    );
    match &description.kind {
        Kind::Mechanical(disk) => mechanical(&mut out, disk, width),
        Kind::Other(_, facts) => {
            let fact = |&(name, value): &(&str, u64)| match name.rsplit_once('_') {
                Some((what, "ns")) => format!("{what} {}", Duration(value)),
                Some((what, unit)) => format!("{what} {value} {unit}"),
                None => format!("{value} {name}"),
            };
            let _ = writeln!(out, "{}", facts.iter().map(fact).collect::<Vec<_>>().join(", "));
        }
    }
    let _ = writeln!(out, "Source: {}", description.source);
    out
}

fn mechanical(out: &mut String, disk: &MechanicalDescription, width: usize) {
    let rpm = 60e9 / disk.revolution.0 as f64;
    let _ = writeln!(
        out,
        "{rpm:.0} rpm ({} a revolution), {} heads, {} cylinders, buffer {} KiB",
        disk.revolution,
        disk.heads,
        disk.cylinders,
        disk.buffer_bytes / 1024
    );
    let longest = disk.seek.last().map_or(idlewise_core::Duration::ZERO, |&(_, time)| time);
    let first = disk.seek.first().map_or(idlewise_core::Duration::ZERO, |&(_, time)| time);
    let _ = writeln!(
        out,
        "seek: {first} to the next cylinder, {} on average, {longest} across; sequential {:.1} MB/s",
        disk.mean_seek,
        disk.sequential_bytes_per_s as f64 / 1e6
    );
    let _ = writeln!(out, "\nSeek time by distance");
    out.push_str(&seek_curve(disk, width, 12));
    let _ = writeln!(out, "\nSequential rate by zone");
    out.push_str(&zones(disk, width));
}

/// The seek curve: distance in cylinders to the right, time upwards, `height` rows.
pub fn seek_curve(disk: &MechanicalDescription, width: usize, height: usize) -> String {
    let columns = width.clamp(40, 100) - LABEL - 1;
    let height = height.clamp(3, 40);
    let longest = disk.seek.last().map_or(1, |&(distance, _)| distance);
    let highest = disk.seek.iter().map(|&(_, time)| time.0).max().unwrap_or(1).max(1);
    let values: Vec<u64> = (0..columns)
        .map(|column| {
            let distance = 1 + (u64::from(longest) - 1) * column as u64 / (columns - 1) as u64;
            interpolate(disk, distance)
        })
        .collect();
    let mut out = String::new();
    for row in (0..height).rev() {
        let top = highest as f64 * (row + 1) as f64 / height as f64 / 1e6;
        let label =
            if row + 1 == height || row == height / 2 { format!("{top:.1} ms") } else { String::new() };
        let _ = write!(out, "{label:>LABEL$}│");
        let cells: String = values
            .iter()
            .map(|&value| {
                let eighths = (value * height as u64 * 8).div_ceil(highest) as usize;
                EIGHTHS[eighths.saturating_sub(row * 8).min(8)]
            })
            .collect();
        let _ = writeln!(out, "{}", cells.trim_end());
    }
    let _ = writeln!(out, "{:>LABEL$}└{}", "0", "─".repeat(columns));
    let right = format!("{longest} cylinders");
    let _ = writeln!(out, "{:>LABEL$} 1{right:>rest$}", "", rest = columns - 1);
    out
}

/// Time at a distance, from the samples.
fn interpolate(disk: &MechanicalDescription, distance: u64) -> u64 {
    let after = disk.seek.partition_point(|&(d, _)| u64::from(d) <= distance);
    if after == 0 || after == disk.seek.len() {
        let index = after.saturating_sub(1);
        return disk.seek.get(index).map_or(0, |&(_, time)| time.0);
    }
    let ((d0, t0), (d1, t1)) = (disk.seek[after - 1], disk.seek[after]);
    let part = (distance - u64::from(d0)) as f64 / f64::from(d1 - d0);
    (t0.0 as f64 + (t1.0 as f64 - t0.0 as f64) * part).round() as u64
}

/// The zones: a bar each, as long as the sequential rate; equal neighbours share a bar.
pub fn zones(disk: &MechanicalDescription, width: usize) -> String {
    let width = width.clamp(40, 100);
    let fastest = disk.zones.iter().map(|zone| zone.bytes_per_s).max().unwrap_or(1).max(1);
    let mut rows: Vec<(u64, u64, u32, u64)> = vec![];
    for zone in &disk.zones {
        match rows.last_mut() {
            Some(row) if row.2 == zone.sectors_per_track => row.1 = zone.last.0,
            _ => rows.push((zone.first.0, zone.last.0, zone.sectors_per_track, zone.bytes_per_s)),
        }
    }
    let digits = rows.last().map_or(1, |row| format!("{}", row.1).len());
    let bar = width.saturating_sub(2 * digits + 24).max(8);
    let mut out = String::new();
    for (first, last, sectors, rate) in rows {
        let eighths = (rate * bar as u64 * 8 / fastest) as usize;
        let mut drawn = "█".repeat(eighths / 8);
        if !eighths.is_multiple_of(8) {
            drawn.push(BARS[eighths % 8]);
        }
        let rate = rate as f64 / 1e6;
        let _ = writeln!(out, "{first:>digits$}–{last:<digits$} {sectors:>5} s/t {rate:>6.1} MB/s {drawn}");
    }
    out
}
