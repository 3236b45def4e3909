//! The papers' programs as named workloads.

use idlewise_core::{Duration, Sector};
use idlewise_sim::machine::parameters::Parameters;
use idlewise_sim::machine::presets;
use idlewise_sim::machine::programs as rows;
use idlewise_sim::workloads::{Ground, Named, Spec, SpecError, build};

use super::{PAGE, linux, reads, run, scaled};

#[test]
fn all_programs_can_be_named() {
    for row in rows::ALL {
        let spec = Spec::parse(&format!("machine:program={},scale=1", row.name)).unwrap();
        let workload = build(&spec, Ground { capacity: Sector(1 << 25), depth: 32, seed: 1 });
        assert!(workload.is_ok(), "{}: {}", row.name, row.about);
        let described = idlewise_sim::workloads::find("machine").unwrap().options[0].2;
        assert!(
            described.split([',', ' ', '\n']).any(|word| word == row.name),
            "{} is not in the help",
            row.name
        );
    }
}

#[test]
fn mistakes_are_told() {
    let error = |text: &str| {
        let built =
            build(&Spec::parse(text).unwrap(), Ground { capacity: Sector(1 << 21), depth: 32, seed: 1 });
        built.map(|_| ()).unwrap_err().to_string()
    };
    assert!(error("machine:program=tar").contains("dd-cat, stream-find"));
    assert!(error("machine:machine=vax").contains("freebsd-4.3"));
    assert!(error("machine:program=select-two").contains("larger disk"));
    let none = build(
        &Spec::parse("machine:files=3").unwrap(),
        Ground { capacity: Sector(1 << 25), depth: 32, seed: 1 },
    );
    assert!(matches!(none.map(|_| ()), Err(SpecError::UnknownOption { .. })));
}

/// dd in the background ends with cat, and its dirty pages stay where they are.
#[test]
fn programs_in_the_background_end_with_the_others() {
    let (seen, end) = run(scaled("dd-cat", linux().scaled(2), 2, 0));
    let moments = seen.machine.moments();
    assert_eq!(moments.len(), 2, "cat's phase and its end: {moments:?}");
    let head_start = moments[0].at.0 / 1_000_000;
    assert!((2000..=2100).contains(&head_start), "dd has written for two seconds then: {head_start} ms");
    assert!(end >= moments[1].at);
    assert!(end < moments[1].at + Duration::from_s(2));
}

fn phases(named: &str, parameters: Parameters, percent: u32) -> Vec<(&'static str, u64)> {
    let (seen, _) = run(scaled(named, parameters, percent, 0));
    let moments = seen.machine.moments();
    moments.windows(2).filter_map(|two| Some((two[0].phase?, two[1].at.0 - two[0].at.0))).collect()
}

/// What fits into memory is read from there: IOzone's reads take as long as one another, and no time of the disk.
#[test]
fn iozone_reads_what_it_wrote_from_memory() {
    let phases = phases("iozone", presets::named("linux-2.6.32").unwrap(), 2);
    let names: Vec<&str> = phases.iter().map(|(name, _)| *name).collect();
    let known =
        ["write", "rewrite", "read", "re-read", "stride-read", "random-read", "mixed", "random-write"];
    assert_eq!(names, known);
    let took = |name: &str| phases.iter().find(|(phase, _)| *phase == name).unwrap().1;
    assert_eq!(took("read"), took("re-read"));
    assert!(took("read") < took("write"), "{phases:?}");
    // 2500 pages at 3 µs.
    assert!(took("random-read") < 50_000_000, "{phases:?}");
}

/// Bonnie's file is twice as large as the memory: what was written last is not what is read first.
#[test]
fn bonnie_reads_its_file_from_the_disk() {
    let parameters = presets::named("linux-2.6.32").unwrap().with_memory(2048);
    let (seen, _) = run(scaled("bonnie", parameters, 1, 0));
    let names: Vec<&str> = seen.machine.moments().iter().filter_map(|one| one.phase).collect();
    let known = [
        "putc",
        "write",
        "rewrite",
        "getc",
        "read",
        "seeks",
        "create",
        "delete",
        "create-random",
        "delete-random",
    ];
    assert_eq!(names, known);
    let read: u64 = reads(&seen.requests, false).iter().map(|one| u64::from(one.length.0)).sum();
    let file = 2 * 2048 * u64::from(PAGE);
    // Rewriting, by characters, by blocks: of each pass at most half is still in memory.
    assert!((file * 3 / 2..=3 * file + 3 * 1000).contains(&read), "{read} of {file}");
}

/// A table's rows are in memory, and nobody waits for a write: what sql-bench reads from the disk are a few blocks.
#[test]
fn sql_bench_waits_for_its_processor() {
    let (seen, end) = run(scaled("sql-bench", presets::named("linux-2.6.11").unwrap(), 1, 0));
    assert!(reads(&seen.requests, false).is_empty(), "no data");
    let computed = 6 * 3000 * 400 / 2 + 2 * 100 * 5000;
    assert!(end.0 / 1000 > computed / 2 && end.0 / 1000 < computed * 2, "{end:?} for {computed} us");
}
