//! The claims as one page for browsers: a table and drawings for each paper, theirs and ours together.

use std::fmt::Write as _;

use idlewise_sim::papers::{Finding, Ours, Paper, PapersError, lines};

use super::super::grid::escape;
use super::super::html::{document, section};
use super::super::origin;
use super::{LEGEND, Told, entries, plot, remarks};

const TITLE: &str = "The papers' claims";

/// The page.
///
/// # Errors
/// [`PapersError`] if a figure names a run that is not declared.
pub(crate) fn page(told: &Told<'_>) -> Result<String, PapersError> {
    let mut body = format!(
        "<header><p class=brand>idlewise: disk scheduling</p><h1>{TITLE}</h1>\
         <p class=verdict>{}</p></header>\n<main>\n<p>{}</p>\n",
        escape(&told.summary()),
        escape(LEGEND)
    );
    for (paper, findings) in told.papers() {
        let notes =
            escape(&format!("Theirs: {}; ours: {}. {}", paper.machine, paper.disk, paper.notes.trim()));
        let content = format!(
            "<p>{}</p>\n<p>{notes}</p>\n{}{}{}",
            escape(&paper.title),
            table(paper, findings),
            said(findings),
            drawings(told, findings)?
        );
        body += &section(&paper.name, &content);
    }
    let repeat = format!(
        "<pre><code>{}</code></pre>\n<p>{}</p>\n",
        escape(&origin::command()),
        escape(&told.effort())
    );
    body += &section("To repeat this", &repeat);
    Ok(document(TITLE, &(body + "</main>\n")))
}

fn table(paper: &Paper, findings: &[Finding]) -> String {
    let name = escape(&paper.name);
    let mut text = format!(
        "<div class=scroll tabindex=0 role=region aria-label=\"Claims of {name}\"><table>\n<thead><tr><th scope=col>claim</th>\
         <th scope=col>paper</th><th scope=col>ours</th><th scope=col>ours / paper</th><th scope=col>verdict</th></tr></thead>\n\
         <tbody>\n"
    );
    for finding in findings {
        let claim = finding.claim;
        let title = escape(&format!("{}: {}. {}", claim.place, claim.load, claim.says));
        for entry in entries(finding) {
            let what = escape(&entry.what);
            let head = if entry.id.is_empty() {
                format!("<th scope=row class=point>{what}</th>")
            } else {
                format!("<th scope=row title=\"{title}\"><b>{}</b> {what}</th>", escape(&entry.id))
            };
            let class = if entry.verdict == "holds" { " class=best" } else { "" };
            let [paper, ours, times] = [&entry.paper, &entry.ours, &entry.times].map(|cell| escape(cell));
            let _ = writeln!(
                text,
                "<tr>{head}<td>{paper}</td><td>{ours}</td><td>{times}</td><td{class}>{}</td></tr>",
                entry.verdict
            );
        }
    }
    text + "</tbody>\n</table></div>\n"
}

/// What is to be said of the claims, and tables of winners cell by cell.
fn said(findings: &[Finding]) -> String {
    let mut text = String::from("<ul>\n");
    for (ids, words) in remarks(findings) {
        let _ = writeln!(text, "<li><b>{}</b>: {}.</li>", escape(&ids), escape(&words));
    }
    text += "</ul>\n";
    for (finding, found) in findings.iter().flat_map(|one| one.points.iter().map(move |found| (one, found))) {
        let Ours::Table(cells) = &found.ours else { continue };
        let _ = writeln!(
            text,
            "<details><summary>{}, {}: cell by cell</summary>\n<table>\n<tr><th>cell</th><th>paper</th><th>best here</th></tr>",
            escape(&finding.claim.id),
            escape(&found.point.what)
        );
        for cell in cells {
            let class = if cell.agrees { " class=best" } else { "" };
            let [step, paper, best] =
                [&cell.step, &cell.paper, &cell.best.join(", ")].map(|cell| escape(cell));
            let _ = writeln!(text, "<tr><th>{step}</th><td>{paper}</td><td{class}>{best}</td></tr>");
        }
        text += "</table></details>\n";
    }
    text
}

/// Every ratio in one drawing, and each figure of the paper that is made of lines.
fn drawings(told: &Told<'_>, findings: &[Finding]) -> Result<String, PapersError> {
    let mut text = String::from("<div class=charts>\n");
    text += &plot::ratios(findings);
    for finding in findings {
        if let Some(curve) = &finding.claim.curve {
            let ours = lines(finding.paper, curve, told.results, told.full, told.seeds)?;
            text += &plot::curve(curve, &finding.claim.id, &ours);
        }
    }
    Ok(text + "</div>\n")
}
