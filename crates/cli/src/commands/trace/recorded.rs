//! What a recording says of its disks, as lines of `trace info`.

use std::collections::BTreeMap;

use idlewise_sim::traces::recording::{Disk, Head};
use indicatif::HumanBytes;

/// A file of `/sys/block/DISK/queue` and what it is called here; `{}` is what it says.
const QUEUE: [(&str, &str); 9] = [
    ("nr_requests", "room for {} requests"),
    ("max_sectors_kb", "of at most {} KiB"),
    ("read_ahead_kb", "read-ahead {} KiB"),
    ("wbt_lat_usec", "write-back throttled at {} µs"),
    ("write_cache", "cache {}"),
    ("logical_block_size", "logical block {} B"),
    ("physical_block_size", "physical block {} B"),
    ("zoned", "zones: {}"),
    ("nomerges", "nomerges={}"),
];

/// What these say is nothing worth a word: no throttling, no zones, all merges.
const PLAIN: [(&str, &str); 3] = [("wbt_lat_usec", "0"), ("zoned", "none"), ("nomerges", "0")];

/// Lines with what was recorded where, labelled as those of `trace info`. `lost`: events that were.
pub(super) fn lines(head: &Head, lost: u64) -> String {
    let (kernel, idlewise) = (&head.kernel, &head.idlewise);
    let mut text =
        row("recorded", &format!("under Linux {kernel} by idlewise {idlewise}, {lost} events lost"));
    for disk in &head.disks {
        text += &row("disk", &format!("{}: {}", disk.name, what(disk)));
        let settings = listed(&disk.tunables);
        let of = if settings.is_empty() { String::new() } else { format!(" with {settings}") };
        text += &row("scheduler", &format!("{}{of}", disk.scheduler));
        text += &row("queue", &queue(&disk.queue));
    }
    text
}

fn row(label: &str, value: &str) -> String {
    format!("{label:<14} {value}\n")
}

fn what(disk: &Disk) -> String {
    let name = [&disk.vendor, &disk.model].map(|name| name.as_deref().unwrap_or_default()).join(" ");
    let kind = if disk.rotational { "rotating" } else { "not rotating" };
    let size = HumanBytes(disk.sectors.saturating_mul(512));
    let depth = disk.queue_depth.map_or(String::new(), |depth| format!(", {depth} commands at once"));
    let queues = disk.hardware_queues;
    let parts: Vec<&str> = disk.partitions.iter().map(|part| part.name.as_str()).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(", partitions {}", parts.join(" ")) };
    let comma = if name.trim().is_empty() { "" } else { ", " };
    let s = if queues == 1 { "" } else { "s" };
    format!("{}{comma}{kind}, {size}{depth}, {queues} hardware queue{s}{parts}", name.trim())
}

fn listed(settings: &BTreeMap<String, String>) -> String {
    let all: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    all.join(", ")
}

fn queue(files: &BTreeMap<String, String>) -> String {
    let words = QUEUE.iter().filter_map(|&(name, words)| {
        let value = files.get(name)?;
        (!PLAIN.contains(&(name, value.as_str()))).then(|| words.replace("{}", value))
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_told_in_three_lines() {
        let map = |all: &[(&str, &str)]| {
            all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let disk = Disk {
            name: "sda".into(),
            sectors: 8 << 21,
            rotational: true,
            scheduler: "mq-deadline".into(),
            hardware_queues: 1,
            model: Some("WD40".into()),
            queue_depth: Some(32),
            queue: map(&[("read_ahead_kb", "128"), ("wbt_lat_usec", "75000"), ("zoned", "none")]),
            tunables: map(&[("fifo_batch", "16")]),
            ..Disk::default()
        };
        let head = Head { kernel: "6.1".into(), idlewise: "1".into(), disks: vec![disk], ..Head::default() };
        let want = "\
recorded       under Linux 6.1 by idlewise 1, 3 events lost
disk           sda: WD40, rotating, 8.00 GiB, 32 commands at once, 1 hardware queue
scheduler      mq-deadline with fifo_batch=16
queue          read-ahead 128 KiB, write-back throttled at 75000 µs
";
        assert_eq!(lines(&head, 3), want);
        let bare = Head { disks: vec![Disk { name: "x".into(), ..Disk::default() }], ..Head::default() };
        assert!(lines(&bare, 0).contains("x: not rotating, 0 B, 0 hardware queues\n"), "{}", lines(&bare, 0));
    }
}
