//! The papers' claims as tables: what is the same in a terminal, in Markdown and on a page.

pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod page;
mod plot;
pub(crate) mod text;

use idlewise_sim::experiment::Figure;
use idlewise_sim::papers::{Finding, Formula, Found, Kind, Measure, Ours, Paper, Results, Test, Verdict};

use super::numbers::three;

/// What came of the claims, and what it rests on.
pub(crate) struct Told<'a> {
    pub(crate) findings: &'a [Finding],
    pub(crate) results: &'a Results,
    pub(crate) full: bool,
    pub(crate) seeds: &'a [u64],
    /// The runs were cut short.
    pub(crate) interrupted: bool,
}

/// How to read the tables.
const LEGEND: &str = "holds: the direction is the paper's and the ratio within 25 % of it. direction: the order is the paper's, the \
    ratio is not. differs: it is otherwise here. cache: the paper measured memory, and only orders are compared: agrees or not. \
    fact: there is nothing to run. ours / paper: our ratio as a multiple of the paper's. \
    Figures without a verdict of their own are for information: machines differ, ratios should not. A direction counts if the 95 % \
    confidence interval over the seeds (±) excludes that there is none.";

/// A line of a table: a claim, or one of its points.
struct Entry {
    /// The claim's id; empty for a point.
    id: String,
    what: String,
    paper: String,
    ours: String,
    /// Ours as a multiple of the paper's.
    times: String,
    verdict: &'static str,
}

impl Told<'_> {
    /// The papers in question, each with its findings.
    fn papers(&self) -> impl Iterator<Item = (&'static Paper, &[Finding])> {
        let groups = self.findings.chunk_by(|one, other| one.paper.name == other.paper.name);
        groups.map(|findings| (findings[0].paper, findings))
    }

    /// How many of each verdict.
    fn summary(&self) -> String {
        let count = |verdict: Verdict| self.findings.iter().filter(|one| one.verdict == verdict).count();
        let say = |verdict: Verdict| {
            let count = count(verdict);
            let one = count == 1;
            let words = match verdict {
                Verdict::Holds if one => "holds",
                Verdict::Holds => "hold",
                Verdict::Direction if one => "has the direction alone",
                Verdict::Direction => "have the direction alone",
                Verdict::Differs if one => "differs",
                Verdict::Differs => "differ",
                Verdict::Cache => "of the paper's memory",
                Verdict::Fact if one => "fact",
                Verdict::Fact => "facts",
                Verdict::Unfinished => "unfinished",
            };
            (count > 0).then(|| format!("{count} {words}"))
        };
        let told: Vec<String> = Verdict::ALL.into_iter().filter_map(say).collect();
        let plural = if self.findings.len() == 1 { "" } else { "s" };
        format!("{} claim{plural}: {}", self.findings.len(), told.join(", "))
    }

    /// The seeds, and whether the sizes are the papers'.
    fn effort(&self) -> String {
        let seeds: Vec<String> = self.seeds.iter().map(ToString::to_string).collect();
        let sizes =
            if self.full { "the papers' sizes" } else { "sizes of the default run (--full has the papers')" };
        format!("seeds {}; {sizes}", seeds.join(", "))
    }
}

/// The lines of a claim: one with its verdict, and one for each point if there are several.
fn entries(finding: &Finding) -> Vec<Entry> {
    let claim = finding.claim;
    let head = Entry {
        id: claim.id.clone(),
        what: claim.name.clone(),
        paper: String::new(),
        ours: String::new(),
        times: String::new(),
        verdict: finding.verdict.name(),
    };
    let point = |found: &Found| {
        let verdict = match (claim.kind, found.verdict) {
            (_, None) => "",
            (Kind::Cache, Some(Verdict::Holds | Verdict::Direction)) => "agrees",
            (Kind::Cache, Some(Verdict::Differs)) => "other order",
            (_, Some(verdict)) => verdict.name(),
        };
        let [paper, ours, times] = cells(found);
        Entry { id: String::new(), what: found.point.what.clone(), paper, ours, times, verdict }
    };
    match &finding.points[..] {
        [] => vec![head],
        [only] if claim.kind != Kind::Cache => {
            vec![Entry { id: head.id, what: head.what, verdict: head.verdict, ..point(only) }]
        }
        several => std::iter::once(head).chain(several.iter().map(point)).collect(),
    }
}

/// A figure in the unit in which papers have it: rates in MB/s, all else as it is.
fn shown(formula: &Formula) -> f64 {
    let rate = matches!(formula.over.measure, Measure::Throughput | Measure::Bytes(_));
    if rate && formula.under.is_none() { 1e6 } else { 1.0 }
}

/// A figure with its interval, if it has one worth the name.
fn with_interval(figure: Figure, scale: f64) -> String {
    let mean = three(figure.mean / scale);
    if figure.ci95 >= 0.001 * figure.mean.abs() && figure.ci95 > 0.0 {
        format!("{mean} ±{}", three(figure.ci95 / scale))
    } else {
        mean
    }
}

/// The paper's figure, ours, and the quotient.
fn cells(found: &Found) -> [String; 3] {
    let paper = match &found.point.test {
        Test::Ratio(_, value) | Test::Value(_, value) => three(*value),
        Test::Bound(_, least, most) => match (least, most) {
            (Some(least), Some(most)) => format!("{least} to {most}"),
            (Some(least), None) => format!("≥ {least}"),
            (None, most) => format!("≤ {}", most.unwrap_or(f64::INFINITY)),
        },
        Test::Spread(_, most) => format!("≤ {most}"),
        Test::Order(_) => "falling".to_owned(),
        Test::Table { best, .. } => format!("{} cells", best.len()),
    };
    let (ours, times) = match (&found.ours, &found.point.test) {
        (Ours::Unfinished, _) => (String::new(), String::new()),
        (Ours::Figure(figure), Test::Ratio(ours, value) | Test::Value(ours, value)) => {
            let scale = shown(ours);
            (with_interval(*figure, scale), three(figure.mean / scale / value))
        }
        (Ours::Figure(figure), Test::Bound(ours, ..)) => (with_interval(*figure, shown(ours)), String::new()),
        (Ours::Figure(figure), _) => (with_interval(*figure, 1.0), String::new()),
        (Ours::Order(figures), test) => {
            let scale = if let Test::Order(all) = test { shown(&all[0]) } else { 1.0 };
            let ends = [figures.first(), figures.last()].map(|figure| figure.map_or(0.0, |one| one.mean));
            let [first, last] = ends.map(|mean| three(mean / scale));
            let between = if figures.len() > 2 { " … " } else { ", " };
            (format!("{first}{between}{last}"), String::new())
        }
        (Ours::Table(cells), _) => {
            let agree = cells.iter().filter(|cell| cell.agrees).count();
            (format!("{agree} agree"), String::new())
        }
    };
    [paper, ours, times]
}

/// What is to be said of claims below their table: a line for each, of ids and words.
fn remarks(findings: &[Finding]) -> Vec<(String, String)> {
    let mut remarks: Vec<(String, String)> = Vec::new();
    for finding in findings {
        let claim = finding.claim;
        if matches!(finding.verdict, Verdict::Direction | Verdict::Differs) {
            let reason = claim.reason.as_deref().unwrap_or("no reason is known");
            remarks.push((claim.id.clone(), reason.to_owned()));
        }
    }
    let mut lacking: Vec<(Vec<&str>, &str)> = Vec::new();
    for finding in findings {
        let Some(lacks) = &finding.claim.lacks else { continue };
        match lacking.iter_mut().find(|(_, what)| what == lacks) {
            Some((ids, _)) => ids.push(&finding.claim.id),
            None => lacking.push((vec![&finding.claim.id], lacks)),
        }
    }
    remarks.extend(lacking.into_iter().map(|(ids, lacks)| (ids.join(" "), format!("lacks {lacks}"))));
    remarks
}
