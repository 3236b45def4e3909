//! The named mixes of phases.

use idlewise_core::Duration;

use super::Kind::{
    self, Backup, Copy, Database, Mail, RandomReaders, Scatter, SeqReaders, Thinkers, Web, Writers,
};

/// Phases and how many seconds each lasts.
pub struct Mix {
    /// Its name.
    pub name: &'static str,
    /// What it is like, in a sentence.
    pub summary: &'static str,
    /// The phases.
    pub phases: &'static [(Kind, u64)],
}

impl Mix {
    /// The phases as a load's text has them: `seq-readers=10:mail=20`.
    pub fn text(&self) -> String {
        let phases: Vec<_> = self.phases.iter().map(|(kind, s)| format!("{}={s}", kind.name())).collect();
        phases.join(":")
    }

    /// The phases with their lengths, `percent` of what they are.
    pub fn lengths(&self, percent: u64) -> Vec<(Kind, Duration)> {
        self.phases.iter().map(|(kind, s)| (*kind, Duration::from_ms(s * 10 * percent))).collect()
    }
}

/// All mixes.
pub static MIXES: &[Mix] = &[
    Mix {
        name: "tour",
        summary: "Sequential readers, random readers, writers, a mail server, a database, a backup beside people.",
        phases: &[
            (SeqReaders, 20),
            (RandomReaders, 20),
            (Writers, 15),
            (Mail, 20),
            (Database, 20),
            (Backup, 20),
        ],
    },
    Mix {
        name: "office",
        summary: "People's files by day: readers that think, a web server, a copy, mail; a backup at the end.",
        phases: &[(Thinkers, 15), (Web, 20), (Copy, 10), (Mail, 25), (Thinkers, 10), (Backup, 25)],
    },
    Mix {
        name: "night",
        summary: "Long jobs: a backup, a database, writers and scans of a minute each.",
        phases: &[(Backup, 60), (Database, 60), (Writers, 40), (SeqReaders, 60)],
    },
    Mix {
        name: "server",
        summary: "A database that is disturbed: by asynchronous reads, by a backup, by mail.",
        phases: &[(Database, 25), (Scatter, 15), (Database, 20), (Backup, 15), (Database, 20), (Mail, 15)],
    },
    Mix {
        name: "media",
        summary: "Streams that think, streams that do not, and copies between them.",
        phases: &[
            (Thinkers, 20),
            (SeqReaders, 15),
            (Thinkers, 15),
            (Copy, 20),
            (Thinkers, 20),
            (Writers, 15),
        ],
    },
    Mix {
        name: "shop",
        summary: "A small company's machine: pages, orders in a database, mail, a copy of what was ordered.",
        phases: &[(Web, 25), (Database, 20), (Mail, 15), (Web, 15), (Database, 20), (Copy, 10)],
    },
    Mix {
        name: "analytics",
        summary: "Scans of whole tables between look-ups: in order, anywhere, and asynchronously.",
        phases: &[(SeqReaders, 20), (RandomReaders, 20), (Database, 20), (SeqReaders, 15), (Scatter, 20)],
    },
    Mix {
        name: "quick",
        summary: "Every kind of phase for six seconds.",
        phases: &[
            (SeqReaders, 6),
            (Database, 6),
            (Thinkers, 6),
            (RandomReaders, 6),
            (Web, 6),
            (Mail, 6),
            (Copy, 6),
            (Scatter, 6),
            (Backup, 6),
            (Writers, 6),
        ],
    },
    Mix {
        name: "flip",
        summary: "Adversarial: what anticipation is best for and what it is worst for, five seconds each.",
        phases: &[
            (SeqReaders, 5),
            (RandomReaders, 5),
            (SeqReaders, 5),
            (Thinkers, 5),
            (SeqReaders, 5),
            (Scatter, 5),
            (SeqReaders, 5),
            (Database, 5),
        ],
    },
    Mix {
        name: "dwell",
        summary: "Adversarial: phases of one second, twice the dwell time of auto-predict.",
        phases: &[
            (SeqReaders, 1),
            (Thinkers, 1),
            (SeqReaders, 1),
            (RandomReaders, 1),
            (SeqReaders, 1),
            (Thinkers, 1),
            (Backup, 1),
            (Database, 1),
            (SeqReaders, 1),
            (Thinkers, 1),
            (Backup, 1),
            (Scatter, 1),
        ],
    },
];
