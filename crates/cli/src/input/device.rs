//! Disks of this machine: what the kernel says of them, and reading them, bypassing the page cache. Nothing is ever
//! written.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use idlewise_core::SECTOR_BYTES;
use idlewise_sim::fit::{Known, Reader};

use crate::failure::Failure;

/// `O_DIRECT` of Linux: past the page cache.
#[cfg(any(target_arch = "aarch64", target_arch = "arm"))]
const DIRECT: i32 = 0o200_000;
#[cfg(not(any(target_arch = "aarch64", target_arch = "arm")))]
const DIRECT: i32 = 0o40_000;

/// Buffers begin at a multiple of this, as the kernel demands of reads past its cache.
const ALIGNMENT: usize = 4096;

/// A disk of this machine, open for reading.
pub(crate) struct Device {
    file: File,
    sectors: u64,
    began: Instant,
    buffers: Vec<Vec<u8>>,
}

/// What the kernel says of a disk.
pub(crate) struct About {
    pub(crate) known: Known,
    /// The device to read: the whole disk, of a partition too.
    pub(crate) path: PathBuf,
    /// A sentence on why that is another one than was named.
    pub(crate) note: Option<String>,
}

/// Whether a path names a block device.
pub(crate) fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.file_type().is_block_device())
}

/// The block device that `name` names, with or without its folder.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    [Path::new(name).to_owned(), Path::new("/dev").join(name)].into_iter().find(|path| is_device(path))
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// What the kernel says of the disk at `path`.
pub(crate) fn about(path: &Path) -> Result<About, Failure> {
    let found = find(&path.to_string_lossy());
    let path = found.as_deref().unwrap_or(path);
    let failed = |what: String| Failure::failed(format!("{}: {what}", path.display()));
    let cure = "name a disk such as /dev/sda; `lsblk` lists them";
    let found = fs::metadata(path).map_err(|_| failed(format!("there is no such device: {cure}")))?;
    if !found.file_type().is_block_device() {
        return Err(failed(format!("this is no block device: {cure}")));
    }
    let device = found.rdev();
    // The kernel's 64-bit form of device numbers.
    let major = (device >> 8 & 0xfff) | (device >> 32 & 0xffff_f000);
    let minor = (device & 0xff) | (device >> 12 & 0xffff_ff00);
    let link = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let mut folder =
        fs::canonicalize(&link).map_err(|error| failed(format!("{}: {error}", link.display())))?;
    let (mut disk, mut note) = (path.to_owned(), None);
    if folder.join("partition").exists() {
        folder.pop();
        let name = folder.file_name().unwrap_or_default();
        disk = Path::new("/dev").join(name);
        note = Some(format!("{} is a partition: the disk {} is measured", path.display(), disk.display()));
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let slaves = fs::read_dir(folder.join("slaves")).map_or(0, Iterator::count);
    if slaves > 0 {
        let members: Vec<String> = fs::read_dir(folder.join("slaves"))?
            .filter_map(|entry| Some(format!("/dev/{}", entry.ok()?.file_name().to_string_lossy())))
            .collect();
        return Err(failed(format!("this device is made of others: name one of {}", members.join(", "))));
    }
    if fs::read_to_string(folder.join("queue/zoned")).is_ok_and(|zoned| zoned.trim() == "host-managed") {
        return Err(failed("a disk of zones that the host manages cannot be fitted yet".to_owned()));
    }
    let sectors = number(&folder.join("size")).filter(|&sectors| sectors > 0);
    let model = fs::read_to_string(folder.join("device/model")).unwrap_or_default();
    let known = Known {
        name: if model.trim().is_empty() { name } else { model.trim().to_owned() },
        capacity: sectors,
        rotational: number(&folder.join("queue/rotational")).map(|rotational| rotational == 1),
        depth: number(&folder.join("device/queue_depth")).map(|depth| depth.clamp(1, 4096) as u32),
    };
    Ok(About { known, path: disk, note })
}

impl Device {
    /// Opens a disk for reading past the page cache.
    pub(crate) fn open(about: &About) -> Result<Device, Failure> {
        let path = about.path.display();
        let sectors = about
            .known
            .capacity
            .ok_or_else(|| Failure::failed(format!("{path}: the device is empty: is a medium in it?")))?;
        let opened = OpenOptions::new().read(true).custom_flags(DIRECT).open(&about.path);
        let file = opened.map_err(|error| {
            let cure = match error.kind() {
                io::ErrorKind::PermissionDenied => ": run as root, or as a user of the group disk",
                io::ErrorKind::InvalidInput => ": the device cannot be read past the page cache",
                _ => "",
            };
            Failure::failed(format!("{path}: {error}{cure}"))
        })?;
        Ok(Device { file, sectors, began: Instant::now(), buffers: Vec::new() })
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// Reads one extent; gives when it was sent and done.
    fn one(&self, (start, sectors): (u64, u32), buffer: &mut [u8]) -> io::Result<(u64, u64)> {
        let bytes = sectors as usize * SECTOR_BYTES as usize;
        let offset = buffer.as_ptr().align_offset(ALIGNMENT);
        let room = &mut buffer[offset..offset + bytes];
        let sent = self.now();
        self.file.read_exact_at(room, start * SECTOR_BYTES)?;
        Ok((sent, self.now()))
    }
}

impl Reader for Device {
    fn capacity(&self) -> u64 {
        self.sectors
    }

    fn read(&mut self, extents: &[(u64, u32)], depth: usize) -> io::Result<Vec<(u64, u64)>> {
        let most = extents.iter().map(|extent| extent.1).max().unwrap_or(0) as usize * SECTOR_BYTES as usize;
        let mut buffers = std::mem::take(&mut self.buffers);
        buffers.resize(depth.max(buffers.len()), Vec::new());
        buffers.iter_mut().for_each(|buffer| buffer.resize(buffer.len().max(most + ALIGNMENT), 0));
        let next = AtomicUsize::new(0);
        let times = Mutex::new(vec![(0, 0); extents.len()]);
        let (device, next, done) = (&*self, &next, &times);
        let results: Vec<io::Result<()>> = std::thread::scope(|scope| {
            let read = |buffer: &mut Vec<u8>| loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(&extent) = extents.get(index) else { return Ok(()) };
                let time = device.one(extent, buffer)?;
                done.lock().expect("no reader panics")[index] = time;
            };
            if depth == 1 {
                return vec![read(&mut buffers[0])];
            }
            let threads: Vec<_> =
                buffers[..depth].iter_mut().map(|buffer| scope.spawn(move || read(buffer))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no reader panics")).collect()
        });
        self.buffers = buffers;
        results.into_iter().collect::<io::Result<()>>()?;
        Ok(times.into_inner().expect("no reader panics"))
    }
}
