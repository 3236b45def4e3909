//! The words at the end of a comparison: which scheduler is best for what, and whether it matters.
//!
//! A verdict is a function of tables of results: [`judge`] makes claims of them, and each claim is a sentence. JSON carries
//! the claims. What is called better rests on differences that [`Measured::worse`](table::Measured::worse) sees. Of those that
//! are as good, the better mean is taken, and then the simplest.

pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use idlewise_core::registry;
use serde::Serialize;

use table::{Goal, LONG_WAIT_NS, MATTERS, Measured, Table};

/// The longest request is worth a warning from [`LONG_WAIT_NS`] on, if it is this often the shortest maximum.
const LONG_WAIT_FACTOR: f64 = 5.0;
/// Those to keep off are named, instead of those to take, where there are at least this many good ones for each.
const GOOD_FOR_EACH: usize = 2;

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

/// What schedulers an assumption leaves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Under {
    pub(crate) assumption: String,
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
        /// `last` has the worst value of all.
        worst: bool,
    },
    /// All but one tie for a figure.
    AllBut { figure: &'static str, best: Value, furthest: Value, but: Value },
    /// No figure by which the goal goes was measured.
    Untold { goal: Goal },
    /// No figure of the goal differs.
    Same { figures: Vec<&'static str>, simplest: String },
    /// Figures differ, and on balance nobody is better.
    Even { goal: Goal, simplest: String },
    /// All but these are as good as each other.
    Avoid { goal: Goal, but: Vec<String> },
    /// One to take, those that are as good, and the figures in which another is better.
    Take { goal: Goal, scheduler: String, ties: Vec<String>, behind: Vec<Times> },
    /// The recommended scheduler lets some request wait far longer than need be.
    Longest { scheduler: Value, other: Value },
    /// What is known to be unsure leaves the recommendation as it is.
    Holds { missing: &'static str, assumptions: Vec<String> },
    /// What the trace does not tell decides.
    CannotTell { missing: &'static str, under: Vec<Under> },
    /// What others than those that the verdict is about would add.
    Others { scheduler: String, over: String, times: f64, figures: Vec<Times> },
    /// The others would add nothing.
    NoOthers { over: String },
}

/// The same loads, under another assumption about what is not known.
pub(in crate::report) struct Assumed {
    /// In words.
    pub(in crate::report) name: String,
    pub(in crate::report) table: Table,
}

/// What a verdict is made of.
pub(in crate::report) struct Question<'a> {
    pub(in crate::report) table: &'a Table,
    pub(in crate::report) goal: Goal,
    /// The runs were cut short.
    pub(in crate::report) interrupted: bool,
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
}

impl Verdict {
    /// All sentences.
    pub(crate) fn text(&self) -> String {
        self.sentences.join(" ")
    }

    /// What it comes to, in a few words.
    pub(crate) fn headline(&self) -> String {
        let unsure = self.claims.iter().find(|claim| matches!(claim, Claim::CannotTell { .. }));
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
    Verdict { claims, sentences }
}

fn judge(question: &Question<'_>) -> Vec<Claim> {
    if question.interrupted {
        return vec![Claim::Interrupted];
    }
    let own = question.table.only(question.about);
    if own.schedulers.len() < 2 {
        return vec![Claim::Alone];
    }
    let mut claims: Vec<Claim> = own.figures.iter().filter_map(|figure| fact(&own, figure)).collect();
    let good = own.unbeaten(question.goal);
    let under = |assumed: &Assumed| Under {
        assumption: assumed.name.clone(),
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
    let chosen = simplest(&own, &own.nearly_best(question.goal, &undominated(&own, question.goal, &robust)));
    claims.push(advice(&own, question.goal, &robust, chosen));
    if !under.is_empty() {
        let assumptions = under.into_iter().map(|under| under.assumption).collect();
        claims.push(Claim::Holds { missing, assumptions });
    }
    if matches!(claims.iter().rfind(|claim| !matches!(claim, Claim::Holds { .. })), Some(Claim::Take { .. }))
    {
        claims.extend(longest(&own, chosen));
    }
    claims.extend(others(question, question.about[chosen]));
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
    if let (Some(furthest), [but]) = (ties.last().filter(|_| order.len() > 3), &bad[..]) {
        let (best, furthest, but) = (value(best), value(*furthest), value(*but));
        return Some(Claim::AllBut { figure: name, best, furthest, but });
    }
    let worst = figure.ratio(last, order[order.len() - 1]) >= 1.0;
    let ties = ties.into_iter().map(value).collect();
    Some(Claim::Best { figure: name, best: value(best), ties, last: value(last), worst })
}

/// Those of `good` to which no other of them is to be preferred: one that is worse in no figure of the goal, and better in
/// some.
fn undominated(table: &Table, goal: Goal, good: &[usize]) -> Vec<usize> {
    let weighed = table.weighed(goal);
    let worse = |a: usize, b: usize| weighed.iter().any(|(figure, _)| figure.worse(a, b));
    let best = |row: &&usize| !good.iter().any(|other| worse(**row, *other) && !worse(*other, **row));
    let best: Vec<usize> = good.iter().filter(best).copied().collect();
    if best.is_empty() { good.to_vec() } else { best }
}

/// What to take of those that are good under every assumption.
fn advice(table: &Table, goal: Goal, good: &[usize], chosen: usize) -> Claim {
    let weighed = table.weighed(goal);
    let name = table.schedulers[chosen].clone();
    if weighed.is_empty() {
        return Claim::Untold { goal };
    }
    let bad: Vec<usize> = (0..table.schedulers.len()).filter(|row| !good.contains(row)).collect();
    if bad.is_empty() {
        let differs = |figure: &Measured| fact(table, figure).is_some();
        let simplest = table.schedulers[simplest(table, good)].clone();
        return if weighed.iter().any(|(figure, _)| differs(figure)) {
            Claim::Even { goal, simplest }
        } else {
            Claim::Same { figures: weighed.iter().map(|(figure, _)| figure.name).collect(), simplest }
        };
    }
    if bad.len() * GOOD_FOR_EACH <= good.len() {
        return Claim::Avoid { goal, but: named(table, &bad) };
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
    Claim::Take { goal, scheduler: name, ties: named(table, &ties), behind }
}

/// A warning if the recommended scheduler lets some request wait far longer than need be.
fn longest(table: &Table, chosen: usize) -> Option<Claim> {
    let value = |row: usize| Value { scheduler: table.schedulers[row].clone(), value: table.longest[row] };
    let least = (0..table.longest.len()).min_by(|a, b| table.longest[*a].total_cmp(&table.longest[*b]))?;
    let (here, there) = (table.longest[chosen], table.longest[least]);
    let far = here >= LONG_WAIT_NS && here > there * LONG_WAIT_FACTOR;
    far.then(|| Claim::Longest { scheduler: value(chosen), other: value(least) })
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
