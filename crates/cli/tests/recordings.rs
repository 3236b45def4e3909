//! Recordings, from what the kernel told to what commands make of it: priorities, counts, disks, numbers of devices.

mod common;

use common::{folder, idlewise, write};
use idlewise_sim::traces::recording::{Asked, Disk, Encoder, Entry, Event, Head, What};
use serde_json::Value;
use tempfile::TempDir;

/// What is asked of the disk: an operation, its flags, the priority that the kernel tells, and sectors.
type Request = (u8, u8, u16, u32);

const READ: Request = (Asked::READ, 0, 0, 8);
const WRITE: Request = (Asked::WRITE, Asked::SYNC, 0, 8);
const COMMIT: Request = (Asked::WRITE, Asked::SYNC | Asked::FLUSH_BEFORE | Asked::FORCED, 0, 8);
const FLUSH: Request = (Asked::FLUSH, Asked::FLUSH_BEFORE, 0, 0);

/// A recording of `sda`, 8:0, under Linux 6.1: one request after the other, each by a process of its own number modulo
/// `processes`. Returns its path.
fn recording(folder: &TempDir, requests: &[Request], processes: u32) -> String {
    let disk = Disk {
        name: "sda".into(),
        number: "8:0".into(),
        sectors: 8 << 30,
        rotational: true,
        scheduler: "mq-deadline".into(),
        ..Disk::default()
    };
    let head = Head { kernel: "6.1.0".into(), disks: vec![disk], ..Head::default() };
    let (mut bytes, mut body) = (Vec::new(), Vec::new());
    Encoder::begin(&head, &mut bytes).unwrap();
    let mut encoder = Encoder::default();
    for (n, &(operation, flags, priority, length)) in requests.iter().enumerate() {
        let n = n as u64;
        let (task, sector) = (100 + n as u32 % processes, n * 7_919_777 % 7_000_000 * 8);
        // A flush is queued as a write of nothing; the kernel tells no priority before it has made a request.
        let queued = if operation == Asked::FLUSH { Asked::WRITE } else { operation };
        let sector = if length == 0 { 0 } else { sector };
        let steps = [
            (What::Queue, queued, 0, task, 0),
            (What::Issue, operation, priority, 3, 1_000),
            (What::Complete, operation, priority, 0, 5_000_000),
        ];
        for (what, operation, priority, task, after) in steps {
            let asked = Asked { operation, flags, priority, disk: 0 };
            let event = Event { what, asked, task, sector, length };
            encoder.write(n * 20_000_000 + after, &Entry::Block(event), &mut body);
        }
    }
    bytes.append(&mut body);
    write(folder, "sda.rec", bytes)
}

fn info(path: &str) -> Value {
    serde_json::from_str(&idlewise(["trace", "info", path, "--json"]).exits(0).stdout).unwrap()
}

#[test]
fn priorities_are_those_of_the_requests() {
    let folder = folder();
    let with = |priority| (Asked::READ, 0, priority, 8);
    let classes = [with(3 << 13 | 7), with(1 << 13), with(2 << 13 | 7), FLUSH];
    let path = recording(&folder, &classes, 4);
    let csv = idlewise(["trace", "convert", &path, "-", "--to", "idlewise"]).exits(0).stdout;
    let priorities: Vec<&str> = csv.lines().skip(1).map(|row| row.split(',').nth(9).unwrap()).collect();
    assert_eq!(priorities, ["idle7", "rt0", "be7", ""], "{csv}");
    let missing = |path: &str| info(path)["missing"].to_string().contains("I/O priorities");
    assert!(!missing(&path));
    let path = recording(&folder, &[READ, WRITE], 1);
    assert!(missing(&path));
    idlewise(["trace", "info", &path]).exits(0).prints("note: I/O priorities are missing");
}

#[test]
fn requests_are_all_requests() {
    let folder = folder();
    let requests = [[READ; 6], [FLUSH; 6], [WRITE; 6], [COMMIT; 6]].concat();
    let path = recording(&folder, &requests, 24);
    let told = info(&path);
    assert_eq!((&told["requests"], &told["devices"][0]["requests"]), (&24.into(), &24.into()));
    assert_eq!((&told["reads"]["share"], &told["flushes"]["share"]), (&0.25.into(), &0.25.into()));
    assert_eq!((&told["writes"]["requests"], &told["durable_writes"]), (&12.into(), &6.into()));
    // Ten of 24 processes are listed.
    assert_eq!(told["issuers"]["top"].as_array().unwrap().len(), 10);
    assert_eq!(told["issuers"]["others_requests"], 14);
    assert_eq!(told["timeline"]["stretches"][0]["requests"], 24);
    idlewise(["trace", "info", &path])
        .exits(0)
        .prints("requests       24,")
        .prints("durable                 6 ")
        .prints("issuers        24\n");
    let copy = folder.path().join("copy.csv").display().to_string();
    idlewise(["trace", "convert", &path, &copy]).exits(0).says("24 requests written");
    let path = recording(&folder, &[FLUSH; 5], 1);
    let told = info(&path);
    assert_eq!((&told["requests"], &told["flushes"]["share"]), (&5.into(), &1.0.into()));
    assert_eq!(told["timeline"]["stretches"][0]["category"], "flushes");
}

#[test]
fn a_recording_without_reads_is_of_the_disk_that_its_head_names() {
    let folder = folder();
    let path = recording(&folder, &[WRITE; 20], 2);
    let compare = ["compare", "--schedulers", "none,mq-deadline", "--trace", &path];
    idlewise(compare).exits(0).says("the kernel says that the disk rotates and has 4398 GB");
    idlewise(["run", "--trace", &path]).exits(0).says("the kernel says that the disk rotates");
    idlewise(compare.into_iter().chain(["--disk", "sata-ssd"])).exits(0);
}

#[test]
fn devices_have_the_numbers_of_the_recorded_kernel() {
    let folder = folder();
    let path = recording(&folder, &[READ; 3], 1);
    for device in ["sda", "8:0", "8,0", "8388608"] {
        let rows = idlewise(["trace", "convert", &path, "-", "--device", device]).exits(0).stdout;
        assert_eq!(rows.lines().count(), 4, "{device}: {rows}");
    }
    idlewise(["trace", "info", &path, "--device", "8:1"]).exits(1).says("no such device; there are sda");
    let events = idlewise(["trace", "convert", &path, "-", "--to", "blkparse"]).exits(0).stdout;
    assert!(events.lines().next().unwrap().trim_start().starts_with("8,0 "), "{events}");
    // A name stays where a format has names.
    let rows = idlewise(["trace", "convert", &path, "-"]).exits(0).stdout;
    assert!(rows.lines().nth(1).unwrap().contains(",sda,"), "{rows}");
}

#[test]
fn a_recording_goes_to_a_file() {
    idlewise(["record", "/dev/nonesuch", "-o", "-"])
        .exits(2)
        .says("name a file, such as --output sda.rec.gz");
    assert!(!std::path::Path::new("-").exists());
    let folder = folder();
    let folder = folder.path().display().to_string();
    idlewise(["record", "/dev/nonesuch", "-o", &folder]).exits(1).says("this is a folder: name a file in it");
    let within = format!("{folder}/no/x.rec.gz");
    idlewise(["record", "/dev/nonesuch", "-o", &within])
        .exits(1)
        .says("there is no folder")
        .says("make it first");
}

#[test]
fn every_request_of_a_recording_is_replayed() {
    // Here processes of which two requests may go on at once lost a tenth of all.
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/demo.ftrace.zst");
    let words =
        ["run", "--scheduler", "c-scan", "--disk", "hdd-2400gb-10k", "--uncalibrated", "--speed", "0.8"];
    idlewise(words.into_iter().chain(["--trace", demo])).exits(0).prints("26,848 (");
}
