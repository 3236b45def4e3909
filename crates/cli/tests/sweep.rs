//! `idlewise sweep`: the dataset has each run of the product once, whatever ends the program meanwhile.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{MSR, finish, folder, idlewise, program, write};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;
use tempfile::TempDir;

/// A load of which one run takes about a tenth of a second.
const LOAD: &str = "random:n=4,requests=4000";

/// Writes the file of a sweep whose dataset is `out` beside it.
fn asked(folder: &TempDir, lists: &str) -> String {
    let out = folder.path().join("out");
    write(folder, "sweep.toml", format!("output = {out:?}\n{lists}"))
}

/// Sixteen runs of [`LOAD`].
fn sixteen(folder: &TempDir) -> String {
    let lists = format!(
        "workloads = [\"{LOAD}\"]\ndisks = [\"barracuda\"]\nschedulers = [\"c-look\", \"cfq\"]\n\
         seeds = [1, 2, 3, 4, 5, 6, 7, 8]\n"
    );
    asked(folder, &lists)
}

/// The results below a folder, by their places, and whatever else lies beside them.
fn results(folder: &TempDir) -> (BTreeMap<PathBuf, Vec<u8>>, Vec<PathBuf>) {
    let out = folder.path().join("out");
    let (mut found, mut others) = (BTreeMap::new(), Vec::new());
    let mut left = vec![out.clone()];
    while let Some(path) = left.pop() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "_work" {
            left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.is_file() && name.ends_with(".parquet") && !name.starts_with('.') {
            found.insert(path.strip_prefix(&out).unwrap().to_owned(), fs::read(&path).unwrap_or_default());
        } else if path.is_file() {
            others.push(path);
        }
    }
    (found, others)
}

/// The one row of a result.
fn row(content: &[u8]) -> BTreeMap<String, Field> {
    let reader = SerializedFileReader::new(bytes::Bytes::copy_from_slice(content)).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 1);
    rows[0].get_column_iter().map(|(name, field)| (name.clone(), field.clone())).collect()
}

/// Starts a sweep and waits until it has written a few of sixteen results.
fn begun(folder: &TempDir, file: &str) -> std::process::Child {
    let child =
        program().args(["sweep", file, "--jobs", "1"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap();
    let begun = Instant::now();
    while results(folder).0.len() < 3 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no results in a minute");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

/// What sixteen runs give when nothing ends them.
fn undisturbed() -> BTreeMap<PathBuf, Vec<u8>> {
    let folder = folder();
    idlewise(["sweep", &sixteen(&folder)])
        .exits(0)
        .prints("16 of 16 results are in ")
        .prints("(16 of them new)");
    let (whole, others) = results(&folder);
    assert_eq!((whole.len(), others), (16, Vec::new()));
    whole
}

#[test]
fn what_was_killed_goes_on_and_nothing_is_lost_or_there_twice() {
    let whole = undisturbed();
    for signal in ["-KILL", "-INT"] {
        let folder = folder();
        let file = sixteen(&folder);
        let child = begun(&folder, &file);
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let run = finish(child);
        let (part, _) = results(&folder);
        assert!((3..16).contains(&part.len()), "{} of 16 were done", part.len());
        assert!(part.iter().all(|(place, content)| whole[place] == *content), "a result is cut short");
        if signal == "-INT" {
            run.exits(130).says("run the same again");
        }
        let new = format!("({} of them new)", 16 - part.len());
        idlewise(["sweep", &file]).exits(0).prints("16 of 16 results").prints(&new);
        let (all, others) = results(&folder);
        assert!(all == whole, "after {signal} the results are others");
        assert_eq!(others, Vec::<PathBuf>::new(), "what was being written is removed");
        idlewise(["sweep", &file]).exits(0).prints("(0 of them new)");
    }
}

#[test]
fn what_is_cut_short_is_made_again() {
    let folder = folder();
    let file = asked(
        &folder,
        "workloads = [\"random\"]\ndisks = [\"barracuda\"]\nschedulers = [\"noop\"]\n\
                               options = {max-requests = 100}\n",
    );
    idlewise(["sweep", &file]).exits(0);
    let (whole, _) = results(&folder);
    let (place, content) = whole.first_key_value().unwrap();
    fs::write(folder.path().join("out").join(place), &content[..content.len() / 2]).unwrap();
    idlewise(["sweep", &file]).exits(0).prints("(1 of them new)");
    assert!(results(&folder).0 == whole);
}

/// A trace of two devices, `web` 0 and 1, whose rows alternate.
fn two_devices() -> String {
    let row = |index: u64| {
        let (time, device) = (128_166_372_003_061_629 + index * 30_000, index % 2);
        let kind = if index.is_multiple_of(3) { "Write" } else { "Read" };
        format!(
            "{time},web,{device},{kind},{},4096,{}\n",
            index * 7_919_104 % 4_000_000_000 / 4096 * 4096,
            9000 + index % 7
        )
    };
    (0..2000).map(row).collect()
}

/// A trace in idlewise's own format: processes that use one of two devices, or both, and whose exits come long after they
/// fell silent: who does not know that the trace tells exits takes them for gone.
fn with_exits() -> String {
    let mut text = "arrival_ns,completed_ns,device,issuer,operation,start,sectors\n".to_owned();
    for turn in 0..60_u64 {
        for row in 0..20 {
            let process = turn + row % 2;
            let arrival = turn * 40_000_000 + row * 2_000_000;
            let device = if process % 3 == 0 { row / 2 % 2 } else { process % 3 - 1 };
            let (start, done) = (process * 100_000 + row * 8, arrival + 1_500_000);
            text += &format!("{arrival},{done},sd{device},{process},R,{start},8\n");
        }
    }
    (0..=60).for_each(|process| text += &format!("9000000000,,,{process},X,,\n"));
    text
}

#[test]
fn each_device_of_a_trace_gives_what_compare_gives_for_it_alone() {
    for trace in [two_devices(), with_exits()] {
        as_alone(&trace);
    }
}

/// Asserts that both devices of a trace give in a sweep what they give alone.
fn as_alone(trace: &str) {
    let folder = folder();
    let trace = write(&folder, "both.csv", trace);
    let lists =
        format!("traces = [{trace:?}]\ndisks = [\"barracuda\"]\nschedulers = [\"deadline\", \"cas\"]\n");
    idlewise(["sweep", &asked(&folder, &lists)])
        .exits(0)
        .prints("4 of 4 results")
        .says("splitting it by device");
    let mut devices = Vec::new();
    for content in results(&folder).0.values() {
        let row = row(content);
        let text = |name: &str| match &row[name] {
            Field::Str(text) => text.clone(),
            other => panic!("{name} is {other}"),
        };
        let (device, scheduler) = (text("trace_device"), text("scheduler"));
        let words = ["run", "--json", "--disk", "barracuda", "--scheduler", &scheduler, "--trace", &trace];
        let printed = idlewise(words.into_iter().chain(["--device", &device])).exits(0).stdout;
        let printed: Value = serde_json::from_str(&printed).unwrap();
        let mut figures = 0;
        for (name, field) in &row {
            let own = name.split('.').fold(&printed["result"], |value, part| &value[part]);
            match field {
                Field::ULong(number) if own.is_number() => assert_eq!(own.as_u64(), Some(*number), "{name}"),
                Field::Double(number) => {
                    assert_eq!(own.as_f64().map(f64::to_bits), Some(number.to_bits()), "{name}");
                }
                _ => continue,
            }
            figures += 1;
        }
        assert!(figures > 60, "{figures} figures were compared");
        devices.push((device, scheduler));
    }
    devices.sort();
    devices.dedup();
    assert_eq!(devices.len(), 4);
}

#[test]
fn what_decides_a_result_decides_its_name() {
    let folder = folder();
    let trace = write(&folder, "web.csv", MSR);
    let disk = idlewise(["disk", "show", "barracuda"]).exits(0).stdout;
    assert!(!disk.is_empty());
    let profile = fs::read_to_string(common::file("crates/disk/profiles/barracuda.toml")).unwrap();
    let own = write(&folder, "own.toml", &profile);
    let lists = format!("traces = [{trace:?}]\ndisks = [{own:?}]\nschedulers = [\"noop\"]\n");
    let mut count = 0;
    let mut now = |lists: &str, what: &str| {
        count += 1;
        idlewise(["sweep", &asked(&folder, lists)]).exits(0).prints("(1 of them new)");
        assert_eq!(results(&folder).0.len(), count, "{what}");
    };
    now(&lists, "the first");
    now(&lists.replace("noop", "noop\"]\nseeds = [7]\n#"), "another seed");
    now(&format!("{lists}options = {{queue-size = 64}}\n"), "another option");
    write(&folder, "web.csv", format!("{MSR}128166372026382345,web,0,Read,4096,4096,1835\n"));
    now(&lists, "a changed trace");
    write(&folder, "own.toml", profile.replace("rpm = 7200", "rpm = 7199"));
    now(&lists, "a changed disk");
    idlewise(["sweep", &asked(&folder, &lists)])
        .exits(0)
        .prints("(0 of them new)")
        .says("4 other results lie in");
}

#[test]
fn a_dry_run_measures_samples_and_writes_no_result() {
    let folder = folder();
    let file = sixteen(&folder);
    let run = idlewise(["sweep", "--dry-run", &file, "--jobs", "2"]).exits(0);
    let run = run.prints("1 load × 1 disk × 2 schedulers × 8 seeds = 16 runs; 0 are there, 16 to do");
    run.prints("with 2 at a time").prints("measured on 2 samples");
    assert_eq!(results(&folder).0.len(), 0);
    let trace = write(&folder, "web.csv", two_devices());
    let lists =
        format!("traces = [{trace:?}]\ndisks = [\"barracuda\"]\nschedulers = [\"deadline\", \"cfq\"]\n");
    let run = idlewise(["sweep", "--dry-run", &asked(&folder, &lists)]).exits(0);
    run.prints("2 loads × 1 disk × 2 schedulers × 1 seed = 4 runs").prints("requests/s (");
    let split = Command::new("find").arg(folder.path()).args(["-name", "split"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&split.stdout), "", "a dry run splits nothing");
}

#[test]
fn one_run_that_fails_hinders_no_other() {
    let folder = folder();
    let file = asked(
        &folder,
        "workloads = [\"random\"]\ndisks = [\"md5:n=3,of=barracuda\"]\nschedulers = [\"noop\", \"auto-matrix\"]\n\
         options = {max-requests = 100}\n",
    );
    idlewise(["sweep", &file])
        .exits(1)
        .prints("1 of 2 results")
        .says("1 runs failed")
        .says("under auto-matrix");
    idlewise(["sweep", "--dry-run", &file]).exits(0).prints("will fail: ");
}

#[test]
fn a_job_is_a_load_whose_warnings_come_once() {
    let folder = folder();
    let job = write(&folder, "job.fio", "[a]\nrw=randread\nsize=1m\nbs=4k\nthinktime_spin=3\n");
    let lists = format!("fio = [{job:?}]\ndisks = [\"barracuda\"]\nschedulers = [\"noop\", \"cfq\"]\n");
    let run = idlewise(["sweep", &asked(&folder, &lists)]).exits(0).prints("2 of 2 results");
    assert_eq!(run.stderr.matches("thinktime_spin").count(), 1, "{}", run.stderr);
    refused("fio = [\"-\"]\ndisks = [\"barracuda\"]\nschedulers = [\"noop\"]\n", "name files, not -");
}

/// Asserts that a sweep of these lists says this, as wrong usage.
fn refused(lists: &str, wanted: &str) {
    let folder = folder();
    idlewise(["sweep", &asked(&folder, lists)]).exits(2).says(wanted);
    assert!(!folder.path().join("out").exists());
}

#[test]
fn what_is_wrong_is_said_before_anything_is_run() {
    let rest = "disks = [\"barracuda\"]\nschedulers = [\"noop\"]\n";
    let load = "workloads = [\"random\"]\n";
    refused(rest, "what shall the disks do?");
    refused(&format!("{load}{rest}tracks = 1\n"), "unknown field `tracks`");
    refused(&format!("workloads = [\"randum\"]\n{rest}"), "did you mean 'random'?");
    refused(&format!("{load}disks = [\"baracuda\"]\nschedulers = [\"noop\"]\n"), "did you mean 'barracuda'?");
    refused(&format!("{load}disks = []\nschedulers = [\"noop\"]\n"), "disks: name one or more");
    refused(&format!("{load}disks = [\"barracuda\"]\nschedulers = [\"nop\"]\n"), "did you mean 'noop'?");
    refused(&format!("{load}{rest}seeds = []\n"), "seeds: name one or more");
    refused(&format!("{load}{rest}options = {{queue-sise = 4}}\n"), "did you mean 'queue-size'?");
    refused(&format!("{load}{rest}options = {{candidates = [\"cfq\"]}}\n"), "--candidates is for");
    refused(&format!("traces = [\"-\"]\n{rest}"), "name files, not -");
    refused(&format!("traces = [{{file = \"x\", kind = \"y\"}}]\n{rest}"), "unknown field `kind`");
    let folder = folder();
    idlewise(["sweep", &asked(&folder, &format!("traces = [\"nowhere.csv\"]\n{rest}"))])
        .exits(1)
        .says("nowhere.csv");
    idlewise(["sweep", "nowhere.toml"]).exits(1).says("nowhere.toml: No such file");
    let twice = write(&folder, "a.csv", MSR);
    let other = write(&folder, "b.csv", two_devices());
    let lists = format!(
        "traces = [{{file = {twice:?}, name = \"x\"}}, {{file = {other:?}, name = \"x\"}}]\n{rest}\
         options = {{one-disk = true}}\n"
    );
    idlewise(["sweep", &asked(&folder, &lists)]).exits(2).says("two are called x");
}

/// Runs a sweep through a shell that sets limits.
fn limited(limits: &str, file: &str) -> std::process::Output {
    let program = env!("CARGO_BIN_EXE_idlewise");
    let line = format!("{limits}; exec {program} sweep {file} --jobs 1");
    Command::new("sh").args(["-c", &line]).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn where_results_cannot_be_written_the_message_names_the_file() {
    let folder = folder();
    let file = sixteen(&folder);
    // As on a full disk, a write fails halfway: files may have 512 bytes.
    let output = limited("trap '' XFSZ; ulimit -f 1", &file);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(".parquet: File too large") && said.contains("disk=barracuda"), "{said}");
    assert_eq!(results(&folder), (BTreeMap::new(), Vec::new()), "nothing half done stays");
    idlewise(["sweep", &file]).exits(0).prints("(16 of them new)");
    let taken = folder.path().join("taken");
    fs::write(&taken, "").unwrap();
    let below = Path::new(&taken).join("out");
    let text = fs::read_to_string(&file).unwrap().replacen("output", "output = ", 0);
    let text: String = text.lines().skip(1).map(|line| format!("{line}\n")).collect();
    let file = write(&folder, "taken.toml", format!("output = {below:?}\n{text}"));
    idlewise(["sweep", &file]).exits(1).says("taken").says("Not a directory");
}
