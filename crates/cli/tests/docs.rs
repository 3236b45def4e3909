//! The committed reference pages are what the program prints.

mod common;

use common::{idlewise, root};
use idlewise_sim::experiment::Chosen;

#[test]
fn every_scheduler_and_selector_has_a_page_for_users() {
    for name in Chosen::all().map(Chosen::name) {
        let page = idlewise(["docs", name]).exits(0).prints(&format!("# {name}\n")).stdout;
        let has = |section: &str| page.lines().any(|line| line == section);
        assert!(has("# How it decides") || has("# How they decide"), "{name}:\n{page}");
        assert!(has("# Source") && has("# Good for, bad for"), "{name}:\n{page}");
        let papers = page.contains("SOSP'01") == page.contains("\n- SOSP'01: Sitaram Iyer and");
        assert!(papers, "the paper is named in full where it is named:\n{page}");
        for code in ["[`", "](", "crate::", "super::", ".rs`", "crates/"] {
            assert!(!page.contains(code), "{code} is for programmers:\n{page}");
        }
    }
}

#[test]
fn settings_and_the_names_of_the_kernel_modules_lead_to_the_same_page() {
    let page = |name: &str| idlewise(["docs", name]).exits(0).stdout;
    let bfq = page("bfq");
    for name in ["bfq:low_latency=off", "iw-bfq", "iw-bfq:low_latency=off;slice_idle=8"] {
        assert_eq!(page(name), bfq, "{name}");
    }
    let run = |scheduler: &str| {
        let words = ["run", "--scheduler", scheduler, "--workload", "random:n=1,requests=20", "--json"];
        idlewise(words.into_iter().chain(common::DISK)).exits(0).stdout.replace(scheduler, "kyber")
    };
    assert_eq!(run("iw-kyber"), run("kyber"));
    let predict = ["compare", "--workload", "random:n=1,requests=20", "--schedulers", "auto-predict,noop"];
    let predict =
        predict.into_iter().chain(common::DISK).chain(["--candidates", "iw-mq-deadline,iw-deadline"]);
    idlewise(predict).exits(0);
}

#[test]
fn pages_are_up_to_date() {
    for topic in ["schedulers", "selectors", "workloads", "disks", "formats"] {
        let printed = idlewise(["docs", topic]).exits(0).stdout;
        let path = root().join(format!("docs/{topic}.md"));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &printed).expect("docs/ can be written to");
            continue;
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        let cure = "UPDATE_DOCS=1 cargo test -p idlewise --test docs";
        assert!(committed == printed, "docs/{topic}.md is stale; run: {cure}");
    }
}
