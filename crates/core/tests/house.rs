//! House rules that can be read off the sources: which way crates depend, what core may not use, and
//! how long files may be.

use std::fs;
use std::path::{Path, PathBuf};

/// Lines of code in a file, without documentation and tests.
const LINES_MAX: usize = 400;

/// Words that say too little, words that nobody says, and notes to self.
const BANNED: [&str; 12] = [
    "TODO",
    "FIXME",
    "XXX",
    "HACK",
    "simply ",
    "obviously",
    "basically",
    "leverage",
    "seamless",
    "whom",
    "so many",
    " shall ",
];

/// First words of sentences that do not name their subject.
const PRONOUNS: [&str; 7] = ["It ", "Its ", "They ", "He ", "She ", "We ", "There "];

/// Each crate and the crates of this workspace that it may depend on.
const ARROWS: [(&str, &[&str]); 7] = [
    ("core", &[]),
    ("disk", &["core"]),
    ("sim", &["core", "disk"]),
    ("live", &["core", "disk", "sim"]),
    ("cli", &["core", "disk", "sim", "live"]),
    ("py", &["core", "sim", "cli"]),
    ("wasm", &["core", "disk", "sim"]),
];

fn core() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The files below `folder` with this extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            found.append(&mut files(&path, extension));
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// All source files of core with their names and texts.
fn sources() -> Vec<(String, String)> {
    let mut paths = files(&core().join("src"), "rs");
    paths.append(&mut files(&core().join("tests"), "rs"));
    let name = |path: &Path| path.strip_prefix(core()).unwrap().display().to_string();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// What a line of Rust says apart from comments. Strings are not taken out.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// The lines of a source file with their numbers, without what only tests compile.
fn outside_tests(text: &str) -> Vec<(usize, &str)> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut tests_only = None;
    let mut kept = Vec::new();
    for (number, line) in text.lines().enumerate() {
        match tests_only {
            Some(depth) => {
                let ends = indent(line) == depth && line.ends_with(['}', ';', ')']);
                tests_only = tests_only.filter(|_| !ends);
            }
            None if line.trim() == "#[cfg(test)]" => tests_only = Some(indent(line)),
            None => kept.push((number + 1, line)),
        }
    }
    kept
}

/// Lines of core's library for which `bad` holds.
fn library_lines(bad: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (name, text) in sources() {
        if name.starts_with("src/") && !name.starts_with("src/suites/") && !name.ends_with("tests.rs") {
            let lines = outside_tests(&text).into_iter().filter(|(_, line)| bad(code(line)));
            found.extend(lines.map(|(number, line)| format!("{name}:{number}: {line}")));
        }
    }
    found
}

/// Whether `word` stands in `line` by itself.
fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|own| own == word)
}

/// The names in the table `section` of a Cargo.toml.
fn table<'a>(manifest: &'a str, section: &str) -> Vec<&'a str> {
    let header = format!("[{section}]");
    let inside = manifest.lines().skip_while(|line| line.trim() != header).skip(1);
    let rows = inside.take_while(|line| !line.starts_with('[')).filter(|line| line.contains('='));
    rows.map(|row| row.split(['.', ' ', '=']).next().unwrap_or_default()).collect()
}

#[test]
fn core_depends_on_nothing() {
    let manifest = fs::read_to_string(core().join("Cargo.toml")).unwrap();
    assert!(table(&manifest, "dependencies").is_empty());
    assert!(table(&manifest, "build-dependencies").is_empty());
    assert!(!manifest.contains("target."), "no dependencies for some targets only, either");
}

#[test]
fn crates_depend_one_way() {
    let folders = fs::read_dir(core().join("..")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut crates: Vec<String> = folders.map(|name| name.to_string_lossy().into_owned()).collect();
    crates.sort();
    for name in crates {
        let Some((_, allowed)) = ARROWS.iter().find(|(own, _)| *own == name) else {
            panic!("say what crates/{name} may depend on")
        };
        let manifest = fs::read_to_string(core().join("..").join(&name).join("Cargo.toml")).unwrap();
        for section in ["dependencies", "dev-dependencies"] {
            // The program's package has the name alone.
            let short =
                |row| if row == "idlewise" { Some("cli") } else { str::strip_prefix(row, "idlewise-") };
            let own = table(&manifest, section).into_iter().filter_map(short);
            for other in own {
                assert!(allowed.contains(&other), "crates/{name} depends on idlewise-{other}");
            }
        }
    }
}

#[test]
fn core_has_no_floats() {
    let floats = library_lines(|line| has_word(line, "f32") || has_word(line, "f64"));
    assert!(floats.is_empty(), "a kernel has no floats:\n{}", floats.join("\n"));
}

#[test]
fn core_has_no_unsafe_code() {
    let text = fs::read_to_string(core().join("src/lib.rs")).unwrap();
    assert!(text.contains("#![no_std]") && text.contains("#![forbid(unsafe_code)]"));
    let found = library_lines(|line| has_word(line, "unsafe"));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn core_prints_nothing_and_uses_no_128_bit_division() {
    let prints = library_lines(|line| line.contains("println!") || line.contains("dbg!"));
    assert!(prints.is_empty(), "{}", prints.join("\n"));
    let wide = |line: &str| (has_word(line, "u128") || has_word(line, "i128")) && line.contains(['/', '%']);
    let divisions = library_lines(wide);
    assert!(divisions.is_empty(), "a kernel has no 128-bit division:\n{}", divisions.join("\n"));
}

/// Lines of code in `text`: no documentation, no comments, no tests.
fn code_lines(text: &str) -> usize {
    outside_tests(text).iter().filter(|(_, line)| !code(line).trim().is_empty()).count()
}

#[test]
fn files_are_short() {
    let top = core().join("../..");
    let mut paths = files(&top.join("crates"), "rs");
    paths.append(&mut files(&top.join("kernel"), "rs"));
    let lines = |path: &PathBuf| (code_lines(&fs::read_to_string(path).unwrap()), path.clone());
    let long: Vec<_> = paths.iter().map(lines).filter(|(lines, _)| *lines > LINES_MAX).collect();
    assert!(paths.len() > 300, "{} files were found", paths.len());
    assert!(
        long.is_empty(),
        "more than {LINES_MAX} lines of code; split along what the reader looks for: {long:?}"
    );
}

#[test]
fn words_that_say_too_little_are_not_used() {
    let mut found = Vec::new();
    for (name, text) in sources().into_iter().filter(|(name, _)| name != "tests/house.rs") {
        for (number, line) in text.lines().enumerate() {
            let words = BANNED.iter().filter(|word| line.contains(**word));
            found.extend(words.map(|word| format!("{name}:{}: {word}", number + 1)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn comments_name_their_subject() {
    let comment = |line: &'_ str| {
        let text = line.trim_start().strip_prefix("//")?;
        Some(text.trim_start_matches(['/', '!']).trim().to_string())
    };
    let (mut found, mut comments) = (Vec::new(), 0);
    for (name, text) in sources() {
        let mut before = None;
        for (number, line) in text.lines().enumerate() {
            let now = comment(line);
            let begins = before.is_none_or(|text: String| text.is_empty() || text.ends_with(['.', ':', '?']));
            if let Some(text) = &now {
                comments += 1;
                if begins && PRONOUNS.iter().any(|word| text.starts_with(word)) {
                    found.push(format!("{name}:{}: {text}", number + 1));
                }
            }
            before = now;
        }
    }
    assert!(found.is_empty(), "name the subject:\n{}", found.join("\n"));
    assert!(comments > 5000, "{comments} lines of comments were found");
}

#[test]
fn every_scheduler_file_says_what_a_reader_wants_to_know() {
    let list = fs::read_to_string(core().join("src/schedulers.rs")).unwrap();
    let inside = list.split("\nschedulers! {").nth(1).unwrap();
    let (mut family, mut pages) = ("", 0);
    for row in inside.lines() {
        let module = row.trim().split([' ', ':']).next().unwrap();
        if row.ends_with('{') {
            family = module;
        }
        if !row.contains(':') {
            continue;
        }
        pages += 1;
        let text = fs::read_to_string(core().join(format!("src/schedulers/{family}/{module}.rs"))).unwrap();
        let header: String = text.lines().take_while(|line| line.starts_with("//!")).collect();
        for (section, other) in [
            ("# How it decides", "# How they decide"),
            ("# Source", "# Sources"),
            ("# Good for, bad for", "# Good for, bad for"),
            ("# Starvation", "# Starvation"),
        ] {
            assert!(header.contains(section) || header.contains(other), "{module}.rs lacks {section}");
        }
    }
    assert!(pages > 30, "{pages} files of schedulers were found");
}

#[test]
fn what_only_tests_compile_is_left_out() {
    let text = "a\n#[cfg(test)]\nmod tests {\n    b\n}\nc\n    #[cfg(test)]\n    d;\ne";
    assert_eq!(outside_tests(text), [(1, "a"), (6, "c"), (9, "e")]);
}
