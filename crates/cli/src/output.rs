//! Writing results: to standard output, or to a file that is complete or absent.

use std::io::Write;
use std::path::Path;

use crate::failure::Failure;

/// Writes `text` to standard output (`-`) or to a file.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if path == Path::new("-") {
        return print(text);
    }
    let named = |error: std::io::Error| Failure::failed(format!("{}: {error}", path.display()));
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().permissions(usual_mode()).tempfile_in(folder).map_err(named)?;
    file.write_all(text.as_bytes()).map_err(named)?;
    file.persist(path).map_err(|error| named(error.error))?;
    Ok(())
}

/// The mode of a new file, of which the user's umask takes its share.
pub(crate) fn usual_mode() -> std::fs::Permissions {
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

/// A value as JSON for people and programs.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map_err(Failure::failed)
}

/// A number with three significant digits.
pub(crate) fn three(number: f64) -> String {
    match number.abs() {
        size if size >= 99.95 => format!("{number:.0}"),
        size if size >= 9.995 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// Nanoseconds as milliseconds with three significant digits.
pub(crate) fn ms(ns: f64) -> String {
    three(ns / 1e6)
}
