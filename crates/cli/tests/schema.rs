//! What the program prints as JSON is what the committed schemas say.

mod common;

use common::{DISK, LOAD, MSR, folder, idlewise, line, measured, root, write};
use idlewise_sim::metrics::{Field, FigureSet, Kind, Report};
use serde_json::{Map, Value, json};

/// What the schema says of a field; the groups that it leads to are entered in `groups`.
fn described(field: &Field, groups: &mut Map<String, Value>) -> Value {
    let mut schema = match field.kind {
        Kind::Text => json!({"type": "string"}),
        Kind::Name => json!({"type": ["string", "null"]}),
        Kind::Id => json!({"type": "integer", "minimum": 0}),
        Kind::Weight => json!({"type": "integer", "minimum": 1, "maximum": 10_000}),
        Kind::Share | Kind::Index => json!({"type": "number", "minimum": 0, "maximum": 1.000_001}),
        Kind::One(group) => json!({"$ref": enter(group, groups)}),
        Kind::List(group) => json!({"type": "array", "items": {"$ref": enter(group, groups)}}),
        _ => json!({"type": "number", "minimum": 0}),
    };
    schema["description"] = field.about.trim().into();
    schema
}

/// Enters what the schema says of a group; returns where that stands.
fn enter(group: &FigureSet, groups: &mut Map<String, Value>) -> String {
    let required: Vec<&str> =
        group.fields.iter().filter(|field| !field.optional).map(|field| field.name).collect();
    let properties: Map<String, Value> =
        group.fields.iter().map(|field| (field.name.to_owned(), described(field, groups))).collect();
    let about = group.about.trim();
    let schema =
        json!({"type": "object", "description": about, "required": required, "properties": properties});
    groups.insert(group.name.to_owned(), schema);
    format!("#/$defs/{}", group.name)
}

#[test]
fn schemas_say_what_is_declared() {
    for name in ["run", "compare"] {
        let path = root().join(format!("docs/schema/{name}.schema.json"));
        let committed = std::fs::read_to_string(&path).unwrap();
        let mut schema: Value = serde_json::from_str(&committed).unwrap();
        let mut groups = Map::new();
        enter(Report::GROUP, &mut groups);
        schema["$defs"] = groups.into();
        let declared = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &declared).expect("docs/ can be written to");
            continue;
        }
        let cure = "UPDATE_DOCS=1 cargo test -p idlewise --test schema";
        assert!(committed == declared, "{name}.schema.json is stale; run: {cure}");
    }
}

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
fn front() {
    let words = [
        "front",
        "--json",
        "--disks",
        "barracuda",
        "--duration",
        "200ms",
        "--schedulers",
        "noop",
        "--runs",
        "2",
    ];
    let all = valid("front", &idlewise(words).exits(0).stdout);
    assert_eq!(all["disks"][0]["overall"].as_array().map(Vec::len), Some(2));
}

#[test]
fn papers() {
    let words = ["papers", "S02", "S11", "S16", "S19", "S21", "I02", "--runs", "1", "--json"];
    let all = valid("papers", &idlewise(words).exits(0).stdout);
    assert_eq!(all["papers"].as_array().map(Vec::len), Some(2));
}

#[test]
fn compare() {
    let words = || ["compare", "--json"].into_iter().chain(DISK);
    let one = valid("compare", &idlewise(words().chain(LOAD)).exits(0).stdout);
    assert_eq!(one["results"][0]["requests"], 200);
    assert!(
        one["command"].as_str().unwrap().starts_with("idlewise compare --json --disk barracuda"),
        "{one}"
    );
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
fn disk_fit() {
    let folder = folder();
    let trace = write(&folder, "drive.txt", measured(400));
    let document = valid("disk-fit", &idlewise(["disk", "fit", &trace, "--json"]).exits(0).stdout);
    assert_eq!(document["report"]["kind"], "mechanical");
    let profile = write(&folder, "my.toml", document["profile"].as_str().unwrap());
    valid("disk-show", &idlewise(["disk", "show", &profile, "--json"]).exits(0).stdout);
}

#[test]
fn advise() {
    let folder = folder();
    let trace = write(&folder, "drive.txt", measured(400));
    let words = ["advise", &trace, "--schedulers", "noop,c-scan", "--json"];
    let document = valid("advise", &idlewise(words).exits(0).stdout);
    assert_eq!(document["disks"][0]["requests"], 400);
    assert_eq!(valid("advise", &idlewise(words.into_iter().chain(DISK)).exits(0).stdout)["goal"], "balanced");
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
    for name in idlewise_disk::profile::names() {
        valid("disk-show", &idlewise(["disk", "show", name, "--json"]).exits(0).stdout);
    }
    for (name, chunk) in [("raid5:n=4,of=maxtor-40g", Some(65_536)), ("raid1:n=2,of=sata-ssd", None)] {
        let document = valid("disk-show", &idlewise(["disk", "show", name, "--json"]).exits(0).stdout);
        assert_eq!(document["kind"]["chunk_bytes"].as_u64(), chunk, "{name}");
    }
}
