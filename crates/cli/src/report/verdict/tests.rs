//! Sentences against tables: each sentence of a verdict is read as a reader reads it, and checked against the table that
//! it is about, with arithmetic of its own.

mod cases;
mod headline;
mod reader;

use idlewise_sim::metrics::{Better, Kind};

use super::table::{Aim, Goal, Measured, Table};
use super::{Assumed, Assumption, Claim, Question, verdict};
use reader::Reader;

/// Names that verdicts may be about; some are those of real schedulers, for which simplicity counts.
const NAMES: [&str; 9] =
    ["none", "mq-deadline", "kyber", "bfq", "bfq:low_latency=off", "c-scan", "x", "y", "cas"];

/// Numbers without end from a seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> usize {
        (self.next() >> 11) as usize % limit as usize
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The figures that there may be: as in real tables, run time or throughput, and latencies.
const FIGURES: [(&str, Aim, Better, Kind); 4] = [
    ("run time", Aim::Throughput, Better::Less, Kind::Seconds),
    ("throughput", Aim::Throughput, Better::More, Kind::Rate),
    ("mean read latency", Aim::Latency, Better::Less, Kind::Millis),
    ("p99 read latency", Aim::Latency, Better::Less, Kind::Millis),
];

/// A table in which ties, near ties, bad apples and noise are common.
fn table(dice: &mut Dice, rows: usize, seeds: usize) -> Table {
    let first = dice.below(2);
    let replayed = dice.below(2) > 0;
    let disks = replayed && seeds > 1 && dice.below(2) > 0;
    let chosen: Vec<usize> = [first, 2, 3].into_iter().filter(|_| dice.below(8) > 0).collect();
    let figures = chosen.into_iter().map(|which| {
        let (name, aim, better, kind) = FIGURES[which];
        let base = 10f64.powf(3.0 + 7.0 * dice.unit());
        let style = dice.below(4);
        let apple = dice.below(rows as u64);
        let noise = [0.0, 0.005, 0.3][dice.below(3)];
        let samples = (0..rows).map(|row| {
            let factor = match style {
                0 => 1.0 + 0.04 * dice.unit(),
                1 => 1.0 + 0.12 * dice.unit(),
                2 if row == apple => 3.0,
                2 => 1.0 + 0.02 * dice.unit(),
                _ => 4f64.powf(dice.unit()),
            };
            (0..seeds).map(|_| base * factor * (1.0 + noise * (dice.unit() - 0.5))).collect()
        });
        Measured { name, aim, better, kind, samples: samples.collect(), replayed, disks }
    });
    Table {
        figures: figures.collect(),
        schedulers: NAMES[..rows].iter().map(|name| (*name).to_owned()).collect(),
        longest: (0..rows).map(|_| 10f64.powf(6.0 + 5.0 * dice.unit())).collect(),
        ends: if dice.below(2) > 0 {
            (0..rows).map(|_| 10f64.powf(9.0 + dice.unit())).collect()
        } else {
            Vec::new()
        },
        idle: dice.below(2) > 0,
        in_use: (dice.below(3) == 0).then(|| NAMES[dice.below(rows as u64)].to_owned()),
    }
}

/// The names of a list: `a, b and c`; and how many others it counts.
fn names(list: &str) -> (Vec<String>, usize) {
    let parts: Vec<&str> = list.split(", ").flat_map(|part| part.split(" and ")).collect();
    let others = parts.last().and_then(|last| last.strip_suffix(" others")).and_then(|n| n.parse().ok());
    let named = parts.len() - usize::from(others.is_some());
    (parts[..named].iter().map(|part| (*part).to_owned()).collect(), others.unwrap_or(0))
}

/// What stands between `before` and `after`.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found)
}

/// Checks `A has the shortest run time, 1 s (a tie … with B); C has the longest, 2 s.` and `All but C tie …`.
fn check_fact(reader: &Reader<'_>, about: &[usize], sentence: &str) {
    let figure = FIGURES.iter().find(|figure| sentence.contains(&format!(" {}, ", figure.0)));
    let figure = reader.figure(figure.unwrap_or_else(|| panic!("no figure in: {sentence}")).0);
    let cost = |row: usize| reader.cost(figure, row);
    let least = about.iter().map(|row| cost(*row)).fold(f64::MAX, f64::min);
    let most = about.iter().map(|row| cost(*row)).fold(0.0, f64::max);
    if let Some(but) = between(sentence, "All but ", " tie ") {
        let (but, (first, last)) = (reader.row(but), {
            let range = between(sentence, &format!("{}, ", figure.name), ";").unwrap();
            range.split_once(" to ").unwrap()
        });
        let others: Vec<usize> = about.iter().copied().filter(|row| *row != but).collect();
        let best = *others.iter().min_by(|a, b| cost(**a).total_cmp(&cost(**b))).unwrap();
        let far = *others.iter().max_by(|a, b| cost(**a).total_cmp(&cost(**b))).unwrap();
        assert!(others.iter().all(|row| !reader.differ(figure, *row, best)), "{sentence}");
        assert!(reader.differ(figure, but, best) && cost(but) > cost(far), "{sentence}");
        reader.reads(first, figure.kind, reader.mean(figure, best));
        reader.reads(last, figure.kind, reader.mean(figure, far));
        reader.reads(sentence.rsplit_once(" has ").unwrap().1, figure.kind, reader.mean(figure, but));
        return;
    }
    let (left, right) = sentence.split_once("; ").unwrap();
    let (best, value) = left.split_once(" has the ").unwrap();
    let best = reader.row(best);
    assert!(cost(best) <= least, "not the best: {sentence}");
    let value = value.split_once(", ").unwrap().1;
    reader.reads(value.split(" (").next().unwrap(), figure.kind, reader.mean(figure, best));
    let (tied, others) = between(left, " with ", ")").map_or((Vec::new(), 0), names);
    let ties: Vec<usize> = tied.iter().map(|name| reader.row(name)).collect();
    assert!(ties.iter().all(|row| !reader.differ(figure, *row, best)), "no tie: {sentence}");
    let all = about.iter().filter(|row| **row != best && !reader.differ(figure, **row, best)).count();
    assert_eq!(all, ties.len() + others, "ties are missing: {sentence}");
    let (lasts, value) = right.split_once(" has ").or_else(|| right.split_once(" have ")).unwrap();
    let (lasts, others) = names(lasts);
    let lasts: Vec<usize> = lasts.iter().map(|name| reader.row(name)).collect();
    assert_eq!(right.contains(" have "), lasts.len() + others > 1, "{sentence}");
    let superlative = value.starts_with("the ");
    let value = if superlative { value.split_once(", ").unwrap().1 } else { value };
    for last in &lasts {
        assert!(reader.differ(figure, *last, best) && cost(*last) > cost(best), "no difference: {sentence}");
        reader.reads(value, figure.kind, reader.mean(figure, *last));
    }
    assert!(!superlative || cost(lasts[0]) >= most, "not the worst: {sentence}");
}

/// The rows that nobody of `about` beats, in this table.
fn good(reader: &Reader<'_>, about: &[usize]) -> Vec<usize> {
    let among = reader.considered(about);
    let good: Vec<usize> = among.iter().copied().filter(|row| !reader.beaten(*row, &among)).collect();
    if good.is_empty() { among } else { good }
}

/// Checks a sentence that recommends, of tables that each stand for an assumption.
fn check_advice(readers: &[Reader<'_>], about: &[usize], sentence: &str) {
    let goods: Vec<Vec<usize>> = readers.iter().map(|reader| good(reader, about)).collect();
    let reader = &readers[0];
    let everywhere = |row: &usize| goods.iter().all(|good| good.contains(row));
    let robust: Vec<usize> = about.iter().copied().filter(everywhere).collect();
    let rows = |list: &str| names(list).0.iter().map(|name| reader.row(name)).collect::<Vec<_>>();
    if sentence.contains("cannot be told") {
        assert!(robust.is_empty() && sentence.contains("Record with issuers"), "{sentence}");
        return;
    }
    assert!(!robust.is_empty(), "{sentence}");
    if let Some(but) = between(sentence, "take anything but ", " (goal") {
        assert_eq!(rows(but).len() + robust.len(), about.len(), "{sentence}");
        assert!(rows(but).iter().all(|row| !robust.contains(row)), "{sentence}");
        let least = about.iter().map(|row| reader.table.longest[*row]).fold(f64::MAX, f64::min);
        for good in &robust {
            let longest = reader.table.longest[*good];
            assert!(longest < 1e9 || longest <= 5.0 * least, "one of the others starves: {sentence}");
            let figures = || reader.table.figures.iter();
            let worse = |bad: &usize| figures().any(|figure| reader.worse(figure, *good, *bad));
            assert!(!rows(but).iter().any(worse), "they are better in something: {sentence}");
        }
    } else if let Some(taken) = between(sentence, "take ", " (goal") {
        let taken = reader.row(taken);
        assert!(robust.contains(&taken), "beaten: {sentence}");
        // Chance can make preferences go round in a circle; of one run each they do not.
        let single = reader.table.figures.iter().all(|figure| figure.samples[0].len() == 1);
        let better = |other: usize| {
            let worse = |a: usize, b: usize| {
                reader
                    .weighs()
                    .any(|figure| reader.cost(figure, a) > Reader::threshold(figure) * reader.cost(figure, b))
            };
            worse(taken, other) && !worse(other, taken)
        };
        assert!(
            !single || !robust.iter().any(|other| better(*other)),
            "another is better throughout: {sentence}"
        );
        let (ties, others) = between(sentence, "); ", " as good within")
            .map_or((Vec::new(), 0), |list| names(list.trim_end_matches(" is").trim_end_matches(" are")));
        assert_eq!(ties.len() + others + 1, robust.len(), "{sentence}");
        assert!(ties.iter().all(|tie| robust.contains(&reader.row(tie))), "{sentence}");
        let but = sentence.split_once(", though ").map(|(_, rest)| rest.trim_end_matches('.'));
        let parts = but.into_iter().flat_map(|but| but.split(", ")).flat_map(|part| part.split(" and "));
        for part in parts {
            let (other, rest) = part.split_once(" is ").unwrap();
            let (times, figure) = rest.split_once(" times better in ").unwrap();
            let (other, figure) = (reader.row(other), reader.figure(figure));
            let ratio = reader.cost(figure, taken) / reader.cost(figure, other);
            let times: f64 = times.replace(',', "").parse().unwrap();
            assert!((ratio / times - 1.0).abs() < 0.006 && ratio > 1.05, "{ratio}: {sentence}");
            assert!(reader.differ(figure, taken, other), "{sentence}");
        }
    } else {
        assert!(sentence.starts_with("The choice does not matter"), "{sentence}");
        assert_eq!(robust, about, "{sentence}");
        if sentence.contains("loses in another") {
            let worse = |a: usize, b: usize| reader.weighs().any(|figure| reader.worse(figure, a, b));
            let pair = |a: usize| about.iter().any(|b| worse(a, *b) && worse(*b, a));
            assert!(about.iter().any(|a| pair(*a)), "nobody loses: {sentence}");
        }
        let simplest = reader.row(between(sentence, "Keep what you have; ", " is the simplest").unwrap());
        let none = about.iter().any(|row| reader.table.schedulers[*row] == NAMES[0]);
        assert!(!none || reader.table.schedulers[simplest] == NAMES[0], "{sentence}");
        for figure in reader.weighs().filter(|_| sentence.contains("differences are below")) {
            let percent = 100.0 * (Reader::threshold(figure) - 1.0);
            assert!(sentence.contains(&format!("{percent:.0} % in {}", figure.name)), "{sentence}");
        }
    }
}

/// Checks what others would add.
fn check_others(reader: &Reader<'_>, about: &[usize], sentence: &str) {
    let all: Vec<usize> = (0..reader.table.schedulers.len()).collect();
    let others: Vec<usize> = reader.considered(&all).into_iter().filter(|row| !about.contains(row)).collect();
    let matters = 1.05f64.ln();
    if let Some(over) = between(sentence, "add nothing to ", " here.") {
        let over = reader.row(over);
        assert!(others.iter().all(|row| reader.behind(over, *row) <= matters + 1e-9), "{sentence}");
        return;
    }
    let (left, over) = sentence.trim_end_matches('.').rsplit_once(" than ").unwrap();
    let (_, said) = left.split_once(", ").unwrap();
    let (who, figures) = said.split_once(" would be ").unwrap();
    let (who, over) = (reader.row(who), reader.row(over));
    assert!(others.contains(&who) && reader.behind(over, who) > matters, "{sentence}");
    for part in figures.split(", ").flat_map(|part| part.split(" and ")) {
        let better = part.contains(" times better in ");
        let (times, figure) =
            part.split_once(if better { " times better in " } else { " times worse in " }).unwrap();
        let figure = reader.figure(figure);
        let ratio = reader.cost(figure, over) / reader.cost(figure, who);
        let ratio = if better { ratio } else { 1.0 / ratio };
        assert!((ratio / times.replace(',', "").parse::<f64>().unwrap() - 1.0).abs() < 0.006, "{sentence}");
        assert!(ratio > 1.05, "{sentence}");
    }
}

/// Checks a claim's sentence against the tables of its question; `own` is of those that the verdict is about.
fn check(question: &Question<'_>, own: &Table, claims: usize, (claim, sentence): (&Claim, &str)) {
    let (base, goal, about) = (question.table, question.goal, question.about);
    let reader = Reader { table: base, goal };
    let (own_reader, own_rows) = (Reader { table: own, goal }, (0..about.len()).collect::<Vec<_>>());
    let spoken = sentence.replace("none of the others", "");
    assert!(!spoken.split([' ', ',', ';', ':', '.', '(']).any(|word| word == "none"), "a word: {sentence}");
    match claim {
        Claim::Interrupted => assert!(question.barred == Some(Claim::Interrupted) && claims == 1),
        Claim::Few { requests } => {
            assert!(
                question.barred == Some(claim.clone())
                    && sentence.contains(&format!("from {requests} requests"))
            );
        }
        Claim::Far { off } => {
            assert!(
                question.barred == Some(Claim::Far { off: *off })
                    && sentence.contains("40 % off, more than the 25 %"),
                "{sentence}"
            );
        }
        Claim::Alone => assert!(about.len() == 1 && claims == 1),
        Claim::Best { .. } | Claim::AllBut { .. } => check_fact(&own_reader, &own_rows, sentence),
        Claim::Untold { idle, .. } => {
            assert_eq!(*idle, base.idle);
            let aims: Vec<Aim> = base.figures.iter().map(|figure| figure.aim).collect();
            assert!(match goal {
                Goal::Throughput => !aims.contains(&Aim::Throughput),
                Goal::Latency => !aims.contains(&Aim::Latency),
                Goal::Balanced => aims.is_empty(),
            });
        }
        Claim::Longest { scheduler, other } => {
            let [here, there] = [scheduler, other].map(|value| base.longest[reader.row(&value.scheduler)]);
            assert!(here >= 1e9 && here > 5.0 * there, "{sentence}");
            reader.reads(between(sentence, " took ", " (").unwrap(), Kind::Millis, here);
            reader.reads(between(sentence, ": ", ")").unwrap(), Kind::Millis, there);
            assert!(own.longest.iter().all(|longest| *longest >= there), "{sentence}");
        }
        Claim::Ends { scheduler, other } => {
            let [late, soon] = [scheduler, other].map(|value| base.ends[reader.row(&value.scheduler)]);
            assert!(late > 2.0 * soon && own.ends.iter().all(|end| *end >= soon), "{sentence}");
            reader.reads(between(sentence, " took ", " (").unwrap(), Kind::Seconds, late);
        }
        Claim::LeftOut { schedulers, .. } => {
            let allowed = reader.allowed(about);
            let longest = schedulers.iter().map(|one| base.longest[reader.row(&one.scheduler)]);
            let most = longest.clone().fold(0.0, f64::max);
            assert!(goal == Goal::Balanced && longest.clone().all(|wait| wait > allowed), "{sentence}");
            reader.reads(between(sentence, " up to ", ", and").unwrap(), Kind::Millis, most);
            let said = sentence.split_once(" allows ").unwrap().1;
            reader.reads(said.split(',').next().unwrap(), Kind::Millis, allowed);
        }
        Claim::Holds { assumptions, .. } => assert_eq!(assumptions.len(), question.assumed.len()),
        Claim::Others { .. } | Claim::NoOthers { .. } => check_others(&reader, about, sentence),
        _ => {
            let assumed = question.assumed.iter().map(|assumed| Reader { table: &assumed.table, goal });
            let readers: Vec<Reader<'_>> = [own_reader].into_iter().chain(assumed).collect();
            check_advice(&readers, &own_rows, sentence);
        }
    }
}

#[test]
fn every_sentence_is_true_of_its_table() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut seen = std::collections::BTreeMap::new();
    for number in 0..10_000 {
        let rows = 1 + dice.below(NAMES.len() as u64);
        let seeds = [1, 1, 3, 5][dice.below(4)];
        let base = table(&mut dice, rows, seeds);
        let goal = [Goal::Throughput, Goal::Latency, Goal::Balanced][dice.below(3)];
        let about: Vec<usize> =
            if dice.below(3) == 0 { (0..rows.div_ceil(2)).collect() } else { (0..rows).collect() };
        let own = base.only(&about);
        let other = if dice.below(2) == 0 { table(&mut dice, rows, seeds).only(&about) } else { own.clone() };
        let assumed: Vec<Assumed> = (0..dice.below(3))
            .map(|place| [("as it is", &own), ("otherwise", &other)][place])
            .map(|(name, table)| Assumed {
                assumption: Assumption { waits: name, disk: None },
                table: table.clone(),
            })
            .collect();
        let barred = match dice.below(50) {
            0 => Some(Claim::Interrupted),
            1 => Some(Claim::Few { requests: 99 }),
            2 | 3 => Some(Claim::Far { off: 0.4 }),
            _ => None,
        };
        let question =
            Question { table: &base, goal, barred, missing: "issuers", assumed: &assumed, about: &about };
        let verdict = verdict(&question);
        assert_eq!(verdict.claims.len(), verdict.sentences.len());
        assert!(!verdict.claims.is_empty(), "table {number}");
        headline::check(&verdict);
        for (claim, sentence) in verdict.claims.iter().zip(&verdict.sentences) {
            let kind = serde_json::to_value(claim).unwrap()["claim"].as_str().unwrap().to_owned();
            *seen.entry(kind).or_insert(0) += 1;
            check(&question, &own, verdict.claims.len(), (claim, sentence));
        }
    }
    let kinds: Vec<&str> = seen.keys().map(String::as_str).collect();
    let all = [
        "all-but",
        "alone",
        "avoid",
        "best",
        "cannot-tell",
        "ends",
        "even",
        "far",
        "few",
        "holds",
        "interrupted",
        "left-out",
        "longest",
        "no-others",
        "others",
        "same",
        "take",
        "untold",
    ];
    assert_eq!(kinds, all, "every kind of claim was met: {seen:?}");
}
