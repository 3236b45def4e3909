//! One small trace in each format, with the records that it must give.

use idlewise_core::{Class, Instant, Issuer, Operation, Priority, Sector, Sectors};
use idlewise_sim::traces::{Format, Record};

mod recording;

/// A trace and what it must give.
pub(crate) struct Fixture {
    pub(crate) format: Format,
    pub(crate) bytes: Vec<u8>,
    pub(crate) records: Vec<Record>,
    pub(crate) devices: Vec<&'static str>,
}

use Operation::{Discard, Flush, Read, Write};

/// A record of which nothing but time and extent is known.
pub(crate) fn plain(arrival: u64, operation: Operation, start: u64, length: u32) -> Record {
    Record::new(Instant(arrival), operation, Sector(start), Sectors(length))
}

fn on(record: Record, device: u32) -> Record {
    Record { device, ..record }
}

fn by(record: Record, pid: u32) -> Record {
    Record { issuer: Some(Issuer(pid)), ..record }
}

fn synchronous(record: Record) -> Record {
    Record { sync: true, ..record }
}

fn done(record: Record, completed: u64) -> Record {
    Record { completed: Some(Instant(completed)), ..record }
}

fn sent(record: Record, dispatched: u64, completed: u64) -> Record {
    Record { dispatched: Some(Instant(dispatched)), ..done(record, completed) }
}

fn of(format: Format, text: &str, devices: &[&'static str], records: &[Record]) -> Fixture {
    let (bytes, devices, records) = (text.as_bytes().to_vec(), devices.to_vec(), records.to_vec());
    Fixture { format, bytes, records, devices }
}

/// Every format's fixture, except of the one that is refused.
pub(crate) fn all() -> Vec<Fixture> {
    let mut all = events();
    all.extend(commas());
    all.extend(words());
    all.extend([blktrace(false), blktrace(true), vscsi_one(), vscsi_two(), recording::recording()]);
    all
}

/// Formats that are separated by commas.
fn commas() -> Vec<Fixture> {
    let first = Record { metadata: true, ..by(plain(0, Read, 8, 16), 7) };
    let best = Some(Priority { class: Class::BestEffort, level: 4 });
    vec![
        of(
            Format::Idlewise,
            "arrival_ns,dispatched_ns,completed_ns,device,issuer,operation,start,sectors,flags,prio,process\n\
             500,600,900,8:0,7,R,8,16,sm,,cat\n\
             700,,,disk%20two,,W,0,8,s,be4,\n\
             800,,,8:0,,F,0,0,,,\n\
             900,,,8:0,,D,64,1024,,,\n",
            &["8:0", "disk two"],
            &[
                sent(first, 100, 400),
                on(Record { priority: best, ..synchronous(plain(200, Write, 0, 8)) }, 1),
                plain(300, Flush, 0, 0),
                plain(400, Discard, 64, 1024),
            ],
        ),
        of(
            Format::Msr,
            "128166385295514663,hm,0,Write,9056014336,2048,2833\n\
             128166385295514878,hm,1,Read,512,1000,2617\n",
            &["hm_0", "hm_1"],
            &[done(plain(0, Write, 17_687_528, 4), 283_300), on(done(plain(21_500, Read, 1, 2), 283_200), 1)],
        ),
        of(
            Format::Spc,
            "0,20941264,8192,W,0.551706\n1,20939840,8192,r,0.554041,ignored\n",
            &["0", "1"],
            &[plain(0, Write, 20_941_264, 16), on(plain(2_335_000, Read, 20_939_840, 16), 1)],
        ),
        of(
            Format::Alibaba,
            "419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360780\n",
            &["419", "725"],
            &[plain(0, Write, 17_173_304, 32), on(plain(13_000, Read, 115_449_856, 704), 1)],
        ),
        of(
            Format::Tencent,
            "1538323199,4247200,128,1,1058\n1538323200,13896880,8,0,1063\n",
            &["1058", "1063"],
            &[plain(0, Write, 4_247_200, 128), on(plain(1_000_000_000, Read, 13_896_880, 8), 1)],
        ),
        of(
            Format::Systor,
            "Timestamp,Response,IOType,LUN,Offset,Size\n\
             1455591804.310701000,0.006475000,R,0,203468398592,32768\n\
             1455591804.300000000,,W,6,4096,512\n\
             1455591804.310702000,0.001,,0,0,512\n",
            &["0", "6"],
            &[on(plain(0, Write, 8, 1), 1), done(plain(10_701_000, Read, 397_399_216, 64), 17_176_000)],
        ),
        of(
            Format::CloudPhysics,
            "version,time,op,size,lbn\n1,5633898,2a,512,42932745\n1,5633899,28,4096,8\n1,5633899,12,36,0\n",
            &["disk"],
            &[plain(0, Write, 42_932_745, 1), plain(1_000_000_000, Read, 8, 8)],
        ),
    ]
}

/// Formats that are separated by spaces.
fn words() -> Vec<Fixture> {
    vec![
        of(
            Format::Ops,
            "# Three requests and an exit.\ndevice depth=1\nscheduler noop\n\n\
             insert 0 R 8+16 by=7 meta = queued\n+2us insert 1 W 0+8 by=9 sync # a second process\n\
             +1us dispatch = 0\n+1us complete 0\n+1us insert 0 D 64+1024 = queued\n+1us gone 7\n",
            &["disk"],
            &[
                Record { metadata: true, ..by(plain(0, Read, 8, 16), 7) },
                synchronous(by(plain(2_000, Write, 0, 8), 9)),
                plain(5_000, Discard, 64, 1024),
            ],
        ),
        of(
            Format::FioV2,
            "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda read 4096 8192\n\
             wait 150\n/dev/sda write 0 512\n/dev/sda wait 50 0\n/dev/sda sync\n\
             /dev/sda trim 512 512\n/dev/sda close\n",
            &["/dev/sda"],
            &[
                plain(0, Read, 8, 16),
                plain(150_000, Write, 0, 1),
                synchronous(plain(200_000, Flush, 0, 0)),
                plain(200_000, Discard, 1, 1),
            ],
        ),
        of(
            Format::FioV3,
            "fio version 3 iolog\n10 a add\n11 a open\n20 a write 0 4096\n35 b read 512 512\n\
             40 a datasync 0 0\n50 a close\n",
            &["a", "b"],
            &[
                plain(0, Write, 0, 8),
                on(plain(15_000, Read, 1, 1), 1),
                synchronous(plain(20_000, Flush, 0, 0)),
            ],
        ),
        of(
            Format::Fiu,
            "5000 12 my proc 904 8 W 6 0 3ca1f2\n9000 13 nfsd 912 16 R 8 1 00ff\n",
            &["6:0", "8:1"],
            &[by(plain(0, Write, 904, 8), 12), on(by(plain(4000, Read, 912, 16), 13), 1)],
        ),
        of(
            Format::Disksim,
            "0.500000 0 263 8 1\n1.250001 2 271 4 0\n2.0 0 1 1 2\n",
            &["0", "2"],
            &[plain(0, Read, 263, 8), on(plain(750_001, Write, 271, 4), 1), plain(1_500_000, Write, 1, 1)],
        ),
        of(
            Format::Drive,
            "R Hit 265552 2 14901.000000 4757.708232\nW Miss  311664 30 12628.5 17035\n",
            &["drive"],
            &[
                sent(plain(0, Read, 265_552, 2), 0, 14_901_000),
                sent(synchronous(plain(19_658_708, Write, 311_664, 30)), 19_658_708, 32_287_208),
            ],
        ),
        of(
            Format::Mqsim,
            "11413000 0 657728 16 1\n11565000 1 31244784 64 0",
            &["0", "1"],
            &[plain(0, Read, 657_728, 16), on(plain(152_000, Write, 31_244_784, 64), 1)],
        ),
    ]
}

pub(crate) const BLKPARSE: &str = "\
#Maj,Mn CPU   SeqNo     Seconds     PID  Evt Typ Sector   +Len Description
  8,0    3        1     1.000000000   697  Q   W 100 + 8 [my proc/2]
  8,0    3        2     1.000000500   697  G   W 100 + 8 [my proc/2]
  8,0    3        3     1.000001000   697  Q   W 108 + 8 [my proc/2]
  8,0    3        4     1.000001500   697  M   W 108 + 8 [my proc/2]
  8,0    3        5     1.000002000   697  D   W 100 + 16 [my proc/2]
  8,0    1        1     1.000003000   701  A  RM 500 + 8 <- (8,1) 400
  8,0    1        2     1.000004000   701  Q  RM 500 + 8 [cat]
  8,0    1        3     1.000005000   701  Q FWFS [jbd2/sda]
  8,0    3        6     1.000006000     0  C   W 100 + 16 [0]
  8,0    1        4     1.000007000   701  D  RM 500 + 8 [cat]
  8,0    1        5     1.000008000   612  D  FN [kworker/1:1H]
  8,0    1        6     1.000009000     0  C  FN 0 [0]
  8,0    1        7     1.000009500     0  C WFS 575480360 [0]
  8,0    1        8     1.000010000     0  C  RM 500 + 8 [-5]
  8,0    1        9     1.000011000   701  Q   R 1000 + 64 [cat]
  8,0    1       10     1.000012000   701  X   R 1000 / 1032 [cat]
  8,0    1       11     1.000013000   701  D   R 1000 + 32 [cat]
  8,0    1       12     1.000014000   701  D   R 1032 + 32 [cat]
  8,0    1       13     1.000015000     0  R   R 1032 + 32 [0]
  8,0    1       14     1.000016000     0  C   R 1000 + 32 [0]
  8,0    1       15     1.000017000     0  D   R 1032 + 32 [kworker]
  8,0    1       16     1.000018000     0  C   R 1032 + 32 [0]
  8,0    1        0     1.000019000     0  m   N a message of two words
CPU1 (8,0):
 Reads Queued:           1,        4KiB\t Writes Queued:           2,        8KiB

Total (8,0):
Throughput (R/W): 0KiB/s / 46KiB/s
Events (8,0): 15 entries
Input file sda.blktrace.0 added
";

/// What ftrace, trace-cmd and perf of several kernels print.
pub(crate) const FTRACE: &str = "\
# tracer: nop
#
#                                _-----=> irqs-off/BH-disabled
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
       my proc-2-697     [003] d..2.   100.000001: block_bio_queue: 8,0 WS 100 + 8 [my proc-2]
       my proc-2-697     [003] d..2.   100.000002: block_getrq: 8,0 WS 100 + 8 [my proc-2]
       my proc-2-697     ( 690) [003] d..2.   100.000003: block_rq_insert: 8,0 WS 4096 () 100 + 8 rt,0,2 [my proc-2]
    kworker/3:1H-88      (-----) [003] ....   100.000004: block_rq_issue: 8,0 WS 4096 () 100 + 8 rt,0,2 [kworker/3:1H]
          <idle>-0       [001] ..s1.   100.000005: block_rq_complete: 8,0 WS () 100 + 8 rt,0,2 [0]
CPU:1 [LOST 17 EVENTS]
perf  1234 [001]   100.000006:       block:block_rq_insert: 8,0 R 4096 () 200 + 8 [perf]
a b c  1234/1234 [001]   100.000007:   block:block_rq_issue: 8,0 R 4096 () 200 + 8 none,0,0 [a b c]
swapper     0 [000]   100.000009:     block:block_rq_complete: 8,0 R () 200 + 8 [0]
         cat-55    [000] 100.000010: sched_switch: prev_comm=cat ==> next_comm=idle
          dd-56    [000] 100.000011: block_rq_issue: 8,16 FF 0 () 18446744073709551615 + 0 [dd]
          dd-56    [000] 100.000012: block_rq_complete: 8,16 FF () 18446744073709551615 + 0 [0]
";

/// Formats that are made of events.
fn events() -> Vec<Fixture> {
    let reading = by(plain(11_000, Read, 1000, 32), 701);
    let blkparse = [
        sent(by(plain(0, Write, 100, 8), 697), 2_000, 6_000),
        sent(by(plain(1_000, Write, 108, 8), 697), 2_000, 6_000),
        sent(Record { metadata: true, ..by(plain(4_000, Read, 500, 8), 701) }, 7_000, 10_000),
        sent(synchronous(by(plain(5_000, Flush, 0, 0), 701)), 8_000, 9_000),
        sent(reading, 13_000, 16_000),
        sent(Record { start: Sector(1032), ..reading }, 17_000, 18_000),
    ];
    let real_time = Some(Priority { class: Class::RealTime, level: 2 });
    let first = synchronous(by(plain(0, Write, 100, 8), 697));
    let ftrace = [
        sent(Record { priority: real_time, ..first }, 3_000, 4_000),
        sent(by(plain(5_000, Read, 200, 8), 1234), 6_000, 8_000),
    ];
    vec![
        of(Format::Blkparse, BLKPARSE, &["8:0"], &blkparse),
        of(Format::Ftrace, FTRACE, &["8:0", "8:16"], &ftrace),
    ]
}

/// One blktrace record.
pub(crate) struct Raw {
    pub(crate) time: u64,
    pub(crate) sector: u64,
    pub(crate) bytes: u32,
    pub(crate) action: u16,
    pub(crate) about: u16,
    pub(crate) pid: u32,
    pub(crate) pdu: Vec<u8>,
}

impl Raw {
    pub(crate) fn new(time: u64, action: u16, about: u16, sector: u64, bytes: u32) -> Raw {
        Raw { time, sector, bytes, action, about, pid: 42, pdu: Vec::new() }
    }

    pub(crate) fn bytes(&self, big: bool) -> Vec<u8> {
        let action = u32::from(self.about) << 16 | u32::from(self.action);
        let mut out = Vec::new();
        let word = |out: &mut Vec<u8>, w: u32| {
            out.extend(if big { w.to_be_bytes() } else { w.to_le_bytes() });
        };
        let long = |out: &mut Vec<u8>, w: u64| {
            out.extend(if big { w.to_be_bytes() } else { w.to_le_bytes() });
        };
        word(&mut out, 0x6561_7407);
        word(&mut out, 1);
        long(&mut out, self.time);
        long(&mut out, self.sector);
        for field in [self.bytes, action, self.pid, 8 << 20 | 16, 3] {
            word(&mut out, field);
        }
        let length = self.pdu.len() as u16;
        out.extend([0, 0]);
        out.extend(if big { length.to_be_bytes() } else { length.to_le_bytes() });
        out.extend(&self.pdu);
        out
    }
}

/// Reads, a merged write, a remap, a split, a process name, a flush.
pub(crate) fn blktrace_rows() -> Vec<Raw> {
    const READ: u16 = 1;
    const WRITE: u16 = 2;
    const FLUSH: u16 = 4;
    const SYNC: u16 = 8;
    let mut name = Raw::new(999_000, 0, 1 << 10, 0, 0);
    name.pdu = b"my proc\0\0\0\0\0\0\0\0\0".to_vec();
    let mut remap = Raw::new(1_000_000, 15, READ, 800, 4096);
    remap.pdu = vec![0; 16];
    let mut split = Raw::new(1_012_000, 13, READ, 1000, 16_384);
    split.pdu = 1032u64.to_be_bytes().to_vec();
    let done = |mut raw: Raw| {
        raw.pid = 0;
        raw
    };
    vec![
        name,
        remap,
        Raw::new(1_000_500, 1, READ, 800, 4096),
        Raw::new(1_001_000, 4, READ, 800, 4096),
        Raw::new(1_002_000, 1, WRITE | SYNC, 16, 512),
        Raw::new(1_002_500, 1, WRITE | SYNC, 15, 512),
        Raw::new(1_002_600, 3, WRITE | SYNC, 15, 512),
        Raw::new(1_003_000, 7, WRITE | SYNC, 15, 1024),
        Raw::new(1_004_000, 7, READ, 800, 4096),
        done(Raw::new(1_005_000, 8, READ, 800, 4096)),
        done(Raw::new(1_006_000, 8, WRITE | SYNC, 15, 1024)),
        Raw::new(1_007_000, 1, FLUSH | WRITE | SYNC, 0, 0),
        Raw::new(1_008_000, 7, FLUSH | READ, 0, 0),
        done(Raw::new(1_009_000, 8, FLUSH | READ, 0, 0)),
        Raw::new(1_011_000, 1, READ, 1000, 32_768),
        split,
        Raw::new(1_013_000, 7, READ, 1000, 16_384),
        Raw::new(1_013_500, 7, READ, 1032, 16_384),
        done(Raw::new(1_014_000, 8, READ, 1000, 16_384)),
        done(Raw::new(1_015_000, 8, READ, 1032, 16_384)),
    ]
}

fn blktrace(big: bool) -> Fixture {
    let bytes = blktrace_rows().iter().flat_map(|raw| raw.bytes(big)).collect();
    let split = by(plain(10_500, Read, 1000, 32), 42);
    let records = vec![
        sent(by(plain(0, Read, 800, 8), 42), 3_500, 4_500),
        sent(synchronous(by(plain(1_500, Write, 16, 1), 42)), 2_500, 5_500),
        sent(synchronous(by(plain(2_000, Write, 15, 1), 42)), 2_500, 5_500),
        sent(synchronous(by(plain(6_500, Flush, 0, 0), 42)), 7_500, 8_500),
        sent(split, 12_500, 13_500),
        sent(Record { start: Sector(1032), ..split }, 13_000, 14_500),
    ];
    Fixture { format: Format::Blktrace, bytes, records, devices: vec!["8:16"] }
}

fn vscsi_one() -> Fixture {
    let mut bytes = Vec::new();
    for (serial, length, command, block, time) in
        [(1u32, 512u32, 0x2au16, 42u64, 1_000u64), (2, 4096, 0x28, 100, 1_250), (3, 0, 0x12, 0, 1_300)]
    {
        bytes.extend(serial.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(command.to_le_bytes());
        bytes.extend(0x100u16.to_le_bytes());
        bytes.extend(block.to_le_bytes());
        bytes.extend(time.to_le_bytes());
    }
    let records = vec![plain(0, Write, 42, 1), plain(250_000, Read, 100, 8)];
    Fixture { format: Format::Vscsi, bytes, records, devices: vec!["disk"] }
}

fn vscsi_two() -> Fixture {
    let mut bytes = Vec::new();
    for (command, length, block, time, response) in
        [(0x28u16, 4096u32, 8u64, 10u64, 500u64), (0x35, 0, 0, 20, 70), (0x42, 512, 16, 30, 0)]
    {
        bytes.extend(command.to_le_bytes());
        bytes.extend(0x200u16.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(length.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(block.to_le_bytes());
        bytes.extend(time.to_le_bytes());
        bytes.extend(response.to_le_bytes());
    }
    let records = vec![
        done(plain(0, Read, 8, 8), 500_000),
        done(plain(10_000, Flush, 0, 0), 80_000),
        done(plain(20_000, Discard, 16, 1), 20_000),
    ];
    Fixture { format: Format::Vscsi, bytes, records, devices: vec!["disk"] }
}
