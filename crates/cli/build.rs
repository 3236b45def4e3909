//! Collects the headers of the files of schedulers and selectors: `idlewise docs NAME` prints them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folders = ["../core/src/schedulers", "../core/src/selectors"].map(Path::new);
    folders.iter().for_each(|folder| println!("cargo::rerun-if-changed={}", folder.display()));
    let mut pages = String::from(
        "/// Each scheduler's and selector's name and the header of its file.\nstatic PAGES: &[(&str, &str)] = &[\n",
    );
    for file in folders.into_iter().flat_map(sources) {
        println!("cargo::rerun-if-changed={}", file.display());
        let text = fs::read_to_string(&file).expect("a scheduler's file can be read");
        let header: Vec<_> =
            text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim_end).collect();
        let header =
            header.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n");
        let names = text.lines().filter_map(|line| line.trim().strip_prefix("const NAME: &'static str = \""));
        for name in names.filter_map(|rest| rest.split('"').next()) {
            writeln!(pages, "    ({name:?}, {header:?}),").expect("a string can be written to");
        }
    }
    pages.push_str("];\n");
    let target = Path::new(&env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("pages.rs");
    fs::write(target, pages).expect("the build folder can be written to");
}

/// The Rust files in a folder and those below it, in order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the schedulers' folder can be read");
    let mut paths: Vec<_> =
        entries.map(|entry| entry.expect("the folder's entries can be read").path()).collect();
    paths.sort();
    let files = paths.into_iter().flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}
