//! A host takes few lines: the example serves a load under a selector, and is short.

#[path = "../examples/vec_disk.rs"]
mod vec_disk;

#[test]
fn a_host_that_switches_takes_at_most_150_lines() {
    let (said, served) = vec_disk::serve("auto-matrix", "period=500ms").unwrap();
    let names: Vec<&str> = said.iter().map(|line| &line[9..line.find(':').unwrap()]).collect();
    assert!(["deadline-2.6.11", "noop", "as-2.6.11"].iter().all(|name| names.contains(name)), "{said:?}");
    assert!(served > 10_000, "{served}");
    let lines = include_str!("../examples/vec_disk.rs").lines().count();
    assert!(lines <= 150, "{lines} lines");
}

#[test]
fn a_setting_that_does_not_fit_is_an_error() {
    assert!(vec_disk::serve("auto-matrix", "period=0").is_err());
    assert!(vec_disk::serve("auto-magic", "").is_err());
}
