//! The `idlewise` program: which disk scheduler should this disk use, and why.
//!
//! Results go to standard output, progress and messages to standard error. Exit status: 0 done,
//! 1 failed, 2 wrong usage, 130 interrupted.
#![forbid(unsafe_code)]

mod args;
mod columns;
mod compare;
mod disk;
mod docs;
mod failure;
mod html;
mod list;
mod measure;
mod names;
mod output;
mod page;
mod phases;
mod progress;
mod setup;
mod summary;
mod table;
mod trace;
mod unused;
mod verdict;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Arguments, Command};
use failure::Failure;

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.command {
        Command::List(options) => list::list(&options),
        Command::Run(options) => compare::run(&options),
        Command::Compare(options) => compare::compare(&options),
        Command::Matrix(command) => measure::matrix(&command),
        Command::Ranking(command) => measure::ranking(&command),
        Command::Trace(command) => trace::trace(&command),
        Command::Disk(command) => disk::disk(&command),
        Command::Docs(options) => docs::docs(&options),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "idlewise", &mut script);
            output::print(&String::from_utf8_lossy(&script))
        }
    }
}
