//! Why a recording cannot be made, as messages that say what to do.

use std::fs;
use std::io;
use std::path::PathBuf;

/// Why a recording cannot be made.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum RecordError {
    /// The kernel does not let this user record.
    #[error(
        "recording needs root, or CAP_DAC_OVERRIDE for tracefs and CAP_SYS_ADMIN to mount it ({cause}); {cure}"
    )]
    Denied { cause: String, cure: &'static str },
    /// The kernel lets nobody record.
    #[error(
        "this kernel is locked down, and lets not even root see what it does ({0}): start it without \
         lockdown=confidentiality, or record on another"
    )]
    LockedDown(io::Error),
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
    #[error("{}: {error}{}", path.display(), rest(error, *kept))]
    Output { path: PathBuf, error: io::Error, kept: u64 },
    /// Something else that the operating system refused.
    #[error("{what}: {error}")]
    System { what: &'static str, error: io::Error },
}

/// What is in the file, and what to do if it has no room.
fn rest(error: &io::Error, kept: u64) -> String {
    let holds = match kept {
        0 => String::new(),
        events => format!("; the file holds the {events} events before, and can be read"),
    };
    let full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    holds + if full { "; free some space, or name another file with --output" } else { "" }
}

/// What a kernel that is locked down says, where that can be read.
const LOCKDOWN: &str = "/sys/kernel/security/lockdown";

impl RecordError {
    /// tracefs cannot be used: `what` failed.
    pub(crate) fn tracefs(what: &'static str, error: io::Error) -> RecordError {
        if fs::read_to_string(LOCKDOWN).is_ok_and(|text| text.contains("[confidentiality]")) {
            return RecordError::LockedDown(error);
        }
        match error.kind() {
            io::ErrorKind::PermissionDenied => {
                let cure = if rustix::process::geteuid().is_root() {
                    "root has less here, as in a container or below a kernel that is locked down: record outside"
                } else {
                    "run it with sudo"
                };
                RecordError::Denied { cause: format!("{what}: {error}"), cure }
            }
            // The kernel has no such file system.
            _ if error.raw_os_error() == Some(libc::ENODEV) => RecordError::NoTracepoints,
            _ => RecordError::System { what, error },
        }
    }
}
