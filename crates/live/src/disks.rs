//! Which disks a name means, and what they are: `/sys/block`.
//!
//! A partition means its disk, and a device that is made of others (dm, md) its members, down to those that take
//! requests.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use idlewise_sim::traces::recording::{Disk, Partition};

use crate::error::RecordError;

/// Disks that one recording holds: an event names its disk by a byte.
const MAX_DISKS: usize = 255;

/// Devices below one another that are followed. Real stacks have a handful.
const MAX_DEPTH: usize = 16;

/// Disks that were named, and what was understood by the names.
#[derive(Debug, Default)]
pub struct Chosen {
    /// The disks, each once.
    pub disks: Vec<Disk>,
    /// What was taken for something else, in sentences.
    pub notes: Vec<String>,
}

/// The disks that `names` mean: paths of devices, or names as in `/sys/block`.
///
/// # Errors
/// A name is no block device, or is of one that takes no requests.
pub fn choose(names: &[String]) -> Result<Chosen, RecordError> {
    let mut chosen = Chosen::default();
    for name in names {
        let folder = folder(name)?;
        add(&folder, &mut chosen, 0)?;
    }
    if chosen.disks.len() > MAX_DISKS {
        let what = format!("{} disks in all, and a recording holds {MAX_DISKS}", chosen.disks.len());
        return Err(RecordError::Device { name: names.join(" "), what, cure: "name fewer" });
    }
    Ok(chosen)
}

/// What the disk called `name` in `/sys/block` is. `None` if it is not there.
pub fn look(name: &str) -> Option<Disk> {
    let folder = Path::new("/sys/block").join(name);
    folder.join("dev").exists().then(|| facts(&folder))
}

/// The disk is no longer there, or is another one, or has lost its medium (as a loop device does that is detached).
pub(crate) fn is_gone(disk: &Disk) -> bool {
    let folder = Path::new("/sys/block").join(&disk.name);
    text(&folder.join("dev")).as_deref() != Some(&disk.number) || number(text(&folder.join("size"))) == 0
}

/// There are devices beside `disks` that can be asked for something.
pub(crate) fn others(disks: &[Disk]) -> bool {
    fs::read_dir("/sys/block").into_iter().flatten().flatten().any(|entry| {
        let known = disks.iter().any(|disk| entry.file_name().to_str() == Some(&disk.name));
        !known && number(text(&entry.path().join("size"))) > 0
    })
}

/// `/sys/block/NAME/stat`; empty if the disk is gone.
pub(crate) fn stat(name: &str) -> Vec<u64> {
    let text = fs::read_to_string(Path::new("/sys/block").join(name).join("stat"));
    text.unwrap_or_default().split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// The disks that hold the file system of `path`, by name, as far as can be told.
pub(crate) fn below(path: &Path) -> Vec<String> {
    let Ok(data) = fs::metadata(path) else { return Vec::new() };
    let (major, minor) = (rustix::fs::major(data.dev()), rustix::fs::minor(data.dev()));
    let mut chosen = Chosen::default();
    let Ok(folder) = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")) else { return Vec::new() };
    // A device without requests is none that is recorded.
    let _ = add(&folder, &mut chosen, 0);
    chosen.disks.into_iter().map(|disk| disk.name).collect()
}

/// The device's number as tracepoints have it, from `8:1`.
pub(crate) fn packed(number: &str) -> Option<u32> {
    let (major, minor) = number.split_once(':')?;
    Some(major.parse::<u32>().ok()? << 20 | minor.parse::<u32>().ok()?)
}

/// The device's folder in `/sys`.
fn folder(name: &str) -> Result<PathBuf, RecordError> {
    let bad =
        |what: &str, cure| Err(RecordError::Device { name: name.to_owned(), what: what.to_owned(), cure });
    let list = "name a disk such as /dev/sda; `lsblk` lists them";
    let path = if name.contains('/') { PathBuf::from(name) } else { Path::new("/dev").join(name) };
    match fs::metadata(&path) {
        Ok(data) if data.file_type().is_block_device() => {
            let (major, minor) = (rustix::fs::major(data.rdev()), rustix::fs::minor(data.rdev()));
            match fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")) {
                Ok(folder) => Ok(folder),
                Err(_) => bad("the kernel has no such device", list),
            }
        }
        Ok(_) => bad("not a block device", list),
        Err(_) => match fs::canonicalize(Path::new("/sys/class/block").join(name)) {
            Ok(folder) if !name.contains('/') => Ok(folder),
            _ => bad("there is no such device", list),
        },
    }
}

fn add(folder: &Path, chosen: &mut Chosen, depth: usize) -> Result<(), RecordError> {
    let name = name(folder);
    if folder.join("partition").exists() {
        let disk = folder.parent().unwrap_or(folder);
        let whole = self::name(disk);
        chosen.notes.push(format!("{name} is a partition: its disk {whole} is recorded"));
        return add(disk, chosen, depth);
    }
    let members = links(&folder.join("slaves"));
    if !members.is_empty() && depth < MAX_DEPTH {
        let names: Vec<String> = members.iter().map(|member| self::name(member)).collect();
        chosen.notes.push(format!("{name} is made of {}: recorded instead", names.join(", ")));
        return members.iter().try_for_each(|member| add(member, chosen, depth + 1));
    }
    if !folder.join("mq").exists() {
        let what =
            ("takes no requests (its driver serves each bio at once), so no scheduler has a say").to_owned();
        let cure = "record the disk below it, if there is one";
        return Err(RecordError::Device { name, what, cure });
    }
    if text(&folder.join("size")).as_deref() == Some("0") {
        let what = "has no medium: its size is 0".to_owned();
        return Err(RecordError::Device { name, what, cure: "attach one first" });
    }
    if chosen.disks.iter().all(|disk| disk.name != name) {
        chosen.disks.push(facts(folder));
    }
    Ok(())
}

/// What the links in a folder point to, in order.
fn links(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.filter_map(|entry| fs::canonicalize(entry.path()).ok()).collect();
    all.sort();
    all
}

/// A device's name, which its folder has with `!` for `/`.
fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What a file of one line says; `None` if there is none.
fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty() && !text.contains('\n')).then(|| text.to_owned())
}

/// The files of a folder, by name.
fn texts(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.filter_map(|file| Some((file.file_name().into_string().ok()?, text(&file.path())?))).collect()
}

fn number(text: Option<String>) -> u64 {
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn facts(folder: &Path) -> Disk {
    let name = name(folder);
    let queue = texts(&folder.join("queue"));
    let scheduler = queue.get("scheduler").map(String::as_str).unwrap_or_default();
    let chosen = scheduler.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let scheduler = chosen.map_or(scheduler, |(chosen, _)| chosen).to_owned();
    Disk {
        number: text(&folder.join("dev")).unwrap_or_default(),
        sectors: number(text(&folder.join("size"))),
        rotational: queue.get("rotational").is_some_and(|rotational| rotational == "1"),
        hardware_queues: fs::read_dir(folder.join("mq")).map_or(0, |all| all.flatten().count() as u32),
        model: text(&folder.join("device/model")),
        vendor: text(&folder.join("device/vendor")),
        queue_depth: text(&folder.join("device/queue_depth")).and_then(|text| text.parse().ok()),
        stat: stat(&name),
        partitions: partitions(folder),
        tunables: texts(&folder.join("queue/iosched")),
        scheduler,
        queue,
        name,
    }
}

fn partitions(folder: &Path) -> Vec<Partition> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let parts = entries.map(|entry| entry.path()).filter(|path| path.join("partition").exists());
    let mut parts: Vec<Partition> = parts
        .map(|path| Partition {
            name: name(&path),
            number: text(&path.join("dev")).unwrap_or_default(),
            start: number(text(&path.join("start"))),
            sectors: number(text(&path.join("size"))),
        })
        .collect();
    parts.sort_by_key(|part| part.start);
    parts
}
