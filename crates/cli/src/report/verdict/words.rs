//! A claim as a sentence.

use idlewise_core::registry;
use idlewise_sim::fit::FAR;
use idlewise_sim::metrics::{Better, Kind};

use super::table::{Goal, Measured, Table};
use super::{Assumption, Claim, ENOUGH, Times, Under, Value};
use crate::report::numbers::three;

/// Names in one place; further ones are counted.
const NAMED: usize = 4;
/// A price that the headline names: a figure that is twice as good elsewhere. The sentences name all.
const DEAR: f64 = 2.0;

/// A scheduler's name in a sentence: `none` alone would be read as the word.
pub(crate) fn told(name: &str) -> &str {
    if name == registry::NONE { "'none'" } else { name }
}

/// What a verdict comes to if this claim decides it, in a few words.
pub(super) fn headline(claim: &Claim) -> Option<String> {
    match claim {
        Claim::Take { scheduler, behind, .. } => {
            let worst = behind.iter().max_by(|a, b| a.times.total_cmp(&b.times));
            let price = worst.filter(|worst| worst.times >= DEAR).map(|worst| {
                let Times { figure, times, than } = worst;
                format!(", though {} is {} times better in {figure}", told(than), three(*times))
            });
            Some(format!("Take {}{}", told(scheduler), price.unwrap_or_default()))
        }
        Claim::Same { simplest, .. } | Claim::Even { simplest, .. } => {
            Some(format!("The choice does not matter: {} will do", told(simplest)))
        }
        Claim::Avoid { but, .. } => {
            Some(format!("Take anything but {}", list(but.iter().map(String::as_str))))
        }
        Claim::Few { .. } | Claim::Far { .. } | Claim::CannotTell { .. } => {
            Some("Cannot be told from this trace".to_owned())
        }
        Claim::Interrupted => Some("The runs were cut short".to_owned()),
        _ => None,
    }
}

/// The sentence of a claim about `table`.
pub(super) fn sentence(claim: &Claim, table: &Table) -> String {
    let several = table.figures.iter().any(|figure| figure.samples[0].len() > 1);
    let chance = match table.figures.iter().any(|figure| figure.disks) {
        true => " or on some disk",
        false if several => " or chance",
        false => "",
    };
    let within = |figure: &Measured| format!("within {:.0} %{chance}", 100.0 * figure.matters());
    match claim {
        Claim::Interrupted => "No verdict: the runs were cut short, each at another point.".to_owned(),
        Claim::Alone => "One scheduler alone cannot be compared; name others with --schedulers.".to_owned(),
        Claim::Best { figure, best, ties, last, alike, worst } => {
            let figure = of(table, figure);
            best_of(figure, (best, ties), (last, alike, *worst), &within(figure))
        }
        Claim::AllBut { figure, best, furthest, but } => {
            let figure = of(table, figure);
            let [best, furthest, value] = [best, furthest, but].map(|value| show(figure.kind, value.value));
            let (first, name, but) = (ends(figure).0, figure.name, told(&but.scheduler));
            format!(
                "All but {but} tie {} for the {first} {name}, {best} to {furthest}; {but} has {value}.",
                within(figure)
            )
        }
        Claim::Untold { idle: true, .. } => {
            "Nothing is read or written here, so that no scheduler is better than another.".to_owned()
        }
        Claim::Untold { goal, .. } => format!(
            "Nothing here tells of the goal {}: requests at fixed times take as long under every scheduler. \
             Choose another with --goal.",
            goal.name()
        ),
        Claim::Same { figures, simplest } => same(table, figures, simplest, chance),
        Claim::Even { goal, simplest } => format!(
            "The choice does not matter on balance (goal: {}): what a scheduler gains in one figure it loses in another. \
             Keep what you have; {} is the simplest.",
            goal.name(),
            told(simplest)
        ),
        Claim::Avoid { goal, but } => format!(
            "The choice matters: take anything but {} (goal: {}); none of the others is beaten.",
            list(but.iter().map(String::as_str)),
            goal.name()
        ),
        Claim::Take { goal, scheduler, ties, behind, only } => {
            take((*goal, scheduler), only, ties, behind, &within_all(table, *goal, chance))
        }
        Claim::Longest { scheduler, other } => but("slowest request", Kind::Millis, scheduler, other),
        Claim::Ends { scheduler, other } => but("programs that end", Kind::Seconds, scheduler, other),
        Claim::LeftOut { schedulers, limit_ns, usual } => left_out(schedulers, *limit_ns, usual.as_deref()),
        Claim::Holds { missing, assumptions } => {
            let holds = all(assumptions);
            match *missing {
                "" => format!("The recommendation holds {holds}."),
                missing => format!(
                    "The trace does not tell {missing}, so that what waited for what is inferred; the recommendation \
                     holds {holds}."
                ),
            }
        }
        Claim::Few { requests } => format!(
            "Which scheduler to take cannot be told from {requests} requests: {ENOUGH} at least are needed."
        ),
        Claim::Far { off } => far(*off),
        Claim::CannotTell { missing, under } => cannot_tell(missing, under),
        Claim::Others { scheduler, over, figures, .. } => others(scheduler, over, figures),
        Claim::NoOthers { over } => {
            format!("Schedulers that Linux does not have would add nothing to {} here.", told(over))
        }
    }
}

/// A warning of something that takes far longer than under another scheduler.
fn but(what: &str, kind: Kind, here: &Value, there: &Value) -> String {
    let [long, short] = [here, there].map(|value| show(kind, value.value));
    format!(
        "But under {} the {what} took {long} ({}: {short}).",
        told(&here.scheduler),
        told(&there.scheduler)
    )
}

/// No figure of the goal differs.
fn same(table: &Table, figures: &[&'static str], simplest: &str, chance: &str) -> String {
    let share = |name: &&'static str| format!("{:.0} % in {name}", 100.0 * of(table, name).matters());
    let each: Vec<String> = figures.iter().map(share).collect();
    format!(
        "The choice does not matter here: differences are below {}{chance}. Keep what you have; {} is the \
         simplest.",
        list(each.iter().map(String::as_str)),
        told(simplest)
    )
}

/// What a tie is in all figures of the goal.
fn within_all(table: &Table, goal: Goal, chance: &str) -> String {
    let mut shares: Vec<f64> = table.weighed(goal).map(Measured::matters).collect();
    shares.dedup();
    let shares: Vec<String> = shares.iter().map(|share| format!("{:.0} %", 100.0 * share)).collect();
    match &shares[..] {
        [time, latencies] => format!("within {time} (latencies: {latencies}){chance}"),
        _ => format!("within {}{chance}", shares.concat()),
    }
}

/// Who has a figure best and worst.
fn best_of(
    figure: &Measured,
    (best, ties): (&Value, &[Value]),
    (last, alike, worst): (&Value, &[String], bool),
    within: &str,
) -> String {
    let (first, bottom) = ends(figure);
    let tied = if ties.is_empty() {
        String::new()
    } else {
        format!(" (a tie {within} with {})", list(ties.iter().map(|tie| tie.scheduler.as_str())))
    };
    let worst = if worst { format!("the {bottom}, ") } else { String::new() };
    let lasts = list(std::iter::once(last.scheduler.as_str()).chain(alike.iter().map(String::as_str)));
    format!(
        "{} has the {first} {}, {}{tied}; {lasts} {} {worst}{}.",
        told(&best.scheduler),
        figure.name,
        show(figure.kind, best.value),
        if alike.is_empty() { "has" } else { "have" },
        show(figure.kind, last.value)
    )
}

/// Who starves somebody.
fn left_out(schedulers: &[Value], limit_ns: f64, usual: Option<&str>) -> String {
    let verb = if schedulers.len() == 1 { "is" } else { "are" };
    let longest = schedulers.iter().map(|one| one.value).fold(0.0, f64::max);
    let limit = show(Kind::Millis, limit_ns);
    let reason =
        usual.map_or_else(String::new, |name| format!(", twice the longest wait under {}", told(name)));
    format!(
        "{} {verb} left out: a request took up to {}, and this goal allows {limit}{reason}.",
        list(schedulers.iter().map(|one| one.scheduler.as_str())),
        show(Kind::Millis, longest)
    )
}

/// Assumptions in words. Disks are named once where each way of waiting has all of them.
fn all(assumptions: &[Assumption]) -> String {
    let waits = once(assumptions.iter().map(|one| one.waits.to_owned()));
    let disks = once(assumptions.iter().filter_map(|one| one.disk.clone()));
    if disks.is_empty() || assumptions.len() != waits.len() * (disks.len() + 1) {
        return conjoined(&once(assumptions.iter().map(Assumption::to_string)));
    }
    let each = if waits.len() > 1 { "each " } else { "" };
    format!("{}, {each}also on a disk {}", conjoined(&waits), conjoined(&disks))
}

/// The different ones among `words`, in their order.
fn once(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut all = Vec::new();
    words.for_each(|word| {
        if !all.contains(&word) {
            all.push(word);
        }
    });
    all
}

fn conjoined(words: &[String]) -> String {
    joined(words.iter().map(String::as_str), "and", usize::MAX)
}

/// What to take.
fn take(
    (goal, scheduler): (Goal, &str),
    only: &[Assumption],
    ties: &[String],
    behind: &[Times],
    within: &str,
) -> String {
    let ties = if ties.is_empty() {
        String::new()
    } else {
        let verb = if ties.len() == 1 { "is" } else { "are" };
        format!("; {} {verb} as good {within}", list(ties.iter().map(String::as_str)))
    };
    let behind: Vec<String> = behind
        .iter()
        .map(|times| {
            format!("{} is {} times better in {}", told(&times.than), three(times.times), times.figure)
        })
        .collect();
    let behind = if behind.is_empty() {
        String::new()
    } else {
        format!(", though {}", list(behind.iter().map(String::as_str)))
    };
    let only = if only.is_empty() { String::new() } else { format!(" only {}", all(only)) };
    format!("The choice matters{only}: take {} (goal: {}){ties}{behind}.", told(scheduler), goal.name())
}

fn far(off: f64) -> String {
    format!(
        "Which scheduler the recorded disk should have cannot be told: the response times of its model are {:.0} % off, more \
         than the {:.0} % that are trusted. The figures are of that model. What another disk would do, --disk says.",
        100.0 * off,
        100.0 * FAR
    )
}

fn cannot_tell(missing: &str, under: &[Under]) -> String {
    let first =
        |(place, one): &(usize, &Under)| !under[..*place].iter().any(|before| before.good == one.good);
    let each = under.iter().enumerate().filter(first).map(|(_, under)| {
        format!("{} it would be {}", under.assumption, either(under.good.iter().map(String::as_str)))
    });
    let each = each.collect::<Vec<_>>().join(", ");
    match missing {
        "" => format!(
            "Which scheduler to take cannot be told with this model of the disk: {each}. Record for longer, or name a \
             model with --disk."
        ),
        missing => format!(
            "Which scheduler to take cannot be told from this trace, which lacks {missing}: {each}. Record with issuers \
             and completions."
        ),
    }
}

fn others(scheduler: &str, over: &str, figures: &[Times]) -> String {
    let each: Vec<String> = figures
        .iter()
        .map(|figure| match figure.times {
            better if better > 1.0 => format!("{} times better in {}", three(better), figure.figure),
            worse => format!("{} times worse in {}", three(1.0 / worse), figure.figure),
        })
        .collect();
    format!(
        "Of schedulers that Linux does not have, {} would be {} than {}.",
        told(scheduler),
        list(each.iter().map(String::as_str)),
        told(over)
    )
}

fn of<'a>(table: &'a Table, name: &str) -> &'a Measured {
    table.figures.iter().find(|figure| figure.name == name).expect("claims are about figures of the table")
}

/// What the best and the worst are called.
fn ends(figure: &Measured) -> (&'static str, &'static str) {
    match (figure.kind, figure.better) {
        (Kind::Seconds, _) => ("shortest", "longest"),
        (_, Better::More) => ("highest", "lowest"),
        _ => ("lowest", "highest"),
    }
}

/// A value with its unit.
pub(crate) fn show(kind: Kind, value: f64) -> String {
    let kind = if matches!(kind, Kind::Millis) && value >= 1e9 { Kind::Seconds } else { kind };
    let (unit, scale) = kind.unit_near(value);
    format!("{} {unit}", three(value / scale)).trim_end().to_owned()
}

/// Names in a row; of many, the first ones and the number of the others.
pub(crate) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    joined(names, "and", NAMED)
}

fn either<'a>(names: impl Iterator<Item = &'a str>) -> String {
    joined(names, "or", NAMED)
}

fn joined<'a>(names: impl Iterator<Item = &'a str>, word: &str, most: usize) -> String {
    let mut names: Vec<String> = names.map(|name| told(name).to_owned()).collect();
    if names.len() > most.saturating_add(1) {
        let others = names.split_off(most).len();
        names.push(format!("{others} others"));
    }
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last } else { format!("{} {word} {last}", names.join(", ")) }
}
