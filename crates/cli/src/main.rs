//! The `idlewise` program: which disk scheduler should this disk use, and why.
//!
//! `commands/` has a file for each command, `input/` reads what a command line asks for, `execution.rs` runs it,
//! and `report/` tells the results. Results go to standard output, progress and messages to standard error. Exit
//! status: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
#![forbid(unsafe_code)]

mod advice;
mod assumptions;
mod commands;
mod execution;
mod failure;
mod input;
mod progress;
mod report;
mod sweep;

use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::Arguments::read().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
