//! Progress on a terminal, and what Ctrl-C does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use idlewise_sim::engine::Control;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use crate::failure::Failure;

/// Follows `control` on standard error until it is dropped; silent unless that is a terminal.
pub(crate) struct Progress {
    done: Arc<AtomicBool>,
    follower: Option<std::thread::JoinHandle<()>>,
}

impl Progress {
    /// Begins to follow. `expected`: requests in all, if known.
    pub(crate) fn follow(control: Arc<Control>, expected: Option<u64>) -> Progress {
        let done = Arc::new(AtomicBool::new(false));
        let (bar, template) = match expected {
            Some(expected) => (
                ProgressBar::new(expected),
                "{bar:30} {human_pos} of {human_len} requests, {msg}, {eta} left",
            ),
            None => (ProgressBar::new_spinner(), "{spinner} {human_pos} requests, {msg}"),
        };
        let bar = bar.with_style(ProgressStyle::with_template(template).expect("the template is valid"));
        let ended = Arc::clone(&done);
        let follower = std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                let position = control.completed.load(Ordering::Relaxed);
                bar.set_position(position);
                let seconds = bar.elapsed().as_secs_f64().max(1e-3);
                bar.set_message(format!("{} a second", HumanCount((position as f64 / seconds) as u64)));
                std::thread::park_timeout(Duration::from_millis(200));
            }
            bar.finish_and_clear();
        });
        Progress { done, follower: Some(follower) }
    }
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

/// A control that the first Ctrl-C stops: what is done so far is still printed. The second one ends
/// the program at once.
pub(crate) fn interruptible() -> Result<Arc<Control>, Failure> {
    // Handlers can be set once, and a comparison may run several experiments.
    static ONLY: OnceLock<Arc<Control>> = OnceLock::new();
    if let Some(control) = ONLY.get() {
        control.completed.store(0, Ordering::Relaxed);
        return Ok(Arc::clone(control));
    }
    let control = Arc::clone(ONLY.get_or_init(Arc::default));
    let stopped = Arc::clone(&control);
    ctrlc::set_handler(move || {
        if stopped.stop.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .map_err(Failure::failed)?;
    Ok(control)
}
