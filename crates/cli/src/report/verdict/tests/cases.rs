//! Small tables, each with the sentences that it must lead to.

use super::super::table::{Goal, Measured, Table};
use super::super::{Assumed, Assumption, Claim, Question, verdict};
use super::FIGURES;

/// A table of schedulers with their run times and p99 read latencies.
fn small(rows: &[(&str, f64, f64)]) -> Table {
    let measured = |which: usize, value: fn(&(&str, f64, f64)) -> f64| {
        let (name, aim, better, kind) = FIGURES[which];
        let samples = rows.iter().map(|row| vec![value(row)]).collect();
        Measured { name, aim, better, kind, samples, replayed: false, disks: false }
    };
    Table {
        schedulers: rows.iter().map(|row| row.0.to_owned()).collect(),
        figures: vec![measured(0, |row| row.1 * 1e9), measured(3, |row| row.2 * 1e6)],
        longest: vec![1e6; rows.len()],
        ends: Vec::new(),
        idle: false,
        in_use: None,
    }
}

fn words(table: &Table, goal: Goal) -> String {
    let about: Vec<usize> = (0..table.schedulers.len()).collect();
    let question = Question { table, goal, barred: None, missing: "", assumed: &[], about: &about };
    verdict(&question).text()
}

#[test]
fn a_clear_winner_is_named_with_its_gain() {
    assert_eq!(
        words(&small(&[("cas", 1.0, 5.0), ("noop", 4.0, 9.0)]), Goal::Balanced),
        "cas has the shortest run time, 1.00 s; noop has the longest, 4.00 s. cas has the lowest p99 read latency, \
         5.00 ms; noop has the highest, 9.00 ms. The choice matters: take cas (goal: balanced)."
    );
}

#[test]
fn figures_of_linux_alone_are_said_to_be_that() {
    let table = small(&[("bfq", 1.0, 5.0), ("kyber", 4.0, 9.0), ("cas", 0.5, 1.0)]);
    let said = |about: &[usize]| {
        let goal = Goal::Balanced;
        verdict(&Question { table: &table, goal, barred: None, missing: "", assumed: &[], about }).text()
    };
    assert!(said(&[0, 1]).starts_with("Of Linux's schedulers: bfq has the shortest run time, 1.00 s;"));
    assert!(said(&[0, 1, 2]).starts_with("cas has the shortest run time"));
}

#[test]
fn where_only_an_assumption_makes_a_difference_the_verdict_says_so() {
    let (alike, apart) =
        (small(&[("cas", 1.0, 5.0), ("noop", 1.0, 5.0)]), small(&[("cas", 1.0, 5.0), ("noop", 4.0, 9.0)]));
    let disks = [None, Some("10 % slower"), Some("10 % faster")];
    let assumed: Vec<Assumed> = ["in closed loop", "in open loop"]
        .into_iter()
        .flat_map(|waits| disks.map(|disk| Assumption { waits, disk: disk.map(str::to_owned) }))
        .map(|assumption| Assumed {
            table: if assumption.to_string() == "in open loop" { &apart } else { &alike }.clone(),
            assumption,
        })
        .collect();
    let told = verdict(&Question {
        table: &alike,
        goal: Goal::Balanced,
        barred: None,
        missing: "issuers",
        assumed: &assumed,
        about: &[0, 1],
    });
    assert_eq!(
        told.text(),
        "The choice matters only in open loop: take cas (goal: balanced). The trace does not tell issuers, so that what \
         waited for what is inferred; the recommendation holds in closed loop and in open loop, each also on a disk 10 % \
         slower and 10 % faster."
    );
}

#[test]
fn of_a_trace_with_few_requests_nothing_is_recommended() {
    let table = small(&[("cas", 1.0, 5.0), ("noop", 4.0, 9.0)]);
    let barred = Some(Claim::Few { requests: 99 });
    let question =
        Question { table: &table, goal: Goal::Balanced, barred, missing: "", assumed: &[], about: &[0, 1] };
    let told = verdict(&question);
    assert_eq!((told.takes(), told.headline().as_str()), (None, "Cannot be told from this trace"));
    assert_eq!(
        told.sentences.last().unwrap(),
        "Which scheduler to take cannot be told from 99 requests: 100 at least are needed."
    );
}

#[test]
fn of_a_disk_that_the_model_is_far_from_nothing_is_recommended() {
    let table = small(&[("cas", 1.0, 5.0), ("noop", 4.0, 9.0)]);
    let (goal, barred) = (Goal::Balanced, Some(Claim::Far { off: 0.86 }));
    let told = verdict(&Question { table: &table, goal, barred, missing: "", assumed: &[], about: &[0, 1] });
    assert_eq!((told.takes(), told.headline().as_str()), (None, "Cannot be told from this trace"));
    assert_eq!(
        told.sentences.last().unwrap(),
        "Which scheduler the recorded disk should have cannot be told: the response times of its model are 86 % off, more \
         than the 25 % that are trusted. The figures are of that model. What another disk would do, --disk says."
    );
}

#[test]
fn none_is_no_word_of_the_sentence() {
    let table = small(&[("none", 1.0, 5.0), ("noop", 4.0, 9.0)]);
    assert_eq!(
        words(&table, Goal::Balanced),
        "'none' has the shortest run time, 1.00 s; noop has the longest, 4.00 s. 'none' has the lowest p99 read \
         latency, 5.00 ms; noop has the highest, 9.00 ms. The choice matters: take 'none' (goal: balanced)."
    );
}

#[test]
fn one_bad_apple_is_anything_but_it() {
    let rows = [("noop", 1.0, 5.0), ("look", 1.01, 5.1), ("c-scan", 2.0, 5.0), ("sstf", 1.02, 4.9)];
    assert_eq!(
        words(&small(&rows), Goal::Balanced),
        "All but c-scan tie within 5 % for the shortest run time, 1.00 s to 1.02 s; c-scan has 2.00 s. The choice \
         matters: take anything but c-scan (goal: balanced); none of the others is beaten."
    );
}

#[test]
fn the_goal_decides_where_figures_disagree() {
    let table = small(&[("noop", 1.0, 50.0), ("kyber", 4.0, 5.0)]);
    assert!(
        words(&table, Goal::Throughput)
            .contains("take noop (goal: throughput), though kyber is 10.0 times better in p99")
    );
    assert!(
        words(&table, Goal::Latency)
            .contains("take kyber (goal: latency), though noop is 4.00 times better in run")
    );
    assert!(words(&table, Goal::Balanced).contains("take noop (goal: balanced), though kyber"));
}

#[test]
fn balance_is_read_latency_of_those_that_are_fast_and_starve_nobody() {
    let rows = [("noop", 1.0, 50.0), ("kyber", 1.04, 5.0), ("cas", 0.8, 1.0)];
    let mut table = small(&rows);
    table.longest[2] = 1.1e9;
    assert!(
        words(&table, Goal::Balanced).contains("take kyber (goal: balanced)"),
        "who waits a second is starved"
    );
    table.longest = vec![0.6e9, 0.6e9, 1.1e9];
    assert!(words(&table, Goal::Balanced).contains("take cas (goal: balanced)"), "all make somebody wait");
}

#[test]
fn runs_are_paired_by_seed() {
    // Seeds differ by far more than schedulers do, and every seed says the same.
    let mut table = small(&[("noop", 1.0, 5.0), ("kyber", 1.0, 5.0)]);
    table.figures[0].samples = vec![vec![1e9, 4e9, 9e9], vec![0.9e9, 3.6e9, 8.1e9]];
    table.figures[1].samples = vec![vec![5e6; 3]; 2];
    assert!(!words(&table, Goal::Throughput).contains("does not matter"));
    table.figures[0].samples[1] = vec![0.5e9, 5.5e9, 6e9];
    assert!(
        words(&table, Goal::Throughput).contains("does not matter"),
        "{}",
        words(&table, Goal::Throughput)
    );
}

#[test]
fn of_those_that_only_chance_makes_alike_the_better_mean_is_taken() {
    let mut table =
        small(&[("noop", 1.0, 5.0), ("kyber", 1.0, 5.0), ("c-scan", 9.0, 5.0), ("look", 9.0, 5.0)]);
    for figure in &mut table.figures {
        figure.samples.iter_mut().for_each(|samples| *samples = vec![samples[0]; 3]);
    }
    assert!(words(&table, Goal::Balanced).contains("take noop (goal: balanced); kyber is as good"));
    table.figures[0].samples[1] = vec![0.5e9, 1.1e9, 0.8e9];
    assert!(words(&table, Goal::Balanced).contains("take kyber (goal: balanced); noop is as good"));
    table.figures[0].samples[1] = vec![0.9e9, 1.1e9, 0.9e9];
    assert!(words(&table, Goal::Balanced).contains("take noop"), "3 % do not matter");
}

#[test]
fn of_replays_on_several_disks_all_must_agree() {
    let mut table = small(&[("noop", 1.0, 5.0), ("kyber", 1.0, 5.0)]);
    table.figures[1].samples = vec![vec![5e6; 3]; 2];
    // By far more on one disk than on another: no interval of three excludes a tie.
    table.figures[0].samples = vec![vec![1e9; 3], vec![0.98e9, 0.9e9, 0.6e9]];
    assert!(words(&table, Goal::Throughput).contains("does not matter"));
    table.figures[0].disks = true;
    assert!(words(&table, Goal::Throughput).contains("take kyber"));
    table.figures[0].samples[1][0] = 1.01e9;
    assert!(words(&table, Goal::Throughput).contains("does not matter"));
}

#[test]
fn short_waits_are_no_reason_to_change_to_what_takes_longer() {
    let rows = [("mq-deadline", 1.0, 9.0), ("as", 1.03, 5.0), ("cfq", 0.99, 7.0), ("c-scan", 9.0, 9.0)];
    let mut table = small(&rows);
    assert!(words(&table, Goal::Balanced).contains("take as (goal: balanced)"));
    table.in_use = Some("mq-deadline".to_owned());
    assert!(words(&table, Goal::Balanced).contains("take cfq (goal: balanced)"));
    assert!(words(&table, Goal::Latency).contains("take as (goal: latency)"), "who wants it gets it");
    table.figures[0].samples[1] = vec![1.005e9];
    assert!(words(&table, Goal::Balanced).contains("take as (goal: balanced)"), "runs end by chance");
}
