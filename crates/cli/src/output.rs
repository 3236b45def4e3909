//! Writing results: to standard output, or to a file that is complete or absent.

use std::fs::{File, OpenOptions};
use std::io::{Stdout, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::failure::Failure;

/// Writes `text` to standard output (`-`) or to a file.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if path == Path::new("-") {
        return print(text);
    }
    let mut target = Target::open(path)?;
    target.write_all(text.as_bytes()).map_err(|error| target.failure(&error))?;
    target.finish()
}

/// Where results are written to.
pub(crate) struct Target {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    Standard(Stdout),
    /// A device or a pipe: written to as it is, never replaced.
    Special(File),
    /// A new file beside the target, which takes its place once it is whole.
    Whole(NamedTempFile),
}

impl Target {
    /// Standard output for `-`; else the file, device or pipe at `path`.
    pub(crate) fn open(path: &Path) -> Result<Target, Failure> {
        if path == Path::new("-") {
            return Ok(Target { path: "(standard output)".into(), sink: Sink::Standard(std::io::stdout()) });
        }
        // A link stays a link: what it points to is replaced.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let special = path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
        let sink = if special {
            let file = OpenOptions::new().write(true).open(&path).map_err(|error| named(&path, &error))?;
            Sink::Special(file)
        } else {
            Sink::Whole(beside(&path)?)
        };
        Ok(Target { path, sink })
    }

    /// Makes what was written the target's content.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.flush().map_err(|error| self.failure(&error))?;
        let Target { path, sink } = self;
        if let Sink::Whole(file) = sink {
            file.persist(&path).map_err(|error| named(&path, &error.error))?;
        }
        Ok(())
    }

    /// What went wrong in writing here.
    pub(crate) fn failure(&self, error: &std::io::Error) -> Failure {
        match self.sink {
            Sink::Standard(_) if error.kind() == std::io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => named(&self.path, error),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.sink {
            Sink::Standard(out) => out.write(bytes),
            Sink::Special(file) => file.write(bytes),
            Sink::Whole(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.sink {
            Sink::Standard(out) => out.flush(),
            Sink::Special(file) => file.flush(),
            Sink::Whole(file) => file.flush(),
        }
    }
}

/// A new file that can take the place of `path` once it is whole; it is deleted if it does not.
fn beside(path: &Path) -> Result<NamedTempFile, Failure> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let (path, folder) = (path.display(), folder.display());
        return Err(Failure::failed(format!("{path}: there is no folder {folder}: make it first")));
    }
    if path.is_dir() {
        let path = path.display();
        return Err(Failure::failed(format!("{path}: this is a folder: name a file in it")));
    }
    let file = tempfile::Builder::new().permissions(usual_mode()).tempfile_in(folder);
    file.map_err(|error| {
        // The library adds the temporary name, which tells the user nothing.
        let cause = error.get_ref().and_then(|error| error.source());
        named(path, &cause.map_or_else(|| error.to_string(), ToString::to_string))
    })
}

/// A failure about a file.
pub(crate) fn named(path: &Path, error: &impl std::fmt::Display) -> Failure {
    Failure::failed(format!("{}: {error}", path.display()))
}

/// The mode of a new file, of which the user's umask takes its share.
fn usual_mode() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

/// Writes `text` to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// Columns of the terminal: `COLUMNS`, else what the terminal says; 100 if there is none.
pub(crate) fn width() -> usize {
    let variable = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    variable.or_else(terminal).unwrap_or(100).clamp(40, 100)
}

/// `text` in lines of at most `width` characters. A number stays with its unit.
pub(crate) fn wrap(text: &str, width: usize) -> String {
    const UNITS: [&str; 4] = ["%", "ms", "s", "MB/s"];
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let unit = UNITS.contains(&word.trim_end_matches([',', ';', '.', ')']));
        match words.last_mut() {
            Some(last) if unit && last.ends_with(|c: char| c.is_ascii_digit()) => {
                *last += &format!(" {word}");
            }
            _ => words.push(word.to_owned()),
        }
    }
    let mut lines = String::new();
    let mut column = 0;
    for word in &words {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            lines.push('\n');
            column = 0;
        } else if column > 0 {
            lines.push(' ');
            column += 1;
        }
        lines += word;
        column += length;
    }
    lines
}

/// A value as JSON for people and programs.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map_err(Failure::failed)
}

/// A number with three significant digits or all before the point, in groups of three.
pub(crate) fn three(number: f64) -> String {
    match number.abs() {
        size if size >= 999.5 => grouped(number.round_ties_even() as i64),
        size if size >= 99.95 => format!("{number:.0}"),
        size if size >= 9.995 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// A whole number in groups of three digits.
pub(crate) fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = if number < 0 { "-".to_owned() } else { String::new() };
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Nanoseconds as milliseconds with three significant digits.
pub(crate) fn ms(ns: f64) -> String {
    three(ns / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_grouped() {
        let shown = [0.0, 1.234, 12.34, 123.4, 999.4, 999.6, 1234.5, 1_234_567.0, -1234.0].map(three);
        assert_eq!(shown, ["0.00", "1.23", "12.3", "123", "999", "1,000", "1,234", "1,234,567", "-1,234"]);
    }
}
