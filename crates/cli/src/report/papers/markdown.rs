//! The claims in Markdown: what `docs/papers.md` has of them.

use std::fmt::Write as _;

use idlewise_sim::papers::{Finding, Found, Ours};

use super::{LEGEND, Told, entries, remarks};

/// The claims in Markdown.
pub(crate) fn markdown(told: &Told<'_>) -> String {
    let mut text = format!("{}.\n\n{LEGEND}\n", told.summary());
    for (paper, findings) in told.papers() {
        let _ = write!(
            text,
            "\n### {}\n\n{}. Theirs: {}; ours: `{}`.\n\n",
            paper.name, paper.title, paper.machine, paper.disk
        );
        let _ = write!(text, "{}\n\n", paper.notes.trim());
        text += "| id | claim | paper | ours | ours / paper | verdict |\n|---|---|---|---|---|---|\n";
        for finding in findings {
            for (number, entry) in entries(finding).into_iter().enumerate() {
                let what = if number == 0 { told_of(finding, &entry.what) } else { entry.what };
                let cells = [&entry.id, &what, &entry.paper, &entry.ours, &entry.times]
                    .map(|cell| cell.replace('|', "\\|"));
                let _ = writeln!(text, "| {} | {} |", cells.join(" | "), entry.verdict);
            }
        }
        text.push('\n');
        for (ids, words) in remarks(findings) {
            let _ = writeln!(text, "- {ids}: {words}.");
        }
        for finding in findings {
            finding.points.iter().for_each(|found| text += &winners(finding, found));
        }
    }
    text
}

/// A claim in a cell: what was run, and what the paper says.
fn told_of(finding: &Finding, name: &str) -> String {
    let claim = finding.claim;
    format!("**{name}** ({}): {}", claim.place, claim.says)
}

/// A table of winners, cell by cell.
fn winners(finding: &Finding, found: &Found) -> String {
    let Ours::Table(cells) = &found.ours else { return String::new() };
    let mut text = format!(
        "\n{}, {}:\n\n| cell | paper | best here |\n|---|---|---|\n",
        finding.claim.id, found.point.what
    );
    for cell in cells {
        let mark = if cell.agrees { "" } else { " (differs)" };
        let _ = writeln!(text, "| {} | {} | {}{mark} |", cell.step, cell.paper, cell.best.join(", "));
    }
    text
}
