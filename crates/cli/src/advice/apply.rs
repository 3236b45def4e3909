//! The lines that give a disk another scheduler: now, for good, and back.

use std::collections::BTreeMap;

use serde::Serialize;

/// The schedulers of the kernel's own, and the module of each that has one.
const KERNELS: [(&str, Option<&str>); 4] = [
    ("none", None),
    ("mq-deadline", Some("mq-deadline")),
    ("kyber", Some("kyber-iosched")),
    ("bfq", Some("bfq")),
];
/// The module of idlewise's own schedulers.
const OWN: &str = "idlewise";

/// Whether a scheduler that the kernel offers is one of idlewise's own.
pub(super) fn is_own(scheduler: &str) -> bool {
    KERNELS.iter().all(|(kernels, _)| *kernels != scheduler)
}

/// A disk as the kernel has it, and what it may have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Target {
    /// The kernel's name, such as `sda`.
    pub(crate) name: String,
    /// The device's world-wide id, which does not change with the order in which disks are found.
    pub(crate) wwid: Option<String>,
    /// The scheduler in use.
    pub(crate) scheduler: String,
    /// The tunables of the scheduler in use, by name.
    pub(crate) tunables: BTreeMap<String, String>,
    /// Those of them that were set, and are no defaults.
    pub(crate) set: Vec<String>,
    /// The schedulers that the kernel offers for the disk; empty if that is not known.
    pub(crate) offered: Vec<String>,
}

/// Commands and files. None of them is run or written here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Lines {
    /// Commands that change the disk until it is found again.
    pub(crate) now: Vec<String>,
    /// A udev rule, and the file for it: the change for good.
    pub(crate) udev_file: String,
    pub(crate) udev_rule: String,
    /// A file that has the module of a scheduler of idlewise's own loaded at boot, before the rule.
    pub(crate) modules_file: Option<String>,
    /// A tuned profile that does the same. Where tuned runs, it overrules udev.
    pub(crate) tuned_file: String,
    pub(crate) tuned_profile: Vec<String>,
    /// Commands that take all of it back.
    pub(crate) undo: Vec<String>,
}

impl Target {
    /// The lines that give the disk `scheduler` with these settings, each a name and a value as sysfs has it.
    pub(crate) fn lines(&self, scheduler: &str, settings: &[(String, String)]) -> Lines {
        let queue = format!("/sys/block/{}/queue", self.name);
        let module = self.module(scheduler);
        let mut now: Vec<String> = module.iter().map(|module| format!("modprobe {module}")).collect();
        now.push(format!("echo {scheduler} > {queue}/scheduler"));
        now.extend(settings.iter().map(|(name, value)| format!("echo {value} > {queue}/iosched/{name}")));
        let stem = format!("60-idlewise-{}", self.name.replace(['!', '/'], "-"));
        let udev_file = format!("/etc/udev/rules.d/{stem}.rules");
        let tuned_folder = format!("/etc/tuned/{stem}");
        // The kernel loads its own schedulers' modules by itself.
        let modules_file = is_own(scheduler).then(|| format!("/etc/modules-load.d/{stem}.conf"));
        let mut undo = vec![format!("rm -f {udev_file}")];
        undo.extend(modules_file.iter().map(|file| format!("rm -f {file}")));
        undo.push(format!("rm -rf {tuned_folder}"));
        undo.extend(self.undo(&queue, scheduler, settings));
        Lines {
            udev_rule: self.rule(scheduler, settings),
            tuned_profile: self.profile(scheduler, settings),
            tuned_file: format!("{tuned_folder}/tuned.conf"),
            undo,
            now,
            udev_file,
            modules_file,
        }
    }

    /// The module to load first, if the kernel does not offer `scheduler` yet.
    fn module(&self, scheduler: &str) -> Option<&'static str> {
        if self.offered.iter().any(|offered| offered == scheduler) {
            return None;
        }
        KERNELS.iter().find(|(kernels, _)| *kernels == scheduler).map_or(Some(OWN), |(_, module)| *module)
    }

    /// A whole disk alone, never its partitions: those have no scheduler.
    fn rule(&self, scheduler: &str, settings: &[(String, String)]) -> String {
        let which = match &self.wwid {
            Some(wwid) => format!("ATTR{{device/wwid}}==\"{wwid}\""),
            None => format!("KERNEL==\"{}\"", self.name),
        };
        let settings: String = settings
            .iter()
            .map(|(name, value)| format!(", ATTR{{queue/iosched/{name}}}=\"{value}\""))
            .collect();
        format!(
            "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"disk\", {which}, \
             ATTR{{queue/scheduler}}=\"{scheduler}\"{settings}"
        )
    }

    fn profile(&self, scheduler: &str, settings: &[(String, String)]) -> Vec<String> {
        let mut lines = vec![
            "[main]".to_owned(),
            "summary=the scheduler that idlewise advised".to_owned(),
            "[disk]".to_owned(),
            format!("devices={}", self.name),
            format!("elevator={scheduler}"),
        ];
        if !settings.is_empty() {
            lines.push("[sysfs]".to_owned());
            let line = |(name, value): &(String, String)| {
                format!("/sys/block/{}/queue/iosched/{name}={value}", self.name)
            };
            lines.extend(settings.iter().map(line));
        }
        lines
    }

    fn undo(&self, queue: &str, scheduler: &str, settings: &[(String, String)]) -> Vec<String> {
        let before = if self.scheduler.is_empty() { "OLD" } else { &self.scheduler };
        let mut lines =
            vec!["udevadm control --reload".to_owned(), format!("echo {before} > {queue}/scheduler")];
        // Another scheduler begins with its defaults.
        let replaced = |name: &str| scheduler == before && settings.iter().any(|(own, _)| own == name);
        let tunables = self.tunables.iter().filter(|(name, _)| self.set.contains(name) || replaced(name));
        lines.extend(tunables.map(|(name, value)| format!("echo {value} > {queue}/iosched/{name}")));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target() -> Target {
        Target {
            name: "sda".to_owned(),
            scheduler: "mq-deadline".to_owned(),
            offered: ["none", "mq-deadline"].map(str::to_owned).to_vec(),
            ..Target::default()
        }
    }

    #[test]
    fn a_scheduler_that_is_not_there_has_its_module_loaded_first() {
        let lines = target().lines("bfq", &[("low_latency".to_owned(), "0".to_owned())]);
        assert_eq!(
            lines.now,
            [
                "modprobe bfq",
                "echo bfq > /sys/block/sda/queue/scheduler",
                "echo 0 > /sys/block/sda/queue/iosched/low_latency"
            ]
        );
        assert_eq!(target().lines("none", &[]).now, ["echo none > /sys/block/sda/queue/scheduler"]);
    }

    #[test]
    fn a_rule_names_the_disk_by_what_stays() {
        let rule = |target: Target| target.lines("bfq", &[]).udev_rule;
        assert!(rule(target()).contains("KERNEL==\"sda\""));
        let known = Target { wwid: Some("naa.5000c500a1b2c3d4".to_owned()), ..target() };
        assert!(rule(known.clone()).contains("ATTR{device/wwid}==\"naa.5000c500a1b2c3d4\""));
        assert!(!rule(known).contains("KERNEL"));
        assert!(rule(target()).contains("ENV{DEVTYPE}==\"disk\""), "partitions have no scheduler");
    }

    #[test]
    fn what_was_set_before_comes_back() {
        let tunables = [("fifo_batch".to_owned(), "16".to_owned())].into();
        let target = Target { tunables, ..target() };
        let lines = target.lines("mq-deadline", &[("fifo_batch".to_owned(), "64".to_owned())]);
        assert_eq!(lines.undo.last().unwrap(), "echo 16 > /sys/block/sda/queue/iosched/fifo_batch");
        assert_eq!(lines.undo[0], "rm -f /etc/udev/rules.d/60-idlewise-sda.rules");
        assert_eq!(lines.undo[1], "rm -rf /etc/tuned/60-idlewise-sda");
        // Of another scheduler only what was set comes back: the rest has its defaults.
        let tunables = [("fifo_batch", "1"), ("writes_starved", "2")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let target = Target { tunables: tunables.into(), set: vec!["fifo_batch".to_owned()], ..target };
        let lines = target.lines("bfq", &[]);
        assert_eq!(
            lines.undo[2..],
            [
                "udevadm control --reload",
                "echo mq-deadline > /sys/block/sda/queue/scheduler",
                "echo 1 > /sys/block/sda/queue/iosched/fifo_batch"
            ]
        );
    }

    #[test]
    fn a_scheduler_of_our_own_is_there_at_boot_and_gone_afterwards() {
        let lines = target().lines("cas", &[]);
        let file = "/etc/modules-load.d/60-idlewise-sda.conf";
        assert_eq!(lines.modules_file.as_deref(), Some(file));
        assert!(lines.undo.contains(&format!("rm -f {file}")));
        assert_eq!(target().lines("bfq", &[]).modules_file, None);
        // It is loaded now, and must be at the next boot, too.
        let offered = vec!["mq-deadline".to_owned(), "cas".to_owned()];
        assert!(Target { offered, ..target() }.lines("cas", &[]).modules_file.is_some());
    }
}
