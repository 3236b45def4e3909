//! Advice for people.

use std::fmt::Write as _;
use std::path::Path;

use super::{Action, Advice, Affected, counted};
use crate::report::numbers::{three, wrap};
use crate::report::verdict::words::{list, show, told};
use crate::report::verdict::{Claim, ENOUGH};

/// The advice as lines of at most `width` characters.
pub(crate) fn text(advice: &Advice, width: usize) -> String {
    let mut text = String::new();
    let mut say = |line: &str| writeln!(text, "{}", wrap(line, width)).unwrap_or_default();
    say(&format!("{}: {}", advice.disk, advice.model));
    say(&load(advice));
    say("");
    say(&headline(advice));
    for change in &advice.figures {
        let [now, then] = [change.now, change.then].map(|value| show(change.kind, value));
        let times = change.times_better;
        let word = if times >= 1.0 {
            format!("{} times better", three(times))
        } else {
            format!("{} times worse", three(1.0 / times))
        };
        say(&format!("  {}: {now} now, {then} then ({word})", change.figure));
    }
    if let Some([now, then]) = advice.longest_ns {
        say(&format!("  longest request: {} ms now, {} ms then", three(now / 1e6), three(then / 1e6)));
    }
    if advice.action == Action::Change {
        say(&affected("Who gains", "nobody by more than 5 %", &advice.gain));
        say(&affected("Who loses", "nobody by more than 5 %", &advice.lose));
    }
    if !advice.verdict.is_empty() {
        say("");
        let of_all = if advice.far { "What the replays say, on that model" } else { "Of all candidates" };
        say(&format!("{of_all}: {}", advice.verdict));
    }
    if let Some(lines) = &advice.lines {
        let block = |text: &mut String, head: &str, lines: &[String]| {
            write!(text, "\n{head}\n").unwrap_or_default();
            lines.iter().for_each(|line| writeln!(text, "  {line}").unwrap_or_default());
        };
        block(&mut text, "Now, until the disk is found again:", &lines.now);
        block(
            &mut text,
            &format!("For good, in {}:", lines.udev_file),
            std::slice::from_ref(&lines.udev_rule),
        );
        if let Some(file) = &lines.modules_file {
            block(
                &mut text,
                &format!("And, so that the scheduler is there at boot, in {file}:"),
                &["idlewise".to_owned()],
            );
        }
        block(&mut text, &for_tuned(&lines.tuned_file), &lines.tuned_profile);
        block(&mut text, "To take it back:", &lines.undo);
    }
    text
}

/// Where tuned runs it overrules udev, and takes a profile only when it is told to.
fn for_tuned(file: &str) -> String {
    let profile = Path::new(file).parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    format!(
        "Or, where tuned runs, which overrules udev: in {file}, with include=PROFILE below [main] if `tuned-adm active` names a \
         PROFILE; then tuned-adm profile {profile} (back: tuned-adm profile PROFILE):"
    )
}

fn load(advice: &Advice) -> String {
    let kinds: Vec<String> = advice
        .kinds
        .iter()
        .map(|kind| format!("{} ({:.0} %)", spelt(&kind.kind), 100.0 * kind.share))
        .collect();
    let kinds = if kinds.is_empty() { "no kind of load stands out".to_owned() } else { kinds.join(", ") };
    format!("{} requests: {kinds}", advice.requests)
}

/// A category, such as `4 random reads`, for people.
fn spelt(kind: &str) -> String {
    match counted(kind) {
        Some(("1", what)) => format!("{what} of one process"),
        Some(("16+", what)) => format!("{what} of 16 or more processes"),
        Some((about, what)) => format!("{what} of about {about} processes"),
        None => kind.to_owned(),
    }
}

fn headline(advice: &Advice) -> String {
    let current = advice.current.as_deref().map_or("an unknown scheduler", told);
    let kept = advice
        .current
        .as_ref()
        .map_or_else(String::new, |current| format!(" Leave the disk at {}.", told(current)));
    let scheduler = advice.scheduler.as_deref().map_or("?", told);
    match advice.action {
        Action::Keep if advice.current.is_none() => {
            let but = avoided(advice).map_or_else(String::new, |but| format!(", unless that is {but}"));
            format!(
                "Keep the scheduler that the disk has{but}: no other is better by more than models are off."
            )
        }
        Action::Keep => {
            format!("Keep {current}, which the disk has: no other is better by more than models are off.")
        }
        Action::Change => format!(
            "Take {scheduler}: {} times better here than {current}, which the disk has.",
            three(advice.times_better)
        ),
        Action::Take if advice.disk_known => {
            format!("Take {scheduler}. The disk has a scheduler that idlewise does not know.")
        }
        Action::Take => format!(
            "Take {scheduler}. The recording says neither which disk this is nor which scheduler that has: in the lines \
             below DISK stands for the disk, and OLD for what /sys/block/DISK/queue/scheduler has in brackets now."
        ),
        Action::CannotTell if advice.requests < ENOUGH => format!(
            "This cannot be told from {} requests: {ENOUGH} at least are needed. Record while your programs run, or for longer, \
             such as with --for 10m.{kept}",
            advice.requests
        ),
        Action::CannotTell if advice.far => format!(
            "This cannot be told: the model is far from this disk. Record a load with fewer requests at once, let the disk be \
             read (`idlewise disk calibrate`), or name another model with --disk. What a disk of another model would do, \
             `idlewise compare` says.{kept}"
        ),
        Action::CannotTell => format!("This cannot be told from the recording.{kept}"),
    }
}

/// Those that the verdict would not have, if it has nothing else against anybody.
fn avoided(advice: &Advice) -> Option<String> {
    let but = advice.claims.iter().find_map(|claim| match claim {
        Claim::Avoid { but, .. } => Some(but),
        _ => None,
    })?;
    Some(list(but.iter().map(String::as_str)))
}

fn affected(who: &str, nobody: &str, processes: &[Affected]) -> String {
    let one = |process: &Affected| {
        format!(
            "{} ({} → {} ms a request)",
            process.process,
            three(process.now_ns / 1e6),
            three(process.then_ns / 1e6)
        )
    };
    let named: Vec<String> = processes.iter().map(one).collect();
    format!("{who}: {}", if named.is_empty() { nobody.to_owned() } else { named.join(", ") })
}
