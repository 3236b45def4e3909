//! The loads and disks that fronts are drawn for, and which of them are set aside.
//!
//! Whoever tunes a scheduler looks at the others only. Those that are set aside say whether it holds.

use std::borrow::Cow;

use idlewise_core::Duration;

/// A load by its name.
#[derive(Clone, Debug)]
pub struct FrontLoad {
    /// The load's name.
    pub name: Cow<'static, str>,
    /// The workload, as a command line names it. It ends by itself, or when the time of a run is over.
    pub workload: Cow<'static, str>,
    /// What is counted.
    pub counts: Counts,
    /// Not to be tuned on.
    pub aside: bool,
}

/// Drawn loads with greater numbers are set aside.
const DRAWN_KNOWN: u64 = 160;

impl FrontLoad {
    /// Programs drawn at random, which run for `time`: each number draws others.
    pub fn drawn(number: u64, time: Duration) -> FrontLoad {
        FrontLoad {
            name: format!("drawn-{number}").into(),
            workload: format!("drawn:draw={number},runtime={}ns", time.0).into(),
            counts: Counts::Throughput,
            aside: number > DRAWN_KNOWN,
        }
    }
}

/// What a load is judged by, beside latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Throughput.
    Throughput,
    /// The geometric mean of what each process got in a second; a chain of processes is one. So nobody's work can be
    /// given up for another's.
    Parties,
}

/// A disk by its name.
#[derive(Debug)]
pub struct FrontDisk {
    /// The profile's name.
    pub name: &'static str,
    /// Not to be tuned on.
    pub aside: bool,
}

/// Declares the table: each phase under its own name, other workloads under a name for them.
macro_rules! loads {
    ($($aside:tt $counts:ident $name:literal $(= $workload:literal)?;)*) => {
        /// All loads.
        pub static LOADS: &[FrontLoad] = &[$(FrontLoad {
            name: Cow::Borrowed($name),
            workload: Cow::Borrowed(loads!(@workload $name $($workload)?)),
            counts: Counts::$counts,
            aside: loads!(@aside $aside),
        }),*];
    };
    (@workload $name:literal $workload:literal) => { $workload };
    // Longer than a run.
    (@workload $name:literal) => { concat!("phases:mix=", $name, "=3600") };
    (@aside aside) => { true };
    (@aside known) => { false };
}

// Sizes are such that each fits the smallest of the disks below, of 2 GB.
loads! {
    known Throughput "seq-readers";
    known Throughput "thinkers";
    known Throughput "random-readers";
    known Throughput "scatter";
    known Throughput "writers";
    known Throughput "mail";
    known Throughput "database";
    known Throughput "backup";
    known Throughput "copy";
    known Throughput "web";
    known Throughput "streams-2";
    known Throughput "streams-4";
    known Throughput "streams-8";
    known Throughput "streams-16";
    known Throughput "boot";
    known Throughput "oltp-backup";
    known Throughput "compile";
    known Throughput "video";
    known Throughput "compaction";
    known Throughput "start-streams";
    known Throughput "start-writers";
    known Throughput "adversary" = "adversary:requests=100000,file=400m,gap=800m";
    known Parties "dd-and-cat" = "write-and-read:file=200m,written=1g,gap=200m";
    known Parties "stream-and-chain" = "stream-and-chain:files=1600,directories=100,stream=500m,gap=200m";
    known Parties "two-chains" = "two-chains:files=1600,directories=100,gap=200m";
    aside Throughput "slow-readers" = "sync-streams:n=3,think=2ms,bs=32k,file=300m,gap=200m,requests=1000000";
    aside Throughput "skipping" = "sync-streams:n=4,pattern=alternate,bs=32k,file=200m,gap=200m,requests=1000000";
    aside Throughput "queued-streams" = "sync-streams:n=3,depth=4,bs=128k,file=400m,gap=100m,requests=1000000";
    aside Throughput "random-64" = "random:n=64,bs=8k,requests=1000000";
    aside Throughput "random-writes" = "random:n=12,bs=16k,reads=40,requests=1000000";
    aside Throughput "open" = "poisson:rate=70,reads=60,requests=1000000";
    aside Throughput "queues" = "queues:depths=1:4:16,requests=1000000";
    aside Throughput "pauses" = "adversary:n=0,pause=9ms,requests=100000,file=400m,gap=800m";
    aside Throughput "copies" = "iozone:n=6,pattern=seq-write,file=200m";
    aside Parties "slow-cat" = "write-and-read:bs=64k,reads=2,think=1ms,file=200m,written=800m,gap=300m";
    aside Parties "hashed-chain" = "stream-and-chain:files=1600,directories=100,order=hash,stream=400m,gap=300m";
    aside Parties "three-chains" = "two-chains:chains=3,files=1600,directories=100,gap=100m";
}

macro_rules! disks {
    ($($aside:tt $name:literal;)*) => {
        /// All disks: with a queue of their own, without, and without heads.
        pub static DISKS: &[FrontDisk] = &[$(FrontDisk { name: $name, aside: loads!(@aside $aside) }),*];
    };
}

disks! {
    known "hdd-18tb-7200";
    aside "hdd-4tb-7200";
    known "hdd-2400gb-10k";
    known "maxtor-40g";
    known "cheetah-st318451lw";
    aside "deskstar-34gxp";
    aside "ibm-18es";
    aside "barracuda";
    aside "atlas10k";
    known "sata-ssd";
    aside "nvme-ssd";
    aside "sd-card";
}
