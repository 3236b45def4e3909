//! What is kept of a run: whole numbers alone, so that a file gives back exactly what was written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::formula::{Measure, Who};
use super::watches::Share;
use crate::experiment::Outcome;
use crate::workloads::Moment;

/// What a run gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// From the first issue to the last completion.
    elapsed_ns: u64,
    /// With at least one command in the disk.
    busy_ns: u64,
    /// Bytes moved.
    bytes: u64,
    /// Reads for another group of processes than the read before.
    #[serde(default)]
    group_changes: u64,
    /// What each process got.
    processes: Vec<Process>,
    /// How long programs' phases took, on average over the programs, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    phases: BTreeMap<String, u64>,
    /// What the run was watched for, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    watched: Option<Share>,
}

/// What a process got.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Process {
    name: String,
    requests: u64,
    bytes: u64,
    service_ns: u64,
    finished_ns: u64,
}

impl Measured {
    /// What of a run formulas may ask for.
    pub(super) fn of(outcome: &Outcome, watched: Option<Share>) -> Measured {
        let report = &outcome.report;
        let process = |one: &crate::metrics::IssuerShare| Process {
            name: one.name.clone().unwrap_or_default(),
            requests: one.requests,
            bytes: one.bytes,
            service_ns: one.service_ns,
            finished_ns: one.finished_ns,
        };
        Measured {
            elapsed_ns: report.elapsed_ns,
            busy_ns: report.device.busy_ns,
            bytes: report.bytes,
            group_changes: report.device.group_changes,
            processes: report.issuers.iter().map(process).collect(),
            phases: phases(&outcome.moments),
            watched,
        }
    }

    /// The measure's value. `None`: there is no such process, or nobody watched for it.
    pub(super) fn get(&self, measure: &Measure) -> Option<f64> {
        let elapsed = (self.elapsed_ns as f64).max(1.0);
        let seconds = elapsed / 1e9;
        Some(match measure {
            Measure::Throughput => self.bytes as f64 / seconds,
            Measure::Seconds => seconds,
            Measure::Busy => self.busy_ns as f64 / elapsed,
            Measure::Requests(who) => self.sum(who, |one| one.requests)? / seconds,
            Measure::Bytes(who) => self.sum(who, |one| one.bytes)? / seconds,
            Measure::Time(who) => self.sum(who, |one| one.service_ns)? / elapsed,
            Measure::Changes => self.group_changes as f64,
            Measure::Watched(_) => self.watched?.value(),
            Measure::Phase(name) => *self.phases.get(name)? as f64 / 1e9,
            Measure::Done(Who::All) => self.sum(&Who::Most, |one| one.finished_ns)? / 1e9,
            Measure::Done(who) => self.sum(who, |one| one.finished_ns)? / 1e9,
        })
    }

    fn sum(&self, who: &Who, of: impl Fn(&Process) -> u64) -> Option<f64> {
        let values = || self.processes.iter().map(&of);
        let value = match who {
            Who::All => Some(values().sum()),
            Who::Least => values().min(),
            Who::Most => values().max(),
            Who::Named(name) => self.processes.iter().find(|one| one.name == *name).map(of),
        };
        value.map(|value| value as f64)
    }
}

/// How long phases took. One ends when its program's next one begins, or the program ends.
fn phases(moments: &[Moment]) -> BTreeMap<String, u64> {
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (place, begin) in moments.iter().enumerate() {
        let end = moments[place + 1..].iter().find(|later| later.issuer == begin.issuer);
        if let (Some(phase), Some(end)) = (begin.phase, end) {
            let (sum, count) = sums.entry(phase.to_owned()).or_default();
            *sum += end.at.0 - begin.at.0;
            *count += 1;
        }
    }
    sums.into_iter().map(|(name, (sum, count))| (name, sum / count)).collect()
}

#[cfg(test)]
mod tests {
    use idlewise_core::{Instant, Issuer};

    use super::*;

    #[test]
    fn phases_last_until_the_next_one_of_their_program() {
        let moment = |issuer, phase, at| Moment { issuer: Issuer(issuer), phase, at: Instant(at) };
        let moments = [
            moment(3, Some("cp"), 0),
            moment(4, Some("cp"), 0),
            moment(3, Some("scan"), 10),
            moment(4, Some("scan"), 30),
            moment(3, None, 60),
        ];
        let expected = BTreeMap::from([("cp".to_owned(), 20), ("scan".to_owned(), 50)]);
        assert_eq!(phases(&moments), expected, "what did not end has no length");
    }

    #[test]
    fn a_file_gives_back_what_was_written() {
        let process = |name: &str, bytes| Process { name: name.to_owned(), bytes, ..Process::default() };
        let one = Measured {
            elapsed_ns: 2_000_000_000,
            bytes: 5_000_000,
            processes: vec![process("p", 4_000_000), process("q", 1_000_000)],
            ..Measured::default()
        };
        let text = serde_json::to_string(&one).unwrap();
        assert_eq!(serde_json::from_str::<Measured>(&text).unwrap(), one);
        let all = ["throughput", "bytes.least", "bytes.most", "bytes.p", "bytes.nobody"]
            .map(|text| one.get(&text.parse().unwrap()).map(|value| value as u64));
        assert_eq!(all, [Some(2_500_000), Some(500_000), Some(2_000_000), Some(2_000_000), None]);
    }
}
