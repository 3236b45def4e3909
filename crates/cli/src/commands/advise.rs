//! `idlewise advise`: which scheduler a disk of this machine, or of a recording, should have.

use std::path::{Path, PathBuf};

use clap::Args;
use idlewise_sim::traces::{self, TraceInfo};
use serde_json::json;

use super::record::{NOTHING, length, record};
use crate::advice::{Advice, Subject, advise, kinds, subjects, text};
use crate::assumptions::doubts;
use crate::caller;
use crate::execution::execute;
use crate::failure::Failure;
use crate::input::args::Reading;
use crate::input::recorded::Model;
use crate::input::trace::{MOST_DISKS, options, sha256};
use crate::input::{names, presets, setup};
use crate::notes::notes;
use crate::report::comparison::Comparison;
use crate::report::summary::summarise;
use crate::report::verdict::table::Goal;
use crate::report::{html, json, numbers, origin, output};

/// How long a disk is recorded, unless told otherwise.
const LENGTH: &str = "60s";

/// Where files are memory.
const MEMORY: &str = "/dev/shm";

const NOTES: &str = "\
Examples:
  idlewise advise /dev/sda                 record a minute, then advise
  idlewise advise /dev/sda --for 10m -o sda.rec.gz
  idlewise advise sda.rec.gz               advise on a recording
  idlewise record sda sdb -o two.rec.gz    several disks: record them, then
  idlewise advise two.rec.gz               advise on each

The disk is only watched: advise never writes to it, never reads from it and changes no setting. The exit status is 0
whatever is advised.";

/// Say which scheduler a disk should have, which processes gain and lose, and how to get it
#[derive(Args)]
#[command(after_help = NOTES)]
pub(crate) struct Advise {
    /// A disk such as /dev/sda, or a trace of one or several
    #[arg(value_name = "DEV|TRACE")]
    subject: String,
    /// Taken to say what to do instead
    #[arg(hide = true)]
    further: Vec<String>,
    /// How long to record a disk, a minute without it
    #[arg(long = "for", value_name = "TIME")]
    length: Option<String>,
    /// Keep the recording in this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The model of the disk, if it is not to be fitted to what is recorded; as for `compare`
    #[arg(long, value_name = "NAME|FILE[:KEY=VALUE,…]")]
    disk: Option<String>,
    /// The candidates, as for `compare`, instead of today's Linux and what the kernel offers besides
    #[arg(long, value_name = "NAME|SET,…", value_delimiter = ',')]
    schedulers: Vec<String>,
    /// By what the advice goes
    #[arg(long, value_enum, ignore_case = true, default_value_t)]
    goal: Goal,
    /// Print the advice as JSON, to standard output or a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,
    /// Write the replays behind the advice as a page for browsers
    #[arg(long, value_name = "FILE", require_equals = true)]
    html: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

impl Advise {
    /// A trace is named, in a file or in several of blktrace.
    fn is_trace(&self) -> bool {
        let path = Path::new(&self.subject);
        path.is_file() || path.is_dir() || (!self.is_there() && !traces::Trace::files(path).is_empty())
    }

    /// The subject is a file, or a device with or without its folder.
    fn is_there(&self) -> bool {
        let path = Path::new(&self.subject);
        let places =
            [path.to_owned(), Path::new("/dev").join(path), Path::new("/sys/class/block").join(path)];
        places.iter().any(|place| place.exists())
    }

    /// Finds out before a disk is recorded, perhaps for long, whether all that is named can be had.
    fn check(&self) -> Result<(), Failure> {
        if !self.further.is_empty() {
            return Err(Failure::usage(format!(
                "one disk or one recording at a time: to ask for several disks, record them together (idlewise record {} {} \
                 --for 10m -o all.rec.gz), then: idlewise advise all.rec.gz",
                self.subject,
                self.further.join(" ")
            )));
        }
        output::check(&[("--json", &self.json), ("--html", &self.html)], &[PathBuf::from(&self.subject)])?;
        let name = &self.subject;
        let path = Path::new(name);
        let recording = [("--output", self.output.is_some()), ("--for", self.length.is_some())];
        if let (true, Some((option, _))) = (self.is_trace(), recording.iter().find(|(_, given)| *given)) {
            return Err(Failure::usage(format!(
                "{option} is for recording a disk, and {name} is a recording: leave {option} away"
            )));
        }
        if let Some(output) = self.output.as_ref().filter(|output| output.is_file()) {
            let output = output.display();
            return Err(Failure::usage(format!(
                "{output}: the file is there: advise on it (idlewise advise {output}), name another with --output, or remove it"
            )));
        }
        if !path.starts_with("/dev") && !self.is_there() && !self.is_trace() {
            let cure = "name a recording, or a disk such as /dev/sda";
            return Err(Failure::usage(format!("{name}: there is no such file and no such device: {cure}")));
        }
        options(&self.reading)?;
        self.disk.as_ref().map(|name| names::disk(name)).transpose()?;
        if !self.schedulers.is_empty() {
            names::schedulers(&self.schedulers)?;
        }
        Ok(())
    }

    pub(crate) fn run(&self) -> Result<(), Failure> {
        self.check()?;
        // A recording that nobody wants to keep goes to memory: a file might lie on the disk that is recorded.
        let scratch = tempfile::tempdir_in(if Path::new(MEMORY).is_dir() {
            MEMORY.into()
        } else {
            std::env::temp_dir()
        })?;
        let path = if self.is_trace() {
            PathBuf::from(&self.subject)
        } else {
            let path = self.output.clone().unwrap_or_else(|| scratch.path().join("advise.rec.gz"));
            let length = length(self.length.as_deref().unwrap_or(LENGTH))?;
            let recorded = record(std::slice::from_ref(&self.subject), Some(length), Some(&path), false)?;
            if !recorded.asked {
                let cure = "ask while your programs run, or record for longer with --for";
                return Err(Failure::failed(format!("{}: {NOTHING}: {cure}", self.subject)));
            }
            recorded.path
        };
        let subjects = subjects(&path, &self.reading)?;
        let all = self.advise_all(&path, &subjects)?;
        // A recording that is not kept cannot be replayed again.
        let kept = (!path.starts_with(scratch.path())).then(|| sha256(&traces::Trace::files(&path)));
        let hash = kept.and_then(|hash| hash.ok().flatten());
        if let Some(out) = &self.json {
            let trace = |hash| json!({"name": path.display().to_string(), "sha256": hash});
            let document = json!({
                "schema": "idlewise/advise/1",
                "version": env!("CARGO_PKG_VERSION"),
                "command": origin::command(),
                "trace": hash.as_deref().map(trace),
                "source": self.subject,
                "goal": self.goal,
                "disks": all,
            });
            output::write(out, &json::text(&document)?)?;
        }
        if [&self.json, &self.html].into_iter().flatten().any(output::is_stdout) {
            return Ok(());
        }
        let texts: Vec<String> = all.iter().map(|advice| text(advice, numbers::width())).collect();
        output::print(&format!("{}\n{}", texts.join("\n"), origin::with_hash(hash.as_deref())))
    }

    /// Advice on the busiest disks, as many as there is time for; says what is left out.
    fn advise_all(&self, path: &Path, subjects: &[Subject]) -> Result<Vec<Advice>, Failure> {
        let mut all = Vec::new();
        for subject in subjects.iter().take(MOST_DISKS) {
            let (advice, interrupted) = self.advise(path, subject, subjects.len() > 1)?;
            if interrupted && !all.is_empty() {
                let (of, told) = (subjects.len(), all.len());
                caller::say(&[format!(
                    "interrupted: advice on {told} of {of} disks follows, the busiest first"
                )])?;
                return Ok(all);
            }
            all.push(advice);
            if interrupted {
                break;
            }
        }
        if subjects.len() > MOST_DISKS {
            let of = subjects.len();
            caller::say(&[format!(
                "warning: the trace has {of} disks; advice on the {MOST_DISKS} busiest follows; --device chooses others"
            )])?;
        }
        Ok(all)
    }

    /// The model of the disk: the one that is named, or the one that stands for what it did.
    fn model(&self, subject: &Subject) -> Result<Model, Failure> {
        let survey = subject.survey();
        let shown = subject.shown(&survey);
        match &self.disk {
            Some(name) => Ok(shown.named(names::disk(name)?)),
            None => shown.model(),
        }
    }

    /// Replays what the disk did under each candidate, and again on a disk that is slower and faster by the error of its
    /// model. Also whether that was interrupted. Notes name the disk if there are `several`.
    fn advise(&self, path: &Path, subject: &Subject, several: bool) -> Result<(Advice, bool), Failure> {
        let mut model = self.model(subject)?;
        let reading = Reading { devices: vec![subject.name.clone()], ..self.reading.clone() };
        let mut wanted = self.schedulers.clone();
        if wanted.is_empty() {
            wanted.push(presets::LINUX.to_owned());
            wanted.extend(subject.installed());
        }
        wanted.extend(subject.current());
        let schedulers = names::schedulers(&wanted)?.0;
        let about: Vec<usize> = (0..schedulers.len()).collect();
        let mut prepared = setup::replay(path, &reading, (model.profile.clone(), model.off), schedulers)?;
        prepared.experiment.series = self.html.is_some();
        let mut done = execute(&prepared)?;
        prepared.experiment.series = false;
        let mut summaries = summarise(&done.outcomes, about.len())?;
        let doubts = if done.interrupted { None } else { doubts(&mut prepared, &about, &mut summaries)? };
        done.interrupted |= doubts.is_none();
        let doubts = doubts.unwrap_or_default();
        let mut notes = notes(&prepared, &done);
        let named = |note: &String| if several { format!("{}: {note}", subject.name) } else { note.clone() };
        caller::say(&notes.iter().map(named).collect::<Vec<_>>())?;
        notes.extend(doubts.note());
        model.words += &doubts.means.map_or_else(String::new, |means| format!("; figures are {means}"));
        let in_use = subject.current();
        let asked = (self.goal, &about[..], in_use.as_deref());
        let comparison = Comparison::new(&prepared, &summaries, done.interrupted, asked, &doubts.variants);
        if let Some(path) = &self.html {
            output::write(path, &html::page(&comparison, &notes, &done.series(&prepared)))?;
        }
        let mut trace = traces::Trace::open(path, &options(&reading)?).map_err(Failure::failed)?;
        let info = TraceInfo::read(&mut trace).map_err(Failure::failed)?;
        Ok((advise(subject, model, kinds(&info), &comparison), done.interrupted))
    }
}
