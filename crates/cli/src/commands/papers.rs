//! `idlewise papers`: what the papers measured, what comes of it here, and whether their claims hold.

mod kept;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::Args;
use idlewise_sim::papers::{self, Claim, Paper, PapersError, Results, Run};

use crate::failure::Failure;
use crate::progress::{Progress, interruptible};
use crate::report::output;
use crate::report::papers::{Told, json, markdown, page, text};
use kept::Kept;

const NOTES: &str = "\
Verdicts:
  holds       the direction is the paper's, and the ratio within 25 % of it
  direction   the order is the paper's, the ratio is not
  differs     it is otherwise here; below the table stands why, as far as that is known
  cache       the paper measured memory: orderings are compared, nothing else
  fact        there is nothing to run

Examples:
  idlewise papers
  idlewise papers S14 O01-O08 --runs 5
  idlewise papers --full --resume papers.runs --html=papers.html";

/// Run the papers' experiments again, and say which of their claims hold
#[derive(Args)]
#[command(after_help = NOTES)]
pub(crate) struct Papers {
    /// Claims: ids such as S14, ranges such as O01-O08, or a paper's letter (S: SOSP'01, O: OLS'05, I: IOAZ, U: UNC, W: the
    /// wiki); all of them without any
    #[arg(value_name = "ID")]
    ids: Vec<String>,

    /// Run at the papers' sizes
    #[arg(long)]
    full: bool,

    /// Runs of each experiment, each with another seed
    #[arg(long, default_value_t = 5, value_name = "COUNT")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,

    /// The first run's seed
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u32,

    /// Runs at the same time; as many as there are processors without it
    #[arg(long, value_name = "COUNT")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: Option<u32>,

    /// Keep what each run gave in this file, and take from it what an earlier command has done
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,

    /// Print the results as JSON, to standard output or a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,

    /// Write the results as a page for browsers, with the papers' figures drawn anew; papers.html without a name
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "papers.html")]
    html: Option<PathBuf>,

    /// Print the tables in Markdown, to standard output or a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    markdown: Option<PathBuf>,
}

/// A claim and its paper.
type Asked = (&'static Paper, &'static Claim);

impl Papers {
    /// Runs what is asked for and prints what came of it.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        output::check(&self.outputs(), self.resume.as_slice())?;
        let claims = chosen(&self.ids)?;
        let first = u64::from(self.seed);
        let seeds: Vec<u64> = (first..first + u64::from(self.runs)).collect();
        let wanted = papers::wanted(&claims, self.full, &seeds).map_err(failure)?;
        let (results, interrupted) = self.carry_out(wanted)?;
        if interrupted {
            let next = match &self.resume {
                Some(path) => format!("the same command goes on from what {} has", path.display()),
                None => "with --resume FILE the next command goes on from there".to_owned(),
            };
            writeln!(std::io::stderr(), "interrupted: the results so far follow; {next}")?;
        }
        let findings = papers::find(&claims, &results, self.full, &seeds).map_err(failure)?;
        let told =
            Told { findings: &findings, results: &results, full: self.full, seeds: &seeds, interrupted };
        self.write(&told)?;
        if interrupted { Err(Failure::Interrupted) } else { Ok(()) }
    }

    fn outputs(&self) -> [output::Asked<'_>; 3] {
        [("--json", &self.json), ("--html", &self.html), ("--markdown", &self.markdown)]
    }

    /// What all runs gave: those kept from before, and the others. The second: they were cut short.
    fn carry_out(&self, mut wanted: Vec<Run>) -> Result<(Results, bool), Failure> {
        let (kept, mut results) = Kept::open(self.resume.as_deref())?;
        wanted.retain(|run| !results.contains_key(&run.to_string()));
        let control = interruptible()?;
        let jobs = self.jobs.unwrap_or(0) as usize;
        let fresh = {
            let _progress = Progress::follow(Arc::clone(&control), wanted.len() as u64);
            papers::carry_out(&wanted, jobs, &control, &|run, measured| kept.keep(run, measured))
        };
        results.extend(fresh.map_err(failure)?);
        kept.finish()?;
        Ok((results, control.stop.load(Ordering::Relaxed)))
    }

    fn write(&self, told: &Told<'_>) -> Result<(), Failure> {
        if let Some(path) = &self.json {
            output::write(path, &json::json(told)?)?;
        }
        if let Some(path) = &self.html {
            output::write(path, &page::page(told).map_err(failure)?)?;
        }
        if let Some(path) = &self.markdown {
            output::write(path, &markdown::markdown(told))?;
        }
        let printed = self.outputs().iter().filter_map(|(_, path)| path.as_ref()).any(output::is_stdout);
        if printed { Ok(()) } else { output::print(&text::text(told)) }
    }
}

fn failure(error: PapersError) -> Failure {
    match error {
        PapersError::Experiment(error) => crate::input::setup::failure(error),
        error => Failure::failed(error),
    }
}

/// Every claim, in the papers' order.
fn all() -> Vec<Asked> {
    let of = |paper: &'static Paper| paper.claims.iter().map(move |claim| (paper, claim));
    papers::papers().iter().flat_map(of).collect()
}

/// The claims that these words stand for, each once, in the papers' order; all without words.
fn chosen(words: &[String]) -> Result<Vec<Asked>, Failure> {
    let all = all();
    if words.is_empty() {
        return Ok(all);
    }
    let mut taken = vec![false; all.len()];
    for word in words.iter().flat_map(|word| word.split(',')).filter(|word| !word.is_empty()) {
        let upper = word.to_uppercase();
        let place = |id: &str| all.iter().position(|(_, claim)| claim.id == id);
        let letter = |place: &usize| upper.len() == 1 && all[*place].1.id.starts_with(&upper);
        let found: Vec<usize> = match upper.split_once('-') {
            Some((first, last)) => {
                let ends = place(first).zip(place(last)).filter(|(first, last)| first <= last);
                ends.map_or_else(Vec::new, |(first, last)| (first..=last).collect())
            }
            None => place(&upper).map_or_else(|| (0..all.len()).filter(letter).collect(), |one| vec![one]),
        };
        if found.is_empty() {
            return Err(unknown(word, &all));
        }
        found.into_iter().for_each(|place| taken[place] = true);
    }
    Ok(all.into_iter().zip(taken).filter_map(|(claim, taken)| taken.then_some(claim)).collect())
}

/// Ids that are named beside one that is not known.
const NEAR: usize = 5;

fn unknown(word: &str, all: &[Asked]) -> Failure {
    let upper = word.to_uppercase();
    let mut near: Vec<(usize, &str)> = all
        .iter()
        .map(|(_, claim)| (strsim::damerau_levenshtein(&upper, &claim.id), claim.id.as_str()))
        .collect();
    near.sort_unstable();
    let near: Vec<&str> = near.iter().filter(|(far, _)| *far <= 1).map(|(_, id)| *id).take(NEAR).collect();
    let hint = if near.is_empty() { String::new() } else { format!("; near it are {}", near.join(", ")) };
    let papers: Vec<String> = papers::papers()
        .iter()
        .filter_map(|paper| Some((paper.claims.first()?, paper.claims.last()?, paper)))
        .map(|(first, last, paper)| format!("{}-{} ({})", first.id, last.id, paper.name))
        .collect();
    Failure::usage(format!("there is no claim '{word}'{hint} (claims: {})", papers.join(", ")))
}
