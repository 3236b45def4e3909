//! The named mixes of phases.

/// A load that changes, by its name.
pub struct Mix {
    /// The mix's name.
    pub name: &'static str,
    /// What it is like, in a sentence.
    pub summary: &'static str,
    /// The phases, each with its seconds, as a workload's text has them: `seq-readers=10:mail=20`.
    pub phases: &'static str,
}

/// All mixes.
pub static MIXES: &[Mix] = &[
    Mix {
        name: "tour",
        summary: "Sequential readers, random readers, writers, a mail server, a database, a backup beside people.",
        phases: "seq-readers=20:random-readers=20:writers=15:mail=20:database=20:backup=20",
    },
    Mix {
        name: "office",
        summary: "People's files by day: readers that think, a web server, a copy, mail; a backup at the end.",
        phases: "thinkers=15:web=20:copy=10:mail=25:thinkers=10:backup=25",
    },
    Mix {
        name: "night",
        summary: "Long jobs: a backup, a database, writers and scans of a minute each.",
        phases: "backup=60:database=60:writers=40:seq-readers=60",
    },
    Mix {
        name: "server",
        summary: "A database that is disturbed: by asynchronous reads, by a backup, by mail.",
        phases: "database=25:scatter=15:database=20:backup=15:database=20:mail=15",
    },
    Mix {
        name: "media",
        summary: "Streams that think, streams that do not, and copies between them.",
        phases: "thinkers=20:seq-readers=15:thinkers=15:copy=20:thinkers=20:writers=15",
    },
    Mix {
        name: "shop",
        summary: "A small company's machine: pages, orders in a database, mail, a copy of what was ordered.",
        phases: "web=25:database=20:mail=15:web=15:database=20:copy=10",
    },
    Mix {
        name: "analytics",
        summary: "Scans of whole tables between look-ups: in order, anywhere, and asynchronously.",
        phases: "seq-readers=20:random-readers=20:database=20:seq-readers=15:scatter=20",
    },
    Mix {
        name: "quick",
        summary: "Every kind of phase for six seconds.",
        phases: "seq-readers=6:database=6:thinkers=6:random-readers=6:web=6:mail=6:copy=6:scatter=6:backup=6:writers=6",
    },
    Mix {
        name: "flip",
        summary: "Adversarial: what anticipation is best for and what it is worst for, five seconds each.",
        phases: "seq-readers=5:random-readers=5:seq-readers=5:thinkers=5:seq-readers=5:scatter=5:seq-readers=5:database=5",
    },
    Mix {
        name: "dwell",
        summary: "Adversarial: phases of one second, twice the dwell time of auto-predict.",
        phases: "seq-readers=1:thinkers=1:seq-readers=1:random-readers=1:seq-readers=1:thinkers=1:backup=1:database=1:seq-readers=1:thinkers=1:backup=1:scatter=1",
    },
];
