//! Running the program as a user does.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A disk and a load that take a moment.
pub(crate) const DISK: [&str; 2] = ["--disk", "barracuda"];
pub(crate) const LOAD: [&str; 2] = ["--workload", "random:n=4,requests=50"];

/// The program, with nothing to read and plain surroundings.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_idlewise"));
    command.stdin(Stdio::null()).env_remove("COLUMNS").env("RUST_BACKTRACE", "0");
    command
}

/// What a run gave.
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    words: String,
}

impl Run {
    fn new(words: String, output: &Output) -> Run {
        let run = Run {
            status: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            words,
        };
        assert!(!run.stderr.contains("panicked"), "{}\n{}", run.words, run.stderr);
        run
    }

    /// Asserts the exit status.
    pub(crate) fn exits(self, status: i32) -> Run {
        let Run { stdout, stderr, words, .. } = &self;
        assert_eq!(self.status, Some(status), "idlewise {words}\nstdout: {stdout}\nstderr: {stderr}");
        self
    }

    /// Asserts that a message of standard error says this.
    pub(crate) fn says(self, wanted: &str) -> Run {
        assert!(
            self.stderr.contains(wanted),
            "idlewise {}\nwanted: {wanted}\nstderr: {}",
            self.words,
            self.stderr
        );
        self
    }

    /// Asserts that standard output has this.
    pub(crate) fn prints(self, wanted: &str) -> Run {
        assert!(
            self.stdout.contains(wanted),
            "idlewise {}\nwanted: {wanted}\nstdout: {}",
            self.words,
            self.stdout
        );
        self
    }
}

/// Runs the program with these words.
pub(crate) fn idlewise<'a>(words: impl IntoIterator<Item = &'a str>) -> Run {
    let words: Vec<&str> = words.into_iter().collect();
    let output = program().args(&words).output().expect("the program starts");
    Run::new(words.join(" "), &output)
}

/// Runs the program with a line of words separated by spaces.
pub(crate) fn line(words: &str) -> Run {
    idlewise(words.split(' '))
}

/// Ends a child and takes what it gave.
pub(crate) fn finish(child: std::process::Child) -> Run {
    let output = child.wait_with_output().expect("the program can be waited for");
    Run::new("(child)".to_owned(), &output)
}

/// The repository's folder.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the repository as a word of the command line.
pub(crate) fn file(path: &str) -> String {
    root().join(path).display().to_string()
}

/// A new folder that is deleted with the value.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

/// Writes a file into a folder; returns its path as a word.
pub(crate) fn write(folder: &tempfile::TempDir, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("the file can be written");
    path.display().to_string()
}

/// A short trace in MSR's format.
pub(crate) const MSR: &str = "128166372003061629,web,0,Read,7014609920,24576,41286\n\
                       128166372016382155,web,0,Write,1317441536,8192,1963\n\
                       128166372026382245,web,0,Write,2436440064,4096,1835\n";

/// A recording of a drive, one read or write after the other, all over the disk.
pub(crate) fn measured(rows: u64) -> String {
    let row = |index: u64| {
        let direction = if index % 4 == 3 { 'W' } else { 'R' };
        let (start, service) = (index * 7_919_003 % 4_000_000, 4000 + index * 1_237 % 9000);
        format!("{direction} Miss {start} 8 {service} 20000\n")
    };
    (0..rows).map(row).collect()
}
