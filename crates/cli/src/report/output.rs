//! Writing results: to standard output, or to a file that is complete or absent.

use std::fs::{File, OpenOptions};
use std::io::{Stdout, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::failure::Failure;

/// Writes `text` to standard output (`-`) or to a file.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if is_stdout(path) {
        return print(text);
    }
    let mut target = Target::open(path)?;
    target.write_all(text.as_bytes()).map_err(|error| target.failure(&error))?;
    target.finish()
}

/// Checks, before anything runs, that results can be written to all of `paths`, and that one place gets one result.
pub(crate) fn check<'a>(paths: impl IntoIterator<Item = &'a Option<PathBuf>>) -> Result<(), Failure> {
    let mut places: Vec<&Path> = Vec::new();
    for path in paths.into_iter().flatten() {
        if places.contains(&path.as_path()) {
            let place =
                if is_stdout(path) { "standard output".to_owned() } else { path.display().to_string() };
            return Err(Failure::usage(format!(
                "two results would go to {place}: give each a place of its own, such as --json=results.json"
            )));
        }
        places.push(path);
        // Devices and pipes are not touched: whoever reads a pipe would take it for its end.
        let special = path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
        if !is_stdout(path) && !special {
            beside(&path.canonicalize().unwrap_or_else(|_| path.clone()))?;
        }
    }
    Ok(())
}

/// Whether a path stands for standard output.
pub(crate) fn is_stdout(path: impl AsRef<Path>) -> bool {
    path.as_ref() == Path::new("-")
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
        if is_stdout(path) {
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
