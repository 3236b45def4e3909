//! Makes the table of what a fit and a calibration found of modelled disks from what `scripts/kernel/fit.sh` left behind.
//!
//! Arguments: the program `idlewise`, the folder, and the disks, as `NAME` or `NAME:key=value,…`. Of the disk at place N
//! there is `N.rec.gz`, its recording, and perhaps `N.toml`, the profile that calibrating it gave.

use std::path::Path;
use std::process::{Command, ExitCode};

use idlewise_disk::{AnySpec, Profile};

#[path = "../tests/fit/truth.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod truth;

use truth::Off;

type Failure = Box<dyn std::error::Error>;

/// How far off a disk with platters may be: sequential rate, rotation, median positioning time. Of flash the last one is for
/// latencies by size, direction and depth.
const FITTED: [f64; 3] = [0.05, 0.01, 0.10];
const CALIBRATED: [f64; 3] = [0.03, 0.005, 0.06];

/// What the kernel of an emulated machine adds to a command at most: from 2 us, of a write that the buffer takes, to 9.
const HOST_NS: f64 = 10_000.0;

/// One line of the table; gives whether all is within the bounds.
fn line(disk: &str, how: &str, found: &Path, truth: &Profile, bounds: [f64; 3]) -> Result<bool, Failure> {
    let profile = Profile::parse(disk, &found.display().to_string(), &std::fs::read_to_string(found)?)?;
    let Some(off) = Off::between(&profile, truth, HOST_NS) else {
        println!("{disk:40} {how:9} is another kind of disk");
        return Ok(false);
    };
    let [rate, time] = off.worst();
    let each = [rate, off.period.abs(), time];
    let right = each.iter().zip(bounds).all(|(off, bound)| *off <= bound);
    let [rate, period, time] = each.map(|off| format!("{:.2} %", off * 100.0));
    let percent =
        |list: &[f64]| list.iter().map(|off| format!("{:+.0}", off * 100.0)).collect::<Vec<_>>().join(" ");
    println!(
        "{disk:40} {how:9} {rate:>9} {period:>9} {time:>9}  {:3}  rates {}; times {}",
        if right { "" } else { "OFF" },
        percent(&off.rates),
        percent(&off.times),
    );
    Ok(right)
}

fn main() -> Result<ExitCode, Failure> {
    let mut arguments = std::env::args().skip(1);
    let (program, folder) = (arguments.next().ok_or("no program")?, arguments.next().ok_or("no folder")?);
    println!("{:40} {:9} {:>9} {:>9} {:>9}", "disk", "from", "rate", "rotation", "time");
    let mut right = true;
    for (place, disk) in arguments.enumerate() {
        let (name, options) = disk.split_once(':').unwrap_or((&disk, ""));
        let mut truth = Profile::named(name)?;
        truth.model.set(options).map_err(|error| error.to_string())?;
        let file = |end: &str| Path::new(&folder).join(format!("{place}.{end}"));
        let said = Command::new(&program)
            .args(["disk", "fit", "--force", "--output"])
            .args([file("fit.toml"), file("rec.gz")])
            .output()?;
        if !said.status.success() {
            println!("{disk:40} fit       {}", String::from_utf8_lossy(&said.stderr).trim());
            right = false;
            continue;
        }
        std::fs::write(file("fit.txt"), said.stdout)?;
        right &= line(&disk, "fit", &file("fit.toml"), &truth, FITTED)?;
        if file("toml").exists() {
            let flash = matches!(truth.model, AnySpec::Flash(_));
            right &=
                line(&disk, "calibrate", &file("toml"), &truth, if flash { FITTED } else { CALIBRATED })?;
        }
    }
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
