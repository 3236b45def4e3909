//! Charts as inline SVG. Widths are in units of a fixed view box; the page scales them.
//!
//! A chart names itself to a screen reader; the numbers are in the table beside it, and as a tooltip
//! on each mark.

use std::fmt::Write as _;

use crate::report::grid::escape;
use crate::report::numbers::three;

const WIDTH: f64 = 640.0;
const ROW: f64 = 24.0;
/// Admission for a row's name, and for the number at the end of a bar.
const NAMES: f64 = 150.0;
const NUMBERS: f64 = 76.0;
const PLOT: f64 = WIDTH - NAMES - NUMBERS;
const HEAD: f64 = 8.0;

/// One bar.
pub(super) struct Bar<'a> {
    pub(super) name: &'a str,
    pub(super) value: f64,
    /// Half the confidence interval; 0 if unknown.
    pub(super) spread: f64,
}

/// One row of percentiles: the median, p90, p99, p99.9 and the maximum.
pub(super) struct Range<'a> {
    pub(super) name: &'a str,
    pub(super) points: [f64; 5],
}

/// One bar of several parts.
pub(super) struct Stack<'a> {
    pub(super) name: &'a str,
    pub(super) parts: Vec<f64>,
}

/// A figure with a caption around an SVG of `height`.
fn figure(title: &str, note: &str, height: f64, drawing: &str) -> String {
    let (title, note) = (escape(title), escape(note));
    format!(
        "<figure><figcaption><b>{title}</b> <span>{note}</span></figcaption>\n<svg viewBox=\"0 0 {WIDTH} \
         {height:.0}\" role=img aria-label=\"{title}: {note}\">\n{drawing}</svg></figure>\n"
    )
}

/// A row's name, at the left, cut to its room.
fn name(text: &str, y: f64) -> String {
    const MOST: usize = 20;
    let short: String = if text.chars().count() > MOST {
        text.chars().take(MOST - 1).chain(['…']).collect()
    } else {
        text.to_owned()
    };
    let (x, y) = (NAMES - 8.0, y + ROW * 0.66);
    format!("<text x={x:.1} y={y:.1} class=name>{}</text>", escape(&short))
}

/// Horizontal bars from zero. The best ones stand out.
pub(super) fn bars(title: &str, unit: &str, less_is_better: bool, bars: &[Bar<'_>]) -> String {
    let most = bars.iter().map(|bar| bar.value + bar.spread).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let best = if less_is_better {
        bars.iter().map(|bar| bar.value).fold(f64::MAX, f64::min) * 1.01
    } else {
        bars.iter().map(|bar| bar.value).fold(0.0, f64::max) / 1.01
    };
    let values = || bars.iter().map(|bar| bar.value);
    let alike = values().fold(0.0, f64::max) <= values().fold(f64::MAX, f64::min) * 1.01;
    let mut text = String::new();
    for (index, bar) in bars.iter().enumerate() {
        let y = HEAD + index as f64 * ROW;
        let wide = |value: f64| (value / most * PLOT).max(0.0);
        let is_best = !alike && if less_is_better { bar.value <= best } else { bar.value >= best };
        let class = if is_best { "bar best" } else { "bar" };
        let _ = writeln!(
            text,
            "{}<rect x={NAMES} y={:.1} width={:.1} height={:.1} rx=2 class=\"{class}\"><title>{}: {} {unit}</title></rect>",
            name(bar.name, y),
            y + 3.0,
            wide(bar.value).max(1.0),
            ROW - 6.0,
            escape(bar.name),
            three(bar.value)
        );
        if bar.spread > 0.0 {
            let (from, to) = (NAMES + wide(bar.value - bar.spread), NAMES + wide(bar.value + bar.spread));
            let middle = y + ROW / 2.0;
            let _ =
                writeln!(text, "<line x1={from:.1} x2={to:.1} y1={middle:.1} y2={middle:.1} class=spread />");
        }
        let end = NAMES + wide(bar.value + bar.spread) + 6.0;
        let _ = writeln!(
            text,
            "<text x={end:.1} y={:.1} class=number>{}</text>",
            y + ROW * 0.66,
            three(bar.value)
        );
    }
    let note = format!("{unit}, {} is better", if less_is_better { "lower" } else { "higher" });
    figure(title, &note, HEAD * 2.0 + bars.len() as f64 * ROW, &text)
}

/// Percentiles on a logarithmic scale: a bar from median to p99, ticks at p90 and p99.9, a dot at the
/// maximum.
pub(super) fn ranges(title: &str, rows: &[Range<'_>]) -> String {
    const LEAST_MS: f64 = 0.001;
    let all = || rows.iter().flat_map(|row| row.points).map(|point| point.max(LEAST_MS));
    let low = all().fold(f64::MAX, f64::min).log10().floor();
    let high = all().fold(LEAST_MS, f64::max).log10().ceil().max(low + 1.0);
    let room = PLOT + NUMBERS - 16.0;
    let x = |value: f64| NAMES + (value.max(LEAST_MS).log10() - low) / (high - low) * room;
    let bottom = HEAD + rows.len() as f64 * ROW;
    let mut text = String::new();
    for decade in low as i32..=high as i32 {
        let value = 10f64.powi(decade);
        let at = x(value);
        let label = if value >= 1000.0 { format!("{} s", three(value / 1e3)) } else { format!("{value} ms") };
        let label = label.replace(".00 s", " s").replace(".0 s", " s");
        let _ = writeln!(
            text,
            "<line x1={at:.1} x2={at:.1} y1={HEAD} y2={bottom:.1} class=grid /><text x={at:.1} y={:.1} \
             class=axis>{label}</text>",
            bottom + 16.0
        );
    }
    for (index, row) in rows.iter().enumerate() {
        let y = HEAD + index as f64 * ROW;
        let [p50, p90, p99, p999, max] = row.points;
        let said = format!(
            "{}: median {} ms, p90 {} ms, p99 {} ms, p99.9 {} ms, longest {} ms",
            escape(row.name),
            three(p50),
            three(p90),
            three(p99),
            three(p999),
            three(max)
        );
        let middle = y + ROW / 2.0;
        let _ = writeln!(text, "<g>{}<title>{said}</title>", name(row.name, y));
        let _ = writeln!(
            text,
            "<line x1={:.1} x2={:.1} y1={middle:.1} y2={middle:.1} class=spread />",
            x(p99),
            x(max)
        );
        let wide = (x(p99) - x(p50)).max(1.0);
        let _ = writeln!(
            text,
            "<rect x={:.1} y={:.1} width={wide:.1} height={:.1} rx=2 class=bar />",
            x(p50),
            y + 5.0,
            ROW - 10.0
        );
        for (tick, class) in [(p90, "tick inside"), (p999, "tick")] {
            let (at, top, end) = (x(tick), y + 5.0, y + ROW - 5.0);
            let _ =
                writeln!(text, "<line x1={at:.1} x2={at:.1} y1={top:.1} y2={end:.1} class=\"{class}\" />");
        }
        let _ = writeln!(text, "<circle cx={:.1} cy={middle:.1} r=3.5 class=dot /></g>", x(max));
    }
    let note = "bar: median to p99, with a line at p90; beyond the bar p99.9, and the longest as a dot; logarithmic scale";
    figure(title, note, bottom + 24.0, &text)
}

/// Bars of equal width, divided by share.
pub(super) fn stacks(title: &str, names: &[&str], rows: &[Stack<'_>]) -> String {
    let room = WIDTH - NAMES - 8.0;
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let y = HEAD + index as f64 * ROW;
        text += &name(row.name, y);
        let total = row.parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let mut x = NAMES;
        for (part, (value, label)) in row.parts.iter().zip(names).enumerate() {
            let share = value / total;
            let wide = share * room;
            let _ = writeln!(
                text,
                "<rect x={x:.1} y={:.1} width={wide:.1} height={:.1} class=\"part p{part}\"><title>{}, {}: {} \
                 %</title></rect>",
                y + 3.0,
                ROW - 6.0,
                escape(row.name),
                escape(label),
                three(share * 100.0)
            );
            if share >= 0.08 {
                let (middle, base) = (x + wide / 2.0, y + ROW * 0.66);
                let percent = share * 100.0;
                let _ = writeln!(text, "<text x={middle:.1} y={base:.1} class=inpart>{percent:.0}</text>");
            }
            x += wide;
        }
    }
    let mut legend = String::from("<ul class=legend>");
    for (part, label) in names.iter().enumerate() {
        let _ = write!(
            legend,
            "<li><svg viewBox=\"0 0 12 12\" aria-hidden=true><rect width=12 height=12 class=\"part p{part}\" /></svg>{}</li>",
            escape(label)
        );
    }
    legend += "</ul>\n";
    figure(title, "percent of the disk's time", HEAD * 2.0 + rows.len() as f64 * ROW, &text) + &legend
}
