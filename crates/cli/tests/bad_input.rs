//! Wrong input of every kind: the exit status, a message that says where and what to do, no panic.

mod common;

use idlewise_core::registry;

use common::{DISK, LOAD, MSR, Run, folder, idlewise, line, measured, write};

/// `compare` of a trace on a small disk.
fn replay(trace: &str, more: &[&str]) -> Run {
    idlewise(["compare", "--trace", trace].into_iter().chain(DISK).chain(more.iter().copied()))
}

/// `compare` of the usual load with these options.
fn compare(more: &[&str]) -> Run {
    idlewise(["compare"].into_iter().chain(DISK).chain(LOAD).chain(more.iter().copied()))
}

#[test]
fn traces_that_are_none() {
    let folder = folder();
    let empty = write(&folder, "empty.csv", "");
    replay(&empty, &[]).exits(1).says("empty.csv: the trace is empty; check that");
    let noise: Vec<u8> = (0..4096u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let noise = write(&folder, "noise.bin", noise);
    replay(&noise, &[]).exits(1).says("noise.bin: no trace format fits").says("--format NAME");
    replay(&noise, &["--format", "blktrace"]).exits(1).says("noise.bin");
    replay("/nonexistent/t.csv", &[]).exits(1).says("/nonexistent/t.csv").says("No such file");
    // A folder stands for what cannot be read, also by root.
    let inside = folder.path().display().to_string();
    replay(&inside, &[]).exits(1).says(&inside);
    idlewise(["trace", "info", &empty]).exits(1).says("empty.csv");
    idlewise(["trace", "convert", &noise, "-"]).exits(1).says("noise.bin");
}

#[test]
fn a_trace_that_may_not_be_read() {
    // A file that Linux has for writing alone: root cannot read it either.
    replay("/sys/bus/cpu/uevent", &[]).exits(1).says("/sys/bus/cpu/uevent").says("Permission denied");
}

#[test]
fn traces_that_are_damaged() {
    let folder = folder();
    let whole = std::fs::read(common::file("traces/demo.ftrace.zst")).unwrap();
    let cut = write(&folder, "cut.ftrace.zst", &whole[..whole.len() / 2]);
    replay(&cut, &["--schedulers", "noop"]).exits(1).says("cut.ftrace.zst");
    let letters =
        write(&folder, "letters.csv", format!("{MSR}128166372036382245,web,0,Read,12MB,4096,1835\n"));
    replay(&letters, &[]).exits(1).says("letters.csv:4: ").says("12MB");
    let negative =
        write(&folder, "negative.csv", format!("{MSR}128166372036382245,web,0,Read,-4096,4096,1\n"));
    replay(&negative, &[]).exits(1).says("negative.csv:4: ").says("-4096");
    let huge = format!("{MSR}128166372036382245,web,0,Read,99999999999999999999999,4096,1\n");
    let huge = write(&folder, "huge.csv", huge);
    replay(&huge, &[]).exits(1).says("huge.csv:4: ");
    let short = write(&folder, "short.csv", format!("{MSR}128166372036382245,web\n"));
    replay(&short, &[]).exits(1).says("short.csv:4: ").says("--lenient");
    replay(&short, &["--lenient"]).exits(0).says("1 of 4 rows could not be read");
}

#[test]
fn names_that_do_not_exist() {
    compare(&["--schedulers", "c-lok"]).exits(2).says("no scheduler 'c-lok'; did you mean 'c-look'?");
    compare(&["--schedulers", ""]).exits(2).says("no scheduler is named");
    line("run --scheduler nop --workload random --disk barracuda").exits(2).says("did you mean 'noop'?");
    line("compare --workload randm --disk barracuda").exits(2).says("did you mean 'random'?");
    line("compare --workload random --disk baracuda").exits(2).says("did you mean 'barracuda'?");
    line("compare --workload random --disk /nonexistent/x.toml").exits(1).says("/nonexistent/x.toml");
    line("docs c-lok").exits(2).says("did you mean 'c-look'?");
    line("disk validate baracuda x").exits(2).says("did you mean 'barracuda'?");
    line("compare --frobnicate").exits(2).says("unexpected argument");
    let folder = folder();
    let trace = write(&folder, "t.csv", MSR);
    replay(&trace, &["--format", "mrs"]).exits(2).says("did you mean 'msr'?");
    replay(&trace, &["--device", "nothing"]).exits(1).says("no such device; there are web_0");
    idlewise(["trace", "convert", &trace, "-", "--to", "blkpars"]).exits(2).says("did you mean 'blkparse'?");
    idlewise(["trace", "convert", &trace, "-", "--to", "systor17"]).exits(1).says("systor17");
}

#[test]
fn workloads_with_wrong_options() {
    let workload = |text: &str| idlewise(["compare", "--workload", text].into_iter().chain(DISK));
    workload("random:sise=4k").exits(2).says("'random' has no option 'sise'; it has: n, depth, bs");
    workload("random:bs").exits(2).says("write options as NAME:key=value");
    workload("random:bs=4x").exits(2).says("bs=4x: wants a size");
    workload("random:bs=100").exits(2).says("bs=100: wants a size in multiples of 512");
    workload("random:n=-1").exits(2).says("n=-1: wants a whole number from 1");
    workload("random:n=99999999999999999999").exits(2).says("wants a whole number");
    workload("random:think=5").exits(2).says("think=5: wants a time, such as 500us");
    workload("poisson:rate=0").exits(2).says("rate=0: wants a number above 0");
    workload("poisson:rate=nan").exits(2).says("rate=nan: wants a number above 0");
    workload("sync-streams:file=1t").exits(2).says("MB: lower file=");
}

#[test]
fn chains_and_papers_workloads_with_wrong_options() {
    let workload = |text: &str| idlewise(["compare", "--disk", "deskstar-34gxp", "--workload", text]);
    workload("stream-and-chan").exits(2).says("did you mean 'stream-and-chain'?");
    workload("stream-and-chain:files=0").exits(2).says("files=0: wants a whole number from 1");
    workload("stream-and-chain:mean=1k").exits(2).says("mean=1k: choose median ≤ mean");
    workload("stream-and-chain:exec=1").exits(2).says("exec=1: wants a time, such as 500us");
    workload("stream-and-chain:stream=1t")
        .exits(2)
        .says("files=16000: all trees and files with their gaps need");
    workload("two-chains:chains=65").exits(2).says("chains=65: wants a whole number from 1 to 64");
    workload("two-chains:stream=1g").exits(2).says("no option 'stream'; it has: chains, files");
    workload("adversary:n=-1").exits(2).says("n=-1: wants a whole number from 0");
    workload("adversary:file=1t").exits(2).says("MB: lower file=");
    workload("write-and-read:written=1t").exits(2).says("MB: lower file=");
    workload("sync-streams:weights=0:2").exits(2).says("weights=0:2: wants whole numbers from 1 to 10000");
    workload("sync-streams:runtime=5").exits(2).says("runtime=5: wants a time");
}

#[test]
fn weights_that_are_wrong() {
    compare(&["--set", "weight.1=0"])
        .exits(2)
        .says("--set weight.1=0: a weight is a whole number from 1 to 10000");
    compare(&["--set", "weight.1=10001"]).exits(2).says("a weight is a whole number from 1 to 10000");
    compare(&["--set", "weight.1=x"]).exits(2).says("a weight is a whole number");
    compare(&["--set", "weight.dd=100"])
        .exits(2)
        .says("'dd' is not a process's number; `idlewise run` shows");
    compare(&["--set", "weight.-1=100"]).exits(2).says("is not a process's number");
    compare(&["--set", "weight.1"]).exits(2).says("write weight.PROCESS=N, such as weight.3=300");
    compare(&["--set", "wieght.1=3"]).exits(2).says("did you mean 'weight'? (write weight.PROCESS=N");
}

#[test]
fn loads_that_are_missing_or_too_many() {
    line("compare --disk barracuda")
        .exits(2)
        .says("what shall the disk do? Give --trace FILE, --workload NAME");
    line("compare --workload random --trace x").exits(2).says("cannot be used with");
    line("compare --workload random --fio x").exits(2).says("cannot be used with");
    line("compare --fio y --trace x").exits(2).says("cannot be used with");
    line("compare --workload random --open-loop")
        .exits(2)
        .says("--open-loop is for traces: give it with --trace");
    line("compare --workload random --lenient").exits(2).says("--lenient is for traces");
}

#[test]
fn options_out_of_range() {
    compare(&["--runs", "0"]).exits(2).says("0 is not in 1..=1000");
    compare(&["--runs=-3"]).exits(2).says("-3 is not in 1..=1000");
    compare(&["--queue-size", "0"]).exits(2).says("is not in");
    compare(&["--hardware-queues", "0"]).exits(2).says("is not in");
    compare(&["--seed", "x"]).exits(2).says("invalid");
    compare(&["--max-requests=-1"]).exits(2).says("invalid value '-1'");
    compare(&["--json", "--csv"]).exits(2).says("both go to standard output");
    let late = compare(&["--html=/nonexistent/r.html", "--schedulers", "nobody"]);
    late.exits(1).says("/nonexistent/r.html: there is no folder /nonexistent");
    compare(&["--max-requests", "0"]).exits(2).says("invalid value '0'");
    compare(&["--duration", "0s"]).exits(2).says("--duration 0s: write a time such as 30s");
    compare(&["--duration", "5"]).exits(2).says("--duration 5: write a time such as 30s");
    compare(&["--duration=-5s"]).exits(2).says("--duration -5s: write a time such as 30s");
    let folder = folder();
    let trace = write(&folder, "t.csv", MSR);
    replay(&trace, &["--speed", "0"]).exits(2).says("not a number above zero");
    replay(&trace, &["--speed", "inf"]).exits(2).says("not a number above zero");
}

#[test]
fn settings_that_are_wrong() {
    compare(&["--set", "nonsense"]).exits(2).says("write SCHEDULER.TUNABLE=VALUE");
    compare(&["--set", "c-look=3"]).exits(2).says("write SCHEDULER.TUNABLE=VALUE");
    compare(&["--set", "c-lok.x=3"]).exits(2).says("did you mean 'c-look'?");
    compare(&["--set", "noop.depth=3"]).exits(2).says("noop has no tunable 'depth'");
    // Each tunable refuses what its table excludes.
    let tunables =
        registry::all().iter().flat_map(|entry| entry.tunables.iter().map(|one| (entry.name, one.name)));
    for (name, tunable) in tunables {
        for value in ["nonsense", "99999999999999999999999"] {
            let set = format!("{name}.{tunable}={value}");
            compare(&["--set", &set]).exits(2).says(&format!("--set {set}: {tunable} wants"));
        }
        let mistyped = format!("{name}.{tunable}x=1");
        compare(&["--set", &mistyped]).exits(2).says(&format!("did you mean '{tunable}"));
    }
}

#[test]
fn job_files_that_are_wrong() {
    let folder = folder();
    let fio = |name: &str, text: &[u8]| {
        let job = write(&folder, name, text);
        idlewise(["compare", "--fio", &job].into_iter().chain(DISK))
    };
    fio("empty.fio", b"").exits(1).says("empty.fio: there is no job");
    fio("noise.fio", &[0xff, 0xfe, 0, 1]).exits(1).says("noise.fio: this is not text");
    fio("line.fio", b"[a]\nsize=1m\nbs=4x\n").exits(1).says("line.fio:3: bs=4x: wants a size such as 4k");
    fio("large.fio", b"[a]\nsize=1t\n").exits(1).says("large.fio: the files need").says("larger --disk");
    idlewise(["run", "--fio", "/nonexistent.fio"].into_iter().chain(["--scheduler", "noop"]).chain(DISK))
        .exits(1)
        .says("/nonexistent.fio: No such file");
    let inside = folder.path().display().to_string();
    idlewise(["compare", "--fio", &inside].into_iter().chain(DISK)).exits(1).says("Is a directory");
}

#[test]
fn disks_and_drive_traces_that_are_wrong() {
    let folder = folder();
    let disk = write(&folder, "odd.toml", "name = 3\n");
    idlewise(["compare", "--disk", &disk].into_iter().chain(LOAD)).exits(1).says("odd.toml");
    let missing = idlewise(["disk", "validate", "barracuda", "/nonexistent"]);
    missing.exits(1).says("/nonexistent: No such file");
    let drive =
        |name: &str, text: &str| idlewise(["disk", "validate", "barracuda", &write(&folder, name, text)]);
    drive("empty.txt", "").exits(1).says("empty.txt: ").says("no lines");
    drive("letters.txt", "R Miss 16 16 9000 2000\nR Miss x 16 9000 2000\n").exits(1).says("letters.txt:2: ");
    drive("far.txt", "R Miss 99999999999 16 9000 2000\n").exits(1).says("far.txt");
}

#[test]
fn a_fit_that_cannot_be() {
    let folder = folder();
    let trace = write(&folder, "drive.txt", measured(300));
    let few = write(&folder, "few.txt", measured(30));
    let untimed = write(&folder, "untimed.spc", "0,1000,4096,R,0.5\n0,9000,4096,R,0.6\n".repeat(150));
    let there = write(&folder, "there.toml", "mine");
    idlewise(["disk", "fit", &few])
        .exits(1)
        .says("30 reads and writes with a service time")
        .says("record for longer");
    idlewise(["disk", "fit", &untimed]).exits(1).says("record completions too");
    idlewise(["disk", "fit", &trace, "-o", &there])
        .exits(1)
        .says("the file is there already")
        .says("--force");
    assert_eq!(std::fs::read_to_string(&there).unwrap(), "mine");
    let nowhere = folder.path().join("no/my.toml").display().to_string();
    // Before the work: there are too few rows for a fit, too.
    idlewise(["disk", "fit", &few, "-o", &nowhere]).exits(1).says("there is no folder");
    idlewise(["disk", "fit", &trace, "--for", "400s"]).exits(2).says("up to 300s");
    idlewise(["disk", "fit", &trace, "--active", &few]).exits(1).says("no block device");
    idlewise(["disk", "calibrate", &trace])
        .exits(1)
        .says("this is no block device: name a disk such as /dev/sda");
    for name in ["/dev/nonesuch", "nonesuch"] {
        idlewise(["disk", "calibrate", name]).exits(1).says("there is no such device").says("`lsblk`");
    }
}

#[test]
fn a_model_of_a_disk_is_neither_the_disk_nor_a_folder_nor_a_huge_file() {
    let folder = folder();
    let show = |name: &str| idlewise(["disk", "show", name]);
    show(&folder.path().display().to_string()).exits(1).says("this is a folder").says("a text file");
    show(&write(&folder, "huge.toml", vec![b' '; 2 << 20])).exits(1).says("larger than 1 MiB");
    show(&write(&folder, "noise.toml", [0xff; 9])).exits(1).says("this is no text");
    // Containers may have none.
    let devices = std::fs::read_dir("/sys/class/block").into_iter().flatten().flatten();
    let mut names = devices.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let Some(name) = names.find(|name| std::path::Path::new("/dev").join(name).exists()) else { return };
    for name in [format!("/dev/{name}"), format!("/dev/{name}:depth=8"), name.clone()] {
        show(&name)
            .exits(2)
            .says("is a disk, and here a model of a disk is wanted")
            .says("idlewise disk calibrate /dev/")
            .says("leave --disk away");
    }
}

#[test]
fn a_trace_that_validate_does_not_read_can_be_fitted() {
    let folder = folder();
    for (trace, what) in
        [(write(&folder, "t.csv", MSR), "t.csv:1: "), (write(&folder, "t.bin", [0xff; 9]), "no text")]
    {
        idlewise(["disk", "validate", "cheetah9lp", &trace])
            .exits(1)
            .says(what)
            .says("wanted are lines of: R|W Hit|Miss")
            .says(&format!("idlewise disk fit {trace}"));
    }
}

#[test]
fn standard_output_is_named_when_it_is_full() {
    let full = std::fs::File::create("/dev/full").unwrap();
    let output = common::program().args(["docs", "turns"]).stdout(full).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("standard output: No space left"), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_fitted_disk_is_a_disk() {
    let folder = folder();
    let trace = write(&folder, "drive.txt", measured(300));
    let profile = folder.path().join("my.toml").display().to_string();
    idlewise(["disk", "fit", &trace, "-o", &profile])
        .exits(0)
        .prints("demerit")
        .prints("Not shown, and taken from")
        .prints("idlewise disk fit ")
        .prints("trace sha256 ");
    let text = std::fs::read_to_string(&profile).unwrap();
    assert!(text.contains("# depth: unknown, as maxtor-40g"), "{text}");
    let validated = idlewise(["disk", "validate", &profile, &trace]).exits(0).prints("demerit figure");
    validated.prints("idlewise disk validate ").prints("trace sha256 ");
    idlewise(["run", "--scheduler", "noop", "--disk", &profile, "--workload", "random:n=1,requests=20"])
        .exits(0);
}

#[test]
fn limits_that_let_nothing_run() {
    compare(&["--max-requests", "0"]).exits(2).says("0 is not in 1..");
    compare(&["--duration", "0"]).exits(2).says("--duration 0: write a time such as 30s or 500ms");
    compare(&["--duration", "0s"]).exits(2).says("--duration 0s: write a time");
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let folder = folder();
    let trace = write(&folder, "bom.csv", format!("\u{feff}{MSR}"));
    idlewise(["trace", "info", &trace]).exits(0).prints("requests       3, 36 KiB");
    let own = format!("{}{}", folder.path().display(), "/own.txt");
    idlewise(["trace", "convert", &trace, &own]).exits(0);
    let own = std::fs::read_to_string(own).unwrap();
    let own = write(&folder, "bom.txt", format!("\u{feff}{own}"));
    idlewise(["trace", "info", &own]).exits(0).prints("(idlewise)").prints("requests       3, 36 KiB");
    let job = write(&folder, "bom.fio", "\u{feff}[a]\nsize=1m\ndirect=1\n");
    idlewise(["run", "--fio", &job].into_iter().chain(DISK)).exits(0);
}

#[test]
fn recordings_that_other_programs_must_read_first() {
    let folder = folder();
    let perf = write(&folder, "perf.data", [&b"PERFILE2"[..], &[0; 200]].concat());
    for words in [vec!["trace", "info", &perf], vec!["trace", "info", &perf, "--format", "ftrace"]] {
        idlewise(words).exits(1).says("perf.data: this is perf").says("perf script -i");
    }
    // The same of a machine whose numbers are the other way round.
    let swapped = write(&folder, "perf.data", [&b"2ELIFREP"[..], &[0; 200]].concat());
    idlewise(["trace", "info", &swapped]).exits(1).says("perf.data: this is perf").says("perf script -i");
    let dat = write(&folder, "trace.dat", [&b"\x17\x08\x44tracing"[..], &[0; 200]].concat());
    idlewise(["trace", "info", &dat]).exits(1).says("trace-cmd report");
}

#[test]
fn compressed_traces_that_end_early() {
    let folder = folder();
    let rows: String = (0..40_000u64)
        .map(|n| {
            format!(
                "{},web,0,Read,{},4096,{}\n",
                128_166_372_003_061_629 + n * 10_000,
                n * 7919 % 100_000 * 4096,
                n * 31 % 997
            )
        })
        .collect();
    let plain = write(&folder, "t.csv", &rows);
    for end in ["gz", "zst", "bz2", "xz"] {
        let whole = folder.path().join(format!("whole.{end}")).display().to_string();
        let tool = match end {
            "gz" => "gzip",
            "zst" => "zstd",
            "bz2" => "bzip2",
            _ => "xz",
        };
        let output = std::process::Command::new(tool).args(["-c", &plain]).output();
        let Ok(output) = output else { continue };
        std::fs::write(&whole, &output.stdout).unwrap();
        let cut = write(&folder, &format!("cut.{end}"), &output.stdout[..output.stdout.len() * 3 / 4]);
        let strict = idlewise(["trace", "info", &cut]).exits(1);
        let strict = strict.says(&format!("cut.{end}: the compressed data ends early"));
        strict.says("copy or download it again, or read what is there with --lenient");
        let salvaged = idlewise(["trace", "info", &cut, "--lenient", "--json"]).exits(0).stdout;
        let salvaged: serde_json::Value = serde_json::from_str(&salvaged).unwrap();
        let requests = salvaged["requests"].as_u64().unwrap();
        assert!(requests > 10_000, "{end}: {requests}");
        assert!(requests < 40_000);
        let warnings = salvaged["report"]["warnings"].to_string();
        assert!(
            warnings.contains(&format!("ends early: {requests} requests were read")),
            "{end}: {warnings}"
        );
        let words = ["run", "--scheduler", "noop", "--lenient", "--trace", &cut];
        idlewise(words.into_iter().chain(DISK)).exits(0).says("ends early");
    }
}
