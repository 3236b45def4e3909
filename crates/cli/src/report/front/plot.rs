//! Fronts as a page: for each load a plot of throughput against the p99 of the slowest process's reads.

use std::fmt::Write as _;

use idlewise_sim::experiment::front::{Panel, Standing};

use super::super::grid::{Cell, escape, html};
use super::super::html::{document, section};
use super::super::numbers::three;
use super::super::origin;
use super::{DiskFronts, LEGEND, load, overall, point};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
/// Room for the numbers of the axes, and for names beside points.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 120.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 44.0;
/// Points of the front that are named; the names of more would overlap. Each point says its name when pointed at.
const NAMED: usize = 8;

/// The page.
pub(crate) fn page(fronts: &[DiskFronts<'_>]) -> String {
    let mut body = String::from(
        "<header><p class=brand>idlewise: disk scheduling</p><h1>The front of schedulers</h1></header>\n<main>\n",
    );
    for one in fronts {
        let mut plots = table(one) + "<div class=charts>\n";
        one.panels.iter().for_each(|panel| plots += &plot(one, panel));
        body += &section(&format!("{}: {}", one.disk.name, one.disk.description), &(plots + "</div>\n"));
    }
    body += &section("How to read this", &format!("<p class=notes>{}</p>\n", escape(LEGEND)));
    body += &section("To repeat this", &format!("<pre><code>{}</code></pre>\n", escape(&origin::command())));
    document("The front of schedulers", &(body + "</main>\n"))
}

fn table(one: &DiskFronts<'_>) -> String {
    let rows = overall(one);
    let (heads, rows) = rows.split_first().expect("there are heads");
    let cell = |text: &String| Cell { text: escape(text), spread: 0.0, best: false };
    let rows = rows.iter().map(|row| (row[0].as_str(), row[1..].iter().map(cell).collect()));
    html(("Over all loads", "Over all loads, the greatest share first."), heads[1..].iter().cloned(), rows)
}

/// A scale from values to places: logarithmic, from the least to the greatest.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    fn new(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Scale {
        let low = values.clone().fold(f64::MAX, f64::min).max(1e-3);
        let high = values.fold(0.0, f64::max).max(low * 1.1);
        Scale { low: low / 1.1, high: high * 1.1, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.max(self.low) / self.low).ln() / (self.high / self.low).ln();
        self.from + share * (self.to - self.from)
    }

    /// Round values in the scale: of each power of ten as few as will do.
    fn ticks(&self) -> Vec<f64> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let by = |steps: &[f64]| -> Vec<f64> {
            // Divided, so that 0.3 is written as such.
            let value = |step: f64, decade: i32| match decade {
                0.. => step * 10f64.powi(decade),
                _ => step / 10f64.powi(-decade),
            };
            let all = decades.clone().flat_map(|decade| steps.iter().map(move |step| value(*step, decade)));
            all.filter(|value| (self.low..=self.high).contains(value)).collect()
        };
        let [few, some] = [&[1.0][..], &[1.0, 2.0, 5.0]].map(by);
        match (few.len(), some.len()) {
            (5.., _) => few,
            (_, 3..) => some,
            _ => by(&[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]),
        }
    }
}

fn plot(one: &DiskFronts<'_>, panel: &Panel) -> String {
    let x = Scale::new(panel.standings.iter().map(|standing| point(standing)[0]), LEFT, WIDTH - RIGHT);
    let y = Scale::new(panel.standings.iter().map(|standing| point(standing)[1]), HEIGHT - BOTTOM, TOP);
    let mut drawing = axes(&x, &y);
    let mut front: Vec<&Standing> = panel.standings.iter().filter(|standing| standing.front).collect();
    front.sort_by(|a, b| a.throughput.total_cmp(&b.throughput));
    let line: Vec<String> = front
        .iter()
        .map(|standing| format!("{:.1},{:.1}", x.at(point(standing)[0]), y.at(point(standing)[1])))
        .collect();
    let _ = writeln!(drawing, "<polyline points=\"{}\" class=front />", line.join(" "));
    for standing in &panel.standings {
        drawing += &dot(one, standing, &x, &y);
    }
    let mut last = f64::MIN;
    for standing in front.iter().rev().take(NAMED) {
        let [rate, p99, _] = point(standing);
        let at = y.at(p99);
        // A name that would lie on the one before is left out.
        if (at - last).abs() > 13.0 {
            let name = escape(one.name(standing.scheduler));
            let _ = writeln!(
                drawing,
                "<text x={:.1} y={:.1} class=label>{name}</text>",
                x.at(rate) + 7.0,
                at + 4.0
            );
            last = at;
        }
    }
    let title = load(panel);
    format!(
        "<figure><figcaption><b>{title}</b> <span>MB/s, and p99 of the slowest process's reads in ms; nobody shall wait \
         longer than {} s: hollow points do</span></figcaption>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=img \
         aria-label=\"{title}: throughput and p99\">\n{drawing}</svg></figure>\n",
        three(panel.limit_ns / 1e9)
    )
}

fn axes(x: &Scale, y: &Scale) -> String {
    let mut text = format!(
        "<text x={:.1} y={:.1} class=axis>MB/s</text><text x={:.1} y={:.1} class=name>ms</text>\n",
        WIDTH - RIGHT + 24.0,
        HEIGHT - BOTTOM + 18.0,
        LEFT - 8.0,
        TOP - 12.0
    );
    for value in x.ticks() {
        let at = x.at(value);
        let _ = writeln!(
            text,
            "<line x1={at:.1} x2={at:.1} y1={TOP} y2={:.1} class=grid /><text x={at:.1} y={:.1} class=axis>{value}</text>",
            HEIGHT - BOTTOM,
            HEIGHT - BOTTOM + 18.0
        );
    }
    for value in y.ticks() {
        let at = y.at(value);
        let _ = writeln!(
            text,
            "<line x1={LEFT} x2={:.1} y1={at:.1} y2={at:.1} class=grid /><text x={:.1} y={:.1} class=name>{value}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            at + 4.0
        );
    }
    text
}

fn dot(one: &DiskFronts<'_>, standing: &Standing, x: &Scale, y: &Scale) -> String {
    let class = match (standing.starves, standing.front) {
        (true, _) => "hollow",
        (_, true) => "best",
        _ => "dot",
    };
    let [rate, p99, longest] = point(standing);
    format!(
        "<circle cx={:.1} cy={:.1} r=4 class={class}><title>{}: {} MB/s, p99 {} ms, longest wait {} ms</title></circle>\n",
        x.at(rate),
        y.at(p99),
        escape(one.name(standing.scheduler)),
        three(rate),
        three(p99),
        three(longest)
    )
}
