//! A disk for a trace, chosen from what the trace shows or from what the head of a recording says.

use idlewise_core::SECTOR_BYTES;
use idlewise_disk::{AnyModel, DiskModel as _, Profile, profile};
use idlewise_sim::traces::Survey;
use idlewise_sim::traces::recording::Disk;

use super::names;
use crate::failure::Failure;

/// Solid-state disks take this long for few of their reads, and disks with platters for all that need a seek. A power of
/// two, as the survey tells times apart.
const SEEK_NS: u64 = 1 << 20;
/// The share of reads beyond [`SEEK_NS`] from which on there are platters; buffers serve the rest.
const SEEKS: f64 = 0.2;
/// SATA's command overhead and its flash take longer than this for most reads, and NVMe's less.
const NVME_NS: u64 = 1 << 18;
/// SATA moves 600 MB/s at most, and a single disk with platters half of that.
const SATA_RATE: u64 = 600_000_000;

/// A disk on which the trace fits, in words why it is this one, or a demand to name one.
pub(crate) fn fitting(survey: &Survey) -> Result<(Profile, String), Failure> {
    let end = survey.end();
    let size = format!("addresses up to {:.1} GB", (end * SECTOR_BYTES) as f64 / 1e9);
    let (names, why): (&[&str], String) = if survey.busiest_second() > SATA_RATE {
        let rate = survey.busiest_second() as f64 / 1e6;
        (&["nvme-ssd"], format!("{rate:.0} MB moved in one second, more than SATA can"))
    } else if let Some(slow) = survey.slower(SEEK_NS) {
        let percent = slow * 100.0;
        if slow >= SEEKS {
            (&["hdd-4tb-7200", "hdd-18tb-7200"], format!("{percent:.0} % of reads take as long as seeks do"))
        } else if survey.slower(NVME_NS).is_some_and(|slow| slow < 0.5) {
            (&["nvme-ssd"], "most reads take less than 0.26 ms".to_owned())
        } else {
            (
                &["sata-ssd"],
                format!("most reads take more than 0.26 ms, and {percent:.0} % as long as seeks do"),
            )
        }
    } else {
        return Err(Failure::usage(format!(
            "which disk is this trace of? It has {size} and tells no latencies of reads, so that it does not show: name \
             one with --disk, such as nvme-ssd, sata-ssd or hdd-4tb-7200 (`idlewise list disks` names them all)"
        )));
    };
    for name in names {
        let disk = names::disk(name)?;
        if disk.build().map_err(Failure::failed)?.capacity().0 >= end {
            return Ok((disk, format!("{why}; {size}")));
        }
    }
    let text =
        format!("{}:capacity={}m", names[names.len() - 1], (end * SECTOR_BYTES).div_ceil(1_000_000) + 1);
    let disk = names::disk(&text)?;
    Ok((disk, format!("{why}; made larger for {size}")))
}

/// The known disk of the kind that the kernel says `disk` is whose size is nearest, made as large; and why it is this one.
pub(crate) fn class(disk: &Disk) -> Option<(Profile, String)> {
    let fits = |profile: &Profile, model: &AnyModel| match disk.rotational {
        true => model.rotational() && profile.model.name() == "mechanical",
        false => !model.rotational() && (profile.name == "nvme-ssd") == disk.name.starts_with("nvme"),
    };
    let megabytes = (disk.sectors * SECTOR_BYTES).div_ceil(1_000_000);
    let size = format!("capacity={megabytes}m");
    let apart = |name: &str| {
        let profile = Profile::named(name).ok()?;
        let model = profile.build().ok().filter(|model| fits(&profile, model))?;
        let ratio = model.capacity().0 as f64 / disk.sectors as f64;
        Some((ratio.max(1.0 / ratio), profile.with(&size).ok()?))
    };
    let nearest = profile::names().filter_map(apart).min_by(|a, b| a.0.total_cmp(&b.0))?.1;
    let turns = if disk.rotational { "rotates" } else { "does not rotate" };
    let size = match megabytes {
        ..1000 => format!("{megabytes} MB"),
        _ => format!("{:.0} GB", megabytes as f64 / 1e3),
    };
    Some((nearest, format!("the kernel says that the disk {turns} and has {size}")))
}
