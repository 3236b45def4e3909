//! Which keys of fio's are modelled, and which may be ignored without a word.

/// The keys that are modelled, each with what is made of it.
pub const KEYS: &[(&str, &str)] = &[
    ("rw", "read, write, rw, randread, randwrite, randrw; trims are refused"),
    ("rwmixread, rwmixwrite", "reads or writes in a hundred requests of rw and randrw"),
    ("bs, bsrange, bssplit", "request sizes, also for reads and writes apart; multiples of 512"),
    (
        "size, io_size, offset, offset_increment",
        "which part of the file, and how much is moved; also percentages",
    ),
    (
        "filename, directory, filesize",
        "which file; one job each for several; below /dev it is the whole disk",
    ),
    ("numjobs, loops, number_ios", "clones, repetitions, and the most requests of a job"),
    (
        "ioengine, iodepth",
        "an engine that waits for each request keeps one outstanding, whatever iodepth says",
    ),
    ("direct, buffered, sync", "with direct or sync somebody waits for writes; there is no page cache"),
    ("runtime, time_based, startdelay", "when a job begins and ends, in simulated time"),
    ("stonewall", "waits for all jobs before"),
    ("thinktime, thinktime_blocks", "a pause after this many requests; it caps iodepth, as in fio"),
    ("rate, rate_iops", "limits, evenly spaced; a mix keeps its shares; lateness is caught up"),
    ("prio, prioclass, nice", "the I/O priority that schedulers see"),
    ("cgroup_weight", "the weight, 1 to 10000, by which proportional-share schedulers divide disk time"),
    ("fsync, fdatasync", "a flush after this many writes; who thinks (`thinktime`) does so before it"),
    ("norandommap", "random blocks may repeat; without it each comes once a round"),
    ("random_distribution", "random, zipf:THETA, pareto:H"),
    ("randseed", "mixed with --seed"),
    ("kb_base", "1024 (k is 1024 and kib is 1000, as in fio) or 1000"),
];

/// Keys that change nothing of what the disk is asked to do, separated by spaces.
pub(super) const HARMLESS: &str = "\
    allow_mounted_write allrandrepeat clat_percentiles clocksource continue_on_error cpus_allowed \
    cpus_allowed_policy cpumask create_fsync create_on_open create_serialize description \
    disable_bw_measurement disable_clat disable_lat disable_slat error_dump exitall_on_error fallocate \
    fixedbufs gid group_reporting gtod_reduce hipri invalidate iomem iomem_align lat_percentiles \
    log_avg_msec log_hist_msec log_unix_epoch mem new_group numa_cpu_nodes numa_mem_policy openfiles \
    overwrite per_job_logs percentile_list randrepeat refill_buffers registerfiles scramble_buffers \
    slat_percentiles sqthread_poll status_interval thread uid unified_rw_reporting unit_base unlink \
    userspace_reap write_bw_log write_hist_log write_iops_log write_lat_log zero_buffers";
