//! The papers' programs as named workloads.

use idlewise_core::{Duration, Instant, Sector};
use idlewise_sim::machine::programs as rows;
use idlewise_sim::workloads::{Ground, Named, Spec, SpecError, build};

use super::{linux, run, scaled};

#[test]
fn all_programs_can_be_named() {
    for row in rows::ALL {
        let spec = Spec::parse(&format!("machine:program={},scale=1", row.name)).unwrap();
        let workload = build(&spec, Ground { capacity: Sector(1 << 25), seed: 1 });
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
        let built = build(&Spec::parse(text).unwrap(), Ground { capacity: Sector(1 << 21), seed: 1 });
        built.map(|_| ()).unwrap_err().to_string()
    };
    assert!(error("machine:program=tar").contains("dd-cat, stream-find"));
    assert!(error("machine:machine=vax").contains("freebsd-4.3"));
    assert!(error("machine:program=select-two").contains("larger disk"));
    let none = build(&Spec::parse("machine:files=3").unwrap(), Ground { capacity: Sector(1 << 25), seed: 1 });
    assert!(matches!(none.map(|_| ()), Err(SpecError::UnknownOption { .. })));
}

/// dd in the background ends with cat, and its dirty pages stay where they are.
#[test]
fn programs_in_the_background_end_with_the_others() {
    let (seen, end) = run(scaled("dd-cat", linux().scaled(2), 2, 0));
    let moments = seen.machine.moments();
    assert_eq!(moments.len(), 2, "cat's phase and its end: {moments:?}");
    assert_eq!(moments[0].at, Instant::ZERO + Duration::from_s(2), "dd has written for two seconds then");
    assert!(end >= moments[1].at);
    assert!(end < moments[1].at + Duration::from_s(2));
}
