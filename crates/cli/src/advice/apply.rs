//! The lines that give a disk another scheduler: now, for good, and back.

use std::collections::BTreeMap;

use serde::Serialize;

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
        let mut now = Vec::new();
        if let Some(module) = self.module(scheduler) {
            now.push(format!("modprobe {module}"));
        }
        now.push(format!("echo {scheduler} > {queue}/scheduler"));
        now.extend(settings.iter().map(|(name, value)| format!("echo {value} > {queue}/iosched/{name}")));
        let stem = format!("60-idlewise-{}", self.name.replace(['!', '/'], "-"));
        let udev_file = format!("/etc/udev/rules.d/{stem}.rules");
        let tuned_file = format!("/etc/tuned/{stem}/tuned.conf");
        Lines {
            udev_rule: self.rule(scheduler, settings),
            tuned_profile: self.profile(scheduler, settings),
            undo: self.undo(&queue, &udev_file, settings),
            now,
            udev_file,
            tuned_file,
        }
    }

    /// The module to load first, if the kernel does not offer `scheduler` yet.
    fn module(&self, scheduler: &str) -> Option<&'static str> {
        if self.offered.iter().any(|offered| offered == scheduler) {
            return None;
        }
        match scheduler {
            "none" => None,
            "bfq" => Some("bfq"),
            "kyber" => Some("kyber-iosched"),
            "mq-deadline" => Some("mq-deadline"),
            _ => Some("idlewise"),
        }
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

    fn undo(&self, queue: &str, udev_file: &str, settings: &[(String, String)]) -> Vec<String> {
        let mut lines = vec![format!("rm -f {udev_file}"), "udevadm control --reload".to_owned()];
        lines.push(format!("echo {} > {queue}/scheduler", self.scheduler));
        let known = |(name, _): &&(String, String)| self.tunables.contains_key(name);
        lines.extend(
            settings
                .iter()
                .filter(known)
                .map(|(name, _)| format!("echo {} > {queue}/iosched/{name}", self.tunables[name])),
        );
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
        assert!(lines.undo.contains(&"rm -f /etc/udev/rules.d/60-idlewise-sda.rules".to_owned()));
    }
}
