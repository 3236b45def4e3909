//! Writing results: to standard output, or to a file that is complete or absent.

use std::fs::{File, OpenOptions};
use std::io::{Stdout, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, PersistError};

use crate::caller;
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

/// Whether a path stands for standard output.
pub(crate) fn is_stdout(path: impl AsRef<Path>) -> bool {
    path.as_ref() == Path::new("-")
}

/// An option that says where a result goes, and where that is, if the option is given.
pub(crate) type Asked<'a> = (&'static str, &'a Option<PathBuf>);

/// Checks before a run that each result can be written, each to a place of its own, and to none of the files that
/// are `read`.
pub(crate) fn check(asked: &[Asked<'_>], read: &[PathBuf]) -> Result<(), Failure> {
    let given = || asked.iter().filter_map(|(option, path)| Some((*option, path.as_deref()?)));
    for (index, (option, path)) in given().enumerate() {
        let same = |(_, other): &(&str, &Path)| place(other) == place(path) && path != Path::new("/dev/null");
        if let Some((earlier, _)) = given().take(index).find(same) {
            let (where_to, cure) = if is_stdout(path) {
                ("standard output".to_owned(), format!("give one of them a file, such as {option}=FILE"))
            } else {
                (path.display().to_string(), "name another file for one of them".to_owned())
            };
            return Err(Failure::usage(format!("{earlier} and {option} both go to {where_to}: {cure}")));
        }
        if read.iter().any(|source| place(source) == place(path)) {
            let path = path.display();
            return Err(Failure::usage(format!(
                "{option} would replace {path}, which is read: name another file"
            )));
        }
        replaceable(option, path)?;
        writable(path)?;
    }
    Ok(())
}

/// How the names of files end that hold what an option writes.
fn endings(option: &str) -> &'static [&'static str] {
    match option {
        "--json" => &["json", "txt"],
        "--html" => &["html", "htm"],
        "--markdown" => &["md", "txt"],
        "--csv" | "--csv-processes" | "--csv-series" => &["csv", "txt"],
        _ => &["txt", "md", "jsonl", "ndjson"],
    }
}

/// An error if `path` is a file whose name says that it holds something else than `option` writes.
fn replaceable(option: &str, path: &Path) -> Result<(), Failure> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let filled = target.metadata().is_ok_and(|found| found.is_file() && found.len() > 0);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let Some((_, ending)) = name.rsplit_once('.').filter(|_| filled) else { return Ok(()) };
    if endings(option).iter().any(|known| known.eq_ignore_ascii_case(ending)) {
        return Ok(());
    }
    let (path, known) = (path.display(), endings(option).join(" or ."));
    Err(Failure::usage(format!(
        "{option} would replace {path}, which does not look like an earlier result: name a file that ends in .{known}"
    )))
}

/// What two names of the same file have in common: device and inode, or folder and name of a file that is to be.
#[derive(PartialEq)]
enum Place {
    Standard,
    File(u64, u64),
    New(PathBuf),
}

fn place(path: &Path) -> Place {
    if is_stdout(path) {
        return Place::Standard;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (path.metadata(), folder.canonicalize()) {
        (Ok(found), _) => Place::File(found.dev(), found.ino()),
        (_, Ok(folder)) => Place::New(folder.join(path.file_name().unwrap_or_default())),
        _ => Place::New(path.to_owned()),
    }
}

/// Whether two names mean one file.
pub(crate) fn same_file(one: &Path, other: &Path) -> bool {
    place(one) == place(other)
}

/// An error if a result could not be written there.
fn writable(path: &Path) -> Result<(), Failure> {
    // Opening a pipe waits for its reader, and may tell that one that all is over.
    if is_stdout(path) || path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Ok(());
    }
    if path.is_file() {
        OpenOptions::new().write(true).open(path).map_err(|error| named(path, &error))?;
    }
    Target::open(path).map(drop)
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
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.put(|file, path| file.persist(path).map(drop))
    }

    /// As [`Target::finish`], unless a file of that name exists.
    pub(crate) fn finish_new(self) -> Result<(), Failure> {
        self.put(|file, path| file.persist_noclobber(path).map(drop))
    }

    fn put(mut self, put: impl Fn(NamedTempFile, &Path) -> Result<(), PersistError>) -> Result<(), Failure> {
        self.flush().map_err(|error| self.failure(&error))?;
        let Target { path, sink } = self;
        if let Sink::Whole(file) = sink {
            put(file, &path).map_err(|error| named(&path, &error.error))?;
        }
        Ok(())
    }

    /// What went wrong in writing here.
    pub(crate) fn failure(&self, error: &std::io::Error) -> Failure {
        match self.sink {
            Sink::Standard(_) | Sink::Special(_) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                Failure::OutputClosed
            }
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

/// An error if no file can be at `path`: it is a folder, or in none.
pub(crate) fn reachable(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let (path, folder) = (path.display(), folder.display());
        return Err(Failure::failed(format!("{path}: there is no folder {folder}: make it first")));
    }
    if path.is_dir() {
        let path = path.display();
        return Err(Failure::failed(format!("{path}: this is a folder: name a file in it")));
    }
    Ok(())
}

/// A new file that can take the place of `path` once it is whole; it is deleted if it does not.
fn beside(path: &Path) -> Result<NamedTempFile, Failure> {
    reachable(path)?;
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::Builder::new().permissions(usual_mode()).tempfile_in(folder);
    file.map_err(|error| {
        // The library adds the temporary name, which tells the user nothing.
        let cause = error.get_ref().and_then(|error| error.source());
        named(path, &cause.map_or_else(|| error.to_string(), ToString::to_string))
    })
}

/// A failure about a file.
pub(crate) fn named(path: &Path, error: &impl std::fmt::Display) -> Failure {
    let name = if is_stdout(path) { "standard output".into() } else { path.to_string_lossy() };
    Failure::failed(format!("{name}: {error}"))
}

/// The mode of a new file, of which the user's umask takes its share.
fn usual_mode() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

/// Writes `text` to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    if caller::keeps(text) {
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = out.write_all(text.as_bytes()).and_then(|()| out.write_all(end.as_bytes()));
    written.and_then(|()| out.flush()).map_err(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => Failure::OutputClosed,
        _ => named(Path::new("-"), &error),
    })
}
