//! What the user should know of a load and of how its runs ended, beside the results.

use idlewise_core::SECTOR_BYTES;
use idlewise_sim::experiment::{Choice, Load};
use idlewise_sim::traces::{Shown, Survey};

use crate::execution::Done;
use crate::input::setup::Prepared;
use crate::input::trace::warnings;

/// The notes of a finished run, each a line.
pub(crate) fn notes(prepared: &Prepared, done: &Done) -> Vec<String> {
    let cut = done.outcomes.iter().any(|outcome| outcome.cut_short);
    let interrupted = if cut {
        "interrupted: the results so far follow; the last runs were cut short"
    } else {
        "interrupted: the results so far follow; runs that were cut short are left out"
    };
    let trace = prepared.trace.as_ref().and_then(|trace| trace.report());
    let mut notes: Vec<String> = done.interrupted.then(|| interrupted.to_owned()).into_iter().collect();
    notes.extend(chosen_disk(prepared));
    notes.extend(alike_by_nature(prepared));
    notes.extend(folded(prepared, done));
    notes.extend(devices(prepared, done));
    notes.extend(repeated(prepared, done));
    notes.extend(trace.iter().flat_map(warnings));
    notes
}

fn chosen_disk(prepared: &Prepared) -> Option<String> {
    prepared.disk_reason.as_ref().map(|reason| format!("note: the disk is {reason}; --disk names another"))
}

fn alike_by_nature(prepared: &Prepared) -> Option<String> {
    let experiment = &prepared.experiment;
    let draws = |choice: &Choice| choice.entry.tunables().iter().any(|tunable| tunable.name == "seed");
    let (is_trace, runs) = (matches!(experiment.load, Load::Trace { .. }), experiment.seeds.len());
    (is_trace && runs > 1 && !experiment.schedulers.iter().all(draws)).then(|| {
        format!(
            "note: a trace is the same in each of the {runs} runs; only schedulers that draw lots (a tunable named seed) \
             differ between them"
        )
    })
}

fn folded(prepared: &Prepared, done: &Done) -> Option<String> {
    let account = done.outcomes.first()?.account.filter(|account| account.folded > 0)?;
    let disk = &prepared.experiment.disk.name;
    let end = prepared.trace.as_ref().map_or(0, |trace| trace.survey().end());
    let gigabytes = (end * SECTOR_BYTES).div_ceil(1_000_000_000);
    Some(format!(
        "warning: {} of {} requests lie beyond the end of {disk} and were folded back onto it, which changes their \
         distances; make it larger with --disk {disk}:capacity={gigabytes}g",
        account.folded, account.rows
    ))
}

/// Which of a trace's devices were replayed, and on how many disks.
fn devices(prepared: &Prepared, done: &Done) -> Option<String> {
    if let Some(account) = done.outcomes.first()?.account.filter(|account| account.devices > 1) {
        return Some(format!(
            "note: the trace has {} devices, and all were replayed on one disk; leave --one-disk out, or choose one with \
             --device (`idlewise trace info` names them)",
            account.devices
        ));
    }
    let Load::Trace { devices, .. } = &prepared.experiment.load else { return None };
    if devices.is_empty() {
        return None;
    }
    let survey = prepared.trace.as_ref().map(|trace| trace.survey());
    let all = survey.map_or_else(Vec::new, Survey::devices);
    let rows = |devices: &[(u32, Shown)]| devices.iter().map(|(_, shown)| shown.rows).sum::<u64>();
    let percent = 100.0 * rows(&all[..devices.len()]) as f64 / rows(&all).max(1) as f64;
    if all.len() == devices.len() {
        return Some(format!(
            "note: the trace has {} devices; each was replayed on a disk of its own",
            all.len()
        ));
    }
    Some(format!(
        "warning: the trace has {} devices; the {} busiest, with {percent:.0} % of its requests, were replayed, each on a \
         disk of its own; --device chooses others, --one-disk puts all on one",
        all.len(),
        devices.len()
    ))
}

/// Of which schedulers each run gave the same result.
fn repeated(prepared: &Prepared, done: &Done) -> Option<String> {
    let experiment = &prepared.experiment;
    let same = |index: &usize| {
        let own: Vec<_> = done.outcomes.iter().filter(|run| run.scheduler == *index).collect();
        own.len() > 1 && own.iter().all(|run| run.report == own[0].report)
    };
    let same: Vec<usize> = (0..experiment.schedulers.len()).filter(same).collect();
    if same.is_empty() {
        return None;
    }
    let named = |wanted: bool| -> Vec<&str> {
        let all = experiment.schedulers.iter().enumerate();
        all.filter(|(index, _)| same.contains(index) == wanted)
            .map(|(_, choice)| choice.label.as_str())
            .collect()
    };
    let (alike, others) = (named(true), named(false));
    let of = match others.len() {
        0 => String::new(),
        few if few < alike.len() => format!(" of all but {}", others.join(", ")),
        _ => format!(" of {}", alike.join(", ")),
    };
    Some(format!(
        "note: the {} runs{of} gave the same result, because nothing in them depends on chance: --runs 1 tells as much",
        experiment.seeds.len()
    ))
}
