//! `idlewise record`: what disks of this machine are asked to do, as a trace.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use idlewise_live::{Progress, RecordError, Recorder, Summary};
use idlewise_sim::traces::recording::Counts;
use idlewise_sim::workloads::parse_duration;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};

use crate::failure::Failure;
use crate::progress::{interruptible, patient};
use crate::report::output;

const NOTES: &str = "\
Examples:
  idlewise record /dev/sda --for 60s        until a minute is over, to sda.rec.gz
  idlewise record sda sdb -o /dev/shm/both.rec.gz
  idlewise compare --trace sda.rec.gz

A partition means its disk, and a device that is made of others (dm, md) its members. Ctrl-C ends a recording
cleanly. The file can be read while it grows, and after a crash.";

/// Record what disks of this machine are asked to do (Linux, as root)
#[derive(Args)]
#[command(after_help = NOTES)]
pub(crate) struct Record {
    /// The disks: devices such as /dev/sda, or their names
    #[arg(required = true, value_name = "DEV")]
    disks: Vec<String>,
    /// How long to record; until Ctrl-C without it
    #[arg(long = "for", value_name = "TIME")]
    length: Option<String>,
    /// The file to write, NAME.rec.gz of the first disk without it
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long)]
    force: bool,
}

impl Record {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let length = self.length.as_deref().map(length).transpose()?;
        let Recorded { path, asked } = record(&self.disks, length, self.output.as_deref(), self.force)?;
        let next = match asked {
            true => format!("next: idlewise compare --trace {}", path.display()),
            false => format!("{NOTHING}: record while your programs run, or for longer"),
        };
        writeln!(std::io::stderr(), "{next}")?;
        Ok(())
    }
}

/// What a recording without a request says.
pub(super) const NOTHING: &str = "nothing was asked of the disk";

/// A recording that was made.
pub(super) struct Recorded {
    pub(super) path: PathBuf,
    /// Something was asked of a disk.
    pub(super) asked: bool,
}

/// Records disks until `length` is over or Ctrl-C, and says what was recorded. The file is named after the first disk
/// if `path` names none.
pub(super) fn record(
    disks: &[String],
    length: Option<Duration>,
    path: Option<&Path>,
    force: bool,
) -> Result<Recorded, Failure> {
    if path.is_some_and(output::is_stdout) {
        let cure = "name a file, such as --output sda.rec.gz";
        return Err(Failure::usage(format!("--output -: a recording cannot go to standard output: {cure}")));
    }
    path.map(output::reachable).transpose()?;
    let chosen = idlewise_live::choose(disks).map_err(failure)?;
    let path = match path {
        Some(path) => path.to_owned(),
        None => PathBuf::from(format!("{}.rec.gz", chosen.disks[0].name.replace('!', "-"))),
    };
    let control = interruptible()?;
    let mut err = std::io::stderr();
    for note in &chosen.notes {
        writeln!(err, "note: {note}")?;
    }
    let names: Vec<&str> = chosen.disks.iter().map(|disk| disk.name.as_str()).collect();
    let names = names.join(", ");
    // The kernel would keep the trace buffer of a recorder that ends at once.
    patient(true);
    let recorder = Recorder::start(chosen.disks, &path, force).map_err(failure)?;
    for note in recorder.notes() {
        writeln!(err, "note: {note}")?;
    }
    let until = length.map_or("until Ctrl-C".to_owned(), |length| format!("for {length:?}"));
    writeln!(err, "recording {names} to {} {until}", path.display())?;
    let bar = bar();
    let mut tell = |progress: &Progress| show(&bar, progress);
    let summary = recorder.run(length, &control.stop, &mut tell);
    patient(false);
    bar.finish_and_clear();
    let summary = summary.map_err(failure)?;
    // Ctrl-C is how a recording without --for ends.
    control.stop.store(false, Ordering::Relaxed);
    writeln!(err, "{}", words(&summary))?;
    if summary.gone {
        let path = path.display();
        return Err(Failure::failed(format!("{names} is gone: {path} holds what was done until then")));
    }
    let counts = summary.tail.disks.iter().map(|disk| disk.counts);
    let asked = counts.map(|all| all.reads + all.writes + all.discards + all.flushes).sum::<u64>() > 0;
    Ok(Recorded { path, asked })
}

pub(super) fn length(text: &str) -> Result<Duration, Failure> {
    let time = parse_duration(text).filter(|time| time.0 > 0);
    let time = time.ok_or_else(|| Failure::usage(format!("--for {text}: write a time such as 60s or 5m")))?;
    Ok(Duration::from_nanos(time.0))
}

fn failure(error: RecordError) -> Failure {
    match error {
        RecordError::Denied { .. } | RecordError::Device { .. } | RecordError::Exists(_) => {
            Failure::usage(error)
        }
        _ => Failure::failed(error),
    }
}

fn bar() -> ProgressBar {
    let bar =
        if std::io::stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    bar.with_style(ProgressStyle::with_template("{spinner} {elapsed} {msg}").expect("the template is valid"))
}

fn show(bar: &ProgressBar, progress: &Progress) {
    let seconds = (progress.elapsed_ns as f64 / 1e9).max(1e-3);
    let rate = HumanBytes((progress.sectors as f64 * 512.0 / seconds) as u64);
    let lost =
        if progress.lost > 0 { format!(", {} lost", HumanCount(progress.lost)) } else { String::new() };
    bar.set_message(format!(
        "{} events{lost}, {rate}/s, file {}",
        HumanCount(progress.events),
        HumanBytes(progress.written)
    ));
    bar.tick();
}

/// What was recorded: for each disk what the events say, and where the kernel's own counts differ.
fn words(summary: &Summary) -> String {
    let tail = &summary.tail;
    let seconds = tail.ended_ns.saturating_sub(summary.head.began_ns) as f64 / 1e9;
    let mut text = format!(
        "{}: {} events in {seconds:.1} s, {} lost, file {}",
        tail.why,
        HumanCount(tail.events),
        HumanCount(tail.lost),
        HumanBytes(summary.written)
    );
    for (disk, counted) in summary.head.disks.iter().zip(&tail.disks) {
        let Counts { reads, writes, discards, flushes, requeues, .. } = counted.counts;
        text += &format!(
            "\n{}: {reads} reads, {writes} writes, {discards} discards, {flushes} flushes",
            disk.name
        );
        if requeues > 0 {
            text += &format!(", {requeues} given back by the driver and issued again");
        }
        let differences = Counts::differences(&disk.stat, &counted.stat);
        let rows = counted.counts.rows().into_iter().zip(differences);
        let unequal: Vec<String> = rows
            .filter_map(|((what, own), kernel)| {
                let kernel = kernel.filter(|kernel| *kernel != own)?;
                Some(format!("{what} {kernel}"))
            })
            .collect();
        if counted.stat.is_empty() {
            text += "; the disk is gone";
        } else if unequal.is_empty() {
            text += "; /sys/block says the same";
        } else {
            text += &format!("; /sys/block says {}", unequal.join(", "));
        }
    }
    text
}
