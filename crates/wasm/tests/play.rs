//! What the page is told of a run, on any machine: the rows, and the report that the simulator itself gives.

use idlewise_disk::Profile;
use idlewise_sim::engine::Control;
use idlewise_sim::experiment::{Choice, Chosen, Experiment, Load};
use idlewise_sim::workloads::Spec;
use idlewise_wasm::{Part, catalogue, play};
use serde_json::{Value, json};

const WORKLOAD: &str = "random:n=3,requests=20,reads=50";

/// What a run told: all rows, reasons, and the report.
#[derive(Default)]
struct Told {
    rows: Vec<f64>,
    reasons: Vec<String>,
    head: Value,
    report: Value,
    /// The report as it came: reading numbers with a point may lose their last digit.
    text: String,
}

fn told(wanted: &Value) -> Result<Told, String> {
    let mut told = Told::default();
    play(wanted.to_string().as_bytes(), Vec::new(), |part, bytes| match part {
        Part::Rows => {
            let numbers = bytes.chunks_exact(8).map(|eight| f64::from_le_bytes(eight.try_into().unwrap()));
            told.rows.extend(numbers);
        }
        Part::Reasons => {
            told.reasons.extend(str::from_utf8(bytes).unwrap().lines().map(str::to_owned));
        }
        Part::Head => told.head = serde_json::from_slice(bytes).unwrap(),
        Part::Report => {
            told.report = serde_json::from_slice(bytes).unwrap();
            told.text = String::from_utf8(bytes.to_vec()).unwrap();
        }
        Part::Failure | Part::Catalogue => panic!("{part:?}"),
    })?;
    Ok(told)
}

fn wanted(scheduler: &str) -> Value {
    json!({"scheduler": scheduler, "disk": "maxtor-40g", "load": {"workload": WORKLOAD}, "seed": 1, "shown": 1000})
}

/// How many rows there are of each kind.
fn counts(rows: &[f64]) -> [usize; 7] {
    const LENGTHS: [usize; 7] = [0, 10, 3, 9, 4, 7, 2];
    let (mut counts, mut at) = ([0; 7], 0);
    while at < rows.len() {
        let kind = rows[at] as usize;
        counts[kind] += 1;
        at += LENGTHS[kind];
    }
    assert_eq!(at, rows.len(), "the last row is whole");
    counts
}

#[test]
fn everything_is_told_and_nothing_is_changed() {
    let told = told(&wanted("c-look")).unwrap();
    let [_, arrived, dispatched, served, done, decided, _] = counts(&told.rows);
    assert_eq!((arrived, done), (60, 60));
    assert_eq!(dispatched, served);
    assert_eq!(decided, told.reasons.len());
    assert_eq!(told.head["tracks"]["period_ns"], 8_333_333);

    let disk = Profile::named("maxtor-40g").unwrap();
    let load = Load::Workload(Spec::parse(WORKLOAD).unwrap());
    let entry = Chosen::find("c-look").unwrap();
    let choice = Choice { label: "c-look".to_owned(), entry, settings: Vec::new() };
    let plan = Experiment { schedulers: vec![choice], ..Experiment::new(disk, load) };
    let alone = plan.run_one(0, 1, &Control::default(), None).unwrap().report;
    assert_eq!(told.text, json!({"result": alone, "complete": true, "folded": 0}).to_string());
}

#[test]
fn after_what_is_shown_only_the_report_follows() {
    let mut few = wanted("noop");
    few["shown"] = json!(10);
    let told = told(&few).unwrap();
    assert_eq!(counts(&told.rows)[1], 10);
    assert_eq!(told.report["complete"], false);
    assert_eq!(told.report["result"]["requests"], 60);
}

#[test]
fn disks_may_be_arrays_and_have_options() {
    for disk in ["raid5:n=4,of=maxtor-40g", "Maxtor-40G:depth=4", "raid1:n=2,of=sata-ssd"] {
        let mut wanted = wanted("noop");
        wanted["disk"] = json!(disk);
        let told = told(&wanted).unwrap_or_else(|error| panic!("{disk}: {error}"));
        assert_eq!(told.report["result"]["requests"], 60, "{disk}");
    }
}

#[test]
fn what_is_wrong_is_said_in_words() {
    let with = |key: &str, value: Value| {
        let mut wanted = wanted("noop");
        wanted[key] = value;
        told(&wanted).err().unwrap()
    };
    assert!(with("scheduler", json!("nonesuch")).contains("nonesuch"));
    assert!(with("disk", json!("nonesuch")).contains("nonesuch"));
    assert!(with("load", json!({"workload": "random:n=x"})).contains("n=x"));
    assert!(with("duration", json!("soon")).contains("write a time"));
    assert!(with("unknown", json!(1)).contains("unknown"));
}

#[test]
fn what_is_said_of_a_job_file_names_it_as_the_page_saves_it() {
    let mut cached = wanted("noop");
    cached["load"] = json!({"fio": "[a]\nrw=read\nsize=1m\n"});
    let notes = told(&cached).unwrap().head["notes"].to_string();
    assert!(notes.contains("job.fio: without direct=1"), "{notes}");
}

#[test]
fn the_catalogue_has_what_the_registry_has() {
    let catalogue: Value = serde_json::from_str(&catalogue()).unwrap();
    assert_eq!(catalogue["schedulers"].as_array().unwrap().len(), Chosen::all().count());
    let deadline = &catalogue["schedulers"].as_array().unwrap().iter().find(|one| one["name"] == "deadline");
    assert_eq!(deadline.unwrap()["tunables"][0]["name"], "read_expire");
}
