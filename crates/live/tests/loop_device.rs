//! A real loop device is recorded while it is written, flushed and read: the events must add up to what the kernel counts.
//!
//! Needs root, tracefs and loop devices; says so and skips where they are missing.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

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

/// Records the device while `work` is done. `None`, with the reason printed, where that is impossible.
fn recorded(folder: &Path, work: impl FnOnce(&Path)) -> Option<(Summary, PathBuf)> {
    let device = match Loop::attach(folder) {
        Ok(device) => device,
        Err(reason) => {
            skip(&format!("no loop device: {reason}"));
            return None;
        }
    };
    let path = folder.join("a.rec.gz");
    let disks = choose(&[device.name()]).unwrap().disks;
    let recorder = match Recorder::start(disks, &path, false) {
        Ok(recorder) => recorder,
        Err(error @ (RecordError::Denied { .. } | RecordError::NoTracepoints)) => {
            skip(&error.to_string());
            return None;
        }
        Err(error) => panic!("{error}"),
    };
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
