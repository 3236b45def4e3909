//! The papers' machines, and one of today: a table of parameters, each with its source.
//!
//! Costs of calls are what lmbench (USENIX 1996, and its later tables) has for such processors, to one digit.

use idlewise_core::Duration;

use super::parameters::{
    Allocation, Congestion, Costs, DirtyLimits, Fault, JournalSettings, Layout, Mapping, Network, Parameters,
    Readahead, Spread, Writes,
};

const MIB: u32 = 256;

/// ext3 with blocks of 4 KiB as mke2fs made it then: groups of 128 MiB, an inode of 128 bytes for each 8 KiB, no index of
/// names (that became usual in 2006).
const EXT3: Layout = Layout {
    group: 32_768,
    flex: 1,
    descriptor: 32,
    inode_table: 512,
    inodes_per_block: 32,
    names_per_block: 170,
    hashed: false,
    spread: Spread::Top,
    mapping: Mapping::Indirect { direct: 12, each: 1024 },
    hop: 0,
    allocation: Allocation::AtOnce { reserve: 0 },
    journal_in_middle: false,
    inode_readahead: 1,
    fragments: 0,
};

/// ext4 as mke2fs makes it: 16 groups together (`flex_bg`); inodes of 256 bytes, one for each 16 KiB; names by hash;
/// extents; blocks when the file is written back (`delalloc`), up to 64 KiB (`mb_stream_req`) in runs of 2 MiB
/// (`mb_group_prealloc`), 8 MiB at a time (`MAX_WRITEPAGES_EXTENT_LEN`); 32 blocks of inodes read together
/// (`inode_readahead_blks`).
const EXT4: Layout = Layout {
    flex: 16,
    descriptor: 64,
    inodes_per_block: 16,
    hashed: true,
    mapping: Mapping::Extents { direct: 4 },
    allocation: Allocation::Delayed { small: 16, run: 512, gathers: 2048 },
    journal_in_middle: true,
    inode_readahead: 32,
    ..EXT3
};

/// FFS as newfs of FreeBSD 4.3 made it on a large disk: groups of 32 MiB (16 cylinders of 4096 sectors), blocks of 8 KiB, an
/// inode of 128 bytes for each 4 KiB, each 16 MiB of a file in another group (`maxbpg`), each directory in the group with
/// the fewest.
const FFS: Layout = Layout {
    group: 8192,
    flex: 1,
    descriptor: 0,
    inode_table: 256,
    inodes_per_block: 32,
    names_per_block: 170,
    hashed: false,
    spread: Spread::Every,
    mapping: Mapping::Indirect { direct: 24, each: 4096 },
    hop: 4096,
    allocation: Allocation::AtOnce { reserve: 0 },
    journal_in_middle: false,
    inode_readahead: 2,
    fragments: 0,
};

/// Linux's `dirty_background_ratio` and `dirty_ratio` in percent of `memory`, `dirty_writeback_centisecs` of 500 and
/// `dirty_expire_centisecs` of 3000, `MAX_WRITEBACK_PAGES`; before Linux 2.6.32 the device's line
/// comes last.
const fn ratios(memory: u32, background: u32, most: u32) -> DirtyLimits {
    DirtyLimits {
        background: memory / 100 * background,
        chunk: 1024,
        round: None,
        most: memory / 100 * most,
        period: Duration::from_ms(5000),
        age: Duration::from_ms(30_000),
        write_behind: 0,
        paces: false,
        plugs: false,
        device_last: Some(CONGESTION),
    }
}

/// block/ll_rw_blk.c: `blk_queue_congestion_threshold` of a queue of 128.
const CONGESTION: Congestion = Congestion { on: 113, off: 103 };

/// A journal of 32 MiB, mke2fs's for such disks; commits every 5 s (`commit=` of mount); ext3 had no barriers by default.
const JOURNAL: JournalSettings =
    JournalSettings { blocks: 8192, interval: Duration::from_ms(5000), sync: false, barriers: false };

/// Memory for the kernel and programs, in pages: what such machines show as neither free nor cached.
const LINUX_OWN: u32 = 64 * MIB;

/// Fast Ethernet, for which a TCP packet of 1460 bytes takes 1538; a socket's buffer of 16 KiB (`net.inet.tcp.sendspace`, and the second
/// number of Linux's `tcp_wmem`).
const FAST_ETHERNET: Network = Network { rate: 12_500_000 / 1538 * 1460, buffer: 16 << 10 };

const GIB: u32 = 1024 * MIB;

/// SOSP'01 §4: Pentium III at 550 MHz, 128 MB, FreeBSD 4.3.
const FREEBSD_4_3: Parameters = Parameters {
    name: "freebsd-4.3",
    about: "SOSP'01: FreeBSD 4.3, 128 MB, FFS without soft updates, Pentium III at 550 MHz",
    memory: (128 - 24) * MIB,
    // kern/vfs_bio.c: nbuf is 2917 with 128 MB, dirty buffers of 8 KiB are nbuf / 4 + 20 at most, and written down to
    // half of it. The syncer (kern/vfs_subr.c) comes every second and writes what is 30 s old.
    dirty: DirtyLimits {
        background: 749,
        chunk: 16,
        round: None,
        most: 1498,
        period: Duration::from_ms(1000),
        age: Duration::from_ms(30_000),
        write_behind: 16,
        paces: false,
        plugs: false,
        device_last: None,
    },
    // DFLTPHYS has room for 8 blocks.
    readahead: Readahead::Clusters { cluster: 8 },
    // vm/vm_fault.c: VM_FAULT_READ_BEHIND and VM_FAULT_READ_AHEAD.
    fault: Fault { before: 8, after: 7 },
    layout: FFS,
    journal: None,
    synchronous_names: true,
    access_times: true,
    // DFLTPHYS.
    request_max: 16,
    // vfs.hirunningspace of 1 MiB.
    writes: Writes::Fixed { most: 16, again: 15 },
    asks_last: false,
    // A block of FFS.
    buffer: 8192,
    advises: false,
    // The paper names none; a laboratory had this in 2001.
    network: FAST_ETHERNET,
    costs: Costs {
        processors: 1,
        call: Duration::from_us(3),
        page: Duration::from_us(15),
        fill: Duration::from_us(15),
        fetch: Duration::from_us(5),
        gather: Duration(2500),
        send: Duration(2500),
        end: Duration::ZERO,
        fault: Duration::from_us(10),
        name: Duration::from_us(10),
        fork: Duration::from_us(400),
        exec: Duration::from_us(800),
        exit: Duration::from_us(200),
    },
};

/// OLS'05 §5.2: Xeon at 2.28 GHz, of which one was used, 1 GB, Linux 2.6.9, ext3.
const LINUX_2_6_9: Parameters = Parameters {
    name: "linux-2.6.9",
    about: "OLS'05: Linux 2.6.9, 1 GB, ext3, Xeon at 2.28 GHz",
    memory: GIB - LINUX_OWN,
    dirty: ratios(GIB, 10, 40),
    // VM_MAX_READAHEAD of 128 KiB.
    readahead: Readahead::Hits { max: 32 },
    // mm/filemap.c reads the maximum around a fault.
    fault: Fault { before: 16, after: 15 },
    layout: EXT3,
    journal: Some(JOURNAL),
    synchronous_names: false,
    access_times: true,
    // 256 sectors: what an IDE command of 28 bits takes.
    request_max: 32,
    // BLKDEV_MAX_RQ.
    writes: Writes::Fixed { most: 128, again: 127 },
    asks_last: false,
    // A block of ext3 (`st_blksize`).
    buffer: 4096,
    advises: false,
    network: Network { rate: 10 * FAST_ETHERNET.rate, ..FAST_ETHERNET },
    costs: Costs {
        processors: 1,
        call: Duration::from_us(1),
        page: Duration::from_us(3),
        fill: Duration::from_us(3),
        fetch: Duration::from_us(1),
        gather: Duration(500),
        send: Duration(500),
        end: Duration::ZERO,
        fault: Duration::from_us(2),
        name: Duration::from_us(3),
        fork: Duration::from_us(150),
        exec: Duration::from_us(400),
        exit: Duration::from_us(100),
    },
};

/// IOAZ §3.3: Athlon at 1.2 GHz, 1 GB of PC2100, Linux 2.6.11. ext3 sets 8 blocks aside from 2.6.10 on.
const LINUX_2_6_11: Parameters = Parameters {
    name: "linux-2.6.11",
    about: "IOAZ: Linux 2.6.11, 1 GB, ext3, Athlon at 1.2 GHz",
    readahead: Readahead::Windows { max: 32 },
    layout: Layout { allocation: Allocation::AtOnce { reserve: 8 }, ..EXT3 },
    costs: Costs {
        page: Duration::from_us(6),
        fill: Duration::from_us(6),
        fetch: Duration::from_us(2),
        gather: Duration::from_us(1),
        send: Duration::from_us(1),
        end: Duration::ZERO,
        fork: Duration::from_us(250),
        exec: Duration::from_us(600),
        ..LINUX_2_6_9.costs
    },
    ..LINUX_2_6_9
};

/// UNC §V: Xeon at 2.4 GHz, 1 GB, CentOS with Linux 2.6.32: `dirty_ratio` is 20, times of access are relative, requests have up
/// to 512 KiB (`max_sectors_kb`).
const LINUX_2_6_32: Parameters = Parameters {
    name: "linux-2.6.32",
    about: "UNC: Linux 2.6.32, 1 GB, ext4, Xeon at 2.4 GHz",
    dirty: DirtyLimits { device_last: None, ..ratios(GIB, 10, 20) },
    readahead: Readahead::OnDemand { max: 32 },
    layout: EXT4,
    journal: Some(JournalSettings { sync: true, barriers: true, ..JOURNAL }),
    access_times: false,
    request_max: 128,
    // IO_BUFSIZE of coreutils 8.4.
    buffer: 32 << 10,
    ..LINUX_2_6_9
};

/// Debian 12 in a guest of 1 GB: Linux 6.1, ext4. Requests have up to 1280 KiB, and writeback is throttled.
const DEBIAN12: Parameters = Parameters {
    name: "debian12",
    about: "Debian 12: Linux 6.1, 1 GB, ext4, two processors of today",
    // mm/page-writeback.c: `balance_dirty_pages` paces from Linux 3.2 on. fs/fs-writeback.c: `writeback_chunk_size` is an
    // eighth of the dirty limit when the machine starts, and 4 MiB, and whole 4 MiB: with 1 GB that makes 8 MiB;
    // `writeback_sb_inodes` goes on for HZ/10. block/blk-core.c: `blk_start_plug`.
    dirty: DirtyLimits {
        paces: true,
        chunk: 2048,
        round: Some(Duration::from_ms(100)),
        plugs: true,
        device_last: None,
        ..ratios(GIB - LINUX_OWN, 10, 20)
    },
    journal: Some(JournalSettings { blocks: 16_384, sync: true, barriers: true, ..JOURNAL }),
    request_max: 320,
    // wbt_lat_usec of a disk that turns.
    writes: Writes::Throttled(Duration::from_ms(75)),
    // block/blk-mq.c: `kblockd`.
    asks_last: true,
    // IO_BUFSIZE of coreutils 9.1, which has fadvise from 8.6 on.
    buffer: 128 << 10,
    advises: true,
    costs: Costs {
        processors: 2,
        call: Duration(300),
        page: Duration(700),
        fill: Duration(700),
        fetch: Duration(300),
        gather: Duration(150),
        send: Duration(150),
        end: Duration::ZERO,
        fault: Duration(800),
        name: Duration::from_us(1),
        fork: Duration::from_us(80),
        exec: Duration::from_us(300),
        exit: Duration::from_us(60),
    },
    ..LINUX_2_6_32
};

/// Debian 12 in QEMU, where an instruction takes a nanosecond: real programs run there beside this machine (docs/real.md). Costs are
/// those that `kernel/guest/machine.sh` prints; how a written page's 5.6 us of the flusher fall to gathering, sending and the end is
/// from a trace (scheduler and block events).
const GUEST: Parameters = Parameters {
    name: "guest",
    about: "Debian 12 in an emulator: as debian12, one processor of 10^9 instructions a second",
    costs: Costs {
        processors: 1,
        call: Duration::from_us(3),
        page: Duration::from_us(5),
        fill: Duration::from_us(21),
        fetch: Duration::from_us(7),
        gather: Duration(1800),
        send: Duration(2900),
        end: Duration(900),
        fault: Duration::from_us(10),
        name: Duration::from_us(35),
        fork: Duration::from_us(500),
        exec: Duration::from_us(1200),
        exit: Duration::from_us(290),
    },
    ..DEBIAN12
};

/// All machines.
pub const ALL: [Parameters; 6] = [FREEBSD_4_3, LINUX_2_6_9, LINUX_2_6_11, LINUX_2_6_32, DEBIAN12, GUEST];

/// The machine called `name`.
pub fn named(name: &str) -> Option<Parameters> {
    ALL.into_iter().find(|one| one.name == name)
}

impl Parameters {
    /// The same machine with `percent` of the memory, for programs that are as much smaller.
    #[must_use]
    pub fn scaled(self, percent: u32) -> Parameters {
        self.with_memory(u64::from(self.memory) * u64::from(percent) / 100)
    }

    /// The same machine with a page cache of `memory` pages, of which as large a part may be dirty.
    #[must_use]
    pub fn with_memory(self, memory: u64) -> Parameters {
        let scale = |pages: u32| (u64::from(pages) * memory / u64::from(self.memory)).max(64) as u32;
        let DirtyLimits { background, most, .. } = self.dirty;
        let dirty = DirtyLimits { background: scale(background), most: scale(most), ..self.dirty };
        Parameters { memory: scale(self.memory), dirty, ..self }
    }
}
