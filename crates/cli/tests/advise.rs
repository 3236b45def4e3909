//! Advice on a recording: what it says, as text and as JSON, and when it cannot say.

mod common;

use common::{folder, idlewise, write};
use serde_json::Value;

/// blkparse's rows of four processes that read far from each other, each one request after the other, on a disk that
/// takes `service` ns for each. Every request has its issuer and its completion.
fn readers(service: impl Fn(u64) -> u64) -> String {
    let mut now = 0u64;
    let mut text = String::new();
    let mut row = |at: u64, what: &str, n: u64, tail: &str| {
        let (pid, start) = (100 + n % 4, (n % 4) * 40_000_000 + n / 4 * 256 + n * 7919 % 200_000 * 8);
        let (s, ns) = (at / 1_000_000_000, at % 1_000_000_000);
        text += &format!("  8,0    0 {n} {s}.{ns:09} {pid} {what} R {start} + 8 {tail}\n");
    };
    for n in 0..1200 {
        row(now, "Q", n, "[reader]");
        row(now + 1000, "D", n, "[reader]");
        now += service(n);
        row(now, "C", n, "[0]");
        now += 100_000;
    }
    text
}

fn advice(trace: &str, more: &[&str]) -> Value {
    let words = ["advise", trace, "--json"].into_iter().chain(more.iter().copied());
    serde_json::from_str(&idlewise(words).exits(0).stdout).unwrap()
}

/// The same of four processes that each read in sequence, all at once, and of which a disk serves one after the other, in
/// about the time that the model maxtor-40g takes.
fn streams() -> String {
    let mut rows = Vec::new();
    for n in 0..1200u64 {
        let (pid, start) = (100 + n % 4, (n % 4) * 15_000_000 + n / 4 * 128);
        let asked = (n / 4 * 4) * 5_000_000 + n % 4 * 1000;
        for (at, what) in [(asked, "Q"), (asked + 500, "D"), (n * 5_000_000 + 4_900_000, "C")] {
            rows.push((at, format!("{pid} {what} R {start} + 128 [cat]")));
        }
    }
    rows.sort_by_key(|row| row.0);
    let row = |(place, (at, rest)): (usize, &(u64, String))| {
        format!("  8,0    0 {place} {}.{:09} {rest}\n", at / 1_000_000_000, at % 1_000_000_000)
    };
    rows.iter().enumerate().map(row).collect()
}

#[test]
fn a_trace_that_names_no_scheduler_is_told_to_keep_what_there_is_where_nothing_is_better() {
    let folder = folder();
    let trace = write(&folder, "t.txt", readers(|n| 9_000_000 + n * 7919 % 9_000 * 1000));
    let told = advice(&trace, &["--disk", "maxtor-40g"]);
    let disk = &told["disks"][0];
    assert_eq!(told["schema"], "idlewise/advise/1");
    assert_eq!(disk["requests"], 1200);
    assert_eq!(disk["current"], Value::Null);
    assert_eq!(disk["action"], "keep", "{disk}");
    assert_eq!(disk["lines"], Value::Null, "there is nothing to change");
    let text = idlewise(["advise", &trace, "--disk", "maxtor-40g"]).exits(0).prints("as --disk says").stdout;
    assert!(text.contains("Keep the scheduler that the disk has"), "{text}");
    assert!(!text.contains("Who gains"), "nobody knows: {text}");
    assert!(text.contains("random reads of about 4 processes"), "{text}");
}

#[test]
fn a_trace_that_names_no_scheduler_is_told_which_to_take_and_how() {
    let folder = folder();
    let trace = write(&folder, "t.txt", streams());
    let words = ["--disk", "maxtor-40g", "--schedulers", "none,bfq:low_latency=off"];
    let told = advice(&trace, &words);
    let disk = &told["disks"][0];
    assert_eq!(
        (&disk["action"], &disk["scheduler"]),
        (&"take".into(), &"bfq:low_latency=off".into()),
        "{disk}"
    );
    let queue = "/sys/block/DISK/queue";
    let now = [
        "modprobe bfq".to_owned(),
        format!("echo bfq > {queue}/scheduler"),
        format!("echo 0 > {queue}/iosched/low_latency"),
    ];
    assert_eq!(disk["lines"]["now"], Value::from(now.to_vec()));
    assert!(
        disk["lines"]["undo"].as_array().unwrap().contains(&format!("echo OLD > {queue}/scheduler").into())
    );
    let text = idlewise(["advise", &trace].into_iter().chain(words))
        .exits(0)
        .prints("Take bfq:low_latency=off.")
        .stdout;
    assert!(
        text.contains("then tuned-adm profile 60-idlewise-DISK (back: tuned-adm profile PROFILE)"),
        "{text}"
    );
    assert!(!text.contains("Who gains"), "nobody knows: {text}");
}

#[test]
fn compare_says_of_a_recording_what_advice_says() {
    let folder = folder();
    let words = ["--schedulers", "none,bfq:low_latency=off"];
    let compared = |trace: &str, said: &str| -> Value {
        let run = idlewise(["compare", "--trace", trace, "--json"].into_iter().chain(words));
        serde_json::from_str(&run.exits(0).says(said).stdout).unwrap()
    };
    // The model is the same, and so is the error that is allowed for.
    let near = write(&folder, "near.txt", streams());
    let (told, means) =
        (&advice(&near, &words)["disks"][0], "figures are means of three replays: on the disk as it is");
    assert!(told["model"].as_str().unwrap().contains(means), "{told}");
    assert_eq!(compared(&near, means)["verdict"], told["verdict"]);
    // Nothing is recommended where advice cannot tell.
    let far = write(&folder, "far.txt", readers(|n| if n * 7919 % 3 == 0 { 100_000_000 } else { 50_000 }));
    let (told, compared) = (advice(&far, &words), compared(&far, "response times differ"));
    assert_eq!(told["disks"][0]["action"], "cannot-tell");
    assert_eq!(compared["claims"].as_array().unwrap().last().unwrap()["claim"], "far", "{compared}");
}

#[test]
fn a_disk_that_no_model_fits_is_not_advised_on() {
    let folder = folder();
    // One request in three takes a tenth of a second, whatever it asks for: no disk does that.
    let trace = write(&folder, "t.txt", readers(|n| if n * 7919 % 3 == 0 { 100_000_000 } else { 50_000 }));
    let told = advice(&trace, &[]);
    assert_eq!(told["disks"][0]["action"], "cannot-tell");
    assert_eq!(told["disks"][0]["far"], true);
    assert_eq!(told["disks"][0]["lines"], Value::Null);
    let text = idlewise(["advise", &trace]).exits(0).prints("the model is far from this disk").stdout;
    let in_a_row = text.replace('\n', " ");
    assert!(in_a_row.contains("% of their mean, and up to 25 % is trusted"), "{text}");
    assert!(!text.contains("Take ") && !text.contains("Keep "), "nothing is recommended: {text}");
    // Nor does one that is named.
    let named = &advice(&trace, &["--disk", "maxtor-40g"])["disks"][0];
    assert_eq!((&named["action"], &named["far"]), (&"cannot-tell".into(), &true.into()), "{named}");
}

#[test]
fn what_cannot_be_advised_on_is_said() {
    let folder = folder();
    idlewise(["advise", "/dev/nonesuch"]).exits(2).says("nonesuch");
    let trace = write(&folder, "t.txt", readers(|_| 5_000_000));
    idlewise(["advise", &trace, "--disk", "maxtr-40g"]).exits(2).says("did you mean");
    idlewise(["advise", &trace, &format!("--json={trace}")]).exits(2).says("which is read");
    idlewise(["advise", &trace, "--for", "5s"]).exits(2).says("--for is for recording a disk");
    idlewise(["advise", &trace, "-o", "y.rec.gz"]).exits(2).says("--output is for recording a disk");
    for nothing in ["/tmp/nonesuch.rec.gz", "nonesuch.rec.gz"] {
        idlewise(["advise", nothing]).exits(2).says("there is no such file and no such device");
    }
    // Before anything is recorded: the device would be refused next.
    idlewise(["advise", "/dev/null", "--disk", "nosuch"]).exits(2).says("nosuch");
    idlewise(["advise", "/dev/null", "--schedulers", "nosuch"]).exits(2).says("nosuch");
    idlewise(["advise", "/dev/null", "--format", "nosuch"]).exits(2).says("nosuch");
    let few: String = readers(|_| 5_000_000).lines().take(90).map(|line| format!("{line}\n")).collect();
    let few = write(&folder, "few.txt", few);
    idlewise(["advise", &few]).exits(0).prints("no\nmodel could be fitted");
    idlewise(["advise", "/dev/nonesuch", "-o", &trace])
        .exits(2)
        .says("the file is there")
        .says("or remove it");
    // A folder stands for files of blktrace, as elsewhere.
    idlewise(["advise", &folder.path().display().to_string()]).exits(1).says("without NAME.blktrace.N files");
    let words = ["advise", "/dev/sda", "/dev/sdb"];
    idlewise(words).exits(2).says("idlewise record /dev/sda /dev/sdb").says("idlewise advise all.rec.gz");
}

#[test]
fn few_requests_decide_nothing() {
    let folder = folder();
    let rows = |requests: usize| -> String {
        streams().lines().take(3 * requests).map(|line| format!("{line}\n")).collect()
    };
    let told = |requests: usize| {
        let trace = write(&folder, "t.txt", rows(requests));
        let words = ["--disk", "maxtor-40g", "--schedulers", "none,bfq:low_latency=off"];
        let disk = advice(&trace, &words)["disks"][0].clone();
        (disk, idlewise(["advise", &trace].into_iter().chain(words)).exits(0).stdout)
    };
    let (disk, text) = told(40);
    assert_eq!(
        (&disk["action"], &disk["claims"]),
        (&"cannot-tell".into(), &Value::Array(Vec::new())),
        "{disk}"
    );
    assert!(text.contains("This cannot be told from 40 requests") && text.contains("--for 10m"), "{text}");
    assert!(!text.contains("Of all candidates"), "{text}");
    assert!(!told(400).1.contains("This cannot be told from"), "enough");
}

#[test]
fn a_trace_without_issuers_does_not_tell_how_many_processes_there_are() {
    let folder = folder();
    // Reads far from each other, twenty in each second, and nobody knows whose.
    let row = |n: u64| {
        let (time, start) = (128_166_372_000_000_000 + n / 20 * 10_000_000, n * 7919 % 100_000 * 8192);
        format!("{time},host,0,Read,{start},4096,60000\n")
    };
    let trace = write(&folder, "t.csv", (0..200).map(row).collect::<String>());
    let advised = idlewise(["advise", &trace, "--schedulers", "noop,deadline"]).exits(0);
    advised.says("warning: arrival times are whole seconds").prints("200 requests: random reads (100 %)");
    idlewise(["trace", "info", &trace])
        .exits(0)
        .prints("16+ random reads")
        .prints("how many processes, is guessed");
}

#[test]
fn of_many_disks_the_busiest_are_advised_on() {
    let folder = folder();
    let row = |n: u64| {
        let (time, start) = (128_166_372_000_000_000 + n * 10_000, n * 7919 % 100_000 * 8192);
        format!("{time},host,{},Read,{start},4096,60000\n", n % 34)
    };
    let trace = write(&folder, "t.csv", (0..340).map(row).collect::<String>());
    let advised = idlewise(["advise", &trace, "--json", "--schedulers", "noop,deadline"]).exits(0);
    let advised = advised.says("warning: the trace has 34 disks; advice on the 32 busiest follows");
    let told: serde_json::Value = serde_json::from_str(&advised.stdout).unwrap();
    assert_eq!(told["disks"].as_array().unwrap().len(), 32);
}
