//! The HTML page stands alone, and names cannot break out of it.

mod common;

use common::{DISK, folder, idlewise, write};

/// A page about a trace whose processes have this name.
fn page(process: &str) -> String {
    let folder = folder();
    let row = |n: u64, pid: u32| {
        format!(
            "  8,0    0        {n}     {}.{:09}  {pid}  Q   R {} + 8 [{process}]\n",
            n / 100,
            n % 100 * 10_000_000,
            n * 7919 % 100_000 * 8
        )
    };
    let trace: String = (1..60).map(|n| row(n, 1 + (n % 3) as u32)).collect();
    let trace = write(&folder, "t<b>.txt", trace);
    let html = folder.path().join("r.html");
    let option = format!("--html={}", html.display());
    idlewise(["compare", "--trace", &trace, &option].into_iter().chain(DISK)).exits(0);
    std::fs::read_to_string(html).unwrap()
}

#[test]
fn it_stands_alone_and_tells_all() {
    let page = page("dd");
    for foreign in ["<script", "http://", "https://", "url(", "@import", "<link", "<img"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    for wanted in [
        "<caption>",
        "scope=row",
        "role=img",
        "prefers-color-scheme",
        "Run time",
        "seeds: 1",
        "Rows: highest throughput first",
        "does not tell completions",
    ] {
        assert!(page.contains(wanted), "{wanted} is missing");
    }
    assert!(page.contains("--html="), "the command line is told");
}

#[test]
fn names_are_escaped() {
    let page = page("<i>&x");
    assert!(!page.contains("<i>") && !page.contains("t<b>"), "a name reached the page as it is");
    assert!(page.contains("&lt;i&gt;&amp;x"), "the process's name is missing");
}

#[test]
fn a_load_with_phases_is_told_by_phase() {
    let folder = folder();
    let html = folder.path().join("r.html");
    let load = "--workload=phases:mix=seq-readers=2:writers=2";
    let option = format!("--html={}", html.display());
    idlewise(["compare", load, "--schedulers=noop,as", "--disk=maxtor-40g", &option]).exits(0);
    let page = std::fs::read_to_string(html).unwrap();
    for wanted in [
        "<h2>Throughput by phase</h2>",
        "<h2>P99 read latency by phase</h2>",
        "<li>seq-readers, ",
        " MB/s</li>",
        " ms</li>",
        "<td class=best>100.0</td>",
    ] {
        assert!(page.contains(wanted), "{wanted} is missing");
    }
}
