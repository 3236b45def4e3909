//! Why a recording cannot be made, as messages that say what to do.

use std::io;
use std::path::PathBuf;

/// Why a recording cannot be made.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum RecordError {
    /// The kernel does not let this user record.
    #[error(
        "recording needs root, or CAP_DAC_OVERRIDE for tracefs and CAP_SYS_ADMIN to mount it ({cause}); run it with \
         sudo{hint}"
    )]
    Denied { cause: String, hint: &'static str },
    /// The kernel has no block tracepoints.
    #[error(
        "this kernel has no block tracepoints (CONFIG_BLK_DEV_IO_TRACE and CONFIG_TRACING): record on another kernel, \
         or with blktrace"
    )]
    NoTracepoints,
    /// A tracepoint looks like no kernel known.
    #[error(
        "the kernel's tracepoint {event} lacks a field that is needed; record with blktrace, or in text \
             (docs/recording.md)"
    )]
    Layout { event: String },
    /// The name names no disk.
    #[error("{name}: {what}; {cure}")]
    Device { name: String, what: String, cure: &'static str },
    /// The file is there.
    #[error("{}: the file is there: name another with --output, or replace it with --force", .0.display())]
    Exists(PathBuf),
    /// The file cannot be written.
    #[error("{}: {error}{}", path.display(), kept(*written))]
    Output { path: PathBuf, error: io::Error, written: u64 },
    /// Something else that the operating system refused.
    #[error("{what}: {error}")]
    System { what: &'static str, error: io::Error },
}

fn kept(written: u64) -> String {
    match written {
        0 => String::new(),
        events => format!(
            "; the file holds the {events} events before, and can be read; free some space, or name \
                           another file with --output"
        ),
    }
}

impl RecordError {
    /// tracefs cannot be read.
    pub(crate) fn tracefs(error: &io::Error) -> RecordError {
        match error.kind() {
            io::ErrorKind::PermissionDenied => {
                RecordError::Denied { cause: format!("tracefs: {error}"), hint: "" }
            }
            // The kernel has no such file system.
            _ if error.raw_os_error() == Some(libc::ENODEV) => RecordError::NoTracepoints,
            _ => RecordError::Denied {
                cause: format!("tracefs is not mounted and cannot be mounted: {error}"),
                hint: ", or mount it: mount -t tracefs tracefs /sys/kernel/tracing",
            },
        }
    }
}
