//! The papers' claims as data: one file for each paper, read once.
//!
//! ```toml
//! [run.think]                                 # a run that formulas name
//! load = "sync-streams:file=1g,think={x}ms"   # the workload; {x} is the step
//! x = ["0", "1", "2"]
//! for = "20s"                                 # simulated time; without it the workload ends itself
//! full = { for = "60s" }                      # what differs with --full
//!
//! [[claim]]
//! id = "S14"
//! name = "both think"
//! where = "§4.2.1, figure 5"
//! load = "two processes, sequential, a pause of t after each 64 KB"
//! metric = "MB/s"
//! says = "four times as much at t = 0, as much from about 8 ms on"
//! kind = "ratio"
//! points = [{ what = "gain at 0 ms", ours = "think@0: antic-aged-sptf / aged-sptf", ratio = 4.0 }]
//! ```

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::formula::{Formula, Measure};

/// A paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// What it is called here.
    pub name: String,
    /// Authors, title, place, year.
    pub title: String,
    /// What it was measured on.
    pub machine: String,
    /// The profile of its disk.
    pub disk: String,
    /// What stands for what here, and where it is from.
    pub notes: String,
    /// Runs by name.
    #[serde(rename = "run", default)]
    pub runs: BTreeMap<String, Setup>,
    /// Its claims.
    #[serde(rename = "claim")]
    pub claims: Vec<Claim>,
}

/// A run, or several that differ in one thing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The workload, as `--workload` takes it; `{x}` stands for the step.
    pub load: String,
    /// The steps, of a run that has several.
    #[serde(default)]
    pub x: Vec<String>,
    /// The disk, if it is not the paper's.
    pub disk: Option<String>,
    /// Simulated time; without it the workload ends itself.
    #[serde(rename = "for")]
    pub time: Option<String>,
    /// The queue merges neighbours.
    #[serde(default = "yes")]
    pub merges: bool,
    /// What differs at the paper's size.
    #[serde(default)]
    pub full: Full,
}

/// What differs at the paper's size.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Full {
    /// The workload.
    pub load: Option<String>,
    /// Simulated time.
    #[serde(rename = "for")]
    pub time: Option<String>,
}

fn yes() -> bool {
    true
}

/// What kind of claim it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The figures of two schedulers have this ratio.
    Ratio,
    /// Somebody has more than somebody else.
    Order,
    /// Processes have these shares.
    Share,
    /// A bound, such as at most 8 % less.
    Bound,
    /// A table of who is best for what.
    Table,
    /// The paper measured memory: only orderings mean something.
    Cache,
    /// Nothing that could be run.
    Fact,
}

/// A claim.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The claim's id: the paper's letter and a number.
    pub id: String,
    /// A few words.
    pub name: String,
    /// Where the paper says it.
    #[serde(rename = "where")]
    pub place: String,
    /// What the paper ran.
    pub load: String,
    /// What it measured.
    pub metric: String,
    /// What it found, with its figures.
    pub says: String,
    /// What kind of claim it is.
    pub kind: Kind,
    /// What is compared.
    #[serde(default)]
    pub points: Vec<Point>,
    /// Why it is otherwise here: the mechanism.
    pub reason: Option<String>,
    /// What it would take to run the rest of it.
    pub lacks: Option<String>,
    /// The figure of the paper that it is about.
    pub curve: Option<Curve>,
}

/// One thing that is compared.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Row")]
pub struct Point {
    /// A few words.
    pub what: String,
    /// How it is compared.
    pub test: Test,
}

/// How a point is compared.
#[derive(Debug)]
pub enum Test {
    /// A ratio of two figures, and the paper's.
    Ratio(Formula, f64),
    /// One figure and the paper's, for information: machines differ, ratios should not.
    Value(Formula, f64),
    /// A figure or ratio that lies between these.
    Bound(Formula, Option<f64>, Option<f64>),
    /// Figures, and how many times the least the greatest is at most.
    Spread(Vec<Formula>, f64),
    /// Figures from the greatest to the least.
    Order(Vec<Formula>),
    /// Who is best at each step of a run.
    Table {
        /// The run.
        run: String,
        /// The candidates.
        among: Vec<String>,
        /// By what they are compared.
        measure: Measure,
        /// The paper's winner at each step; `not NAME`: anybody else.
        best: Vec<String>,
    },
}

/// A figure of the paper as lines.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Which figure, and what it shows.
    pub title: String,
    /// What the steps are.
    pub x: String,
    /// The run with the steps.
    pub run: String,
    /// The schedulers whose throughput is drawn, and what the paper's text says of them: pairs of a step and MB/s.
    pub lines: BTreeMap<String, Vec<(f64, f64)>>,
}

/// A point as it stands in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    what: String,
    ours: Option<Formula>,
    ratio: Option<f64>,
    value: Option<f64>,
    least: Option<f64>,
    most: Option<f64>,
    among: Option<Vec<String>>,
    order: Option<Vec<Formula>>,
    spread: Option<Vec<Formula>>,
    run: Option<String>,
    measure: Option<String>,
    best: Option<Vec<String>>,
}

impl TryFrom<Row> for Point {
    type Error = String;

    fn try_from(row: Row) -> Result<Point, String> {
        let what = row.what;
        let wrong = |problem: &str| format!("point '{what}': {problem}");
        let test = match (row.ours, row.order, row.spread, row.run) {
            (Some(ours), None, None, None) => match (row.ratio, row.value, row.least, row.most) {
                (Some(ratio), None, None, None) if ours.is_ratio() => Test::Ratio(ours, ratio),
                (None, Some(value), None, None) => Test::Value(ours, value),
                (None, None, least, most) if least.or(most).is_some() => Test::Bound(ours, least, most),
                _ => {
                    return Err(wrong(
                        "ours is compared with a ratio (A / B, or a share), a value, or least and most",
                    ));
                }
            },
            (None, Some(order), None, None) if order.len() > 1 => Test::Order(order),
            (None, None, Some(spread), None) if spread.len() > 1 => {
                Test::Spread(spread, row.most.ok_or_else(|| wrong("a spread has a most"))?)
            }
            (None, None, None, Some(run)) => {
                let measure = row.measure.as_deref().unwrap_or("throughput").parse();
                let (among, best) =
                    row.among.zip(row.best).ok_or_else(|| wrong("a table has among and best"))?;
                let measure =
                    measure.map_err(|error: super::formula::FormulaError| wrong(&error.to_string()))?;
                Test::Table { run, among, measure, best }
            }
            _ => return Err(wrong("write one of ours, order, spread and run")),
        };
        Ok(Point { what, test })
    }
}

static PAPERS: LazyLock<Vec<Paper>> = LazyLock::new(|| {
    let texts = [
        include_str!("../../papers/sosp01.toml"),
        include_str!("../../papers/ols05.toml"),
        include_str!("../../papers/ioaz.toml"),
        include_str!("../../papers/unc.toml"),
        include_str!("../../papers/wiki.toml"),
    ];
    texts.map(|text| toml::from_str(text).unwrap_or_else(|error| panic!("{error}"))).into()
});

/// All papers.
pub fn papers() -> &'static [Paper] {
    &PAPERS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_is_declared_once() {
        let papers = ["S40", "O15", "I06", "U13", "W11"];
        let all = |last: &str| {
            let (letter, count) = (last[..1].to_owned(), last[1..].parse::<u32>().unwrap());
            (1..=count).map(move |number| format!("{letter}{number:02}"))
        };
        let declared: Vec<&str> =
            super::papers().iter().flat_map(|paper| &paper.claims).map(|one| one.id.as_str()).collect();
        assert_eq!(declared, papers.into_iter().flat_map(all).collect::<Vec<_>>());
        assert_eq!(declared.len(), 85);
    }

    #[test]
    fn a_claim_has_points_or_is_a_fact() {
        for claim in super::papers().iter().flat_map(|paper| &paper.claims) {
            let id = &claim.id;
            let fact = claim.kind == Kind::Fact;
            assert_eq!(fact, claim.points.is_empty(), "{id}: a fact has no points, and all else has");
            assert!(!fact || claim.lacks.is_none(), "{id} is a fact");
            for words in std::iter::once(&claim.name).chain(claim.points.iter().map(|point| &point.what)) {
                assert!(words.chars().count() <= 36, "{id}: '{words}' is too long for a table");
            }
        }
    }

    #[test]
    fn a_point_is_compared_in_one_way() {
        let read = |text: &str| toml::from_str::<Point>(text).map_err(|error| error.message().to_owned());
        let both = read("what = 'x'\nours = 'a: b / c'\nratio = 2.0\nleast = 1.0").unwrap_err();
        assert!(both.contains("point 'x': ours is compared with a ratio (A / B, or a share)"), "{both}");
        let none = read("what = 'x'").unwrap_err();
        assert!(none.contains("write one of ours, order, spread and run"), "{none}");
        assert!(read("what = 'x'\nours = 'a: b'\nratio = 2.0").is_err(), "one figure is no ratio");
        assert!(matches!(read("what = 'x'\nours = 'a: b / c'\nmost = 2.0").unwrap().test, Test::Bound(..)));
    }
}
