//! The dataset: `trace=…/disk=…/ID.parquet` below its folder, a file for each unit.
//!
//! A file is whole or absent, and its name is the id of its unit. So a result cannot be there twice, and what is there need not
//! be made again. Names of folders are written `%XX` where they have other signs, as readers of such datasets expect.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::temporary::{put, remove_left};
use super::unit::Unit;
use crate::failure::Failure;
use crate::input::trace::digest;
use crate::report::output::named;

/// The longest name of a folder; file systems allow 255 bytes.
const LONGEST: usize = 200;

/// How every Parquet file ends.
const END: &[u8; 4] = b"PAR1";

/// A text as a part of a path. One that is too long ends in a hash of the whole.
fn part(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let sign = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    let signs: Vec<String> = text.bytes().map(sign).collect();
    if signs.iter().map(String::len).sum::<usize>() <= LONGEST {
        return signs.concat();
    }
    let mut short = String::new();
    // The end of a path tells more than its beginning; but a sign of several bytes may not be cut.
    for (place, letter) in text.char_indices() {
        let encoded: String = signs[place..place + letter.len_utf8()].concat();
        if short.len() + encoded.len() + 9 > LONGEST {
            break;
        }
        short += &encoded;
    }
    format!("{short}~{}", &digest(text.as_bytes())[..8])
}

/// Where the result of a unit lies in the dataset.
pub(crate) fn place(unit: &Unit) -> PathBuf {
    let name = format!("{}.parquet", unit.id);
    [format!("trace={}", part(&unit.trace)), format!("disk={}", part(&unit.disk)), name].iter().collect()
}

/// Writes the result of a unit, in the place of an earlier one.
pub(crate) fn write(output: &Path, unit: &Unit, content: &[u8]) -> Result<(), Failure> {
    put(&output.join(place(unit)), content)
}

/// Ids of the results that lie in the dataset; empty if there is none yet. What dead processes left of results is removed.
pub(crate) fn present(output: &Path) -> Result<HashSet<String>, Failure> {
    let mut found = HashSet::new();
    for trace in below(output, "trace=")? {
        for disk in below(&trace, "disk=")? {
            remove_left(&disk);
            for file in below(&disk, "")? {
                let id = file
                    .file_name()
                    .and_then(|name| name.to_str())
                    .and_then(|name| name.strip_suffix(".parquet"));
                if let Some(id) = id.filter(|id| !id.starts_with('.')).filter(|_| is_whole(&file)) {
                    found.insert(id.to_owned());
                }
            }
        }
    }
    Ok(found)
}

/// What lies in `folder` under names that begin so.
fn below(folder: &Path, begin: &str) -> Result<Vec<PathBuf>, Failure> {
    match fs::read_dir(folder) {
        Ok(entries) => {
            let paths = entries.map(|entry| entry.map(|entry| entry.path()));
            let mut paths = paths.collect::<Result<Vec<_>, _>>().map_err(|error| named(folder, &error))?;
            let begins = |path: &PathBuf| {
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begin))
            };
            paths.retain(begins);
            Ok(paths)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(named(folder, &error)),
    }
}

/// Whether a file ends as Parquet files do: a disk that was full, or copying that was cut short, leaves others.
fn is_whole(path: &Path) -> bool {
    let end = || {
        let mut file = File::open(path)?;
        let mut end = [0; END.len()];
        file.seek(SeekFrom::End(-(END.len() as i64)))?;
        file.read_exact(&mut end)?;
        Ok::<_, std::io::Error>(end)
    };
    end().is_ok_and(|end| end == *END)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders_are_short_and_unlike() {
        assert_eq!(part("a/b c.csv"), "a%2Fb%20c.csv");
        let long = |end: &str| part(&format!("{}{end}", "ä".repeat(100)));
        assert!(long("1").len() <= LONGEST && long("1") != long("2"));
        assert!(long("1").starts_with("%C3%A4"));
    }
}
