//! `idlewise papers`: claims by id, verdicts as JSON, and a file from which an interrupted command goes on.

mod common;

use std::process::{Command, Stdio};
use std::time::Duration;

use common::{folder, idlewise, line};
use serde_json::Value;

/// Claims of three papers that take moments, and one that has nothing to run.
const QUICK: [&str; 7] = ["papers", "S11", "S15", "I04", "U13", "--runs", "2"];

fn document(more: &[&str]) -> Value {
    let words = QUICK.iter().chain(["--json"].iter()).chain(more).copied();
    serde_json::from_str(&idlewise(words).exits(0).stdout).unwrap()
}

fn claims(document: &Value) -> Vec<&Value> {
    let papers = document["papers"].as_array().unwrap();
    papers.iter().flat_map(|paper| paper["claims"].as_array().unwrap()).collect()
}

#[test]
fn a_claim_has_its_figures_and_a_verdict() {
    let document = document(&[]);
    let claims = claims(&document);
    let ids: Vec<&str> = claims.iter().map(|claim| claim["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["S11", "S15", "I04", "U13"]);
    let gain = &claims[0]["points"][0];
    assert_eq!((&claims[0]["verdict"], &gain["verdict"]), (&"holds".into(), &"holds".into()));
    assert_eq!(gain["paper"], 4.0);
    let (ours, by) = (gain["ours"].as_f64().unwrap(), gain["ours_by_paper"].as_f64().unwrap());
    assert!((4.0..5.0).contains(&ours) && (by - ours / 4.0).abs() < 1e-9, "{gain}");
    assert_eq!(claims[1]["verdict"], "fact");
    assert_eq!(claims[2]["verdict"], "differs");
    assert!(claims[2]["reason"].as_str().unwrap().contains("nothing to order"));
}

#[test]
fn the_table_fits_a_terminal_and_says_why() {
    let narrow = common::program().args(QUICK).env("COLUMNS", "80").output().unwrap();
    let text = String::from_utf8(narrow.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for wanted in
        ["S11 in order, by mmap", "\nI04: one sequential writer", "4 claims: 2 hold, 1 differs, 1 fact"]
    {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
}

#[test]
fn ids_may_be_ranges_and_letters() {
    let ids = |words: &str| {
        let printed = line(&format!("papers {words} --runs 1 --json")).exits(0).stdout;
        let document: Value = serde_json::from_str(&printed).unwrap();
        let ids = claims(&document).into_iter().map(|claim| claim["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ids("s06-S08 S40 s07"), ["S06", "S07", "S08", "S40"]);
    assert_eq!(
        ids("w,I06"),
        ["I06", "W01", "W02", "W03", "W04", "W05", "W06", "W07", "W08", "W09", "W10", "W11"]
    );
}

#[test]
fn an_unknown_id_is_told_with_those_near_it() {
    line("papers S41").exits(2).says("there is no claim 'S41'; near it are S01, S11, S14, S21, S31");
    line("papers X1").exits(2).says("(claims: S01-S40 (SOSP'01), O01-O15 (OLS'05)");
    line("papers S05-S01").exits(2).says("there is no claim 'S05-S01'");
}

#[test]
fn an_interrupted_command_goes_on_and_gives_the_same() {
    let folder = folder();
    let path = folder.path().join("runs");
    let resume = ["--resume", path.to_str().unwrap()];
    let strip = |mut document: Value| {
        document["command"] = Value::Null;
        document
    };
    let whole = strip(document(&[]));
    assert_eq!(strip(document(&resume)), whole);
    let kept = std::fs::read_to_string(&path).unwrap();
    // Killed in the middle of a line.
    let cut = kept.len() / 2;
    std::fs::write(&path, &kept[..cut]).unwrap();
    assert_eq!(strip(document(&resume)), whole);
    let mut lines: Vec<String> = std::fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
    let mut before: Vec<String> = kept.lines().map(str::to_owned).collect();
    lines.sort();
    before.sort();
    assert_eq!(lines, before, "each run is kept once");
    // What is kept is taken, not run again: a changed figure shows.
    let line = before
        .iter()
        .find(|line| line.contains("deskstar-34gxp") && line.contains(" aged-sptf seed=1"))
        .unwrap();
    let bytes = line.split("\"bytes\":").nth(1).unwrap().split(',').next().unwrap();
    std::fs::write(&path, kept.replace(line, &line.replacen(bytes, &format!("9{bytes}"), 1))).unwrap();
    assert_ne!(strip(document(&resume)), whole);
}

#[test]
fn ctrl_c_keeps_what_is_done() {
    let folder = folder();
    let path = folder.path().join("runs");
    let words =
        ["papers", "--full", "--runs", "200", "--jobs", "1", "--json", "--resume", path.to_str().unwrap()];
    let mut child = common::program();
    let child = child.args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = || std::fs::read_to_string(&path).map_or(0, |text| text.lines().count());
    while lines() < 3 {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let run = common::finish(child).exits(130).says("the same command goes on from what ");
    let document: Value = serde_json::from_str(&run.stdout).expect("what is printed is whole");
    assert_eq!(document["interrupted"], true);
    let claims = claims(&document);
    assert_eq!(claims.len(), 85);
    let verdict = |id: &str| &claims.iter().find(|claim| claim["id"] == id).unwrap()["verdict"];
    assert_eq!([verdict("S11"), verdict("U01"), verdict("S15")], ["unfinished", "unfinished", "fact"]);
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept.ends_with('\n') && lines() >= 3, "whole lines are kept: {kept}");
}

#[test]
fn a_file_of_something_else_is_refused() {
    let folder = folder();
    let path = common::write(&folder, "letter", "Dear Sir,\n");
    idlewise(["papers", "S15", "--resume", &path]).exits(2).says("is no file of this command");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "Dear Sir,\n");
    let json = format!("--json={path}");
    idlewise(["papers", "S15", "--resume", &path, &json]).exits(2).says("--json would replace");
}

#[test]
fn the_page_and_the_tables_are_whole() {
    let folder = folder();
    let path = folder.path().join("papers.html");
    let html = format!("--html={}", path.display());
    let words = ["papers", "S19", "S13", "S14", "--runs", "1", &html, "--markdown"];
    let markdown = idlewise(words).exits(0).stdout;
    assert!(markdown.contains("| S13 | **random blocks** (§4.1, figure 4): 28 % more"), "{markdown}");
    assert!(markdown.contains("- S19: lacks Apache with other timers"), "{markdown}");
    let page = std::fs::read_to_string(path).unwrap();
    assert_eq!(page.matches("<figure>").count(), 2, "all ratios, and figure 5");
    assert!(page.contains("Figure 5") && page.contains("class=\"line theirs l1\""));
    assert!(page.ends_with("</html>\n") && !page.contains("http"), "{page}");
}

#[test]
fn more_jobs_give_the_same() {
    let one = document(&["--jobs", "1"]);
    let four = document(&["--jobs", "4"]);
    assert_eq!(one["papers"], four["papers"]);
}
