//! What tracefs says of tracepoints: their numbers, and where in an event each field lies.
//!
//! tracefs is taken where it is mounted. Where it is not, a mount of our own is made that has no place in the file
//! system and goes with the program.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use crate::error::RecordError;

/// Where tracefs usually is.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// tracefs.
pub(crate) struct Tracefs {
    root: PathBuf,
    /// The mount, if it is ours.
    own: Option<OwnedFd>,
}

impl Tracefs {
    /// Finds tracefs, or mounts it.
    pub(crate) fn open() -> Result<Tracefs, RecordError> {
        let mounted = PLACES.iter().map(Path::new).find(|root| root.join("events").exists());
        if let Some(root) = mounted {
            return match fs::read_dir(root.join("events")) {
                Ok(_) => Tracefs { root: root.to_owned(), own: None }.checked(),
                Err(error) => Err(RecordError::tracefs("reading tracefs", error)),
            };
        }
        let own = mount().map_err(|error| RecordError::tracefs("mounting tracefs", error.into()))?;
        let root = PathBuf::from(format!("/proc/self/fd/{}", own.as_raw_fd()));
        Tracefs { root, own: Some(own) }.checked()
    }

    fn checked(self) -> Result<Tracefs, RecordError> {
        match fs::metadata(self.root.join("events/block")) {
            Ok(_) => Ok(self),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(RecordError::NoTracepoints),
            Err(error) => Err(RecordError::tracefs("reading tracefs", error)),
        }
    }

    /// tracefs was not mounted.
    pub(crate) fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// Where tracefs is.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The layout of the event `path`, such as `block/block_rq_issue`; `None` if the kernel does not have it.
    pub(crate) fn layout(&self, path: &str) -> Result<Option<Layout>, RecordError> {
        match fs::read_to_string(self.root.join("events").join(path).join("format")) {
            Ok(text) => match Layout::parse(&text) {
                Some(layout) => Ok(Some(layout)),
                None => Err(RecordError::Layout { event: path.to_owned() }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(RecordError::tracefs("reading tracefs", error)),
        }
    }
}

fn mount() -> rustix::io::Result<OwnedFd> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

/// Where a field lies in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) at: usize,
    pub(crate) size: usize,
}

/// A tracepoint's number and fields.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) id: u16,
    fields: HashMap<String, Field>,
}

impl Layout {
    /// Reads a tracepoint's `format` file.
    fn parse(text: &str) -> Option<Layout> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID: "))?.trim().parse().ok()?;
        let mut fields = HashMap::new();
        for line in text.lines().filter_map(|line| line.trim().strip_prefix("field:")) {
            let mut parts = line.split(';').map(str::trim);
            // The name is the declaration's last word, without the length of an array: `char comm[16]`, `char[] cmd`.
            let name = parts.next()?.split_whitespace().last()?.split('[').next()?;
            let mut number = |key: &str| parts.next()?.strip_prefix(key)?.parse().ok();
            let (at, size) = (number("offset:")?, number("size:")?);
            fields.insert(name.to_owned(), Field { at, size });
        }
        Some(Layout { id, fields })
    }

    /// Where the field `name` lies, without which the event `path` means nothing.
    pub(crate) fn need(&self, path: &str, name: &str) -> Result<Field, RecordError> {
        self.field(name).ok_or_else(|| RecordError::Layout { event: path.to_owned() })
    }

    /// Where the field `name` lies, if there is one.
    pub(crate) fn field(&self, name: &str) -> Option<Field> {
        self.fields.get(name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: block_rq_issue
ID: 2104
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;
\tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;

print fmt: \"%d\", REC->dev
";

    #[test]
    fn a_format_file_tells_number_and_fields() {
        let layout = Layout::parse(FORMAT).unwrap();
        assert_eq!(layout.id, 2104);
        assert_eq!(layout.field("dev"), Some(Field { at: 8, size: 4 }));
        assert_eq!(layout.field("rwbs"), Some(Field { at: 34, size: 10 }));
        assert_eq!(layout.field("cmd"), Some(Field { at: 60, size: 4 }));
        assert_eq!(layout.field("ioprio"), None);
        assert_eq!(Layout::parse("ID: x"), None);
        assert_eq!(Layout::parse("ID: 1\n field:int a;\toffset:;"), None);
    }
}
