//! The committed reference pages are what the program prints.

mod common;

use common::{idlewise, root};

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
