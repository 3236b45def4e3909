//! Files that are whole or absent, names of what is being written, and removing what a program left that was killed over it.
//!
//! A name begins with a point, so that readers of datasets pass over it, and has the host and the process that writes. Only
//! what a dead process of this host left is removed: others may be at work in a shared folder.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::failure::Failure;
use crate::report::output::named;

const BEGIN: &str = ".new-";

/// What a name begins with that this process writes.
pub(crate) fn prefix() -> String {
    format!("{BEGIN}{}-{}-", host(), std::process::id())
}

fn host() -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    host.trim().replace('-', "_")
}

/// Whether a name is of something that nobody writes any more.
fn is_left(name: &str) -> bool {
    let mut parts = name.strip_prefix(BEGIN).unwrap_or_default().split('-');
    let (Some(owner), Some(process)) = (parts.next(), parts.next()) else { return false };
    owner == host()
        && process.parse::<u32>().is_ok_and(|process| !Path::new(&format!("/proc/{process}")).exists())
}

/// Removes what dead processes left in `folder`.
pub(crate) fn remove_left(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_left(&entry.file_name().to_string_lossy()) {
            let path = entry.path();
            // What cannot be removed is in nobody's way.
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

/// Writes a file that is whole or absent, with the folders above it.
pub(crate) fn put(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().expect("the path names a file in a folder");
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    let written = || {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        let mut file = tempfile::Builder::new().prefix(&prefix()).permissions(mode).tempfile_in(folder)?;
        file.write_all(content)?;
        // A name that outlives a power failure without its content would pass for a result.
        file.as_file().sync_all()?;
        file.persist(path).map(drop).map_err(|error| error.error)
    };
    written().map_err(|error: std::io::Error| {
        let cause = error.get_ref().and_then(|error| error.source()).map(ToString::to_string);
        named(path, &cause.unwrap_or_else(|| error.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_dead_process_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (own, left) = (format!("{}x", prefix()), format!("{BEGIN}{}-4294967294-x", host()));
        for name in [own.as_str(), left.as_str(), ".new-elsewhere-4294967294-x", "unit.parquet"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        remove_left(folder.path());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        assert!(!folder.path().join(left).exists());
    }
}
