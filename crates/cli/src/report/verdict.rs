//! The words at the end of a comparison: which scheduler is best for what, and whether it matters.
//!
//! A verdict is a function of tables of results: [`judge`] makes claims of them, and each claim is a sentence. JSON carries
//! the claims. What is called better rests on differences that [`Measured::worse`](table::Measured::worse) sees. Of those that
//! are as good, the better mean is taken, and then the simplest.

pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use std::fmt;

use idlewise_core::registry;
use serde::{Serialize, Serializer};

use table::{Goal, LONG_WAIT_NS, MATTERS, Measured, Patience, Table};

/// The longest request is worth a warning from [`LONG_WAIT_NS`] on, if it is this often the shortest maximum.
const LONG_WAIT_FACTOR: f64 = 5.0;
/// Programs that end this often later than under another scheduler are worth a warning.
const LATE_FACTOR: f64 = 2.0;
/// Those to keep off are named, instead of those to take, where there are at least this many good ones for each.
const GOOD_FOR_EACH: usize = 2;
/// Fewer requests than this of a trace are no ground for a recommendation.
pub(crate) const ENOUGH: u64 = 100;

/// A scheduler and how it does in a figure, in the figure's unit of JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Value {
    pub(crate) scheduler: String,
    pub(crate) value: f64,
}

/// A figure, and how many times worse one scheduler has it than another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Times {
    pub(crate) figure: &'static str,
    pub(crate) times: f64,
    pub(crate) than: String,
}

/// What is assumed of what a trace leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assumption {
    /// What waits for what, such as "in closed loop".
    pub(crate) waits: &'static str,
    /// How fast the disk is, such as "10 % slower", if it is not as it is modelled.
    pub(crate) disk: Option<String>,
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.waits)?;
        self.disk.iter().try_for_each(|disk| write!(f, " on a disk {disk}"))
    }
}

impl Serialize for Assumption {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What schedulers an assumption leaves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Under {
    pub(crate) assumption: Assumption,
    /// Whom nobody beats.
    pub(crate) good: Vec<String>,
}

/// One thing that a verdict says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "claim", rename_all = "kebab-case")]
pub(crate) enum Claim {
    /// The runs were cut short.
    Interrupted,
    /// There is nobody to compare with.
    Alone,
    /// Who has a figure best, who ties with the best, and who has it worst of those that do not.
    Best {
        figure: &'static str,
        best: Value,
        ties: Vec<Value>,
        last: Value,
        /// Those that have the same value as `last`.
        alike: Vec<String>,
        /// `last` has the worst value of all.
        worst: bool,
    },
    /// All but one tie for a figure.
    AllBut { figure: &'static str, best: Value, furthest: Value, but: Value },
    /// No figure by which the goal goes was measured. `idle`: for nothing is read or written.
    Untold { goal: Goal, idle: bool },
    /// No figure of the goal differs.
    Same { figures: Vec<&'static str>, simplest: String },
    /// Figures differ, and on balance nobody is better.
    Even { goal: Goal, simplest: String },
    /// All but these are as good as each other.
    Avoid { goal: Goal, but: Vec<String> },
    /// One to take, those that are as good, and the figures in which another is better. `only`: the assumptions that make the
    /// difference, if the load as it was replayed makes none.
    Take { goal: Goal, scheduler: String, ties: Vec<String>, behind: Vec<Times>, only: Vec<Assumption> },
    /// The recommended scheduler lets some request wait far longer than need be.
    Longest { scheduler: Value, other: Value },
    /// Programs that end by themselves end far later under the recommended scheduler than under another.
    Ends { scheduler: Value, other: Value },
    /// Those that are better than the recommended scheduler in something, and are not taken as they let a request take
    /// longer than the goal allows. `usual`: the scheduler of whose longest request the limit is twice, if it is not a second.
    LeftOut { schedulers: Vec<Value>, limit_ns: f64, usual: Option<String> },
    /// What is known to be unsure leaves the recommendation as it is.
    Holds { missing: &'static str, assumptions: Vec<Assumption> },
    /// The trace has too few requests to tell anything.
    Few { requests: u64 },
    /// The disk's model is so far from the recorded disk that nothing can be told: by this share of the mean response time.
    Far { off: f64 },
    /// What the trace does not tell decides.
    CannotTell { missing: &'static str, under: Vec<Under> },
    /// What others than those that the verdict is about would add.
    Others { scheduler: String, over: String, times: f64, figures: Vec<Times> },
    /// The others would add nothing.
    NoOthers { over: String },
}

/// The same loads, under another assumption about what is not known.
pub(in crate::report) struct Assumed {
    pub(in crate::report) assumption: Assumption,
    pub(in crate::report) table: Table,
}

/// What a verdict is made of.
pub(in crate::report) struct Question<'a> {
    pub(in crate::report) table: &'a Table,
    pub(in crate::report) goal: Goal,
    /// What forbids to recommend anything: [`Claim::Interrupted`], [`Claim::Few`] or [`Claim::Far`].
    pub(in crate::report) barred: Option<Claim>,
    /// What the load does not tell, and the results under what may be so instead, with the same schedulers.
    pub(in crate::report) missing: &'static str,
    pub(in crate::report) assumed: &'a [Assumed],
    /// The schedulers of the table that the verdict is about; the others are idlewise's own.
    pub(in crate::report) about: &'a [usize],
}

/// A verdict: claims, and a sentence for each.
pub(crate) struct Verdict {
    pub(crate) claims: Vec<Claim>,
    pub(crate) sentences: Vec<String>,
    /// The verdict is about Linux's schedulers alone, and the table has others.
    partial: bool,
}

impl Verdict {
    /// All sentences.
    pub(crate) fn text(&self) -> String {
        let figures = matches!(self.claims.first(), Some(Claim::Best { .. } | Claim::AllBut { .. }));
        let about = if figures && self.partial { "Of Linux's schedulers: " } else { "" };
        format!("{about}{}", self.sentences.join(" "))
    }

    /// The claims about single figures, and their sentences: nothing is recommended.
    pub(crate) fn facts(&self) -> (Vec<Claim>, String) {
        let facts = self.claims.iter().zip(&self.sentences);
        let facts = facts.filter(|(claim, _)| matches!(claim, Claim::Best { .. } | Claim::AllBut { .. }));
        let (claims, sentences): (Vec<_>, Vec<_>) =
            facts.map(|(claim, text)| (claim.clone(), text.as_str())).unzip();
        (claims, sentences.join(" "))
    }

    /// What it comes to, in a few words.
    pub(crate) fn headline(&self) -> String {
        let cannot = |claim: &&Claim| {
            matches!(claim, Claim::Few { .. } | Claim::Far { .. } | Claim::CannotTell { .. })
        };
        let unsure = self.claims.iter().find(cannot);
        let recommends = self.claims.iter().find_map(words::headline);
        unsure.and_then(words::headline).or(recommends).unwrap_or_else(|| "No recommendation".to_owned())
    }

    /// The scheduler to take, if the verdict names one.
    pub(crate) fn takes(&self) -> Option<&str> {
        self.claims.iter().find_map(|claim| match claim {
            Claim::Take { scheduler: name, .. }
            | Claim::Same { simplest: name, .. }
            | Claim::Even { simplest: name, .. } => Some(name.as_str()),
            _ => None,
        })
    }
}

/// Which scheduler is best for what, and whether the difference matters.
pub(in crate::report) fn verdict(question: &Question<'_>) -> Verdict {
    let claims = judge(question);
    let sentences = claims.iter().map(|claim| words::sentence(claim, question.table)).collect();
    let partial = question.about.len() < question.table.schedulers.len();
    Verdict { claims, sentences, partial }
}

fn judge(question: &Question<'_>) -> Vec<Claim> {
    if question.barred == Some(Claim::Interrupted) {
        return vec![Claim::Interrupted];
    }
    let own = question.table.only(question.about);
    if own.schedulers.len() < 2 {
        return vec![Claim::Alone];
    }
    let mut claims: Vec<Claim> = own.figures.iter().filter_map(|figure| fact(&own, figure)).collect();
    if let Some(barred) = &question.barred {
        claims.push(barred.clone());
        return claims;
    }
    let good = own.unbeaten(question.goal);
    let under = |assumed: &Assumed| Under {
        assumption: assumed.assumption.clone(),
        good: named(&assumed.table, &assumed.table.unbeaten(question.goal)),
    };
    let under: Vec<Under> = question.assumed.iter().map(under).collect();
    let everywhere = |row: &usize| under.iter().all(|under| under.good.contains(&own.schedulers[*row]));
    let robust: Vec<usize> = good.iter().copied().filter(everywhere).collect();
    let missing = question.missing;
    if robust.is_empty() {
        claims.push(Claim::CannotTell { missing, under });
        return claims;
    }
    let calm: Vec<usize> = robust.iter().copied().filter(|row| longest(&own, *row).is_none()).collect();
    let pool = if calm.is_empty() { &robust } else { &calm };
    let chosen = simplest(&own, &own.nearly_best(question.goal, pool));
    let (mut claim, taken) = advice(&own, question.goal, &robust, chosen);
    let takes = matches!(claim, Claim::Take { .. });
    if let Claim::Take { only, .. } = &mut claim
        && good.len() == own.schedulers.len()
    {
        let parts = under.iter().filter(|under| under.good.len() < own.schedulers.len());
        *only = parts.map(|under| under.assumption.clone()).collect();
    }
    claims.push(claim);
    if !under.is_empty() {
        let assumptions = under.into_iter().map(|under| under.assumption).collect();
        claims.push(Claim::Holds { missing, assumptions });
    }
    if takes {
        claims.extend(longest(&own, taken));
        claims.extend(ends(&own, taken));
    }
    claims.extend(left_out(&own, question.goal, taken));
    claims.extend(others(question, question.about[taken]));
    claims
}

impl Table {
    /// Of these schedulers alone.
    fn only(&self, rows: &[usize]) -> Table {
        let figures = self.figures.iter().map(|figure| Measured {
            samples: rows.iter().map(|row| figure.samples[*row].clone()).collect(),
            ..figure.clone()
        });
        Table {
            schedulers: named(self, rows),
            figures: figures.collect(),
            longest: rows.iter().map(|row| self.longest[*row]).collect(),
            ends: rows.iter().filter_map(|row| self.ends.get(*row).copied()).collect(),
            idle: self.idle,
            in_use: self.in_use.clone(),
        }
    }
}

fn named(table: &Table, rows: &[usize]) -> Vec<String> {
    rows.iter().map(|row| table.schedulers[*row].clone()).collect()
}

/// Who does best and worst in a figure; `None` if it does not matter.
fn fact(table: &Table, figure: &Measured) -> Option<Claim> {
    let order = figure.order();
    let best = order[0];
    let (bad, ties): (Vec<usize>, Vec<usize>) = order[1..].iter().partition(|row| figure.worse(**row, best));
    let last = *bad.last()?;
    let value = |row: usize| Value { scheduler: table.schedulers[row].clone(), value: figure.mean(row) };
    let name = figure.name;
    let furthest = ties.last().filter(|tie| order.len() > 3 && figure.ratio(last, **tie) > 1.0);
    if let (Some(furthest), [but]) = (furthest, &bad[..]) {
        let (best, furthest, but) = (value(best), value(*furthest), value(*but));
        return Some(Claim::AllBut { figure: name, best, furthest, but });
    }
    let worst = figure.ratio(last, order[order.len() - 1]) >= 1.0;
    let shown = |row: usize| words::show(figure.kind, figure.mean(row));
    let alike = bad.iter().filter(|row| **row != last && shown(**row) == shown(last));
    let alike = alike.map(|row| table.schedulers[*row].clone()).collect();
    let ties = ties.into_iter().map(value).collect();
    Some(Claim::Best { figure: name, best: value(best), ties, last: value(last), alike, worst })
}

/// What to take of those that are good under every assumption, and the row that this comes to.
fn advice(table: &Table, goal: Goal, good: &[usize], chosen: usize) -> (Claim, usize) {
    if table.weighed(goal).next().is_none() {
        return (Claim::Untold { goal, idle: table.idle }, chosen);
    }
    let bad: Vec<usize> = (0..table.schedulers.len()).filter(|row| !good.contains(row)).collect();
    if bad.is_empty() {
        let row = simplest(table, good);
        let simplest = table.schedulers[row].clone();
        let claim = if table.weighed(goal).any(|figure| fact(table, figure).is_some()) {
            Claim::Even { goal, simplest }
        } else {
            Claim::Same { figures: table.weighed(goal).map(|figure| figure.name).collect(), simplest }
        };
        return (claim, row);
    }
    // Whoever reads this takes any of the others.
    let better = |bad: usize, good: usize| table.figures.iter().any(|figure| figure.worse(good, bad));
    let safe = |good: &usize| longest(table, *good).is_none() && !bad.iter().any(|bad| better(*bad, *good));
    if bad.len() * GOOD_FOR_EACH <= good.len() && good.iter().all(safe) {
        return (Claim::Avoid { goal, but: named(table, &bad) }, chosen);
    }
    let behind = |figure: &Measured| {
        let best = figure.order()[0];
        let than = table.schedulers[best].clone();
        figure.worse(chosen, best).then(|| Times {
            figure: figure.name,
            times: figure.ratio(chosen, best),
            than,
        })
    };
    let ties: Vec<usize> = good.iter().copied().filter(|row| *row != chosen).collect();
    let behind = table.figures.iter().filter_map(behind).collect();
    let scheduler = table.schedulers[chosen].clone();
    (Claim::Take { goal, scheduler, ties: named(table, &ties), behind, only: Vec::new() }, chosen)
}

/// A row's value in a column of times, and the least one's, if the row has at least `factor` times that.
fn far(table: &Table, column: &[f64], chosen: usize, factor: f64) -> Option<[Value; 2]> {
    let value = |row: usize| Value { scheduler: table.schedulers[row].clone(), value: column[row] };
    let least = (0..column.len()).min_by(|a, b| column[*a].total_cmp(&column[*b]))?;
    (column[chosen] > factor * column[least]).then(|| [value(chosen), value(least)])
}

/// A warning if the recommended scheduler lets some request wait far longer than need be.
fn longest(table: &Table, chosen: usize) -> Option<Claim> {
    let [scheduler, other] = far(table, &table.longest, chosen, LONG_WAIT_FACTOR)?;
    (scheduler.value >= LONG_WAIT_NS).then_some(Claim::Longest { scheduler, other })
}

/// A warning if programs end far later under the recommended scheduler than need be.
fn ends(table: &Table, chosen: usize) -> Option<Claim> {
    let [scheduler, other] = far(table, &table.ends, chosen, LATE_FACTOR)?;
    Some(Claim::Ends { scheduler, other })
}

/// Who is better than the recommended scheduler in something, and starves somebody.
fn left_out(table: &Table, goal: Goal, chosen: usize) -> Option<Claim> {
    let Patience { limit_ns, usual } = table.patience();
    let better = |row: usize| table.weighed(goal).any(|figure| figure.worse(chosen, row));
    let starves = |row: &usize| goal == Goal::Balanced && table.longest[*row] > limit_ns && better(*row);
    let value = |row: usize| Value { scheduler: table.schedulers[row].clone(), value: table.longest[row] };
    let schedulers: Vec<Value> = (0..table.schedulers.len()).filter(starves).map(value).collect();
    let usual = usual.map(|row| table.schedulers[row].clone());
    (!schedulers.is_empty()).then_some(Claim::LeftOut { schedulers, limit_ns, usual })
}

/// What those that the verdict is not about would add to the scheduler at `chosen`.
fn others(question: &Question<'_>, chosen: usize) -> Option<Claim> {
    let (table, goal) = (question.table, question.goal);
    let gain = |row: usize| table.behind(goal, chosen, row);
    if question.about.len() == table.schedulers.len() {
        return None;
    }
    let others = table.candidates(goal).into_iter().filter(|row| !question.about.contains(row));
    let over = table.schedulers[chosen].clone();
    let Some(best) = others.max_by(|a, b| gain(*a).total_cmp(&gain(*b))) else {
        return Some(Claim::NoOthers { over });
    };
    if gain(best) <= 1.0 + MATTERS {
        return Some(Claim::NoOthers { over });
    }
    let differs = |figure: &&Measured| figure.worse(chosen, best) || figure.worse(best, chosen);
    let times = |figure: &Measured| Times {
        figure: figure.name,
        times: figure.ratio(chosen, best),
        than: table.schedulers[best].clone(),
    };
    let figures = table.figures.iter().filter(differs).map(times).collect();
    Some(Claim::Others { scheduler: table.schedulers[best].clone(), over, times: gain(best), figures })
}

/// The simplest of some rows: the one with the fewest tunables, `noop` before all, and one without settings before one
/// with them.
fn simplest(table: &Table, rows: &[usize]) -> usize {
    let complexity = |row: &usize| {
        let label = &table.schedulers[*row];
        let (name, settings) = label.split_once(':').unwrap_or((label, ""));
        let place = registry::find(name)
            .and_then(|found| registry::all().iter().position(|entry| entry.name == found.name));
        let tunables = place.map_or(usize::MAX, |place| registry::all()[place].tunables.len());
        (place != Some(0), tunables, place.unwrap_or(usize::MAX), !settings.is_empty(), *row)
    };
    rows.iter().copied().min_by_key(complexity).unwrap_or(0)
}
