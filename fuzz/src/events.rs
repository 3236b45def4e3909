//! Bytes as a sequence of events: whatever they are, requests are conserved and nothing panics.

use idlewise_core::registry::{self, Entry};
use idlewise_core::{
    Class, Decision, Device, Durable, Duration, Group, Instant, Issuer, Merging, Operation, Priority, Queue,
    Request, RequestId, Sector, Sectors, Weight,
};

/// Ids in the queue.
const SIZE: usize = 24;
/// A scheduler that waits this often in a row, without any event, makes no progress.
const WAITS_MAX: usize = 1000;

/// Numbers from the input; zeros after its end.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[usize::from(self.byte()) % among.len()]
    }

    /// A scheduler, and a value for some of its tunables.
    fn scheduler(&mut self) -> (&'static Entry, Vec<(&'static str, u64)>) {
        let entry = &registry::all()[usize::from(self.byte()) % registry::all().len()];
        let chosen = usize::from(self.byte());
        let mut settings = Vec::new();
        // A byte beyond the table chooses the defaults.
        if let Some(tunable) = entry.tunables.get(chosen) {
            let span = tunable.max - tunable.min;
            let value = [0, span, span / 2, u64::from(self.byte()), 1][usize::from(self.byte()) % 5];
            settings.push((tunable.name, tunable.min + value.min(span)));
        }
        (entry, settings)
    }

    fn device(&mut self) -> Device {
        Device {
            rotational: self.byte() & 1 == 0,
            depth: self.pick(&[1, 2, 5]),
            merging: self.pick(&[Merging::All, Merging::Off, Merging::LastOnly]),
            max_parts: self.pick(&[128, 3]),
            ..Device::default()
        }
    }

    fn request(&mut self) -> Request {
        let operations = [Operation::Read, Operation::Write, Operation::Discard, Operation::Flush];
        let classes = [Class::BestEffort, Class::RealTime, Class::Idle];
        let flags = self.byte();
        let place = self.byte();
        let start = u64::from(place).saturating_mul(self.pick(&[8, 8, 1, 1 << 20, u64::MAX / 200]));
        Request {
            start: Sector(start),
            length: Sectors(self.pick(&[8, 0, 1, 16, u32::MAX])),
            operation: operations[usize::from(flags % 4)],
            priority: Priority { class: classes[usize::from(flags / 4 % 8).min(2)], level: flags % 8 },
            sync: flags & 32 == 0,
            metadata: flags & 64 != 0,
            more_follows: flags & 128 != 0,
            past: place % 16 == 15,
            durable: Durable::default(),
            issuer: Issuer(u32::from(self.byte() % 16)),
            group: Group(u32::from(flags % 3)),
            arrival: Instant::MAX,
        }
    }

    fn time(&mut self) -> Duration {
        let unit = self.pick(&[1, 1_000, 1_000_000, 100_000_000, 10_000_000_000]);
        Duration(u64::from(self.byte()) * unit)
    }
}

/// A queue and what its host knows.
struct Host {
    queue: Queue<idlewise_core::AnyScheduler>,
    now: Instant,
    in_flight: Vec<RequestId>,
    /// Requests in the queue, merged ones and those in flight among them.
    held: usize,
}

impl Host {
    fn has_room(&self) -> bool {
        self.in_flight.len() < self.queue.device().depth as usize
    }

    /// Asks. Returns the time that the scheduler named.
    fn dispatch(&mut self) -> Option<Instant> {
        match self.queue.dispatch(self.now).unwrap() {
            Decision::Dispatch(id) => {
                assert!(!self.in_flight.contains(&id), "{id} was dispatched twice");
                self.in_flight.push(id);
                None
            }
            Decision::WaitUntil(time) => Some(time),
            Decision::Idle => {
                let stuck = self.in_flight.is_empty() && self.held > 0;
                assert!(!stuck, "idle with requests waiting and none in flight");
                None
            }
        }
    }

    fn complete(&mut self, which: usize) {
        let id = self.in_flight.swap_remove(which);
        self.held -= self.queue.requests().parts(id).count();
        self.queue.complete(self.now, id).unwrap();
    }

    fn event(&mut self, input: &mut Input<'_>) {
        let kind = input.byte();
        let which = usize::from(input.byte());
        let in_flight = which.checked_rem(self.in_flight.len());
        match (kind % 16, in_flight) {
            (0..=5, _) => {
                let request = input.request();
                self.held += usize::from(self.queue.insert(self.now, request).is_ok());
            }
            (6..=8, _) if self.has_room() => {
                if let Some(time) = self.dispatch()
                    && kind & 16 == 0
                {
                    self.now = time;
                }
            }
            (9..=10, Some(which)) => self.complete(which),
            (11, Some(which)) => {
                let id = self.in_flight.swap_remove(which);
                self.queue.requeue(self.now, id).unwrap();
            }
            (12, _) => {
                let id = RequestId((which % SIZE) as u32);
                let parts = self.queue.requests().parts(id).count();
                self.held -= if self.queue.cancel(self.now, id).is_ok() { parts } else { 0 };
            }
            (13, _) if kind & 16 == 0 => {
                let weight = Weight::new(u32::from(input.byte()) + 1).unwrap();
                self.queue.set_weight(self.now, Issuer((which % 16) as u32), weight).unwrap();
            }
            (13, _) => self.queue.issuer_gone(self.now, Issuer((which % 16) as u32)).unwrap(),
            (14, _) => {
                let (entry, settings) = input.scheduler();
                self.queue.switch_to(self.now, entry, &settings).unwrap();
            }
            _ => self.now += input.time(),
        }
    }

    /// Serves all that is left.
    fn drain(&mut self) {
        let mut waits = 0;
        while self.held > 0 {
            assert!(waits < WAITS_MAX, "waits again and again though nothing happens");
            let before = self.in_flight.len();
            let named = if self.has_room() { self.dispatch() } else { None };
            if self.in_flight.len() > before {
                waits = 0;
            } else if let Some(time) = named {
                self.now = time;
                waits += 1;
            } else if before > 0 {
                self.now += Duration::from_us(200);
                self.complete(0);
                waits = 0;
            }
        }
        assert_eq!(self.queue.requests().free_count(), SIZE, "an id is lost");
        assert_eq!(self.queue.dispatch(self.now), Ok(Decision::Idle), "nothing is left to do");
    }
}

/// Plays the events that `data` means on the scheduler that it names, then serves what is left.
///
/// # Panics
/// If a request is lost, served twice or never, or if the scheduler or the queue panics.
pub fn run_events(data: &[u8]) {
    let mut input = Input(data);
    let (entry, settings) = input.scheduler();
    let queue = Queue::new(SIZE, input.device(), entry, &settings).unwrap();
    let mut host = Host { queue, now: Instant(0), in_flight: Vec::new(), held: 0 };
    while !input.0.is_empty() {
        host.event(&mut input);
    }
    host.drain();
}

/// Reads `data` as the text format of event sequences and runs it; what was written is read again.
///
/// # Panics
/// If the parser, the queue or a scheduler panics, or the written text gives other results.
pub fn run_text(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let (mut first, mut second) = (String::new(), String::new());
    if idlewise_core::ops::run(text, &mut first).is_ok() {
        idlewise_core::ops::run(&first, &mut second).unwrap();
        assert_eq!(first, second);
    }
}
