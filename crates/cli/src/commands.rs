//! The commands of the program: one file and one line each. Help, completions and dispatch come from the list.

use std::path::{Path, PathBuf};

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;

use crate::failure::Failure;
use crate::report::{numbers, output};

/// Declares the modules of commands, each with the type that holds its arguments and runs it.
macro_rules! commands {
    ($($module:ident: $kind:ident;)*) => {
        $(pub(crate) mod $module;)*

        #[derive(Subcommand)]
        enum Command {
            $($kind($module::$kind),)*
            /// Print a completion script for a shell
            Completions {
                /// The shell
                shell: Shell,
            },
            /// Write the pages for man(1) into a folder: one of the program, and one of each command
            Manual {
                /// The folder; files in it that have the same names are replaced
                folder: PathBuf,
            },
        }

        impl Arguments {
            /// Does what was asked.
            pub(crate) fn run(&self) -> Result<(), Failure> {
                match &self.command {
                    $(Command::$kind(command) => command.run(),)*
                    Command::Completions { shell } => completions(*shell),
                    Command::Manual { folder } => manual(folder),
                }
            }
        }
    };
}

commands! {
    list: List;
    run: Run;
    compare: Compare;
    front: Front;
    sweep: Sweep;
    papers: Papers;
    record: Record;
    advise: Advise;
    matrix: Matrix;
    ranking: Ranking;
    trace: Trace;
    disk: Disk;
    docs: Docs;
}

const NOTES: &str = "\
Examples:
  idlewise compare --trace disk.blktrace --disk barracuda
  idlewise compare --workload sync-streams:n=4 --schedulers deadline,c-look --runs 5
  idlewise compare --fio job.fio --html=report.html
  idlewise docs c-look

Results go to standard output, messages to standard error.
Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted (what was done so far is printed).";

/// Which disk scheduler should this disk use? Evidence instead of folklore.
#[derive(Parser)]
#[command(version, about, max_term_width = 100)]
#[command(after_help = NOTES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// Columns from which on options and what they mean fit beside each other.
const WIDE: usize = 60;
/// Where help stands below its option.
const HELP_INDENT: usize = 10;

impl Arguments {
    /// These words, which stand behind the program's name.
    pub(crate) fn of(words: &[String]) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from(std::iter::once("idlewise").chain(words.iter().map(String::as_str)))
    }

    /// The command line. What is wrong with it is reported, and ends the program, as does help.
    pub(crate) fn read() -> Arguments {
        let narrow = numbers::terminal().filter(|columns| *columns < WIDE);
        let command = Arguments::command().next_line_help(narrow.is_some());
        let read = command.try_get_matches().and_then(|matches| Arguments::from_arg_matches(&matches));
        read.unwrap_or_else(|error| {
            if let Some(columns) = narrow.filter(|_| !error.use_stderr()) {
                // The library keeps the line of usage, and long words, as they are.
                let _ = output::print(&numbers::folded(&error.render().to_string(), HELP_INDENT, columns));
                std::process::exit(0);
            }
            error.exit()
        })
    }
}

fn manual(folder: &Path) -> Result<(), Failure> {
    let refused =
        |error| Failure::failed(format!("cannot write manual pages into {}: {error}", folder.display()));
    // `idlewise help COMMAND` prints what `man idlewise-COMMAND` shows: no pages of `help`.
    clap_mangen::generate_to(Arguments::command().disable_help_subcommand(true), folder).map_err(refused)
}

fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "idlewise", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}
