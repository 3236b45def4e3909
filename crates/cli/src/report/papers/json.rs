//! The claims for programs.

use idlewise_sim::papers::{Cell, Finding, Formula, Found, Ours, Test};
use serde_json::{Value, json};

use super::super::{json as for_programs, origin};
use super::{Told, shown};
use crate::failure::Failure;

/// The claims as JSON.
pub(crate) fn json(told: &Told<'_>) -> Result<String, Failure> {
    let papers: Vec<Value> = told
        .papers()
        .map(|(paper, findings)| {
            json!({
                "paper": paper.name,
                "title": paper.title,
                "machine": paper.machine,
                "disk": paper.disk,
                "claims": findings.iter().map(claim).collect::<Vec<_>>(),
            })
        })
        .collect();
    for_programs::text(&json!({
        "schema": "idlewise-papers-1",
        "version": env!("CARGO_PKG_VERSION"),
        "command": origin::command(),
        "full": told.full,
        "seeds": told.seeds,
        "interrupted": told.interrupted,
        "papers": papers,
    }))
}

fn claim(finding: &Finding) -> Value {
    let claim = finding.claim;
    json!({
        "id": claim.id,
        "name": claim.name,
        "where": claim.place,
        "load": claim.load,
        "metric": claim.metric,
        "says": claim.says,
        "verdict": finding.verdict.name(),
        "reason": claim.reason,
        "lacks": claim.lacks,
        "points": finding.points.iter().map(point).collect::<Vec<_>>(),
    })
}

fn point(found: &Found) -> Value {
    let texts = |formulas: &[Formula]| formulas.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut value = json!({
        "what": found.point.what,
        "verdict": found.verdict.map(|verdict| verdict.name()),
    });
    let mut scale = 1.0;
    match &found.point.test {
        Test::Ratio(ours, paper) | Test::Value(ours, paper) => {
            scale = shown(ours);
            value["figures"] = json!([ours.to_string()]);
            value["paper"] = json!(paper);
            if let Ours::Figure(figure) = &found.ours {
                value["ours_by_paper"] = json!(figure.mean / scale / paper);
            }
        }
        Test::Bound(ours, least, most) => {
            scale = shown(ours);
            value["figures"] = json!([ours.to_string()]);
            (value["least"], value["most"]) = (json!(least), json!(most));
        }
        Test::Spread(all, most) => {
            value["figures"] = json!(texts(all));
            value["most"] = json!(most);
        }
        Test::Order(all) => {
            scale = all.first().map_or(1.0, shown);
            value["figures"] = json!(texts(all));
        }
        Test::Table { .. } => {}
    }
    match &found.ours {
        Ours::Unfinished => {}
        Ours::Figure(figure) => {
            value["ours"] = json!(figure.mean / scale);
            value["ours_ci95"] = json!(figure.ci95 / scale);
        }
        Ours::Order(figures) => {
            value["order"] = json!(figures.iter().map(|figure| figure.mean / scale).collect::<Vec<_>>());
        }
        Ours::Table(cells) => value["cells"] = cells.iter().map(cell).collect(),
    }
    value
}

fn cell(cell: &Cell) -> Value {
    json!({ "step": cell.step, "paper": cell.paper, "best": cell.best, "agrees": cell.agrees })
}
