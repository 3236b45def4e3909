//! The words at the end of a comparison: which scheduler is best for what, and whether it matters.
//!
//! Three goals are looked at: getting the work done, short mean latency, and a short tail. Schedulers
//! within [`TIED`] of the best share its place, and the simplest of them is named first: the one with
//! the fewest tunables, `noop` before all.

use idlewise_core::registry;

use crate::output::{ms, three};
use crate::summary::{Figure, Figures};

/// Differences below this share do not matter in practice.
const MATTERS: f64 = 0.05;
/// Differences below this share are none.
const TIED: f64 = 0.01;
/// A compromise further than this from a goal's best is not recommended outright.
const CLOSE: f64 = 0.10;
/// The longest request is worth a warning from here on, and if it is this often the shortest maximum.
const LONG_WAIT_NS: f64 = 1e9;
const LONG_WAIT_FACTOR: f64 = 5.0;

/// One scheduler's name and figures.
pub(crate) type Row<'a> = (&'a str, &'a Figures);

/// How the runs came about.
#[derive(Clone, Copy, Default)]
pub(crate) struct Runs {
    /// Arrivals do not depend on the disk, so run time says nothing.
    pub(crate) open_loop: bool,
    /// The runs were cut short.
    pub(crate) interrupted: bool,
}

/// One thing that a user may want, and how each scheduler does.
struct Goal {
    /// What it is good for, as in "for run time".
    name: &'static str,
    /// Each row's value over the best one: 1 is best.
    ratios: Vec<f64>,
    sentence: String,
}

/// Which scheduler is best for what, and whether the difference matters, in plain words.
pub(crate) fn verdict(rows: &[Row<'_>], runs: Runs) -> String {
    if runs.interrupted {
        return "No verdict: the runs were cut short, each at another point.".to_owned();
    }
    if rows.len() < 2 {
        return "One scheduler alone cannot be compared; name others with --schedulers.".to_owned();
    }
    let goals: Vec<Goal> = [work(rows, runs), mean(rows), tail(rows)].into_iter().flatten().collect();
    if goals.is_empty() {
        let simplest = simplest(rows, 0..rows.len());
        return format!(
            "The choice does not matter here: run time, mean latency and 99th percentile differ by less than 5 % \
             or by no more than chance. Keep what you have; {simplest} is the simplest."
        );
    }
    let mut sentences: Vec<String> = goals.iter().map(|goal| goal.sentence.clone()).collect();
    let (advice, chosen) = advice(rows, &goals);
    sentences.push(advice);
    sentences.extend(chosen.and_then(|chosen| warning(rows, chosen)));
    sentences.join(" ")
}

/// Getting it done: run time of equal work, else throughput.
fn work(rows: &[Row<'_>], runs: Runs) -> Option<Goal> {
    let bytes = |row: &Row<'_>| row.1.bytes.mean;
    let (least, most) = rows.iter().map(bytes).fold((f64::MAX, 0f64), |(a, b), x| (a.min(x), b.max(x)));
    if most > least * (1.0 + TIED) {
        let inverse = |figures: &Figures| {
            let Figure { mean, ci95 } = figures.throughput_bytes_per_s;
            let mean = mean.max(1.0);
            Figure { mean: 1e18 / mean, ci95: 1e18 / mean * (ci95 / mean) }
        };
        return goal(rows, "throughput", inverse, |best, worst| {
            let rate = |value: f64| three(1e18 / value / 1e6);
            format!(
                "{} moves most, {} MB/s{}; {} moves {} MB/s.",
                best.name,
                rate(best.value),
                best.ties,
                worst.0,
                rate(worst.1)
            )
        });
    }
    if runs.open_loop {
        return None;
    }
    goal(
        rows,
        "run time",
        |figures| figures.elapsed_ns,
        |best, worst| {
            format!(
                "{} finishes soonest, in {} s{}; {} takes {} times as long.",
                best.name,
                three(best.value / 1e9),
                best.ties,
                worst.0,
                three(worst.1 / best.value)
            )
        },
    )
}

fn mean(rows: &[Row<'_>]) -> Option<Goal> {
    goal(
        rows,
        "mean latency",
        |figures| figures.latency_mean_ns,
        |best, worst| {
            format!(
                "{} has the shortest mean latency, {} ms{} (longest: {}, {} ms).",
                best.name,
                ms(best.value),
                best.ties,
                worst.0,
                ms(worst.1)
            )
        },
    )
}

fn tail(rows: &[Row<'_>]) -> Option<Goal> {
    let reads = rows.iter().any(|row| row.1.reads > 0.0);
    let what = if reads { "reads" } else { "requests" };
    let name = if reads { "the slowest reads" } else { "the slowest requests" };
    let figure: fn(&Figures) -> Figure = if reads { |f| f.read_p99_ns } else { |f| f.latency_p99_ns };
    goal(rows, name, figure, |best, worst| {
        format!(
            "99 in 100 {what} are done soonest under {}, within {} ms{} ({}: {} ms).",
            best.name,
            ms(best.value),
            best.ties,
            worst.0,
            ms(worst.1)
        )
    })
}

/// The best of one goal.
struct Best<'a> {
    /// The simplest among those within [`TIED`].
    name: &'a str,
    value: f64,
    /// The others, as ", as do x and y"; empty if there are none.
    ties: String,
}

/// How all rows do by `figure`, of which less is better. `None`: the difference does not matter.
fn goal<'a>(
    rows: &[Row<'a>],
    name: &'static str,
    figure: impl Fn(&Figures) -> Figure,
    say: impl Fn(&Best<'a>, (&str, f64)) -> String,
) -> Option<Goal> {
    let figures: Vec<Figure> = rows.iter().map(|row| figure(row.1)).collect();
    let by_mean = |a: &&Figure, b: &&Figure| a.mean.total_cmp(&b.mean);
    let low = *figures.iter().min_by(by_mean)?;
    let (worst, high) = rows.iter().zip(&figures).max_by(|a, b| a.1.mean.total_cmp(&b.1.mean))?;
    let matters = high.mean > low.mean * (1.0 + MATTERS) && low.mean + low.ci95 < high.mean - high.ci95;
    if !matters || low.mean <= 0.0 {
        return None;
    }
    let ratios: Vec<f64> = figures.iter().map(|figure| figure.mean / low.mean).collect();
    let tied = || (0..rows.len()).filter(|index| ratios[*index] <= 1.0 + TIED);
    let name_of_best = simplest(rows, tied());
    let value =
        rows.iter().zip(&figures).find(|(row, _)| row.0 == name_of_best).map_or(low.mean, |x| x.1.mean);
    let others: Vec<&str> =
        tied().map(|index| rows[index].0).filter(|other| *other != name_of_best).collect();
    let best = Best { name: name_of_best, value, ties: together(&others) };
    let sentence = say(&best, (worst.0, high.mean));
    Some(Goal { name, ratios, sentence })
}

/// Those that are as good, in words.
fn together(others: &[&str]) -> String {
    match others {
        [] => String::new(),
        [one] => format!(", {one} within 1 % of it"),
        _ if others.len() <= 4 => format!(", {} within 1 % of it", list(others)),
        _ => format!(", {} and {} others within 1 % of it", others[..3].join(", "), others.len() - 3),
    }
}

fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// What to take, in words, and which row that is if it is one.
fn advice(rows: &[Row<'_>], goals: &[Goal]) -> (String, Option<usize>) {
    let worst = |index: usize| goals.iter().map(|goal| goal.ratios[index]).fold(1.0, f64::max);
    let least = (0..rows.len()).map(worst).fold(f64::MAX, f64::min);
    let balanced = simplest(rows, (0..rows.len()).filter(|index| worst(*index) <= least * (1.0 + TIED)));
    let chosen = rows.iter().position(|row| row.0 == balanced);
    if least <= 1.0 + TIED {
        return (format!("The choice matters: take {balanced}."), chosen);
    }
    if least <= 1.0 + CLOSE {
        let percent = three((least - 1.0) * 100.0);
        let all = if goals.len() == 2 { "both" } else { "all three" };
        return (
            format!("The choice matters: take {balanced}, within {percent} % of the best in {all}."),
            chosen,
        );
    }
    let mut winners: Vec<(&str, Vec<&str>)> = Vec::new();
    for goal in goals {
        let tied = (0..rows.len()).filter(|index| goal.ratios[*index] <= 1.0 + TIED);
        let winner = simplest(rows, tied);
        match winners.iter_mut().find(|(name, _)| *name == winner) {
            Some((_, wins)) => wins.push(goal.name),
            None => winners.push((winner, vec![goal.name])),
        }
    }
    let winners: Vec<String> =
        winners.iter().map(|(name, wins)| format!("{name} for {}", list(wins))).collect();
    let factor = three(least);
    (
        format!(
            "The choice matters, and depends on what you want: {}. The best compromise is {balanced}, at most \
             {factor} times the best.",
            winners.join(", ")
        ),
        chosen,
    )
}

/// The recommended scheduler lets some request wait far longer than need be.
fn warning(rows: &[Row<'_>], chosen: usize) -> Option<String> {
    let longest = |row: &Row<'_>| row.1.latency_max_ns.mean;
    let least = rows.iter().min_by(|a, b| longest(a).total_cmp(&longest(b)))?;
    let (here, there) = (longest(&rows[chosen]), longest(least));
    (here >= LONG_WAIT_NS && here > there * LONG_WAIT_FACTOR).then(|| {
        let (name, other) = (rows[chosen].0, least.0);
        format!(
            "But under {name} the slowest request took {} s ({other}: {} s).",
            three(here / 1e9),
            three(there / 1e9)
        )
    })
}

/// The simplest of some rows.
fn simplest<'a>(rows: &[Row<'a>], indices: impl IntoIterator<Item = usize>) -> &'a str {
    let names = indices.into_iter().map(|index| rows[index].0);
    names.min_by_key(|name| complexity(name)).unwrap_or("none")
}

/// Fewer tunables are simpler, and what the registry lists earlier.
fn complexity(name: &str) -> (bool, usize, usize) {
    let place = registry::all().iter().position(|entry| entry.name == name);
    let tunables = place.map_or(usize::MAX, |place| registry::all()[place].tunables.len());
    (name != "noop", tunables, place.unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOSED: Runs = Runs { open_loop: false, interrupted: false };

    fn figures(elapsed: f64, p99: f64) -> Figures {
        let sure = |mean| Figure { mean, ci95: 0.0 };
        Figures {
            elapsed_ns: sure(elapsed),
            read_p99_ns: sure(p99),
            latency_mean_ns: sure(1e6),
            reads: 1.0,
            ..Figures::default()
        }
    }

    #[test]
    fn a_clear_winner_is_named_with_its_gain() {
        let (good, bad) = (figures(1e9, 5e6), figures(4e9, 9e6));
        let words = verdict(&[("cas", &good), ("noop", &bad)], CLOSED);
        assert!(words.contains("cas finishes soonest, in 1.00 s; noop takes 4.00 times as long"), "{words}");
        assert!(words.ends_with("take cas."), "{words}");
    }

    #[test]
    fn small_differences_do_not_matter() {
        let (a, b) = (figures(1.00e9, 5e6), figures(1.04e9, 5.1e6));
        assert!(verdict(&[("a", &a), ("b", &b)], CLOSED).contains("does not matter"));
    }

    #[test]
    fn differences_within_chance_do_not_matter() {
        let (a, mut b) = (figures(1e9, 5e6), figures(2e9, 5e6));
        b.elapsed_ns.ci95 = 1.5e9;
        assert!(verdict(&[("a", &a), ("b", &b)], CLOSED).contains("does not matter"));
    }

    #[test]
    fn run_time_says_nothing_in_open_loop() {
        let (a, b) = (figures(1e9, 5e6), figures(4e9, 5e6));
        let open = Runs { open_loop: true, ..CLOSED };
        assert!(verdict(&[("a", &a), ("b", &b)], open).contains("does not matter"));
    }

    #[test]
    fn of_those_that_are_tied_the_simplest_is_taken() {
        let (a, b, c) = (figures(1.000e9, 5e6), figures(1.009e9, 5e6), figures(2e9, 5e6));
        let words = verdict(&[("c-look", &a), ("noop", &b), ("x", &c)], CLOSED);
        assert!(words.starts_with("noop finishes soonest, in 1.01 s, c-look within 1 % of it;"), "{words}");
        assert!(words.ends_with("take noop."), "{words}");
    }

    #[test]
    fn a_compromise_is_named_where_goals_disagree() {
        let (fast, even, quick) = (figures(1e9, 50e6), figures(1.08e9, 5.3e6), figures(4e9, 5e6));
        let words = verdict(&[("a", &fast), ("b", &even), ("c", &quick)], CLOSED);
        assert!(words.ends_with("take b, within 8.00 % of the best in both."), "{words}");
        let words = verdict(&[("a", &fast), ("c", &quick)], CLOSED);
        assert!(
            words.contains("depends on what you want: a for run time, c for the slowest reads"),
            "{words}"
        );
    }

    #[test]
    fn unequal_work_is_judged_by_throughput() {
        let (mut a, mut b) = (figures(1e9, 5e6), figures(1e9, 5e6));
        (a.bytes.mean, a.throughput_bytes_per_s.mean) = (30e6, 30e6);
        (b.bytes.mean, b.throughput_bytes_per_s.mean) = (10e6, 10e6);
        let words = verdict(&[("a", &a), ("b", &b)], CLOSED);
        assert!(words.starts_with("a moves most, 30.0 MB/s; b moves 10.0 MB/s."), "{words}");
    }

    #[test]
    fn a_recommendation_that_starves_somebody_says_so() {
        let (mut a, mut b) = (figures(1e9, 5e6), figures(2e9, 9e6));
        (a.latency_max_ns.mean, b.latency_max_ns.mean) = (20e9, 1e9);
        let words = verdict(&[("a", &a), ("b", &b)], CLOSED);
        assert!(words.ends_with("But under a the slowest request took 20.0 s (b: 1.00 s)."), "{words}");
    }

    #[test]
    fn cut_short_runs_are_not_judged() {
        let (a, b) = (figures(1e9, 5e6), figures(4e9, 9e6));
        let runs = Runs { interrupted: true, ..CLOSED };
        assert!(verdict(&[("a", &a), ("b", &b)], runs).starts_with("No verdict"));
    }
}
