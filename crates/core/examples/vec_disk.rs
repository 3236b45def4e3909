//! A whole host: serves requests from a `Vec` under whichever scheduler a selector chooses.
//!
//! ```text
//! cargo run -p idlewise-core --example vec_disk -- auto-matrix period=500ms goal=lowest
//! ```
//!
//! Time is virtual. The disk takes 5 ms for a request elsewhere and 100 µs for one where its head is. The load has
//! three phases: eight processes write in sequence, one reads in sequence, eight read at random places. Each process
//! issues its next request when its last one is done.

use std::error::Error;

use idlewise_core::selectors::{Action, Chooser, registry};
use idlewise_core::{
    AnyScheduler, Decision, Device, Duration, Host, Instant, Issuer, Operation, Request, RequestId, Sector,
    Sectors, host,
};

/// Requests that wait or are in flight at most.
const IDS: usize = 64;
/// Sectors of the disk.
const DISK: u64 = 1 << 18;
/// How long a phase lasts.
const PHASE: Duration = Duration::from_ms(3000);

/// A load and a disk that is a `Vec`, beside the host.
struct Server {
    host: Host<AnyScheduler, Chooser>,
    data: Vec<u8>,
    head: Sector,
    /// The request that the disk has, and when it is done.
    busy: Option<(RequestId, Instant)>,
    /// Where each process goes on, and whether it waits for a request.
    processes: [(u64, bool); 9],
    /// Requests done.
    served: u64,
}

impl Server {
    /// The next request of process `who`, if it takes part in the phase.
    fn issue(&mut self, now: Instant, who: u32) -> Result<(), Box<dyn Error>> {
        let phase = now.0 / PHASE.0;
        let (next, waits) = &mut self.processes[who as usize];
        if *waits || phase > 2 || (phase == 1 && who > 1) {
            return Ok(());
        }
        // In the last phase a generator of random numbers says where.
        let (start, length) = match phase {
            2 => {
                *next = next.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                ((*next >> 40) % DISK / 8 * 8, 8)
            }
            _ => {
                *next = (*next + 64) % DISK;
                (*next, 64)
            }
        };
        let operation = if phase == 0 { Operation::Write } else { Operation::Read };
        let request = Request {
            operation,
            sync: phase > 0,
            ..Request::read(Sector(start), Sectors(length)).by(Issuer(who))
        };
        *waits = true;
        self.host.insert(now, request)?;
        Ok(())
    }

    /// The disk is done with `id`, and with what was merged into it: data moves, and the processes go on.
    fn finish(&mut self, now: Instant, id: RequestId) -> Result<(), Box<dyn Error>> {
        let queue = self.host.queue();
        let parts: Vec<Request> =
            queue.requests().parts(id).map(|id| *queue.requests().original(id)).collect();
        self.host.complete(now, id)?;
        for Request { start, operation, issuer, .. } in parts {
            let place = &mut self.data[start.0 as usize];
            match operation {
                Operation::Write => *place = issuer.0 as u8,
                _ => assert!(*place <= 8, "what was written is read"),
            }
            self.served += 1;
            self.processes[issuer.0 as usize].1 = false;
            self.issue(now, issuer.0)?;
        }
        Ok(())
    }

    /// The free disk gets what the scheduler gives. Returns when the scheduler wants to be asked again.
    fn fill(&mut self, now: Instant) -> Result<Instant, Box<dyn Error>> {
        match self.host.dispatch(now)? {
            Decision::Dispatch(id) => {
                let request = self.host.queue().request(id);
                let near = request.start == self.head;
                self.head = request.end();
                self.busy = Some((id, now + Duration::from_us(if near { 100 } else { 5000 })));
                Ok(Instant::MAX)
            }
            Decision::WaitUntil(until) => Ok(until),
            Decision::Idle => Ok(Instant::MAX),
        }
    }
}

/// Serves all phases. Returns what the selector changed, and how many requests were served.
pub(crate) fn serve(selector: &str, words: &str) -> Result<(Vec<String>, u64), Box<dyn Error>> {
    let entry = registry::find(selector).ok_or("there is no such selector")?;
    let chooser = host::chooser(entry, IDS, Instant::ZERO, words)?;
    let device = Device { capacity: Sector(DISK), ..Device::default() };
    let mut server = Server {
        host: Host::choosing(IDS, device, chooser)?,
        data: vec![0; DISK as usize],
        head: Sector(0),
        busy: None,
        processes: std::array::from_fn(|who| (who as u64 * 7040, false)),
        served: 0,
    };
    let mut said = Vec::new();
    let (mut now, mut phase) = (Instant::ZERO, None);
    while now.0 < 3 * PHASE.0 {
        if phase.replace(now.0 / PHASE.0) != Some(now.0 / PHASE.0) {
            (1..=8).try_for_each(|who| server.issue(now, who))?;
        }
        if let Some((id, _)) = server.busy.take_if(|(_, at)| *at <= now) {
            server.finish(now, id)?;
        }
        if let Some(decision) = server.host.tick(now)?
            && let Action::Switch(_) = decision.action
        {
            let name = server.host.queue().scheduler().name();
            said.push(format!("{:5} ms {name}: {}", now.0 / 1_000_000, decision.why));
        }
        let asked = if server.busy.is_none() { server.fill(now)? } else { Instant::MAX };
        let done = server.busy.map_or(Instant::MAX, |(_, at)| at);
        let phase_ends = Instant((now.0 / PHASE.0 + 1) * PHASE.0);
        now = asked.min(done).min(server.host.follower().next_tick()).min(phase_ends);
    }
    Ok((said, server.served))
}

#[allow(dead_code, reason = "a test runs `serve` by itself")]
fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (selector, settings) = words.split_first().ok_or("usage: vec_disk SELECTOR [NAME=VALUE…]")?;
    let (said, served) = serve(selector, &settings.join(" "))?;
    said.iter().for_each(|line| println!("{line}"));
    println!("{served} requests served");
    Ok(())
}
