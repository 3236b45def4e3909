//! How far a run is and how long it will take, and what Ctrl-C does.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use idlewise_sim::engine::{Control, WHOLE_RUN};
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressStyle};

use crate::caller;
use crate::failure::Failure;

/// Lines that no terminal shows come this often.
const EVERY: Duration = Duration::from_secs(10);

/// The first line comes sooner: until then nobody can tell a long run from one that hangs.
const FIRST: Duration = Duration::from_secs(5);

/// Of less than this share of the work nothing can be told about the rest: one part in a hundred thousand.
const TELLING: f64 = 1e-5;

/// Follows `control` on standard error until it is dropped: a bar on a terminal, else a line now and then.
pub(crate) struct Progress {
    done: Arc<AtomicBool>,
    follower: Option<std::thread::JoinHandle<()>>,
}

impl Progress {
    /// Begins to follow these many runs, unless a program does so.
    pub(crate) fn follow(control: Arc<Control>, runs: u64) -> Progress {
        let all = (runs * WHOLE_RUN) as f64;
        // The control counts what ran before, too.
        let before = control.millionths.load(Ordering::Relaxed);
        Progress::follow_by(control, runs, move |control| {
            control.millionths.load(Ordering::Relaxed).saturating_sub(before) as f64 / all
        })
    }

    /// The same where `share` says how much is done, from 0 to 1: runs may be of different lengths.
    pub(crate) fn follow_by(
        control: Arc<Control>,
        runs: u64,
        share: impl Fn(&Control) -> f64 + Send + 'static,
    ) -> Progress {
        let done = Arc::new(AtomicBool::new(false));
        if caller::begins(runs) {
            return Progress { done, follower: None };
        }
        let bar = ProgressBar::new(WHOLE_RUN);
        let style = ProgressStyle::with_template("{bar:20} {wide_msg}").expect("the template is valid");
        let bar = bar.with_style(style);
        let ended = Arc::clone(&done);
        let before = control.completed.load(Ordering::Relaxed);
        let follower = std::thread::spawn(move || {
            let begun = Instant::now();
            let mut next = FIRST;
            while !ended.load(Ordering::Relaxed) {
                let share = share(&control);
                let text = said(
                    control.completed.load(Ordering::Relaxed).saturating_sub(before),
                    share,
                    begun.elapsed(),
                );
                if bar.is_hidden() && begun.elapsed() >= next {
                    next += EVERY;
                    // Without anybody to read it the run goes on.
                    let _ = writeln!(std::io::stderr(), "{text}");
                }
                bar.set_position((share * WHOLE_RUN as f64) as u64);
                bar.set_message(text);
                std::thread::park_timeout(Duration::from_millis(200));
            }
            bar.finish_and_clear();
        });
        Progress { done, follower: Some(follower) }
    }
}

/// How far a run is after `elapsed`, and how long the rest takes at this rate, if `share` tells.
fn said(requests: u64, share: f64, elapsed: Duration) -> String {
    let (requests, percent) = (HumanCount(requests), (share * 100.0) as u64);
    if share < TELLING {
        return format!("{requests} requests in {}", HumanDuration(elapsed));
    }
    let left = elapsed.as_secs_f64() * (1.0 - share) / share;
    let left = HumanDuration(Duration::from_secs_f64(left.max(0.0)));
    format!("{percent} % done, {requests} requests, about {left} left")
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(follower) = self.follower.take() {
            follower.thread().unpark();
            let _ = follower.join();
        }
    }
}

/// Something must be put away before the program ends.
static PATIENT: AtomicBool = AtomicBool::new(false);

/// Says whether a second Ctrl-C has to wait until the first one has done its work.
pub(crate) fn patient(patient: bool) {
    PATIENT.store(patient, Ordering::Relaxed);
}

/// A control that the first Ctrl-C stops: what is done so far is still printed. The second one ends
/// the program at once, unless it is [`patient`]. A program that calls has its own.
pub(crate) fn interruptible() -> Result<Arc<Control>, Failure> {
    if let Some(following) = caller::following() {
        return Ok(Arc::clone(&following.control));
    }
    // Handlers can be set once, and a comparison may run several experiments.
    static ONLY: OnceLock<Arc<Control>> = OnceLock::new();
    if let Some(control) = ONLY.get() {
        control.completed.store(0, Ordering::Relaxed);
        control.millionths.store(0, Ordering::Relaxed);
        return Ok(Arc::clone(control));
    }
    let control = Arc::clone(ONLY.get_or_init(Arc::default));
    let stopped = Arc::clone(&control);
    ctrlc::set_handler(move || {
        if stopped.stop.swap(true, Ordering::Relaxed) && !PATIENT.load(Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .map_err(Failure::failed)?;
    Ok(control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_what_is_done_did() {
        let told = |share| said(1_234_567, share, Duration::from_secs(30));
        assert_eq!(told(0.1), "10 % done, 1,234,567 requests, about 5 minutes left");
        assert_eq!(told(1.0), "100 % done, 1,234,567 requests, about 0 seconds left");
        assert_eq!(told(0.0), "1,234,567 requests in 30 seconds");
    }
}
