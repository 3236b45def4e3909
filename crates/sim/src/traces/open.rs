//! Finds the files that a path names: one, standard input, or the set of a blktrace recording.

use crate::traces::error::TraceError;
use crate::traces::formats::Format;
use crate::traces::formats::blktrace::{self, split};
use crate::traces::input::{Input, Watch, io_error};
use crate::traces::trace::{Options, Trace};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most CPUs of a recording: each has a file open.
const MAX_CPUS: usize = 1024;

impl Trace {
    /// Opens a file, `-` for standard input, or the files of a blktrace recording: a directory that
    /// holds one, or the `NAME` of `NAME.blktrace.0`, `NAME.blktrace.1` and so on. Compressed files
    /// (gzip, bzip2, xz, zstd) are decompressed.
    ///
    /// # Errors
    /// The path cannot be read, is empty, has no known format or several, or one that is of no use.
    pub fn open(path: &Path, options: &Options) -> Result<Trace, TraceError> {
        if path.as_os_str() == "-" {
            return Trace::from_reader(io::stdin(), "(standard input)", options);
        }
        let name = path.display().to_string();
        match fs::metadata(path) {
            Ok(data) if data.is_dir() => directory(path, &name, options),
            Ok(_) => single(path, &name, options),
            Err(error) => match set_of(path) {
                Some(files) => several(&name, &files, options),
                None => Err(io_error(&name, error)),
            },
        }
    }

    /// The files that [`Trace::open`] reads for a path, in order; none for standard input, pipes and devices.
    pub fn files(path: &Path) -> Vec<PathBuf> {
        match fs::metadata(path) {
            Ok(data) if data.is_file() => vec![path.to_owned()],
            Ok(data) if data.is_dir() => {
                let only =
                    sets(path).ok().filter(|sets| sets.len() == 1).and_then(|mut sets| sets.pop_first());
                only.map_or_else(Vec::new, |(_, files)| files)
            }
            Ok(_) => Vec::new(),
            Err(_) => set_of(path).unwrap_or_default(),
        }
    }
}

/// The bytes of a file; `None` of a pipe or a device, which do not tell.
fn length(file: &File) -> Option<u64> {
    file.metadata().ok().filter(fs::Metadata::is_file).map(|data| data.len())
}

fn single(path: &Path, name: &str, options: &Options) -> Result<Trace, TraceError> {
    let file = File::open(path).map_err(|error| io_error(name, error))?;
    let length = length(&file);
    let mut trace = Trace::from_reader(file, name, options)?;
    trace.length = length;
    if let Some((prefix, _)) = split(path)
        && trace.format() == Format::Blktrace
        && set_of(&prefix).is_some_and(|files| files.len() > 1)
    {
        let prefix = prefix.display();
        trace.note(format!("this is one CPU of several: name {prefix} to read all of them"));
    }
    Ok(trace)
}

/// The recording that a directory holds.
fn directory(path: &Path, name: &str, options: &Options) -> Result<Trace, TraceError> {
    let mut sets = sets(path).map_err(|error| io_error(name, error))?;
    let bad = |what: String, cure| TraceError::Path { name: name.to_owned(), what, cure };
    let Some((first, files)) = sets.pop_first() else {
        return Err(bad("a directory without NAME.blktrace.N files".to_owned(), "name a trace file"));
    };
    if sets.is_empty() {
        return several(name, &files, options);
    }
    let prefixes = [&first].into_iter().chain(sets.keys()).take(8);
    let prefixes: Vec<String> = prefixes.map(|prefix| prefix.display().to_string()).collect();
    Err(bad(format!("several recordings: {}", prefixes.join(", ")), "name one of these"))
}

/// The files of the recording `prefix`, by CPU; `None` if there are none.
fn set_of(prefix: &Path) -> Option<Vec<PathBuf>> {
    let parent = prefix.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut sets = sets(parent).ok()?;
    let own = parent.join(prefix.file_name()?);
    sets.remove(&own)
}

/// The recordings in a directory: their prefixes, and the files of each by CPU.
fn sets(directory: &Path) -> io::Result<BTreeMap<PathBuf, Vec<PathBuf>>> {
    let mut sets: BTreeMap<PathBuf, Vec<(u32, PathBuf)>> = BTreeMap::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if let Some((prefix, cpu)) = split(&path) {
            sets.entry(prefix).or_default().push((cpu, path));
        }
    }
    let by_cpu = |mut files: Vec<(u32, PathBuf)>| {
        files.sort();
        files.into_iter().map(|(_, path)| path).collect()
    };
    Ok(sets.into_iter().map(|(prefix, files)| (prefix, by_cpu(files))).collect())
}

/// Merges the files of a recording.
fn several(name: &str, files: &[PathBuf], options: &Options) -> Result<Trace, TraceError> {
    if files.len() > MAX_CPUS {
        let what = format!("{} files in one recording", files.len());
        let cure = "name fewer files; a recording has one for each CPU";
        return Err(TraceError::Path { name: name.to_owned(), what, cure });
    }
    let watch = Arc::new(Watch { lenient: options.lenient, ..Watch::default() });
    let mut inputs = Vec::with_capacity(files.len());
    let mut bytes = Some(0);
    for path in files {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| io_error(&name, error))?;
        bytes = bytes.zip(length(&file)).map(|(all, own)| all + own);
        let mut input = Input::with_block(Box::new(file), &name, 0, Arc::clone(&watch))?;
        // A CPU that did nothing leaves an empty file.
        if !input.at_least(1)?.is_empty() {
            inputs.push(input);
        }
    }
    if inputs.is_empty() {
        return Err(TraceError::Empty { name: name.to_owned() });
    }
    let reader = blktrace::several(inputs, options.lenient);
    let mut trace = Trace::of(name, Format::Blktrace, (reader, watch), options);
    trace.length = bytes;
    Ok(trace)
}
