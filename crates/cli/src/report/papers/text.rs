//! The claims for a terminal: a table for each paper, what is to be said of it, and how many claims hold.

use std::fmt::Write as _;

use super::super::grid::aligned;
use super::super::numbers::{width, wrap};
use super::super::origin;
use super::{Entry, LEGEND, Told, entries, remarks};

/// Where a point's words begin: behind the ids.
const INDENT: &str = "      ";

/// The claims as text.
pub(crate) fn text(told: &Told<'_>) -> String {
    let width = width();
    let mut text = String::new();
    for (paper, findings) in told.papers() {
        let _ = write!(text, "{}\n{}\n", paper.name, wrap(&paper.title, width));
        let _ =
            write!(text, "{}\n\n", wrap(&format!("theirs: {}; ours: {}", paper.machine, paper.disk), width));
        text += &table(&findings.iter().flat_map(entries).collect::<Vec<_>>(), width);
        text.push('\n');
        for (ids, words) in remarks(findings) {
            text += &hanging(&format!("{ids}: {words}."), width);
        }
        text.push('\n');
    }
    text += &wrap(LEGEND, width);
    let _ = write!(text, "\n\n{}\n\n{}\n", wrap(&told.effort(), width), wrap(&told.summary(), width));
    text + "\n" + &origin::with_hash(None)
}

/// The table, as wide as `width` allows: words are cut before figures are.
fn table(entries: &[Entry], width: usize) -> String {
    let lines = |words: usize| {
        let heads = ["claim", "paper", "ours", "ours / paper", "verdict"].map(str::to_owned).to_vec();
        let line = |entry: &Entry| {
            let what = cut(&entry.what, words);
            let what =
                if entry.id.is_empty() { format!("{INDENT}{what}") } else { format!("{:4}{what}", entry.id) };
            let Entry { paper, ours, times, verdict, .. } = entry;
            vec![what, paper.clone(), ours.clone(), times.clone(), (*verdict).to_owned()]
        };
        aligned(&std::iter::once(heads).chain(entries.iter().map(line)).collect::<Vec<_>>())
    };
    let longest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let most = entries.iter().map(|entry| entry.what.chars().count()).max().unwrap_or(0);
    let whole = lines(most);
    match longest(&whole).saturating_sub(width) {
        0 => whole,
        over => lines(most.saturating_sub(over).max(8)),
    }
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// `text` in lines of `width`, all but the first one indented.
fn hanging(text: &str, width: usize) -> String {
    let mut lines = String::new();
    for (number, line) in wrap(text, width - 2).lines().enumerate() {
        let _ = writeln!(lines, "{}{line}", if number == 0 { "" } else { "  " });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_before_figures() {
        let entry = Entry {
            id: "S14".to_owned(),
            what: "a claim of many words, too many".to_owned(),
            paper: "4.00".to_owned(),
            ours: "4.62 ±0.01".to_owned(),
            times: "1.16".to_owned(),
            verdict: "holds",
        };
        for width in [60, 100] {
            let text = table(std::slice::from_ref(&entry), width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            assert!(text.contains("4.62 ±0.01") && text.contains("holds"), "{text}");
        }
    }
}
