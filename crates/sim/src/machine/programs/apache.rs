//! Apache: server processes that send the files of a web server's log (SOSP'01 §4.4).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use idlewise_core::Duration;
use rand::Rng;

use super::setting::{Full, Setting, Sizes};
use crate::machine::program::{FileId, Op, Part, program};
use crate::machine::running::Job;

/// Requests of the log: ten minutes at the 2.2 MB/s that the paper measured.
const REQUESTS: u64 = 15_000;
/// Of a thousand requests, those for a file that nobody has asked for before.
const NEW: u32 = 745;
/// Sizes of files: a log-normal body, and of each hundred files `LARGE` whose size has a uniform logarithm. Together they have what
/// the paper says of its log: a median of 4768 bytes, a mean of 86 KB, and 13 KB without the largest 5 %.
const BODY: Sizes = Sizes { median: 4300.0, mean: 15_000.0 };
const LARGE: u32 = 5;
const LARGE_SIZES: (f64, f64) = (80e3, 6.4e6);
/// Files in a directory: a home page with its pictures.
const DIRECTORY: u64 = 20;
/// Bytes that the server reads and sends at a time (`IOBUFSIZE`).
const CALL: u32 = 8192;
/// Files from this size on are read; smaller ones are mapped (`MMAP_LIMIT`).
const MMAP_LIMIT: u64 = 4 << 20;
/// What a request costs on a processor of 550 MHz: accepting, parsing, logging.
const REQUEST: Duration = Duration::from_us(500);
/// What sending [`CALL`] bytes costs: six packets of Ethernet.
const SEND: Duration = Duration::from_us(200);

/// A file of a log that somebody asks for, and its size.
type Asked = (FileId, u64);

/// Makes the files of a log, and says which requests come one after the other. Each request is for a new file, or for the file
/// of any request before, so that popular files become more popular.
fn log(setting: &mut Setting) -> Result<Vec<Asked>, Full> {
    let requests = setting.scaled(REQUESTS) as usize;
    let mut directory = setting.files.make_directory(None)?;
    let (mut log, mut files): (Vec<Asked>, u64) = (Vec::with_capacity(requests), 0);
    for place in 0..requests {
        if place > 0 && setting.rng.random_range(0..1000) >= NEW {
            log.push(log[setting.rng.random_range(0..place)]);
            continue;
        }
        if files > 0 && files.is_multiple_of(DIRECTORY) {
            directory = setting.files.make_directory(None)?;
        }
        let bytes = size(setting);
        log.push((setting.files.make_file(directory, bytes)?, bytes));
        files += 1;
    }
    Ok(log)
}

fn size(setting: &mut Setting) -> u64 {
    if setting.rng.random_range(0..100) >= LARGE {
        return BODY.draw(&mut setting.rng);
    }
    let (least, most) = LARGE_SIZES;
    (least * (most / least).powf(setting.rng.random())) as u64
}

/// What a server process does for a request.
fn serve((file, bytes): Asked, mapped: bool) -> impl Iterator<Item = Op> + Send {
    let send = move |place: u64| {
        let part = Part { file, from: place * u64::from(CALL), bytes: u64::from(CALL), call: CALL };
        let bytes = (bytes - part.from).min(part.bytes) as u32;
        [if mapped { Op::Touch(part) } else { Op::Read(part) }, Op::Compute(SEND), Op::Send(bytes)]
    };
    let calls = (0..bytes.div_ceil(u64::from(CALL))).flat_map(send);
    [Op::Compute(REQUEST), Op::Open(file)].into_iter().chain(calls).chain([Op::Close(file)])
}

/// A server process for each client; each takes the log's next request when it has done its last one.
fn servers(setting: &mut Setting, mmap_limit: u64) -> Result<Vec<Job>, Full> {
    let log: Arc<[Asked]> = log(setting)?.into();
    let next = Arc::new(AtomicUsize::new(0));
    let job = |_| {
        let (log, next) = (log.clone(), next.clone());
        let requests = std::iter::from_fn(move || log.get(next.fetch_add(1, Ordering::Relaxed)).copied());
        let all = requests.flat_map(move |asked| serve(asked, asked.1 < mmap_limit));
        Job { name: "httpd", program: program(all), background: false }
    };
    Ok((0..setting.wish.instances).map(job).collect())
}

pub(super) fn by_read(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    servers(setting, 0)
}

pub(super) fn by_mmap(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    servers(setting, u64::MAX)
}

pub(super) fn as_it_comes(setting: &mut Setting) -> Result<Vec<Job>, Full> {
    servers(setting, MMAP_LIMIT)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use idlewise_core::Sector;

    use super::*;
    use crate::machine::presets;
    use crate::machine::programs::Wish;
    use crate::workloads::Ground;

    fn setting(instances: u32, scale: u32) -> Setting {
        let parameters = presets::named("freebsd-4.3").unwrap();
        let ground = Ground { capacity: Sector(1 << 26), depth: 32, seed: 3 };
        Setting::new(Wish { parameters, instances, scale }, ground).unwrap()
    }

    /// The paper's log: a median of 4768 bytes, a mean of 86 KB, 13 KB without the largest 5 %, 745 files in 1000 requests.
    #[test]
    fn the_log_is_the_papers() {
        let log = log(&mut setting(48, 100)).unwrap();
        let near = |value: f64, paper: f64| assert!((value / paper - 1.0).abs() < 0.1, "{value} for {paper}");
        let mut sizes: Vec<u64> = log.iter().map(|(_, bytes)| *bytes).collect();
        sizes.sort_unstable();
        let mean = |sizes: &[u64]| sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
        near(sizes[sizes.len() / 2] as f64, 4768.0);
        near(mean(&sizes), 86e3);
        near(mean(&sizes[..sizes.len() / 20 * 19]), 13e3);
        let files: std::collections::BTreeSet<FileId> = log[..1000].iter().map(|(file, _)| *file).collect();
        near(files.len() as f64, 745.0);
    }

    #[test]
    fn servers_share_the_log_and_map_what_is_small() {
        let mut setting = setting(2, 1);
        let jobs = servers(&mut setting, 20_000).unwrap();
        let mut programs: VecDeque<_> = jobs.into_iter().map(|job| job.program).collect();
        let (mut opened, mut sent) = (0, 0);
        while let Some(mut program) = programs.pop_front() {
            let Some(op) = program.next() else { continue };
            programs.push_back(program);
            let small = |part: Part| setting.files.file(part.file).bytes < 20_000;
            match op {
                Op::Open(_) => opened += 1,
                Op::Touch(part) => assert!(small(part)),
                Op::Read(part) => assert!(!small(part)),
                Op::Send(bytes) => sent += u64::from(bytes),
                _ => {}
            }
        }
        assert_eq!(opened, REQUESTS / 100);
        assert!(sent > opened * 4000, "{sent}");
    }
}
