//! Drawings of claims: all ratios of a paper, and its figures as lines; what is theirs is hollow and dashed.

use std::fmt::Write as _;

use idlewise_sim::papers::{Curve, Finding, Line, Ours, Test};

use super::super::grid::escape;
use super::super::numbers::three;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;
/// Of the drawing of ratios: room for the longest words, 40 letters, and the height of a row.
const WORDS: f64 = 290.0;
const ROW: f64 = 20.0;

/// A ratio: id and words, the paper's, ours, half of our interval.
type Ratio = (String, f64, f64, f64);

/// Every ratio that a paper has and ours, on a logarithmic scale. Empty without any.
pub(super) fn ratios(findings: &[Finding]) -> String {
    let mut rows: Vec<Ratio> = Vec::new();
    for (finding, found) in findings.iter().flat_map(|one| one.points.iter().map(move |found| (one, found))) {
        if let (Test::Ratio(_, paper), Ours::Figure(ours)) = (&found.point.test, &found.ours) {
            rows.push((format!("{} {}", finding.claim.id, found.point.what), *paper, ours.mean, ours.ci95));
        }
    }
    let Some(first) = rows.first() else { return String::new() };
    let all = || rows.iter().flat_map(|row| [row.1, row.2]).filter(|value| *value > 0.0);
    let low = all().fold(first.1, f64::min).min(1.0) / 1.1;
    let high = all().fold(first.1, f64::max).max(1.0) * 1.1;
    let x = |value: f64| WORDS + (value.max(low) / low).ln() / (high / low).ln() * (WIDTH - WORDS - RIGHT);
    let bottom = TOP + rows.len() as f64 * ROW;
    let mut drawing = String::new();
    let steps = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0];
    for tick in steps.into_iter().filter(|tick| (low..=high).contains(tick)) {
        drawing += &upright(x(tick), bottom, &format!("{tick}"));
    }
    for (index, (words, paper, ours, ci95)) in rows.iter().enumerate() {
        let y = TOP + (index as f64 + 0.5) * ROW;
        let words = escape(words);
        let [theirs, own] = [*paper, *ours].map(three);
        let _ = writeln!(
            drawing,
            "<g><title>{words}: paper {theirs}, ours {own}</title><text x={:.1} y={:.1} class=name>{words}</text>\
             <line x1={:.1} x2={:.1} y1={y:.1} y2={y:.1} class=spread /><circle cx={:.1} cy={y:.1} r=5 class=hollow />\
             <circle cx={:.1} cy={y:.1} r=3.5 class=best /></g>",
            WORDS - 8.0,
            y + 4.0,
            x((ours - ci95).max(low)),
            x(ours + ci95),
            x(*paper),
            x(*ours)
        );
    }
    figure(
        "All ratios",
        "hollow: the paper's; filled: ours, with the 95 % interval; logarithmic scale",
        bottom + 28.0,
        &drawing,
        "",
    )
}

/// A vertical line of a scale, with its number below.
fn upright(at: f64, bottom: f64, label: &str) -> String {
    format!(
        "<line x1={at:.1} x2={at:.1} y1={TOP} y2={bottom:.1} class=grid /><text x={at:.1} y={:.1} class=axis>{label}</text>\n",
        bottom + 16.0
    )
}

fn figure(title: &str, note: &str, height: f64, drawing: &str, legend: &str) -> String {
    let (title, note) = (escape(title), escape(note));
    format!(
        "<figure><figcaption><b>{title}</b> <span>{note}</span></figcaption>\n<svg viewBox=\"0 0 {WIDTH} {height:.0}\" \
         role=img aria-label=\"{title}: {note}\">\n{drawing}</svg>{legend}</figure>\n"
    )
}

/// A figure of the paper: what its text says of it dashed, ours as lines.
pub(super) fn curve(curve: &Curve, id: &str, ours: &[Line]) -> String {
    let rate = |bytes: f64| bytes / 1e6;
    let theirs = || curve.lines.values().flatten().copied();
    let own =
        || ours.iter().flat_map(|line| line.points.iter().map(|(step, figure)| (*step, rate(figure.mean))));
    let right = own().chain(theirs()).map(|point| point.0).fold(1.0, f64::max);
    let top = own().chain(theirs()).map(|point| point.1).fold(1.0, f64::max) * 1.05;
    let x = |step: f64| LEFT + step / right * (WIDTH - LEFT - RIGHT);
    let y = |rate: f64| HEIGHT - BOTTOM - rate / top * (HEIGHT - BOTTOM - TOP);
    let mut drawing = String::new();
    let wide = if right > 12.0 { 4.0 } else { (right / 6.0).ceil() };
    for tick in (0..).map(|number| f64::from(number) * wide).take_while(|tick| *tick <= right) {
        drawing += &upright(x(tick), HEIGHT - BOTTOM, &format!("{tick}"));
    }
    for tick in (0..).map(|number| f64::from(number) * 5.0).take_while(|tick| *tick <= top) {
        let at = y(tick);
        let _ = writeln!(
            drawing,
            "<line x1={LEFT} x2={:.1} y1={at:.1} y2={at:.1} class=grid /><text x={:.1} y={:.1} class=name>{tick}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            at + 4.0
        );
    }
    let path = |points: &mut dyn Iterator<Item = (f64, f64)>| {
        points.map(|(step, rate)| format!("{:.1},{:.1}", x(step), y(rate))).collect::<Vec<_>>().join(" ")
    };
    let mut legend = String::from("<ul class=legend>");
    for (number, line) in ours.iter().enumerate() {
        let points = || line.points.iter().map(|(step, figure)| (*step, rate(figure.mean)));
        let _ = writeln!(drawing, "<polyline points=\"{}\" class=\"line l{number}\" />", path(&mut points()));
        let name = escape(&line.scheduler);
        for (step, rate) in points() {
            let _ = writeln!(
                drawing,
                "<circle cx={:.1} cy={:.1} r=3 class=p{number}><title>{name} at {step}: {} MB/s</title></circle>",
                x(step),
                y(rate),
                three(rate)
            );
        }
        let theirs = curve.lines.get(&line.scheduler).map_or(&[][..], Vec::as_slice);
        let _ = writeln!(
            drawing,
            "<polyline points=\"{}\" class=\"line theirs l{number}\" />",
            path(&mut theirs.iter().copied())
        );
        for (step, rate) in theirs {
            let _ = writeln!(drawing, "<circle cx={:.1} cy={:.1} r=5 class=hollow />", x(*step), y(*rate));
        }
        let _ = write!(
            legend,
            "<li><svg viewBox=\"0 0 12 12\" aria-hidden=true><rect width=12 height=12 class=p{number} /></svg>{name}</li>"
        );
    }
    let note = format!("{}, and MB/s; dashed, with hollow points: what the paper's text says", curve.x);
    figure(&format!("{id}. {}", curve.title), &note, HEIGHT - 12.0, &drawing, &(legend + "</ul>\n"))
}
