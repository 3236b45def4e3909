//! A real loop device is recorded while it is written, flushed and read: the events must add up to what the kernel counts.
//!
//! Needs root, tracefs and loop devices; says so and skips where they are missing.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use idlewise_core::Class;
use idlewise_live::{RecordError, Recorder, Summary, choose};
use idlewise_sim::traces::recording::Counts;
use idlewise_sim::traces::{Format, Options, Trace};

/// A loop device over a file of 64 MiB, which is detached in the end.
struct Loop {
    device: PathBuf,
}

impl Loop {
    fn attach(folder: &Path) -> Result<Loop, String> {
        let image = folder.join("disk.img");
        let file = File::create(&image).map_err(|error| error.to_string())?;
        file.set_len(64 << 20).map_err(|error| error.to_string())?;
        let output = Command::new("losetup").args(["--find", "--show"]).arg(&image).output();
        match output {
            Ok(output) if output.status.success() => {
                Ok(Loop { device: String::from_utf8_lossy(&output.stdout).trim().into() })
            }
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Err(format!("losetup: {error}")),
        }
    }

    fn name(&self) -> String {
        self.device.display().to_string()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

/// Says why a test is skipped, past what the test harness keeps for itself.
fn skip(reason: &str) {
    std::io::stderr().write_all(format!("\nskipped: {reason}\n").as_bytes()).unwrap();
}

/// A device to record. `None`, with the reason printed, where there is none.
fn attached(folder: &Path) -> Option<Loop> {
    Loop::attach(folder).map_err(|reason| skip(&format!("no loop device: {reason}"))).ok()
}

/// Begins to record the device. `None`, with the reason printed, where that is impossible.
fn started(device: &Loop, path: &Path) -> Option<Recorder> {
    let disks = choose(&[device.name()]).unwrap().disks;
    match Recorder::start(disks, path, true) {
        Ok(recorder) => Some(recorder),
        Err(
            error @ (RecordError::Denied { .. } | RecordError::LockedDown(_) | RecordError::NoTracepoints),
        ) => {
            skip(&error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Records a device while `work` is done. `None`, with the reason printed, where that is impossible.
fn recorded(folder: &Path, work: impl FnOnce(&Path)) -> Option<(Summary, PathBuf)> {
    let device = attached(folder)?;
    let path = folder.join("a.rec.gz");
    let recorder = started(&device, &path)?;
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let recording = thread::spawn(move || recorder.run(None, &stopped, &mut |_| {}).unwrap());
    work(&device.device);
    // The last completion is counted a moment after the program goes on.
    thread::sleep(Duration::from_millis(100));
    stop.store(true, Ordering::Relaxed);
    Some((recording.join().unwrap(), path))
}

fn work(device: &Path) {
    let mut file = OpenOptions::new().read(true).write(true).open(device).unwrap();
    for round in 0..20_u64 {
        file.seek(SeekFrom::Start(round * (2 << 20))).unwrap();
        file.write_all(&vec![1; 256 << 10]).unwrap();
        file.sync_all().unwrap();
    }
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_exact(&mut vec![0; 8 << 20]).unwrap();
}

#[test]
fn counts_are_the_kernels_and_the_file_is_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let Some((summary, path)) = recorded(folder.path(), work) else { return };
    let (disk, counted) = (&summary.head.disks[0], &summary.tail.disks[0]);
    assert_eq!(summary.tail.lost, 0);
    let counts = counted.counts;
    assert!(counts.reads > 0 && counts.writes >= 20 && counts.flushes >= 20, "{counts:?}");
    let kernel = Counts::differences(&disk.stat, &counted.stat);
    for ((what, own), kernel) in counts.rows().into_iter().zip(kernel) {
        assert_eq!(Some(own), kernel, "{what}");
    }
    let mut trace = Trace::open(&path, &Options::default()).unwrap();
    let mut bytes = 0;
    while let Some(record) = trace.next().unwrap() {
        bytes += record.length.bytes();
        assert!(record.completed.is_some() && record.issuer.is_some(), "{record:?}");
    }
    assert_eq!(trace.format(), Format::Recording);
    assert_eq!(bytes, 512 * (counts.read_sectors + counts.write_sectors));
    assert!(!trace.report().cut);
}

/// The kernel tells priorities of requests.
fn tells_priorities() -> bool {
    let format = "/sys/kernel/tracing/events/block/block_rq_issue/format";
    fs::read_to_string(format).is_ok_and(|text| text.contains("ioprio"))
}

#[test]
fn requests_have_the_priority_of_their_process() {
    let folder = tempfile::tempdir().unwrap();
    let read = |device: &Path| {
        let mut command = Command::new("ionice");
        command.args(["-c", "3", "dd", "of=/dev/null", "bs=4096", "count=1", "iflag=direct"]);
        let output = command.arg(format!("if={}", device.display())).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let Some((_, path)) = recorded(folder.path(), read) else { return };
    if !tells_priorities() {
        return skip("this kernel does not tell priorities");
    }
    let mut trace = Trace::open(&path, &Options::default()).unwrap();
    let mut idle = 0;
    while let Some(record) = trace.next().unwrap() {
        idle += u32::from(record.priority.is_some_and(|priority| priority.class == Class::Idle));
    }
    assert_eq!(idle, 1);
}

/// Processes that keep the device busy, each with one request of this many sectors at a time.
const BUSY: u64 = 3;
const PIECE: u64 = 8;

/// Reads, writes and flushes until `stop`, past the page cache.
fn busy(device: &Path, seed: u64, stop: &AtomicBool) {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).custom_flags(libc::O_DIRECT).open(device).unwrap();
    let (size, mut random) = (PIECE as usize * 512, seed);
    let memory = vec![0_u8; 2 * size];
    let from = memory.as_ptr().align_offset(size);
    let mut piece = memory;
    let piece = &mut piece[from..from + size];
    while !stop.load(Ordering::Relaxed) {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let at = (random >> 33) % (64 << 20) / size as u64 * size as u64;
        match random >> 60 {
            0 => file.sync_data().unwrap(),
            1..8 => file.write_all_at(piece, at).unwrap(),
            _ => file.read_exact_at(piece, at).unwrap(),
        }
    }
}

/// What the kernel counted of the device until now.
fn stat(name: &str) -> Vec<u64> {
    let text = fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    text.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

/// Reads and writes that were completed between two checks.
fn done_since(before: &[u64], after: &[u64]) -> u64 {
    after[0] + after[4] - before[0] - before[4]
}

/// The recorder counts at least what the kernel counted between looks inside of the recording, and at most what it
/// counted between checks outside, but for what each process may have under way at a check.
#[test]
fn nothing_is_missing_when_it_is_stopped_under_load() {
    let memory = Path::new("/dev/shm");
    let folder = tempfile::tempdir_in(if memory.is_dir() { memory } else { Path::new("/tmp") }).unwrap();
    let Some(device) = attached(folder.path()) else { return };
    let (path, done) = (folder.path().join("a.rec.gz"), AtomicBool::new(false));
    thread::scope(|scope| {
        (1..=BUSY).for_each(|seed| {
            let (device, done) = (&device.device, &done);
            scope.spawn(move || busy(device, seed, done));
        });
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| {
            for round in 0..20 {
                let Some(recorder) = started(&device, &path) else { return };
                let name = device.name().trim_start_matches("/dev/").to_owned();
                let inside = stat(&name);
                let stop = AtomicBool::new(false);
                let summary = thread::scope(|scope| {
                    let recording = scope.spawn(|| recorder.run(None, &stop, &mut |_| {}).unwrap());
                    thread::sleep(Duration::from_millis(17 * round % 120));
                    // A recording in which nothing was done is an error of its own.
                    while done_since(&inside, &stat(&name)) < 2 * BUSY {
                        thread::yield_now();
                    }
                    stop.store(true, Ordering::Relaxed);
                    recording.join().unwrap()
                });
                whole(&summary, &inside, &stat(&name), &path);
            }
        }));
        done.store(true, Ordering::Relaxed);
        outcome.unwrap();
    });
}

fn whole(summary: &Summary, inside: &[u64], outside: &[u64], path: &Path) {
    let (began, ended) = (&summary.head.disks[0].stat, &summary.tail.disks[0].stat);
    let least = Counts::differences(inside, ended);
    let most = Counts::differences(began, outside);
    assert_eq!((summary.tail.lost, summary.tail.moved), (0, 0));
    for (((what, own), least), most) in summary.tail.disks[0].counts.rows().into_iter().zip(least).zip(most) {
        let slack = if what.ends_with("sectors") { BUSY * PIECE } else { BUSY };
        let least = least.unwrap();
        assert!(own + slack >= least && own <= most.unwrap() + slack, "{what}: {least} <= {own} <= {most:?}");
    }
    let mut trace = Trace::open(path, &Options::default()).unwrap();
    while trace.next().unwrap().is_some() {}
    let report = trace.report();
    assert!(report.without_completion <= BUSY && report.without_queue_event <= BUSY, "{report:?}");
    assert!(!report.cut);
}

#[test]
fn a_recording_that_is_cut_anywhere_gives_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let Some((_, path)) = recorded(folder.path(), work) else { return };
    let bytes = fs::read(&path).unwrap();
    let whole = rows(&path).unwrap();
    for cut in (bytes.len() / 2..bytes.len()).step_by(bytes.len() / 40) {
        let part = folder.path().join("part");
        fs::write(&part, &bytes[..cut]).unwrap();
        // A file whose first member is cut holds nothing.
        let Ok(rows) = rows(&part) else { continue };
        assert!(rows <= whole);
    }
    assert!(whole > 20);
}

/// Records of a trace.
fn rows(path: &Path) -> Result<u64, String> {
    let mut trace = Trace::open(path, &Options::default()).map_err(|error| error.to_string())?;
    let mut rows = 0;
    while trace.next().map_err(|error| error.to_string())?.is_some() {
        rows += 1;
    }
    Ok(rows)
}

#[test]
fn files_are_not_replaced_and_wrong_devices_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("there");
    fs::write(&there, "x").unwrap();
    let error = Recorder::start(Vec::new(), &there, false).err().unwrap();
    assert!(matches!(error, RecordError::Exists(_)) && error.to_string().contains("--force"), "{error}");
    assert_eq!(fs::read(&there).unwrap(), b"x");
    for name in ["/dev/null", "/dev/nonesuch", "nonesuch", "/etc/passwd"] {
        let error = choose(&[name.to_owned()]).unwrap_err().to_string();
        assert!(error.starts_with(name) && error.contains("lsblk"), "{error}");
    }
}
