//! How commands fail: with a message that says what to do, and an exit status.

use std::fmt::Display;
use std::io::Write as _;
use std::process::ExitCode;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line is wrong. Exit status 2.
    Usage(String),
    /// The work failed. Exit status 1.
    Failed(String),
    /// Ctrl-C, after what was done so far was printed. Exit status 130.
    Interrupted,
    /// The reader of standard output has gone: `idlewise list | head`. Not an error.
    OutputClosed,
}

impl Failure {
    pub(crate) fn usage(message: impl Display) -> Failure {
        Failure::Usage(message.to_string())
    }

    pub(crate) fn failed(message: impl Display) -> Failure {
        Failure::Failed(message.to_string())
    }

    /// Tells the user; gives the exit status.
    pub(crate) fn report(self) -> ExitCode {
        let (message, status) = match self {
            Failure::Usage(message) => (message, 2),
            Failure::Failed(message) => (message, 1),
            Failure::Interrupted => return ExitCode::from(130),
            Failure::OutputClosed => return ExitCode::SUCCESS,
        };
        // If standard error is gone too, only the status is left to tell.
        let _ = writeln!(std::io::stderr(), "idlewise: {message}");
        ExitCode::from(status)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::Failed(error.to_string()),
        }
    }
}
