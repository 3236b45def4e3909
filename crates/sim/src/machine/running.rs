//! A machine that runs: processes, their events, and the requests that come of them.
//!
//! Inside the machine time goes on from event to event: a process gets its processor's time, a pass of the flusher or a
//! commit is due, a request is done. The engine asks when the next one is ([`Workload::next`]), lets it happen
//! ([`Workload::ready`]), and takes the requests that came of it. When all programs but those in the background have ended, the
//! machine stops: what is dirty then stays so.

mod asking;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use idlewise_core::{Duration, Group, Instant, Issuer, Sectors};

use super::calls::{names, reads, syncs, writes};
use super::commit;
use super::kernel::Kernel;
use super::layout::{FileSystem, Full};
use super::network::Link;
use super::parameters::{PAGE_SECTORS, Parameters};
use super::process::{On, Open, Process, Step};
use super::processors::{Processors, Task};
use super::program::{Op, Program};
use super::readahead::State;
use super::transfers::{Waiter, Who};
use super::worker::Worker;
use super::writeback;
use crate::engine::exits::Exits;
use crate::workloads::{Moment, Named};

/// The longest time for which a process computes without giving way: ten milliseconds, a tick of Linux 2.4 and FreeBSD.
const TICK: Duration = Duration::from_ms(10);
/// The first number of a program; 1 and 2 are the flusher and the journal.
const FIRST: u32 = 3;

/// A program that a machine runs from the beginning.
pub struct Job {
    /// The program's name.
    pub name: &'static str,
    /// What the program does.
    pub program: Program,
    /// The job ends when all that are not in the background have ended.
    pub background: bool,
}

/// A machine with its programs.
pub struct Machine {
    kernel: Kernel,
    processes: Vec<Process>,
    /// When processes go on: the time, the order, the process.
    events: BinaryHeap<Reverse<(Instant, u64, u32)>>,
    order: u64,
    processors: Processors,
    link: Link,
    next_issuer: u32,
    /// Programs that have not ended, without those in the background.
    left: usize,
    moments: Vec<Moment>,
    /// Who has issued a request asks the scheduler at once.
    asks: Option<Issuer>,
    worker: Worker,
    /// The worker that ends what was written.
    finisher: Worker,
    /// Who asked last, and when, if it was not the worker.
    sender: Option<(Issuer, Instant)>,
    /// When it lets requests into the queue before it asks.
    let_in: Instant,
    /// The file system had no room for something.
    full: bool,
}

impl Machine {
    /// A machine that was just started, with nothing in memory, and these programs on it.
    pub fn new(parameters: Parameters, files: FileSystem, drive: u32, jobs: Vec<Job>) -> Machine {
        let mut machine = Machine {
            processors: Processors::new(parameters.costs.processors),
            kernel: Kernel::new(parameters, files, drive),
            processes: Vec::new(),
            events: BinaryHeap::new(),
            order: 0,
            link: Link::default(),
            next_issuer: FIRST,
            left: jobs.iter().filter(|job| !job.background).count(),
            moments: Vec::new(),
            asks: None,
            worker: Worker::default(),
            finisher: Worker::default(),
            sender: None,
            let_in: Instant::ZERO,
            full: false,
        };
        for job in jobs {
            let who = machine.number(None);
            machine.start(Process::new(who, job.name, job.program, job.background), Instant::ZERO);
        }
        machine
    }

    /// The page cache and all else that processes share.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The file system had no room: the programs did not do all that they wanted.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// A number for a process; a child belongs to its parent's group, and so does the parent.
    fn number(&mut self, parent: Option<Who>) -> Who {
        let issuer = Issuer(self.next_issuer);
        self.next_issuer += 1;
        Who { issuer, group: parent.map_or(Group(issuer.0), |parent| parent.group) }
    }

    fn start(&mut self, process: Process, at: Instant) -> u32 {
        self.processes.push(process);
        let number = self.processes.len() as u32 - 1;
        self.schedule(at, number);
        number
    }

    fn schedule(&mut self, at: Instant, process: u32) {
        self.order += 1;
        self.events.push(Reverse((at, self.order, process)));
    }

    /// The machine has stopped.
    fn stopped(&self) -> bool {
        self.left == 0
    }

    /// When something happens next without the disk.
    fn next_event(&self) -> Option<Instant> {
        if self.stopped() {
            return None;
        }
        let process = self.events.peek().map(|Reverse((at, _, _))| *at);
        let commit = self.kernel.journal.as_ref().and_then(|journal| journal.due());
        let pass = Some(self.kernel.flusher.next_pass);
        let window = self.kernel.throttle.as_ref().and_then(|throttle| throttle.due());
        let workers = self.worker.owes_since().into_iter().chain(self.finisher.owes_since());
        let due = self.processors.is_due()
            || self.kernel.flusher.has_sent && self.kernel.transfers.next().is_none();
        let due = due.then_some(self.kernel.now);
        process
            .into_iter()
            .chain(commit)
            .chain(pass)
            .chain(self.processors.next())
            .chain(window)
            .chain(workers)
            .chain(due)
            .min()
    }

    /// Lets all happen that is due before `now`: while the queue is full, the engine does not come for more.
    fn catch_up(&mut self, now: Instant, exits: &mut Exits) {
        while let Some(at) = self.next_event().filter(|at| *at < now) {
            self.happen(at, exits);
        }
    }

    /// Lets the next event happen.
    fn happen(&mut self, at: Instant, exits: &mut Exits) {
        self.kernel.now = self.kernel.now.max(at);
        if self.kernel.flusher.next_pass <= self.kernel.now {
            self.kernel.flusher.begin_pass(self.kernel.now);
        }
        if !self.wake() && !self.pay() {
            match self.processors.done(self.kernel.now) {
                Some(Task::Process(number)) => self.go_on(number, exits),
                Some(Task::Flusher) => self.kernel.flusher.runs = false,
                Some(Task::Worker) => self.worker.ran(),
                Some(Task::Finisher) => self.finisher.ran(),
                None => {}
            }
        }
        self.follow_up();
        self.processors.run(self.kernel.now);
    }

    /// Who wakes up needs a processor first; false: nobody does.
    fn wake(&mut self) -> bool {
        let mut any = false;
        while let Some(Reverse((due, _, process))) = self.events.peek().copied()
            && due <= self.kernel.now
        {
            self.events.pop();
            self.processors.want(self.kernel.now, Task::Process(process), Duration::ZERO);
            any = true;
        }
        any
    }

    /// The worker needs a processor for what it has sent; false: it has sent nothing.
    fn pay(&mut self) -> bool {
        let now = self.kernel.now;
        for (worker, task) in [(&mut self.worker, Task::Worker), (&mut self.finisher, Task::Finisher)] {
            if let Some(time) = worker.pay() {
                self.processors.want(now, task, time);
                return true;
            }
        }
        false
    }

    /// What the flusher and the journal do after anything has happened, and who goes on.
    fn follow_up(&mut self) {
        self.kernel.throttle();
        if !self.stopped() {
            commit::run(&mut self.kernel);
            writeback::run(&mut self.kernel, &mut self.processors);
        }
        for process in std::mem::take(&mut self.kernel.woken) {
            self.schedule(self.kernel.now, process);
        }
    }

    /// When the machine has stopped and all requests are done, those in the background exit, too.
    fn end(&mut self, exits: &mut Exits) {
        if self.stopped() && self.kernel.transfers.is_empty() {
            for process in self.processes.iter_mut().filter(|process| !process.gone) {
                process.gone = true;
                exits.announce(self.kernel.now, process.who.issuer);
            }
        }
    }

    /// Goes on with a process until it waits.
    fn go_on(&mut self, number: u32, exits: &mut Exits) {
        let at = number as usize;
        loop {
            if self.processes[at].gone {
                return;
            }
            if self.processes[at].op.is_none() && !self.processes[at].next() {
                if self.processes[at].debt > Duration::ZERO {
                    return self.spend(number);
                }
                return self.exit(number, exits);
            }
            match self.carry_out(number) {
                Step::Done => self.processes[at].op = None,
                Step::Spend => return self.spend(number),
                Step::Wait(on) => return self.wait(number, on),
            }
        }
    }

    fn spend(&mut self, number: u32) {
        let debt = std::mem::take(&mut self.processes[number as usize].debt);
        self.processors.want(self.kernel.now, Task::Process(number), debt);
    }

    fn wait(&mut self, number: u32, on: On) {
        match on {
            On::Transfer(transfer) => {
                if !self.kernel.transfers.wait(transfer, Waiter::Process(number)) {
                    self.schedule(self.kernel.now, number);
                }
            }
            On::Time(time) => self.schedule(self.kernel.now + time, number),
            On::Room => self.kernel.for_room.push(number),
            On::Clean => self.kernel.for_clean.push(number),
            On::Children => self.processes[number as usize].waits_for_children = true,
            // The journal knows who waits.
            On::Commit => {}
        }
    }

    /// Goes on with a process's operation.
    fn carry_out(&mut self, number: u32) -> Step {
        let process = &mut self.processes[number as usize];
        let Some(mut op) = process.op.take() else { return Step::Done };
        let kernel = &mut self.kernel;
        let step = match &mut op {
            Op::Compute(time) => {
                let now = TICK.min(*time);
                time.0 -= now.0;
                process.owe(now);
                if time.0 > 0 { Ok(Step::Spend) } else { Ok(Step::Done) }
            }
            Op::Sleep(_) | Op::Send(_) if process.debt > Duration::ZERO => Ok(Step::Spend),
            Op::Sleep(time) => match std::mem::take(time) {
                Duration::ZERO => Ok(Step::Done),
                time => Ok(Step::Wait(On::Time(time))),
            },
            Op::Send(bytes) => {
                let network = kernel.parameters.network;
                let wait = self.link.send(&mut process.connection, kernel.now, *bytes, network);
                Ok(wait.map_or(Step::Done, |time| Step::Wait(On::Time(time))))
            }
            Op::Open(file) | Op::Stat(file) => Ok(names::find(kernel, process, *file)),
            Op::Advise(file) => {
                let state = State::new(kernel.parameters.readahead.doubled());
                process.open.push(Open { file: *file, state });
                Ok(Step::Done)
            }
            Op::Close(file) => {
                process.open.retain(|open| open.file != *file);
                kernel.files.release(*file);
                Ok(Step::Done)
            }
            Op::List(directory) => Ok(reads::list(kernel, process, *directory)),
            Op::Read(part) => Ok(reads::read(kernel, process, *part)),
            Op::Touch(part) => Ok(reads::touch(kernel, process, *part)),
            Op::Write(part) => writes::write(kernel, process, *part),
            Op::Create(file, directory) => names::create(kernel, process, *file, *directory),
            Op::MakeDirectory(id, parent) => names::make_directory(kernel, process, *id, *parent),
            Op::Unlink(file) => Ok(names::unlink(kernel, process, *file)),
            Op::Sync(file) => Ok(syncs::sync(kernel, process, number, (*file, false))),
            Op::SyncData(file) => Ok(syncs::sync(kernel, process, number, (*file, true))),
            Op::SyncNames(directory) => Ok(syncs::sync_names(kernel, process, number, *directory)),
            Op::Mark(phase) => {
                let (issuer, at) = (process.who.issuer, kernel.now + process.debt);
                self.moments.push(Moment { issuer, phase: Some(*phase), at });
                Ok(Step::Done)
            }
            Op::Wait if process.children == 0 => Ok(Step::Done),
            Op::Wait => Ok(process.wait(On::Children)),
            Op::Spawn(name, program) => {
                let (name, mut program) = (*name, std::mem::replace(program, Box::new(std::iter::empty())));
                let step = self.spawn(number, name, &mut program);
                op = Op::Spawn(name, program);
                Ok(step)
            }
        };
        if !matches!(step, Ok(Step::Done)) {
            self.processes[number as usize].op = Some(op);
        }
        step.unwrap_or_else(|Full| {
            // The program goes on without what it wanted to write.
            self.full = true;
            self.processes[number as usize].op = None;
            Step::Done
        })
    }

    /// fork and exec: the parent pays for the fork, and then there is a child.
    fn spawn(&mut self, number: u32, name: &'static str, program: &mut Program) -> Step {
        let costs = self.kernel.parameters.costs;
        let parent = &mut self.processes[number as usize];
        if parent.stage == 0 {
            parent.stage = 1;
            parent.owe(costs.fork);
            return Step::Spend;
        }
        parent.children += 1;
        let (who, background) = (parent.who, parent.background);
        let own = self.number(Some(who));
        let program = std::mem::replace(program, Box::new(std::iter::empty()));
        let mut child = Process::new(own, name, program, background);
        (child.parent, child.debt) = (Some(number), costs.exec);
        self.start(child, self.kernel.now);
        Step::Done
    }

    fn exit(&mut self, number: u32, exits: &mut Exits) {
        let now = self.kernel.now;
        let process = &mut self.processes[number as usize];
        process.gone = true;
        process.program = Box::new(std::iter::empty());
        (process.open, process.reads) = (Vec::new(), VecDeque::new());
        let (issuer, background, parent) = (process.who.issuer, process.background, process.parent);
        exits.announce(now, issuer);
        if let Some(parent) = parent {
            let exit = self.kernel.parameters.costs.exit;
            let above = &mut self.processes[parent as usize];
            above.children -= 1;
            above.owe(exit);
            if above.children == 0 && std::mem::take(&mut above.waits_for_children) {
                self.schedule(now, parent);
            }
        } else {
            self.moments.push(Moment { issuer, phase: None, at: now });
            if !background {
                self.left -= 1;
            }
        }
    }
}

impl Named for Machine {
    fn name(&self, issuer: Issuer) -> Option<String> {
        match issuer.0 {
            1 => Some("flusher".to_owned()),
            2 => Some("journal".to_owned()),
            // Children are many, and their parents' names say enough.
            number => {
                let own = self.processes.get(number.checked_sub(FIRST)? as usize)?;
                own.parent.is_none().then(|| own.name.to_owned())
            }
        }
    }

    fn moments(&self) -> &[Moment] {
        &self.moments
    }

    fn longest_request(&self) -> Option<Sectors> {
        Some(Sectors(self.kernel.parameters.request_max * PAGE_SECTORS as u32))
    }
}
