//! Which disk scheduler should this disk use, and why: what the `idlewise` program does, as a library for programs.
//!
//! [`library`] is what other programs call; [`main`] is the program. `commands/` has a file for each command, `input/` reads
//! what a command line asks for, `execution.rs` runs it, `notes.rs` says what to know beside the results,
//! and `report/` tells these. Results go to standard output,
//! progress and messages to standard error. Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
#![forbid(unsafe_code)]

mod advice;
mod assumptions;
mod caller;
mod commands;
mod execution;
mod failure;
mod input;
pub mod library;
mod notes;
mod progress;
mod report;
mod sweep;

use std::process::ExitCode;

/// Does what the process's command line asks for.
pub fn main() -> ExitCode {
    match commands::Arguments::read().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
