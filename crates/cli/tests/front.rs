//! `idlewise front`: what it prints is what it measured, and wrong names are told.

mod common;

use common::{folder, idlewise};
use serde_json::Value;

const QUICK: [&str; 5] = ["front", "--disks", "maxtor-40g", "--schedulers", "noop,antic-c-look,c-look"];

fn document(more: &[&str]) -> Value {
    let words = QUICK.iter().chain(["--json"].iter()).chain(more).copied();
    serde_json::from_str(&idlewise(words).exits(0).stdout).unwrap()
}

/// The figures of each scheduler on the only load of `document`, with their names.
fn standings(document: &Value) -> Vec<&Value> {
    document["disks"][0]["loads"][0]["schedulers"].as_array().unwrap().iter().collect()
}

#[test]
fn shares_are_of_the_best_that_starves_nobody() {
    let document = document(&["--loads", "streams-4", "--duration", "2s"]);
    let all = standings(&document);
    assert_eq!(all.len(), 4, "mq-deadline takes part");
    let limit = document["disks"][0]["loads"][0]["limit_ns"].as_f64().unwrap();
    let number = |one: &Value, name: &str| one[name].as_f64().unwrap();
    let fair = || all.iter().filter(|one| number(one, "longest_wait_ns") <= limit);
    let best = fair().map(|one| number(one, "throughput_bytes_per_s")).fold(0.0, f64::max);
    assert!(best > 0.0);
    for one in &all {
        assert!((number(one, "share") - number(one, "throughput_bytes_per_s") / best).abs() < 1e-9, "{one}");
        assert_eq!(one["waits_too_long"], number(one, "longest_wait_ns") > limit);
        let beaten = fair().any(|other| {
            number(other, "throughput_bytes_per_s") > number(one, "throughput_bytes_per_s")
                && number(other, "slowest_read_ns_p99") < number(one, "slowest_read_ns_p99")
        });
        assert!(!(beaten && one["front"] == true), "{one} is beaten and on the front");
    }
    // Anticipation is what four readers in order want of a disk that takes one command at a time.
    let of = |name: &str| all.iter().find(|one| one["scheduler"] == name).unwrap();
    let gain =
        number(of("antic-c-look"), "throughput_bytes_per_s") / number(of("noop"), "throughput_bytes_per_s");
    assert!(gain > 2.0, "{gain}");
}

#[test]
fn bytes_count_on_every_load_if_wanted() {
    let rate = |more: &[&str]| {
        let words = [&["--loads", "dd-and-cat", "--duration", "2s"], more].concat();
        standings(&document(&words))[0]["throughput_bytes_per_s"].as_f64().unwrap()
    };
    assert!(rate(&["--bytes"]) > 1.5 * rate(&[]), "the mean of two parties is at most half of what both get");
}

#[test]
fn sets_of_loads_are_what_they_say() {
    for (set, aside) in [("known", false), ("aside", true)] {
        let document = document(&["--set", set, "--duration", "100ms"]);
        let loads = document["disks"][0]["loads"].as_array().unwrap();
        assert!(loads.len() > 10 && loads.iter().all(|load| load["aside"] == aside), "{set}");
    }
}

#[test]
fn loads_are_drawn_by_their_numbers() {
    let of = |numbers: &str| document(&["--drawn", numbers, "--duration", "2s"])["disks"][0]["loads"].clone();
    let (three, again) = (of("160-162"), of("161"));
    let names: Vec<&Value> = three.as_array().unwrap().iter().map(|load| &load["load"]).collect();
    assert_eq!(names, ["drawn-160", "drawn-161", "drawn-162"]);
    assert_eq!(three[1], again[0], "a number draws the same at any time");
    assert_ne!(three[1]["schedulers"], three[2]["schedulers"], "others draw others");
    assert_eq!((&three[0]["aside"], &three[1]["aside"]), (&Value::Bool(false), &Value::Bool(true)));
    // What the page names can be run by itself.
    let workload = three[1]["workload"].as_str().unwrap();
    idlewise(["run", "--disk", "maxtor-40g", "--workload", workload]).exits(0).prints("run time");
}

#[test]
fn the_page_is_whole_and_names_nothing_outside() {
    let folder = folder();
    let path = folder.path().join("front.html");
    let option = format!("--html={}", path.display());
    let words =
        QUICK.iter().copied().chain(["--loads", "seq-readers,mail", "--duration", "1s", option.as_str()]);
    let run = idlewise(words).exits(0).prints("maxtor-40g").prints("share").prints("the front of each load");
    run.prints("idlewise front --disks maxtor-40g ");
    let page = std::fs::read_to_string(path).unwrap();
    assert_eq!(page.matches("<figure>").count(), 2);
    assert!(page.contains("<code>idlewise front --disks maxtor-40g "), "the command is told");
    assert!(page.ends_with("</html>\n") && !page.contains("http"), "{page}");
}

#[test]
fn wrong_names_are_told() {
    idlewise(["front", "--loads", "seq-reader"]).exits(2).says("did you mean 'seq-readers'");
    idlewise(["front", "--disks", "barracude"]).exits(2).says("did you mean 'barracuda'");
    idlewise(["front", "--duration", "0s"]).exits(2).says("write a time such as 20s");
    for numbers in ["5-3", "0-3", "1-", "-", "x", "1-20000"] {
        let numbers = format!("--drawn={numbers}");
        idlewise(["front", numbers.as_str()]).exits(2).says("write numbers such as 1-40");
    }
    idlewise(["front", "--drawn", "1-3", "--loads", "mail"]).exits(2).says("cannot be used with");
    idlewise(["run", "--workload", "drawn:draw=0"]).exits(2).says("draw");
    idlewise(["front", "--schedulers", "nop"]).exits(2).says("did you mean 'noop'");
}
