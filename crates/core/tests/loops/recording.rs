//! A recording: the scenario, as `scripts/kernel-compare/loops.c` has it, and what the kernel did.

use idlewise_core::request::{Class, Operation, Priority};
use idlewise_core::units::Duration;

/// Where a process's next request goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    By(u64),
    Random,
}

/// A process, and what the kernel gave it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    pub(crate) who: u32,
    pub(crate) operation: Operation,
    pub(crate) sync: bool,
    pub(crate) first: u64,
    pub(crate) length: u32,
    pub(crate) step: Step,
    pub(crate) span: u64,
    pub(crate) batch: u32,
    pub(crate) think: Duration,
    /// Up to so much more, at random.
    pub(crate) jitter: Duration,
    pub(crate) priority: Priority,
    pub(crate) count: Option<u64>,
    /// When its first request came.
    pub(crate) begin: Duration,
    /// How long the machine computes from its last completion to its next request, besides thinking.
    pub(crate) reply: Duration,
    /// How many of its requests were done during the run.
    pub(crate) served: u64,
}

/// From when on how many requests of a kind may be in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depth {
    pub(crate) operation: Operation,
    pub(crate) tokens: u64,
    pub(crate) since: Duration,
}

/// A recording.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    pub(crate) scheduler: String,
    /// Names and values as written.
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) rotational: bool,
    pub(crate) run: Duration,
    pub(crate) processes: Vec<Process>,
    pub(crate) service: Duration,
    pub(crate) turn: Duration,
    /// How long the disk idled though requests waited.
    pub(crate) idled: Duration,
    /// Numbers of tokens that kyber has set.
    pub(crate) depths: Vec<Depth>,
    /// Why ours does not do the same.
    pub(crate) differs: Option<String>,
}

fn time(text: &str) -> Duration {
    let (number, scale) = match text.strip_suffix("us") {
        Some(number) => (number, 1_000),
        None => (text.strip_suffix("ms").expect("a time in us or ms"), 1_000_000),
    };
    Duration(number.parse::<u64>().unwrap() * scale)
}

fn pairs<'a>(words: impl Iterator<Item = &'a str>) -> impl Iterator<Item = (&'a str, &'a str)> {
    words.map(|word| word.split_once('=').unwrap_or_else(|| panic!("no value: {word}")))
}

fn priority(text: &str) -> Priority {
    let (class, level) = text.split_once('/').unwrap();
    let class = match class {
        "rt" => Class::RealTime,
        "be" => Class::BestEffort,
        "idle" => Class::Idle,
        _ => panic!("no class: {text}"),
    };
    Priority { class, level: level.parse().unwrap() }
}

impl Process {
    fn read<'a>(mut words: impl Iterator<Item = &'a str>) -> Process {
        let who = words.next().unwrap().parse().unwrap();
        let kind = words.next().unwrap();
        let (first, length) = words.next().unwrap().split_once('+').unwrap();
        let (first, length) = (first.parse().unwrap(), length.parse().unwrap());
        let mut process = Process {
            who,
            operation: if kind == "R" { Operation::Read } else { Operation::Write },
            sync: kind != "A",
            first,
            length,
            step: Step::By(length.into()),
            span: 32768,
            batch: 1,
            think: Duration::ZERO,
            jitter: Duration::ZERO,
            priority: Priority::default(),
            count: None,
            begin: Duration::ZERO,
            reply: Duration::ZERO,
            served: 0,
        };
        for (name, value) in pairs(words) {
            match name {
                "step" if value == "random" => process.step = Step::Random,
                "step" => process.step = Step::By(value.parse().unwrap()),
                "span" => process.span = value.parse().unwrap(),
                "batch" => process.batch = value.parse().unwrap(),
                "think" => process.think = time(value),
                "jitter" => process.jitter = time(value),
                "prio" => process.priority = priority(value),
                "count" => process.count = Some(value.parse().unwrap()),
                // When it does begin is among what was recorded.
                "from" => {}
                _ => panic!("a process has no {name}"),
            }
        }
        process
    }

    fn served<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        for (name, value) in pairs(words) {
            match name {
                "requests" => self.served = value.parse().unwrap(),
                "begin" => self.begin = time(value),
                "reply" => self.reply = time(value),
                _ => {}
            }
        }
    }
}

impl Recording {
    pub(crate) fn read(text: &str) -> Recording {
        let none = Duration::ZERO;
        let mut recording = Recording {
            scheduler: String::new(),
            settings: Vec::new(),
            rotational: false,
            run: none,
            processes: Vec::new(),
            service: none,
            turn: none,
            idled: none,
            depths: Vec::new(),
            differs: None,
        };
        text.lines().for_each(|line| recording.line(line));
        recording
    }

    fn line(&mut self, line: &str) {
        if let Some(why) = line.strip_prefix("# Differs: ") {
            self.differs = Some(why.into());
        }
        let mut words = line.split('#').next().unwrap().split_whitespace();
        match words.next() {
            None => {}
            Some("scheduler") => {
                self.scheduler = words.next().unwrap().into();
                self.settings = pairs(words).map(|(name, value)| (name.into(), value.into())).collect();
            }
            Some("rotational") => self.rotational = true,
            Some("run") => self.run = time(words.next().unwrap()),
            Some("process") => self.processes.push(Process::read(words)),
            Some("machine") => {
                for (name, value) in pairs(words) {
                    *(if name == "turn" { &mut self.turn } else { &mut self.service }) = time(value);
                }
            }
            Some("served") => {
                let who = words.next().unwrap().parse().unwrap();
                let process = self.processes.iter_mut().find(|process| process.who == who);
                process.expect("a process of the scenario").served(words);
            }
            Some("depth") => {
                let operation = if words.next() == Some("READ") { Operation::Read } else { Operation::Write };
                let tokens = words.next().unwrap().parse().unwrap();
                let since = pairs(words).next().map(|(_, value)| time(value)).unwrap();
                self.depths.push(Depth { operation, tokens, since });
            }
            Some("idled") => self.idled = time(words.next().unwrap()),
            Some(word) => panic!("a recording has no {word}"),
        }
    }
}
