//! The words at the end of a comparison: which scheduler is best for what, and whether it matters.
//!
//! Goals are the figures that are declared as such: getting the work done, short mean latency, a short tail.
//! Schedulers within [`TIED`] of the best share its place, and the simplest of them is named first: the one with
//! the fewest tunables, `noop` before all.

use idlewise_core::registry;
use idlewise_sim::metrics::{Better, Kind, Metric, Report};

use super::numbers::three;
use super::summary::{Figure, Summary};

/// Differences below this share do not matter in practice.
const MATTERS: f64 = 0.05;
/// Differences below this share are none.
const TIED: f64 = 0.01;
/// A compromise further than this from a goal's best is not recommended outright.
const CLOSE: f64 = 0.10;
/// The longest request is worth a warning from here on, and if it is this often the shortest maximum.
const LONG_WAIT_NS: f64 = 1e9;
const LONG_WAIT_FACTOR: f64 = 5.0;

/// How the runs came about.
#[derive(Clone, Copy, Default)]
pub(super) struct Runs {
    /// Arrivals do not depend on the disk, so run time says nothing.
    pub(super) open_loop: bool,
    /// The runs were cut short.
    pub(super) interrupted: bool,
}

/// One thing that a user may want, and how each scheduler does.
struct Goal {
    name: &'static str,
    /// How many times worse than the best each row is: 1 is best.
    ratios: Vec<f64>,
    sentence: String,
}

/// Which scheduler is best for what, and whether the difference matters, in plain words.
pub(super) fn verdict(rows: &[Summary], runs: Runs) -> String {
    if runs.interrupted {
        return "No verdict: the runs were cut short, each at another point.".to_owned();
    }
    if rows.len() < 2 {
        return "One scheduler alone cannot be compared; name others with --schedulers.".to_owned();
    }
    let wanted: Vec<(&str, Metric)> = Report::GROUP
        .metrics()
        .filter(|metric| tells(metric, rows, runs))
        .filter_map(|metric| Some((metric.column.goal?, metric)))
        .collect();
    let goals: Vec<Goal> = wanted.iter().filter_map(|(name, metric)| goal(rows, name, metric)).collect();
    if goals.is_empty() {
        let simplest = simplest(rows, 0..rows.len());
        let names: Vec<&str> = wanted.iter().map(|(name, _)| *name).collect();
        return format!(
            "The choice does not matter here: differences in {} are below 5 % or within chance. Keep what you have; \
             {simplest} is the simplest.",
            list(&names)
        );
    }
    let mut sentences: Vec<String> = goals.iter().map(|goal| goal.sentence.clone()).collect();
    let (advice, chosen) = advice(rows, &goals);
    sentences.push(advice);
    sentences.extend(chosen.and_then(|chosen| warning(rows, chosen)));
    sentences.join(" ")
}

/// Whether a figure tells something of these runs. Equal work is judged by its run time and unequal work by
/// throughput; writes count where nobody reads.
fn tells(metric: &Metric, rows: &[Summary], runs: Runs) -> bool {
    let bytes = rows.iter().map(|row| row.figure("bytes").mean);
    let (least, most) = bytes.fold((f64::MAX, 0f64), |(a, b), x| (a.min(x), b.max(x)));
    let unequal = most > least * (1.0 + TIED);
    match metric.path.as_str() {
        "elapsed_ns" => !unequal && !runs.open_loop,
        "throughput_bytes_per_s" => unequal,
        "write.latency_ns.p99" => rows.iter().all(|row| row.figure("read.requests").mean <= 0.0),
        _ => true,
    }
}

/// How all rows do by `metric`. `None`: the difference does not matter.
fn goal(rows: &[Summary], name: &'static str, metric: &Metric) -> Option<Goal> {
    let figures: Vec<Figure> = rows.iter().map(|row| row.figure(&metric.path)).collect();
    let order = |a: &usize, b: &usize| figures[*a].mean.total_cmp(&figures[*b].mean);
    let (low, high) = ((0..rows.len()).min_by(order)?, (0..rows.len()).max_by(order)?);
    let (least, most) = (figures[low], figures[high]);
    let less = metric.column.better != Better::More;
    let matters = most.mean > least.mean * (1.0 + MATTERS) && least.mean + least.ci95 < most.mean - most.ci95;
    if !matters || less && least.mean <= 0.0 {
        return None;
    }
    let ratio = |figure: &Figure| if less { figure.mean / least.mean } else { most.mean / figure.mean };
    let ratios: Vec<f64> = figures.iter().map(ratio).collect();
    let tied = || (0..rows.len()).filter(|index| ratios[*index] <= 1.0 + TIED);
    let best = simplest(rows, tied());
    let others: Vec<&str> = tied().map(|index| rows[index].name()).filter(|other| *other != best).collect();
    let value = rows.iter().position(|row| row.name() == best).map_or(least, |place| figures[place]);
    let (bottom, top) =
        if matches!(metric.kind, Kind::Seconds) { ("shortest", "longest") } else { ("lowest", "highest") };
    let (first, last, worst) = if less { (bottom, top, high) } else { (top, bottom, low) };
    let (unit, scale) = metric.kind.unit();
    let show = |figure: Figure| format!("{} {unit}", three(figure.mean / scale)).trim_end().to_owned();
    let sentence = format!(
        "{best} has the {first} {name}, {}{}; {} has the {last}, {}.",
        show(value),
        together(&others),
        rows[worst].name(),
        show(figures[worst])
    );
    Some(Goal { name, ratios, sentence })
}

/// The others that share the first place, in words.
fn together(others: &[&str]) -> String {
    match others {
        [] => String::new(),
        _ if others.len() <= 4 => format!(" ({} within 1 % of it)", list(others)),
        _ => format!(" ({} and {} others within 1 % of it)", others[..3].join(", "), others.len() - 3),
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
fn advice(rows: &[Summary], goals: &[Goal]) -> (String, Option<usize>) {
    let worst = |index: usize| goals.iter().map(|goal| goal.ratios[index]).fold(1.0, f64::max);
    let least = (0..rows.len()).map(worst).fold(f64::MAX, f64::min);
    let balanced = simplest(rows, (0..rows.len()).filter(|index| worst(*index) <= least * (1.0 + TIED)));
    let chosen = rows.iter().position(|row| row.name() == balanced);
    if least <= 1.0 + TIED {
        return (format!("The choice matters: take {balanced}."), chosen);
    }
    if least <= 1.0 + CLOSE {
        let percent = three((least - 1.0) * 100.0);
        let all = if goals.len() == 2 { "both" } else { "all" };
        return (
            format!("The choice matters: take {balanced}, which is within {percent} % of the best in {all}."),
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
            "The choice matters, and depends on what you want: {}. The best compromise is {balanced}: no \
             figure is worse than {factor} times the best.",
            winners.join(", ")
        ),
        chosen,
    )
}

/// A warning if the recommended scheduler lets some request wait far longer than need be.
fn warning(rows: &[Summary], chosen: usize) -> Option<String> {
    let longest = |row: &Summary| row.figure("latency_ns.max").mean;
    let least = rows.iter().min_by(|a, b| longest(a).total_cmp(&longest(b)))?;
    let (here, there) = (longest(&rows[chosen]), longest(least));
    (here >= LONG_WAIT_NS && here > there * LONG_WAIT_FACTOR).then(|| {
        format!(
            "But under {} the slowest request took {} s ({}: {} s).",
            rows[chosen].name(),
            three(here / 1e9),
            least.name(),
            three(there / 1e9)
        )
    })
}

/// The simplest of some rows.
fn simplest(rows: &[Summary], indices: impl IntoIterator<Item = usize>) -> &str {
    let names = indices.into_iter().map(|index| rows[index].name());
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
    use serde_json::json;

    use super::*;

    const CLOSED: Runs = Runs { open_loop: false, interrupted: false };

    /// A scheduler that was so long at work, with these slowest reads.
    fn row(name: &str, elapsed_s: f64, p99_ms: f64) -> Summary {
        Summary {
            mean: json!({
                "scheduler": name,
                "bytes": 1e6,
                "elapsed_ns": elapsed_s * 1e9,
                "latency_ns": {"mean": 1e6, "max": 1e6},
                "read": {"requests": 1, "latency_ns": {"p99": p99_ms * 1e6}},
            }),
        }
    }

    #[test]
    fn a_clear_winner_is_named_with_its_gain() {
        let words = verdict(&[row("cas", 1.0, 5.0), row("noop", 4.0, 9.0)], CLOSED);
        assert_eq!(
            words,
            "cas has the shortest run time, 1.00 s; noop has the longest, 4.00 s. cas has the lowest p99 read \
             latency, 5.00 ms; noop has the highest, 9.00 ms. The choice matters: take cas."
        );
    }

    #[test]
    fn small_differences_do_not_matter() {
        let words = verdict(&[row("a", 1.00, 5.0), row("b", 1.04, 5.1)], CLOSED);
        assert!(
            words.starts_with("The choice does not matter here: differences in run time, mean la"),
            "{words}"
        );
    }

    #[test]
    fn differences_within_chance_do_not_matter() {
        let (a, mut b) = (row("a", 1.0, 5.0), row("b", 2.0, 5.0));
        b.mean["elapsed_ns_ci95"] = 1.5e9.into();
        assert!(verdict(&[a, b], CLOSED).contains("does not matter"));
    }

    #[test]
    fn run_time_says_nothing_in_open_loop() {
        let open = Runs { open_loop: true, ..CLOSED };
        assert!(verdict(&[row("a", 1.0, 5.0), row("b", 4.0, 5.0)], open).contains("does not matter"));
    }

    #[test]
    fn of_those_that_are_tied_the_simplest_is_taken() {
        let words = verdict(&[row("c-look", 1.0, 5.0), row("noop", 1.009, 5.0), row("x", 2.0, 5.0)], CLOSED);
        assert!(
            words.starts_with("noop has the shortest run time, 1.01 s (c-look within 1 % of it); x"),
            "{words}"
        );
        assert!(words.ends_with("take noop."), "{words}");
    }

    #[test]
    fn a_compromise_is_named_where_goals_disagree() {
        let rows = [row("a", 1.0, 50.0), row("c", 4.0, 5.0), row("b", 1.08, 5.3)];
        let words = verdict(&rows, CLOSED);
        assert!(words.ends_with("take b, which is within 8.00 % of the best in both."), "{words}");
        let words = verdict(&rows[..2], CLOSED);
        assert!(
            words.contains("depends on what you want: a for run time, c for p99 read latency"),
            "{words}"
        );
    }

    #[test]
    fn unequal_work_is_judged_by_throughput() {
        let (mut a, mut b) = (row("a", 1.0, 5.0), row("b", 1.0, 5.0));
        (a.mean["bytes"], a.mean["throughput_bytes_per_s"]) = (30e6.into(), 30e6.into());
        (b.mean["bytes"], b.mean["throughput_bytes_per_s"]) = (10e6.into(), 10e6.into());
        let words = verdict(&[a, b], CLOSED);
        assert!(
            words.starts_with("a has the highest throughput, 30.0 MB/s; b has the lowest, 10.0 MB/s."),
            "{words}"
        );
    }

    #[test]
    fn writes_count_where_nobody_reads() {
        let mut rows = [row("a", 1.0, 0.0), row("b", 1.0, 0.0)];
        for (row, p99) in rows.iter_mut().zip([5e6, 9e6]) {
            row.mean["read"]["requests"] = 0.into();
            row.mean["write"] = json!({"latency_ns": {"p99": p99}});
        }
        let words = verdict(&rows, CLOSED);
        assert!(words.starts_with("a has the lowest p99 write latency, 5.00 ms; b"), "{words}");
    }

    #[test]
    fn a_recommendation_that_starves_somebody_says_so() {
        let (mut a, b) = (row("a", 1.0, 5.0), row("b", 2.0, 9.0));
        a.mean["latency_ns"]["max"] = 20e9.into();
        let words = verdict(&[a, b], CLOSED);
        assert!(words.ends_with("But under a the slowest request took 20.0 s (b: 0.00 s)."), "{words}");
    }

    #[test]
    fn cut_short_runs_are_not_judged() {
        let runs = Runs { interrupted: true, ..CLOSED };
        assert!(verdict(&[row("a", 1.0, 5.0), row("b", 4.0, 9.0)], runs).starts_with("No verdict"));
    }
}
