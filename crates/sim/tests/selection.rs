//! Selectors in the simulator: what they see, what switching costs, that predictions come true, and that
//! every decision can be made again from its log.

use std::num::NonZeroU64;

use idlewise_core::selectors::{self, Candidate, Row};
use idlewise_core::{Device as Traits, Duration, Instant, Issuer, Sector, Sectors, registry};
use idlewise_disk::{DiskModel, Profile};
use idlewise_sim::engine::{Control, Limits};
use idlewise_sim::experiment::measure::{self, Effort, Goal};
use idlewise_sim::experiment::{Choice, Chosen, Experiment, Load, Outcome};
use idlewise_sim::selection::files::label;
use idlewise_sim::selection::forecast::{Forecaster, Window};
use idlewise_sim::selection::log::{Line, decide_again};
use idlewise_sim::selection::{Selection, Switching};
use idlewise_sim::workloads::Spec;

fn choice(name: &str, settings: &[(&str, u64)]) -> Choice {
    Choice {
        label: name.to_owned(),
        entry: Chosen::find(name).expect("it is registered"),
        settings: settings.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
    }
}

fn experiment(disk: &str, load: &str, choices: Vec<Choice>, seconds: u64) -> Experiment {
    Experiment {
        schedulers: choices,
        limits: Limits { until: Instant(seconds * 1_000_000_000), ..Limits::default() },
        selection: Selection { logged: true, ..Selection::default() },
        ..Experiment::new(Profile::named(disk).unwrap(), Load::Workload(Spec::parse(load).unwrap()))
    }
}

fn run(experiment: &Experiment) -> Vec<Outcome> {
    experiment.run(&Control::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn one(disk: &str, load: &str, selector: &str, settings: &[(&str, u64)], seconds: u64) -> Outcome {
    run(&experiment(disk, load, vec![choice(selector, settings)], seconds)).remove(0)
}

fn lines(outcome: &Outcome) -> &[Line] {
    outcome.log.as_ref().expect("it was to be kept").lines()
}

#[test]
fn ioazs_loads_are_classified_right_in_every_period() {
    for (pattern, category) in [
        ("seq-read", "1 sequential reads"),
        ("seq-write", "1 sequential writes"),
        ("random-read", "1 random reads"),
        ("random-write", "1 random writes"),
    ] {
        for disk in ["maxtor-40g", "hdd-18tb-7200", "sata-ssd"] {
            let load = format!("ioaz:pattern={pattern},runtime=12s");
            let outcome = one(disk, &load, "auto-matrix", &[], 12);
            let lines = lines(&outcome);
            assert!(lines.len() >= 11, "{} periods", lines.len());
            let wrong: Vec<_> =
                lines.iter().filter(|line| line.category.as_deref() != Some(category)).collect();
            assert!(wrong.is_empty(), "{pattern} on {disk}: {wrong:?}");
        }
    }
}

#[test]
fn the_matrix_sees_writers_that_wait_with_full_queues() {
    // Each keeps 16 writes outstanding. Anticipation serves a few of them in a second, and the others wait.
    let settings = [("goal", 1)];
    let outcome = one("maxtor-40g", "iozone:n=12,pattern=random-write", "auto-matrix", &settings, 15);
    let wrong: Vec<_> =
        lines(&outcome).iter().filter(|line| line.category.as_deref() != Some("16+ random writes")).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(lines(&outcome).last().unwrap().from, "deadline-2.6.11", "Table 2");
    assert_eq!(outcome.report.selector.unwrap().switches, 1);
}

#[test]
fn pages_of_a_database_are_random_in_every_period() {
    for kib in [4, 8, 16] {
        let load = format!("random:n=4,bs={kib}k");
        let outcome = one("maxtor-40g", &load, "auto-matrix", &[], 6);
        assert!(lines(&outcome).len() >= 6);
        for line in lines(&outcome) {
            assert_eq!(line.category.as_deref(), Some("4 random reads"), "{kib} KiB");
        }
    }
}

#[test]
fn a_database_does_not_make_the_matrix_switch_to_and_fro() {
    // Queries of 8 KiB, and a log in pieces of 16 KiB: whether reads or writes are more depends on the scheduler.
    for disk in ["maxtor-40g", "hdd-18tb-7200"] {
        let outcome = one(disk, "phases:mix=database=10", "auto-matrix", &[], 10);
        let switches = outcome.report.selector.unwrap().switches;
        assert_eq!(switches, 1, "{disk}: anticipation is best for random reads and random writes");
    }
}

#[test]
fn a_run_with_a_selector_repeats_exactly() {
    for entry in selectors::registry::all() {
        let play = || one("maxtor-40g", "phases:mix=seq-readers=4:random-readers=4", entry.name, &[], 8);
        let (a, b) = (play(), play());
        assert_eq!(a.report, b.report, "{}", entry.name);
        assert_eq!(lines(&a), lines(&b), "{}", entry.name);
    }
}

#[test]
fn decisions_are_made_again_from_the_log() {
    let load = "phases:mix=seq-readers=5:random-readers=5:writers=3:backup=5";
    for entry in selectors::registry::all() {
        let settings: &[(&str, u64)] = if entry.name == "auto-explore" { &[("seed", 1)] } else { &[] };
        let experiment = experiment("hdd-18tb-7200", load, vec![choice(entry.name, settings)], 18);
        let outcome = run(&experiment).remove(0);
        // Through JSON, as a log file would have it.
        let json: Vec<String> =
            lines(&outcome).iter().map(|line| serde_json::to_string(line).unwrap()).collect();
        let read: Vec<Line> = json.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let effort = Effort { runs: 1, until: Instant(2_000_000_000) };
        let chooser = experiment.selection.chooser(entry, settings, 4096, |candidates| {
            measure::ranking(&experiment.disk, candidates, effort, &Control::default()).unwrap().ranks
        });
        let again = decide_again(chooser.unwrap_or_else(|error| panic!("{error:?}")), &read);
        assert_eq!(again, lines(&outcome), "{}", entry.name);
        assert!(read.iter().all(|line| line.why.len() > 8), "{}: a decision has no reason", entry.name);
        assert!(read.iter().all(|line| line.period.is_some() || line.predictions.is_some()));
    }
}

/// A selector that switches at every period, among schedulers that never wait.
fn restless(switching: Switching, period_ms: u64) -> Outcome {
    let settings = [
        ("threshold", 100),
        ("fade", 0),
        ("grace", 0),
        ("few", 0),
        ("absolute", 999_999_999),
        ("period", period_ms),
    ];
    let mut experiment = experiment(
        "maxtor-40g",
        "random:n=64,think=0,requests=100000000",
        vec![choice("auto-explore", &settings)],
        20,
    );
    let plain = |name: &str| Candidate::plain(registry::find(name).unwrap());
    experiment.selection.candidates = Some(vec![plain("look"), plain("c-look")]);
    experiment.selection.switching = switching;
    run(&experiment).remove(0)
}

#[test]
fn carrying_over_keeps_the_disk_busy_and_draining_does_not() {
    let steady = restless(Switching::Carry, 3_600_000);
    let carried = restless(Switching::Carry, 500);
    let drained = restless(Switching::Drain, 500);
    let frozen = restless(Switching::Freeze(idlewise_core::Duration::from_ms(10)), 500);
    let switches = |outcome: &Outcome| outcome.report.selector.as_ref().unwrap().switches;
    let blocked = |outcome: &Outcome| outcome.report.selector.as_ref().unwrap().blocked_ns;
    let idle = |outcome: &Outcome| {
        let report = &outcome.report;
        report.elapsed_ns - report.device.busy_ns
    };
    assert_eq!(switches(&steady), 0);
    assert!(switches(&carried) >= 38, "{} switches", switches(&carried));
    // One command at a time, and always somebody waiting: a gap between two commands is idle time.
    assert!(idle(&carried) <= idle(&steady) + switches(&carried) * 1000, "{} ns", idle(&carried));
    assert_eq!(blocked(&carried), 0);
    assert!(blocked(&drained) > 1_000_000_000, "{} ns", blocked(&drained));
    assert!(idle(&frozen) > switches(&frozen) * 9_000_000, "{} ns", idle(&frozen));
    let rate = |outcome: &Outcome| outcome.report.throughput_bytes_per_s;
    assert!(rate(&carried) > rate(&steady) * 0.95, "{} of {}", rate(&carried), rate(&steady));
    assert!(rate(&drained) < rate(&carried) * 0.99, "{} of {}", rate(&drained), rate(&carried));
    assert!(rate(&frozen) < rate(&drained) * 0.99, "{} of {}", rate(&frozen), rate(&drained));
}

#[test]
fn predictions_come_true() {
    // What is predicted for each candidate is what a run under it gives.
    for (disk, load) in [
        ("maxtor-40g", "seq-readers=12"),
        ("maxtor-40g", "random-readers=12"),
        ("hdd-18tb-7200", "seq-readers=12"),
        ("hdd-18tb-7200", "thinkers=12"),
        ("hdd-18tb-7200", "scatter=12"),
        ("hdd-18tb-7200", "backup=12"),
        ("maxtor-40g", "copy=12"),
    ] {
        let load = format!("phases:mix={load}");
        let names = ["noop", "as", "c-look", "cfq"];
        let mut choices: Vec<Choice> = names.iter().map(|name| choice(name, &[])).collect();
        // The selector may ask, but never finds a gain that is worth a switch.
        choices.push(choice("auto-predict", &[("agree", 1000), ("horizon", 4000)]));
        let mut experiment = experiment(disk, &load, choices, 10);
        let plain = |name: &&str| Candidate::plain(registry::find(name).unwrap());
        experiment.selection.candidates = Some(names.iter().map(plain).collect());
        let outcomes = run(&experiment);
        let last = lines(&outcomes[4]).iter().rev().find_map(|line| line.predictions.clone());
        let Some(last) = last.filter(|last| !last.is_empty()) else {
            panic!("{load} on {disk}: nothing was predicted")
        };
        for prediction in last {
            let real = outcomes[prediction.candidate as usize].report.throughput_bytes_per_s;
            let ratio = prediction.throughput as f64 / real;
            let name = names[prediction.candidate as usize];
            println!(
                "{disk} {load} {name}: predicted {} MB/s, real {:.2} MB/s: {ratio:.2}",
                prediction.throughput as f64 / 1e6,
                real / 1e6
            );
            assert!(
                (0.7..=1.4).contains(&ratio),
                "{load} on {disk} under {name}: {ratio:.2} of what it gave"
            );
        }
    }
}

#[test]
fn auto_predict_follows_the_load() {
    // Anticipation wins the first phase by a factor of ten, and loses the second.
    let load = "phases:mix=seq-readers=8:database=8";
    let choices = ["noop", "as", "auto-predict"].map(|name| choice(name, &[])).to_vec();
    let outcomes = run(&experiment("hdd-18tb-7200", load, choices, 16));
    let rate = |which: usize, phase: usize| outcomes[which].report.phases[phase].throughput_bytes_per_s;
    assert!(rate(1, 0) > 5.0 * rate(0, 0) && rate(0, 1) > 1.1 * rate(1, 1), "the phases do not differ");
    for phase in 0..2 {
        let best = rate(0, phase).max(rate(1, phase));
        assert!(rate(2, phase) > 0.8 * best, "phase {phase}: {} of {best}", rate(2, phase));
    }
}

#[test]
fn predictions_know_what_a_flash_device_has_to_collect() {
    // Written by four in turns, its blocks hold something of each: after twelve seconds collecting takes half of the
    // rate. The selector never finds a gain that is worth a switch.
    let mut experiment =
        experiment("sata-ssd", "phases:mix=writers=20", vec![choice("auto-predict", &[("agree", 1000)])], 20);
    experiment.selection.candidates = Some(vec![Candidate::plain(registry::find("noop").unwrap())]);
    let outcome = run(&experiment).remove(0);
    let predicted = |line: &Line| line.predictions.as_ref()?.first().map(|noop| noop.throughput);
    let all: Vec<u64> = lines(&outcome).iter().filter_map(predicted).collect();
    let (first, last) = (all[0], all[all.len() - 1]);
    let late = lines(&outcome).iter().filter(|line| line.at_ns > 15_000_000_000);
    let (bytes, ns) = late
        .filter_map(|line| line.period.as_ref())
        .fold((0, 0), |(bytes, ns), period| (bytes + period.done_bytes, ns + period.length_ns));
    let real = bytes * 1000 / (ns / 1_000_000);
    assert!(first > real * 3 / 2, "new, it takes {first} bytes in a second, later {real}");
    assert!(last.abs_diff(real) < real / 4, "{last} are predicted, {real} come");
}

#[test]
fn auto_predict_is_hardly_ever_worse_than_the_worst_choice_for_a_phase() {
    let names = ["turns", "mq-deadline", "noop", "as", "cfq", "bfq", "sptf", "antic-c-look", "auto-predict"];
    let mut worse = Vec::new();
    for disk in ["hdd-18tb-7200", "maxtor-40g", "cheetah-st318451lw"] {
        let choices = names.iter().map(|name| choice(name, &[])).collect();
        let outcomes = run(&experiment(disk, "phases:mix=quick,length=60", choices, 36));
        let (predicted, single) = outcomes.split_last().unwrap();
        for (phase, got) in predicted.report.phases.iter().enumerate().take(10) {
            let rates = single.iter().map(|outcome| outcome.report.phases[phase].throughput_bytes_per_s);
            let worst = rates.fold(f64::INFINITY, f64::min);
            let share = got.throughput_bytes_per_s / worst;
            if share < 0.9 {
                worse.push(format!("{disk}, {}: {share:.2} of the worst", got.name));
            }
            assert!(share >= 0.75, "{worse:?}");
        }
    }
    // A phase may be over before the disk has written what a switch left in its buffer.
    assert!(worse.len() <= 1, "of thirty phases {worse:?}");
}

#[test]
fn auto_predict_lets_nobody_wait_too_long() {
    // `antic-c-look` serves a log for as long as it is written, which is best for throughput.
    for disk in ["hdd-18tb-7200", "maxtor-40g"] {
        let greedy = choice("auto-predict", &[("patience", 86_400_000)]);
        let choices = vec![choice("mq-deadline", &[]), greedy, choice("auto-predict", &[])];
        let mut experiment = experiment(disk, "phases:mix=backup=20", choices, 20);
        let plain = |name: &str| Candidate::plain(registry::find(name).unwrap());
        experiment.selection.candidates = Some(["mq-deadline", "antic-c-look", "turns"].map(plain).to_vec());
        let outcomes = run(&experiment);
        let [usual, greedy, patient] = [0, 1, 2].map(|which| outcomes[which].report.longest_wait_ns);
        let limit = 1_000_000_000.max(2 * usual);
        assert!(greedy > 3 * limit, "{disk}: nobody waits long: {greedy} ns");
        assert!(patient <= limit, "{disk}: {patient} ns where {limit} is the limit");
        let rate = |which: usize| outcomes[which].report.throughput_bytes_per_s;
        assert!(rate(2) > 2.0 * rate(0), "{disk}: {} where mq-deadline has {}", rate(2), rate(0));
    }
}

#[test]
fn auto_predict_starves_nobody_if_latency_is_the_goal() {
    // `antic-c-look` serves a log for as long as it is written, which is best for throughput, and no query.
    let load = "phases:mix=backup=6:database=14";
    let late = [("throughput", 0), ("latency", 100)];
    let choices = [choice("noop", &[]), choice("antic-c-look", &[]), choice("auto-predict", &late)];
    let outcomes = run(&experiment("maxtor-40g", load, choices.to_vec(), 20));
    let [fair, greedy, late] =
        [0, 1, 2].map(|which| outcomes[which].report.phases[1].sync_read_latency_ns_p99);
    assert!(greedy > 20 * fair, "nobody starves: {fair} ns and {greedy}");
    assert!(late < 2 * fair, "{late} ns where {fair} can be had");
}

#[test]
fn a_matrix_is_measured_for_a_disk() {
    let plain = |name: &str| Candidate::plain(registry::find(name).unwrap());
    let candidates = [plain("noop"), plain("as"), plain("deadline")];
    let effort = Effort { runs: 1, until: Instant(2_000_000_000) };
    let disk = Profile::named("maxtor-40g").unwrap();
    let matrix = measure::matrix(&disk, &candidates, Goal::Mean, effort, &Control::default()).unwrap();
    // One reader: nobody is better than the simplest. Four readers of files: anticipation.
    assert_eq!((matrix.cells[0], matrix.cells[4]), (0, 1), "{:?}", matrix.cells);
    let mut experiment = experiment("maxtor-40g", "iozone:n=4", vec![choice("auto-matrix", &[])], 5);
    experiment.selection.matrix = Some(matrix);
    let outcome = run(&experiment).remove(0);
    assert_eq!(lines(&outcome).last().unwrap().from, "as");
}

#[test]
fn a_ranking_is_measured_when_there_is_none() {
    let entry = selectors::registry::find("auto-ranking").unwrap();
    let candidates = Selection::default().field(entry).candidates;
    let effort = Effort { runs: 1, until: Instant(2_000_000_000) };
    let disk = Profile::named("maxtor-40g").unwrap();
    let ranks = measure::ranking(&disk, &candidates, effort, &Control::default()).unwrap().ranks;
    let best = |bytes: u64| {
        let rank = ranks.iter().find(|rank| bytes <= rank.up_to).unwrap();
        label(&candidates[usize::from(rank.candidate)])
    };
    for size in [4 << 10, 1 << 20] {
        let outcome = one("maxtor-40g", &format!("random:n=8,bs={size}"), "auto-ranking", &[], 4);
        assert_eq!(lines(&outcome).last().unwrap().from, best(size), "{size} bytes");
    }
}

#[test]
fn a_wrong_model_is_learned_to_be_wrong() {
    // Where the model is of another kind of disk, switches disappoint, and the margin widens.
    let load = "phases:mix=seq-readers=10:random-readers=10:database=10";
    let mut experiment = experiment("maxtor-40g", load, vec![choice("auto-predict", &[])], 30);
    experiment.selection.model = Some(Profile::named("sata-ssd").unwrap());
    let wrong = run(&experiment).remove(0);
    experiment.selection.model = None;
    let right = run(&experiment).remove(0);
    assert!(right.report.bytes > wrong.report.bytes, "{} and {}", right.report.bytes, wrong.report.bytes);
    let switches = wrong.report.selector.unwrap().switches;
    assert!(switches <= 31, "{switches} switches");
}

#[test]
fn a_prediction_looks_ahead_as_far_as_it_is_told_to() {
    let profile = Profile::named("maxtor-40g").unwrap();
    let rows: Vec<Row> = (1..=200u64)
        .map(|n| Row {
            arrival: Instant(n * 30_000_000),
            done: NonZeroU64::new(n * 30_000_000 + 20_000_000),
            start: Sector(n * 104_729 * 8 % (1 << 26)),
            length: Sectors(8),
            issuer: Issuer(n as u32 % 4 + 1),
            sync: true,
            ..Row::default()
        })
        .collect();
    let after = |ms| {
        let horizon = Duration::from_ms(ms);
        let window = Window {
            rows: rows.clone(),
            past: rows.clone(),
            ends: Instant(6_000_000_000),
            horizon,
            ..Window::default()
        };
        let model = profile.build().unwrap();
        let traits = Traits { capacity: model.capacity(), ..Traits::default() };
        let candidate = Candidate::plain(registry::find("sstf").unwrap());
        Forecaster::new(model, traits, vec![candidate], 64).predict(&window)
    };
    assert_ne!(after(6000), after(12_000), "beyond what is known");
}
