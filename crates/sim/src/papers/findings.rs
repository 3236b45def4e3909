//! What became of each claim: its points' figures over all seeds, and the verdict.

use super::claims::{Claim, Curve, Kind, Paper, Point, Test};
use super::error::PapersError;
use super::formula::{Formula, Measure, Term};
use super::measured::Measured;
use super::runs::{self, Results};
use super::verdict::{self, Verdict};
use crate::experiment::Figure;

/// A claim and what became of it.
#[derive(Debug)]
pub struct Finding {
    /// The paper.
    pub paper: &'static Paper,
    /// The claim.
    pub claim: &'static Claim,
    /// Whether it holds: the worst of its points.
    pub verdict: Verdict,
    /// Its points, in the file's order.
    pub points: Vec<Found>,
}

/// A point and what became of it.
#[derive(Debug)]
pub struct Found {
    /// The point.
    pub point: &'static Point,
    /// Our figures.
    pub ours: Ours,
    /// Whether it holds; `None` for what is shown for information.
    pub verdict: Option<Verdict>,
}

/// Our figures for a point.
#[derive(Debug)]
pub enum Ours {
    /// The runs were cut short.
    Unfinished,
    /// One figure, or a ratio.
    Figure(Figure),
    /// Figures from what should be the greatest on.
    Order(Vec<Figure>),
    /// A table's cells.
    Table(Vec<Cell>),
}

/// A cell of a table of winners.
#[derive(Debug)]
pub struct Cell {
    /// The step.
    pub step: String,
    /// Whom the paper has.
    pub paper: String,
    /// Who is best here: all that are within 1 % of it.
    pub best: Vec<String>,
    /// The paper's is among them.
    pub agrees: bool,
}

/// A line of a figure: the scheduler, and at each step its throughput in bytes a second.
#[derive(Debug)]
pub struct Line {
    /// The scheduler.
    pub scheduler: String,
    /// Pairs of a step and the throughput.
    pub points: Vec<(f64, Figure)>,
}

/// A candidate this near to the best, as a share of it, is as good.
const SAME: f64 = 0.99;

/// Where figures come from.
struct Source<'a> {
    paper: &'static Paper,
    results: &'a Results,
    full: bool,
    seeds: &'a [u64],
}

impl Source<'_> {
    /// A figure in a run. `None` if the run is not done. Who is not in a report got nothing.
    fn term(&self, term: &Term, seed: u64) -> Result<Option<f64>, PapersError> {
        let run = runs::run(self.paper, term, self.full, seed)?;
        let value = |one: &Measured| one.get(&term.measure).unwrap_or(0.0);
        Ok(self.results.get(&run.to_string()).map(value))
    }

    /// A formula with each seed.
    fn samples(&self, formula: &Formula) -> Result<Option<Vec<f64>>, PapersError> {
        let mut samples = Vec::new();
        for seed in self.seeds {
            let Some(over) = self.term(&formula.over, *seed)? else { return Ok(None) };
            let under = match &formula.under {
                Some(under) => self.term(under, *seed)?,
                None => Some(1.0),
            };
            let Some(under) = under else { return Ok(None) };
            samples.push(over / under.max(f64::MIN_POSITIVE));
        }
        Ok(Some(samples))
    }

    /// Several formulas with each seed.
    fn all(&self, formulas: &[Formula]) -> Result<Option<Vec<Vec<f64>>>, PapersError> {
        formulas.iter().map(|formula| self.samples(formula)).collect()
    }

    fn point(&self, point: &'static Point) -> Result<Found, PapersError> {
        let found = match &point.test {
            Test::Ratio(ours, paper) => {
                let figure = self.samples(ours)?.map(|samples| Figure::of(&samples));
                figure.map(|figure| (Ours::Figure(figure), Some(verdict::of_ratio(figure, *paper))))
            }
            Test::Value(ours, _) => {
                self.samples(ours)?.map(|samples| (Ours::Figure(Figure::of(&samples)), None))
            }
            Test::Bound(ours, least, most) => {
                let figure = self.samples(ours)?.map(|samples| Figure::of(&samples));
                figure.map(|figure| (Ours::Figure(figure), Some(verdict::of_bound(figure, *least, *most))))
            }
            Test::Spread(all, most) => self.all(all)?.map(|samples| {
                let means = || samples.iter().map(|samples| Figure::of(samples).mean);
                let (least, greatest) = (means().fold(f64::MAX, f64::min), means().fold(0.0, f64::max));
                let mean = greatest / least.max(f64::MIN_POSITIVE);
                let figure = Figure { mean, ci95: 0.0 };
                (Ours::Figure(figure), Some(verdict::of_bound(figure, None, Some(*most))))
            }),
            Test::Order(all) => self.all(all)?.map(|samples| {
                let ratio = |pair: &[Vec<f64>]| {
                    let each = pair[0].iter().zip(&pair[1]).map(|(a, b)| a / b.max(f64::MIN_POSITIVE));
                    Figure::of(&each.collect::<Vec<_>>())
                };
                let ratios: Vec<Figure> = samples.windows(2).map(ratio).collect();
                let figures = samples.iter().map(|samples| Figure::of(samples)).collect();
                (Ours::Order(figures), Some(verdict::of_order(&ratios)))
            }),
            Test::Table { run, among, measure, best } => {
                self.table(run, among, measure, best)?.map(|cells| {
                    let agreeing = cells.iter().filter(|cell| cell.agrees).count();
                    let verdict = verdict::of_cells(agreeing, cells.len());
                    (Ours::Table(cells), Some(verdict))
                })
            }
        };
        let (ours, verdict) = found.unwrap_or((Ours::Unfinished, Some(Verdict::Unfinished)));
        Ok(Found { point, ours, verdict })
    }

    /// Who is best in each cell.
    fn table(
        &self,
        run: &str,
        among: &[String],
        measure: &Measure,
        papers: &[String],
    ) -> Result<Option<Vec<Cell>>, PapersError> {
        let mut cells = Vec::new();
        for (terms, paper) in runs::table(self.paper, run, among, measure)?.iter().zip(papers) {
            let mut means = Vec::new();
            for term in terms {
                let samples: Result<Option<Vec<f64>>, _> =
                    self.seeds.iter().map(|seed| self.term(term, *seed)).collect();
                let Some(samples) = samples? else { return Ok(None) };
                means.push(Figure::of(&samples).mean);
            }
            let most = means.iter().copied().fold(0.0, f64::max);
            let good = among.iter().zip(&means).filter(|(_, mean)| **mean >= most * SAME);
            let best: Vec<String> = good.map(|(name, _)| name.clone()).collect();
            let agrees = match paper.strip_prefix("not ") {
                Some(name) => best.iter().any(|one| one != name),
                None => best.contains(paper),
            };
            let step = terms[0].step.clone().unwrap_or_default();
            cells.push(Cell { step, paper: paper.clone(), best, agrees });
        }
        Ok(Some(cells))
    }
}

/// The verdict on a claim with these points.
fn overall(claim: &Claim, points: &[Found]) -> Verdict {
    let worst = points.iter().filter_map(|found| found.verdict).max();
    match (claim.kind, worst) {
        (Kind::Fact, _) | (_, None) => Verdict::Fact,
        (Kind::Cache, Some(worst)) if worst != Verdict::Unfinished => Verdict::Cache,
        (_, Some(worst)) => worst,
    }
}

/// What became of these claims, in their order.
///
/// # Errors
/// [`PapersError`] if a formula names a run that is not declared.
pub fn find(
    claims: &[(&'static Paper, &'static Claim)],
    results: &Results,
    full: bool,
    seeds: &[u64],
) -> Result<Vec<Finding>, PapersError> {
    let found = |&(paper, claim): &(&'static Paper, &'static Claim)| {
        let source = Source { paper, results, full, seeds };
        let points: Vec<Found> =
            claim.points.iter().map(|point| source.point(point)).collect::<Result<_, _>>()?;
        Ok(Finding { paper, claim, verdict: overall(claim, &points), points })
    };
    claims.iter().map(found).collect()
}

/// Our lines of a figure; those steps alone whose runs are done.
///
/// # Errors
/// [`PapersError`] if the figure names a run that is not declared.
pub fn lines(
    paper: &'static Paper,
    curve: &Curve,
    results: &Results,
    full: bool,
    seeds: &[u64],
) -> Result<Vec<Line>, PapersError> {
    let source = Source { paper, results, full, seeds };
    let mut lines = Vec::new();
    for scheduler in curve.lines.keys() {
        let mut points = Vec::new();
        let among = std::slice::from_ref(scheduler);
        for term in runs::table(paper, &curve.run, among, &Measure::default())?.concat() {
            let samples: Result<Option<Vec<f64>>, _> =
                seeds.iter().map(|seed| source.term(&term, *seed)).collect();
            let step = term.step.as_deref().and_then(|step| step.parse().ok());
            if let Some((samples, step)) = samples?.zip(step) {
                points.push((step, Figure::of(&samples)));
            }
        }
        lines.push(Line { scheduler: scheduler.clone(), points });
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Control;
    use crate::papers::claims::papers;

    /// Rows of one scheduler against another that take moments. Those of programs on machines take minutes here.
    const CORE: [&str; 17] = [
        "S01", "S03", "S04", "S05", "S06", "S08", "S09", "S11", "S12", "S13", "S14", "S17", "S20", "S35",
        "S36", "S37", "I02",
    ];

    /// The verdicts on these claims, in their order; of runs of half the size if they are `halved`.
    fn verdicts(ids: &[&str], seeds: &[u64], halved: bool) -> Vec<Verdict> {
        let all = papers().iter().flat_map(|paper| paper.claims.iter().map(move |claim| (paper, claim)));
        let claims: Vec<_> = all.filter(|(_, claim)| ids.contains(&claim.id.as_str())).collect();
        let runs = runs::wanted(&claims, false, seeds).unwrap();
        let carried: Vec<_> =
            runs.iter().map(|run| if halved { run.halved() } else { run.clone() }).collect();
        let given = runs::carry_out(&carried, 0, &Control::default(), &|_, _| ()).unwrap();
        let named =
            |(run, carried): (&runs::Run, &runs::Run)| (run.to_string(), given[&carried.to_string()].clone());
        let results: Results = runs.iter().zip(&carried).map(named).collect();
        let found = find(&claims, &results, false, seeds).unwrap();
        assert_eq!(found.len(), ids.len());
        found.iter().map(|one| one.verdict).collect()
    }

    #[test]
    fn neither_the_seed_nor_half_the_size_changes_a_verdict() {
        let told = |seeds, halved| CORE.into_iter().zip(verdicts(&CORE, seeds, halved)).collect::<Vec<_>>();
        let holds: Vec<_> = CORE.into_iter().map(|id| (id, Verdict::Holds)).collect();
        assert_eq!(told(&[1, 2], false), holds);
        assert_eq!(told(&[71, 72], false), holds, "other seeds");
        assert_eq!(told(&[1, 2], true), holds, "half the size");
    }

    #[test]
    fn a_claim_without_its_runs_is_unfinished() {
        let paper = &papers()[0];
        let claim = |id: &str| (paper, paper.claims.iter().find(|claim| claim.id == id).unwrap());
        let found = find(&[claim("S11"), claim("S15")], &Results::new(), false, &[1]).unwrap();
        let verdicts: Vec<Verdict> = found.iter().map(|one| one.verdict).collect();
        assert_eq!(verdicts, [Verdict::Unfinished, Verdict::Fact]);
    }
}
