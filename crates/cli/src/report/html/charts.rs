//! Charts as inline SVG. Widths are in units of a fixed view box; the page scales them.
//!
//! A chart names itself to a screen reader; the numbers are in the table beside it, and as a tooltip
//! on each mark.

use std::fmt::Write as _;

use crate::report::grid::escape;
use crate::report::numbers::three;

const WIDTH: f64 = 520.0;
const ROW: f64 = 24.0;
/// Room for a row's name, and for the number at the end of a bar.
const NAMES: f64 = 190.0;
const NUMBERS: f64 = 60.0;
const PLOT: f64 = WIDTH - NAMES - NUMBERS;
const HEAD: f64 = 8.0;

/// One bar.
pub(super) struct Bar<'a> {
    pub(super) name: &'a str,
    pub(super) value: f64,
    /// Half the confidence interval; 0 if unknown.
    pub(super) spread: f64,
}

/// A figure with a caption around an SVG of `height`.
fn figure(title: &str, note: &str, height: f64, drawing: &str) -> String {
    let (title, note) = (escape(title), escape(note));
    format!(
        "<figure><figcaption><b>{title}</b> <span>{note}</span></figcaption>\n<svg viewBox=\"0 0 {WIDTH} \
         {height:.0}\" role=img aria-label=\"{title}: {note}\">\n{drawing}</svg></figure>\n"
    )
}

/// A row's name, at the left; what has no room is left out in the middle, as schedulers differ in their last settings.
fn name(text: &str, y: f64) -> String {
    const MOST: usize = 22;
    let count = text.chars().count();
    let short: String = if count > MOST {
        text.chars().take(MOST / 2).chain(['…']).chain(text.chars().skip(count + 1 - MOST / 2)).collect()
    } else {
        text.to_owned()
    };
    let (x, y) = (NAMES - 8.0, y + ROW * 0.66);
    format!("<text x={x:.1} y={y:.1} class=name>{}<title>{}</title></text>", escape(&short), escape(text))
}

fn line([x1, x2, y1, y2]: [f64; 4], class: &str) -> String {
    format!("<line x1={x1:.1} x2={x2:.1} y1={y1:.1} y2={y2:.1} class={class} />\n")
}

/// Horizontal bars from zero. The best ones stand out.
pub(super) fn bars(title: &str, unit: &str, less_is_better: bool, bars: &[Bar<'_>]) -> String {
    let most = bars.iter().map(|bar| bar.value + bar.spread).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let values = || bars.iter().map(|bar| bar.value);
    let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
    let alike = high <= low * 1.01;
    let mut text = String::new();
    for (index, bar) in bars.iter().enumerate() {
        let y = HEAD + index as f64 * ROW;
        let wide = |value: f64| (value / most * PLOT).max(0.0);
        let is_best =
            !alike && if less_is_better { bar.value <= low * 1.01 } else { bar.value >= high / 1.01 };
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
            text += &line([from, to, middle, middle], "spread");
        }
        let (end, base, value) =
            (NAMES + wide(bar.value + bar.spread) + 6.0, y + ROW * 0.66, three(bar.value));
        let _ = writeln!(text, "<text x={end:.1} y={base:.1} class=number>{value}</text>");
    }
    let note = format!("{unit}, {} is better", if less_is_better { "lower" } else { "higher" });
    figure(title, &note, HEAD * 2.0 + bars.len() as f64 * ROW, &text)
}

/// Bars of equal width, divided by share.
pub(super) fn stacks(title: &str, names: &[&str], rows: &[(&str, Vec<f64>)]) -> String {
    let room = WIDTH - NAMES - 8.0;
    let mut text = String::new();
    for (index, (row, parts)) in rows.iter().enumerate() {
        let y = HEAD + index as f64 * ROW;
        text += &name(row, y);
        let total = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let mut x = NAMES;
        for (part, (value, label)) in parts.iter().zip(names).enumerate() {
            let share = value / total;
            let wide = share * room;
            let _ = writeln!(
                text,
                "<rect x={x:.1} y={:.1} width={wide:.1} height={:.1} class=\"part p{part}\"><title>{}, {}: {} \
                 %</title></rect>",
                y + 3.0,
                ROW - 6.0,
                escape(row),
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
