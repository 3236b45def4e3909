//! Names that stand for several schedulers: presets, and the families.

use idlewise_core::registry;
use idlewise_core::selectors;
use idlewise_sim::experiment::Chosen;

/// What verdicts speak of by default: schedulers that every Linux of today has.
pub(crate) const LINUX: &str = "linux";

/// Today's Linux, with the settings that matter. Each of these was more than 5 % better than all four schedulers with
/// their defaults, in run time or throughput and read latency together, on some of 78 pairs of a load (workloads of every
/// kind, mixes, the demo trace) and a disk (six, from a memory card to NVMe): `low_latency=off` on 18, with the longer
/// slice on 19 (up to 3.5 times better than without, on a disk without native queueing), `fifo_batch=1` on 2, and
/// `writes_starved=8` on 1. On 23 other pairs (IOzone, adversary, other mixes; four other disks) each was again on some: 4,
/// 4, 4 and 1. Larger batches, other deadlines, `async_depth`, `slice_idle=0` and other targets of Kyber
/// were on none, and `strict_guarantees=on` hardly ever where `low_latency=off` was not better still.
const LINUX_MEMBERS: [&str; 8] = [
    registry::NONE,
    "mq-deadline",
    "mq-deadline:fifo_batch=1",
    "mq-deadline:writes_starved=8",
    "kyber",
    "bfq",
    "bfq:low_latency=off",
    "bfq:low_latency=off;timeout_sync=500",
];

/// What `name` stands for, if it is a preset or a family.
pub(crate) fn members(name: &str) -> Option<Vec<&'static str>> {
    let is = |preset: &str| name.eq_ignore_ascii_case(preset);
    let all = || registry::all().iter();
    if is(LINUX) {
        return Some(LINUX_MEMBERS.to_vec());
    }
    if is("all") {
        return Some(all().map(|entry| entry.name).collect());
    }
    if is("auto") {
        return Some(selectors::registry::all().iter().map(|entry| entry.name).collect());
    }
    let own = |entry: &&registry::Entry| is(&entry.family.replace('_', "-")) || is(entry.family);
    let family: Vec<&str> = all().filter(own).map(|entry| entry.name).collect();
    // A family of one name with a scheduler is the scheduler.
    (!family.is_empty() && Chosen::find(name).is_none()).then_some(family)
}

/// All names, for help and messages.
pub(crate) fn names() -> Vec<String> {
    let mut names: Vec<String> = [LINUX, "all", "auto"].map(str::to_owned).into();
    for entry in registry::all() {
        let family = entry.family.replace('_', "-");
        if !names.contains(&family) {
            names.push(family);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheduler_is_in_the_preset_of_its_family() {
        for entry in registry::all() {
            let family = members(&entry.family.to_uppercase()).unwrap();
            assert!(family.contains(&entry.name), "{}", entry.name);
        }
        assert_eq!(members("textbook").unwrap()[0], "noop");
        assert_eq!(members("linux-2.6"), None);
        assert!(names().contains(&"linux-2-6".to_owned()));
    }
}
