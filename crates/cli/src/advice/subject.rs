//! What advice is about: one disk of a recording, what it was asked to do, and what is known of it.

use std::path::Path;

use idlewise_sim::experiment::{self, Chosen};
use idlewise_sim::fit::Known;
use idlewise_sim::traces::recording::Disk;
use idlewise_sim::traces::{Record, Survey, Trace};

use super::apply::{Target, is_own};
use crate::failure::Failure;
use crate::input::args::Reading;
use crate::input::fitting::class;
use crate::input::recorded::{FIT_ROWS, Shown};
use crate::input::trace::options;

/// The length at which the kernel cuts names of schedulers.
const CUT: usize = 15;

/// One disk of a recording.
pub(crate) struct Subject {
    /// The name of the device in the trace.
    pub(crate) name: String,
    /// What the kernel says of the disk, if the trace holds it.
    pub(crate) disk: Option<Disk>,
    /// What the disk did, from the beginning, as its device 0.
    pub(crate) records: Vec<Record>,
}

/// The disks of a trace that were asked for something, busiest first.
pub(crate) fn subjects(path: &Path, reading: &Reading) -> Result<Vec<Subject>, Failure> {
    let mut trace = Trace::open(path, &options(reading)?).map_err(Failure::failed)?;
    let mut records: Vec<Vec<Record>> = Vec::new();
    while let Some(record) = trace.next().map_err(Failure::failed)? {
        let device = record.device as usize;
        if records.len() <= device {
            records.resize_with(device + 1, Vec::new);
        }
        if records[device].len() < FIT_ROWS {
            records[device].push(Record { device: 0, ..record });
        }
    }
    let disk = |name: &str| trace.disks().iter().find(|disk| disk.name == name).cloned();
    let named = records.into_iter().zip(trace.devices());
    let mut subjects: Vec<Subject> = named
        .filter(|(records, _)| !records.is_empty())
        .map(|(records, name)| Subject { name: name.clone(), disk: disk(name), records })
        .collect();
    subjects.sort_by_key(|subject| std::cmp::Reverse(subject.records.len()));
    Ok(subjects)
}

impl Subject {
    /// What the recording shows of the disk.
    pub(crate) fn shown<'a>(&'a self, survey: &'a Survey) -> Shown<'a> {
        let told = self.disk.as_ref().map(Known::of).unwrap_or_default();
        let (records, known) = (&self.records, Known { name: self.name.clone(), ..told });
        Shown { records, survey, known, class: self.disk.as_ref().and_then(class) }
    }

    /// What the records show of the disk without a fit.
    pub(crate) fn survey(&self) -> Survey {
        let mut survey = Survey::default();
        self.records.iter().for_each(|record| survey.add(record));
        survey
    }

    /// The disk as the kernel has it, for the lines that change it.
    pub(crate) fn target(&self) -> Target {
        let Some(disk) = &self.disk else {
            return Target { name: "DISK".to_owned(), ..Target::default() };
        };
        let wwid = std::fs::read_to_string(format!("/sys/block/{}/device/wwid", disk.name)).ok();
        Target {
            name: disk.name.clone(),
            wwid: wwid.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()),
            scheduler: disk.scheduler.clone(),
            tunables: disk.tunables.clone(),
            set: set(disk).into_iter().map(|(name, _)| name).collect(),
            offered: offered(disk),
        }
    }

    /// The scheduler in use with the settings that differ from its defaults, as `--schedulers` reads it. `None` if the
    /// trace does not tell, or the scheduler is not among idlewise's.
    pub(crate) fn current(&self) -> Option<String> {
        let disk = self.disk.as_ref()?;
        let name = own_name(&disk.scheduler);
        Chosen::find(name)?;
        let settings: Vec<String> = set(disk).iter().map(|(name, value)| format!("{name}={value}")).collect();
        Some(if settings.is_empty() { name.to_owned() } else { format!("{name}:{}", settings.join(";")) })
    }

    /// The schedulers of idlewise's own that the kernel offers for the disk.
    pub(crate) fn installed(&self) -> Vec<String> {
        let offered = self.disk.as_ref().map(offered).unwrap_or_default();
        let ours = offered.into_iter().filter(|name| is_own(name));
        ours.map(|name| own_name(&name).to_owned()).filter(|name| Chosen::find(name).is_some()).collect()
    }
}

/// The tunables of a disk's scheduler that differ from its defaults, and their values.
fn set(disk: &Disk) -> Vec<(String, u64)> {
    let Some(entry) = Chosen::find(own_name(&disk.scheduler)) else { return Vec::new() };
    let differs = |(tunable, text): (&String, &String)| {
        // The kernel derives this one from the size of its queue.
        let known =
            entry.tunables().iter().find(|known| known.name == tunable && tunable != "async_depth")?;
        let value: u64 = text.trim().parse().ok()?;
        // Kernels that count in ticks show times a tick too short.
        let same = value.abs_diff(known.default) * 25 <= known.default;
        (!same).then(|| (tunable.clone(), value))
    };
    disk.tunables.iter().filter_map(differs).collect()
}

/// The schedulers that the kernel offers for a disk.
fn offered(disk: &Disk) -> Vec<String> {
    let list = disk.queue.get("scheduler").map_or("", String::as_str);
    list.split_whitespace().map(|name| name.trim_matches(['[', ']']).to_owned()).collect()
}

/// The name in idlewise of a scheduler of the kernel's. The kernel cuts names.
fn own_name(kernels: &str) -> &str {
    let name = experiment::own_name(kernels);
    let whole = Chosen::all().map(Chosen::name).find(|own| *own == name);
    let cut = || Chosen::all().map(Chosen::name).find(|own| name.len() == CUT && own.starts_with(name));
    whole.or_else(cut).unwrap_or(name)
}
