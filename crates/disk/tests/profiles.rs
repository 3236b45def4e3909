//! Profile files: what is wrong with one is said with its line and a cure.

use idlewise_disk::{BuildError, DiskModel, Profile, ProfileError, describe::Description, draw, profile};

/// A small valid profile, with one piece of text replaced.
fn parse(from: &str, to: &str) -> Result<Profile, ProfileError> {
    let text = r#"kind = "mechanical"
description = "test"
source = "test"

[geometry]
capacity_sectors = 100000
rotation_rpm = 7200
heads = 2
zones = [
  { first_cylinder = 0, last_cylinder = 999, sectors_per_track = 60, track_skew_sectors = 5, cylinder_skew_sectors = 9 },
]

[seek]
head_switch_ms = 0.5
write_settle_ms = 0.1
points_cylinders_ms = [[1, 1.0], [300, 5.0], [999, 9.0]]

[bus]
read_sector_us = 10
write_sector_us = 10

[buffer]
segments = 2
segment_sectors = 64
write_segments = 1
read_cache = true
write_cache = true
read_ahead = "segment"
read_ahead_sectors = 64
"#;
    assert!(text.contains(from), "{from:?} is not in the profile");
    Profile::parse("test", "test.toml", &text.replacen(from, to, 1))
}

#[test]
fn a_small_profile_is_enough() {
    let profile = parse("test", "test").expect("the profile is valid");
    let disk = profile.build().expect("builds");
    assert_eq!((disk.capacity().0, disk.depth(), disk.rotational()), (100_000, 1, true));
}

#[test]
fn faults_are_named_with_line_and_cure() {
    let cases = [
        ("heads = 2", "heads = 0", "test.toml:8: geometry.heads: is zero; give at least 1"),
        ("heads = 2", "heads = -2", "test.toml:"),
        ("heads = 2", "heads = ", "test.toml:8:"),
        ("heads = 2\n", "", "missing field `heads`"),
        ("heads = 2", "haeds = 2", "unknown field `haeds`"),
        ("rotation_rpm = 7200", "rotation_rpm = -7200", "test.toml:7: geometry.rotation_rpm: -7200"),
        ("rotation_rpm = 7200", "rotation_rpm = nan", "test.toml:7: geometry.rotation_rpm"),
        ("capacity_sectors = 100000", "capacity_sectors = 9000000", "test.toml:6: geometry.capacity_sectors"),
        ("sectors_per_track = 60", "sectors_per_track = 0", "test.toml:9: geometry.zones"),
        ("track_skew_sectors = 5", "track_skew_sectors = 1e9", "test.toml:9: geometry.zones: a skew of"),
        ("[1, 1.0], [300, 5.0]", "[300, 5.0], [1, 1.0]", "test.toml:16: seek.points_cylinders_ms"),
        ("[1, 1.0]", "[1, -1.0]", "test.toml:16: seek.points_cylinders_ms: -1"),
        ("read_sector_us = 10", "read_sector_us = 1e300", "test.toml:19: bus.read_sector_us"),
        ("segments = 2", "segments = 0", "test.toml:23: buffer.segments: is zero"),
        ("read_ahead = \"segment\"", "read_ahead = \"far\"", "unknown variant `far`"),
        ("kind = \"mechanical\"", "kind = \"drum\"", "unknown variant `drum`"),
    ];
    for (from, to, wanted) in cases {
        let message = parse(from, to).expect_err(to).to_string();
        assert!(message.contains(wanted), "{to:?} gives {message:?}");
    }
    let built =
        parse("last_cylinder = 999", "last_cylinder = 4294967295").expect("its keys are well formed").build();
    assert!(matches!(built, Err(BuildError::Zone { .. })), "{built:?}");
}

#[test]
fn unknown_names_list_the_known_ones() {
    let error = Profile::named("chetah9lp").expect_err("misspelt").to_string();
    assert!(error.contains("chetah9lp") && error.contains("cheetah9lp"), "{error}");
    let error = Profile::load("no/such/file.toml".as_ref()).expect_err("missing").to_string();
    assert!(error.contains("no/such/file.toml") && error.contains("check the path"), "{error}");
}

#[test]
fn every_profile_can_be_drawn() {
    for name in profile::names() {
        let description = Description::of(&Profile::named(name).expect(name)).expect(name);
        let page = draw::page(&description, 100);
        assert!(page.contains(name) && page.contains("Source: "), "{page}");
        let widest =
            page.lines().filter(|line| !line.starts_with("Source: ")).map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|columns| columns <= 100), "{name}: {widest:?} columns\n{page}");
    }
}

#[test]
fn an_altered_drive_is_one_that_nobody_has_measured() {
    let measured = Profile::named("cheetah9lp").expect("a built-in profile");
    assert!(measured.demerit_permille.is_some());
    let error = |options: &str| measured.clone().with(options).expect("valid options").demerit_permille;
    assert_eq!((error(""), error("seek=150")), (measured.demerit_permille, None));
}
