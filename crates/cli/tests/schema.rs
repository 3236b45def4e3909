//! What the program prints as JSON is what the committed schemas say.

mod common;

use common::{DISK, LOAD, MSR, folder, idlewise, line, root, write};
use serde_json::Value;

/// Checks a document against `docs/schema/NAME.schema.json`.
fn valid(name: &str, text: &str) -> Value {
    let path = root().join(format!("docs/schema/{name}.schema.json"));
    let schema = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let schema: Value = serde_json::from_str(&schema).expect("the schema is JSON");
    let document: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"));
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let errors: Vec<_> =
        validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}\n{text}");
    document
}

#[test]
fn compare() {
    let words = || ["compare", "--json"].into_iter().chain(DISK);
    let one = valid("compare", &idlewise(words().chain(LOAD)).exits(0).stdout);
    assert_eq!(one["results"][0]["requests"], 200);
    let several = valid("compare", &idlewise(words().chain(LOAD).chain(["--runs", "3"])).exits(0).stdout);
    assert!(several["results"][0]["latency_ns"]["p99_ci95"].is_number());
    assert_eq!(several["seeds"], serde_json::json!([1, 2, 3]));
    let folder = folder();
    let trace = write(&folder, "t.csv", MSR);
    let replayed = idlewise(words().chain(["--trace", &trace, "--open-loop"])).exits(0).stdout;
    assert_eq!(valid("compare", &replayed)["open_loop"], true);
}

#[test]
fn run() {
    let words = ["run", "--scheduler", "noop", "--json"].into_iter().chain(DISK).chain(LOAD);
    let document = valid("run", &idlewise(words).exits(0).stdout);
    assert_eq!(document["result"]["scheduler"], "noop");
}

#[test]
fn disk_validate() {
    let folder = folder();
    let trace = write(&folder, "drive.txt", "R Miss 16 16 9000 2000\nW Miss 99968 16 12000 2000\n");
    let document = valid(
        "disk-validate",
        &idlewise(["disk", "validate", "barracuda", &trace, "--json"]).exits(0).stdout,
    );
    assert_eq!(document["requests"], 2);
}

#[test]
fn list() {
    for what in ["schedulers", "selectors", "workloads", "mixes", "phases", "disks", "formats"] {
        let document = valid("list", &line(&format!("list {what} --json")).exits(0).stdout);
        assert_eq!(document["what"], what);
    }
}

#[test]
fn disk_show() {
    let disks = line("list disks --json").exits(0).stdout;
    let document: Value = serde_json::from_str(&disks).unwrap();
    for disk in document["items"].as_array().unwrap() {
        let name = disk["name"].as_str().unwrap();
        valid("disk-show", &idlewise(["disk", "show", name, "--json"]).exits(0).stdout);
    }
}
