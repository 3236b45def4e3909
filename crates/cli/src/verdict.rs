//! The sentence at the end of a comparison: which scheduler is best for what, and whether it matters.

use crate::output::{ms, three};
use crate::summary::{Figure, Figures};

/// Differences below this share do not matter in practice.
const MATTERS: f64 = 0.05;

/// One scheduler's name and figures.
pub(crate) type Row<'a> = (&'a str, &'a Figures);

struct Best<'a> {
    name: &'a str,
    value: f64,
    worst: (&'a str, f64),
    /// Whether best and worst differ by enough, and by more than chance.
    matters: bool,
}

/// The row for which `figure` is least, against the row for which it is most.
fn best<'a>(rows: &[Row<'a>], figure: fn(&Figures) -> Figure) -> Option<Best<'a>> {
    let least = rows.iter().min_by(|a, b| figure(a.1).mean.total_cmp(&figure(b.1).mean))?;
    let most = rows.iter().max_by(|a, b| figure(a.1).mean.total_cmp(&figure(b.1).mean))?;
    let (low, high) = (figure(least.1), figure(most.1));
    let matters = high.mean > low.mean * (1.0 + MATTERS) && low.mean + low.ci95 < high.mean - high.ci95;
    Some(Best { name: least.0, value: low.mean, worst: (most.0, high.mean), matters })
}

/// Which scheduler is best for what, and whether the difference matters, in plain words.
/// `open_loop`: arrivals do not depend on the disk, so run time says nothing.
pub(crate) fn verdict(rows: &[Row<'_>], open_loop: bool) -> String {
    if rows.len() < 2 {
        return "One scheduler alone cannot be compared; name others with --schedulers.".to_owned();
    }
    let mut sentences = Vec::new();
    let run_time = best(rows, |figures| figures.elapsed_ns).filter(|best| best.matters && !open_loop);
    if let Some(best) = &run_time {
        sentences.push(format!(
            "{} finishes soonest, in {} s; {} takes {} times as long",
            best.name,
            three(best.value / 1e9),
            best.worst.0,
            three(best.worst.1 / best.value)
        ));
    }
    let mean = best(rows, |figures| figures.latency_mean_ns).filter(|best| best.matters);
    if let Some(best) = &mean {
        sentences.push(format!(
            "{} has the shortest mean latency, {} ms (longest: {}, {} ms)",
            best.name,
            ms(best.value),
            best.worst.0,
            ms(best.worst.1)
        ));
    }
    let reads = rows.iter().any(|row| row.1.reads > 0.0);
    let (what, tail): (_, fn(&Figures) -> Figure) = if reads {
        ("reads", |figures| figures.read_p99_ns)
    } else {
        ("requests", |figures| figures.latency_p99_ns)
    };
    let tail = best(rows, tail).filter(|best| best.matters);
    if let Some(best) = &tail {
        sentences.push(format!(
            "99 in 100 {what} are done soonest under {}, within {} ms ({}: {} ms)",
            best.name,
            ms(best.value),
            best.worst.0,
            ms(best.worst.1)
        ));
    }
    if sentences.is_empty() {
        return "The choice does not matter here: run time, mean latency and 99th percentile differ by less than 5 % \
                or by no more than chance. Keep what you have; noop costs the least."
            .to_owned();
    }
    let winners = [&run_time, &mean, &tail].map(|best| best.as_ref().map(|best| best.name));
    let mut named: Vec<_> = winners.into_iter().flatten().collect();
    named.dedup();
    let matters = if named.len() == 1 {
        format!("The choice matters: take {}.", named[0])
    } else {
        "The choice matters, and depends on what you want.".to_owned()
    };
    format!("{}. {matters}", sentences.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let words = verdict(&[("cas", &good), ("noop", &bad)], false);
        assert!(words.contains("cas finishes soonest, in 1.00 s; noop takes 4.00 times as long"), "{words}");
        assert!(words.ends_with("take cas."), "{words}");
    }

    #[test]
    fn small_differences_do_not_matter() {
        let (a, b) = (figures(1.00e9, 5e6), figures(1.04e9, 5.1e6));
        assert!(verdict(&[("a", &a), ("b", &b)], false).contains("does not matter"));
    }

    #[test]
    fn differences_within_chance_do_not_matter() {
        let (a, mut b) = (figures(1e9, 5e6), figures(2e9, 5e6));
        b.elapsed_ns.ci95 = 1.5e9;
        assert!(verdict(&[("a", &a), ("b", &b)], false).contains("does not matter"));
    }

    #[test]
    fn run_time_says_nothing_in_open_loop() {
        let (a, b) = (figures(1e9, 5e6), figures(4e9, 5e6));
        assert!(verdict(&[("a", &a), ("b", &b)], true).contains("does not matter"));
    }
}
