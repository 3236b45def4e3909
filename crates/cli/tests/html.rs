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
    let trace: String = (1..160).map(|n| row(n, 1 + (n % 3) as u32)).collect();
    let trace = write(&folder, "t<b>.txt", trace);
    let html = folder.path().join("r.html");
    let option = format!("--html={}", html.display());
    idlewise(["compare", "--trace", &trace, &option].into_iter().chain(DISK)).exits(0);
    std::fs::read_to_string(html).unwrap()
}

#[test]
fn it_stands_alone_and_tells_all() {
    let page = page("dd");
    // The library names where it comes from, which fetches nothing.
    let own = page.replace("/*! https://github.com/leeoniya/uPlot", "");
    for foreign in
        ["script src", "http://", "https://", "url(", "@import", "<link", "<img", "fetch(", "XMLHttp"]
    {
        assert!(!own.contains(foreign), "{foreign}");
    }
    for wanted in [
        "scope=row",
        "role=img",
        "prefers-color-scheme",
        "Run time",
        "seeds: 1",
        "Rows: highest throughput first",
        "does not tell completions",
        "id=plots",
        "uPlot 1.6.32",
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

#[test]
fn all_schedulers_fit_a_megabyte_and_each_run_is_there() {
    let folder = folder();
    let html = folder.path().join("r.html");
    let load = ["--workload=write-and-read", "--disk=hdd-18tb-7200", "--duration=4s", "--schedulers=all"];
    let option = format!("--html={}", html.display());
    idlewise(["compare"].into_iter().chain(load).chain([option.as_str()])).exits(0);
    let page = std::fs::read_to_string(html).unwrap();
    let data = page.split("id=runs>").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let runs = data["runs"].as_array().unwrap();
    assert!(runs.len() >= 37, "{}", runs.len());
    assert!(page.len() < 27_000 * runs.len(), "{} bytes for {}", page.len(), runs.len());
    for run in runs {
        assert_eq!(run["processes"].as_array().unwrap().len(), 2, "{}", run["name"]);
        assert_ne!(run["dots"]["at"]["data"], "", "{}", run["name"]);
        assert_ne!(run["closeUp"]["at"]["data"], "", "{}", run["name"]);
    }
    assert!(data["first"].as_array().unwrap().contains(&"mq-deadline".into()));
}

#[test]
fn series_as_csv_add_up_to_the_results() {
    let load = [
        "compare",
        "--workload=sync-streams:n=3",
        "--disk=maxtor-40g",
        "--duration=3s",
        "--schedulers=as,cfq",
    ];
    let series = idlewise(load.into_iter().chain(["--csv-series"])).exits(0).stdout;
    let results = idlewise(load.into_iter().chain(["--json"])).exits(0).stdout;
    let results: serde_json::Value = serde_json::from_str(&results).unwrap();
    let mut lines = series.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let rows: Vec<_> = lines.collect();
    let sum = |scheduler: &str, of_all: bool, name: &str| -> u64 {
        let column = names.iter().position(|other| *other == name).unwrap();
        let own = rows.iter().filter(|row| row[0] == scheduler && row[3].is_empty() == of_all);
        own.map(|row| row[column].parse::<u64>().unwrap()).sum()
    };
    for result in results["results"].as_array().unwrap() {
        let name = result["scheduler"].as_str().unwrap();
        assert_eq!(sum(name, true, "read_bytes"), result["read"]["bytes"].as_u64().unwrap(), "{name}");
        assert_eq!(sum(name, true, "service_ns"), sum(name, false, "service_ns"), "{name}");
        assert_eq!(
            sum(name, true, "waiting_ns"),
            result["anticipation"]["time_ns"].as_u64().unwrap(),
            "{name}"
        );
    }
    assert_eq!(rows.iter().map(|row| row[3]).collect::<std::collections::BTreeSet<_>>().len(), 4);
}
