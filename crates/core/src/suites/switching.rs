//! Exchange of schedulers in the middle of a run.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::driver::Driver;
use super::log::Log;
use super::scene::{Scene, hold_all};
use super::subject::{Make, Subject};
use crate::registry;
use crate::scheduler::{Setup, delegate};
use crate::units::Instant;

/// Passes calls on; writes down the arrival times of the waiting requests that it is handed.
struct Spy {
    inner: Box<dyn Subject>,
    arrivals: Rc<RefCell<Vec<Instant>>>,
}

macro_rules! spied {
    ($spy:ident, insert, $cx:ident, $id:ident) => {{
        $spy.arrivals.borrow_mut().push($cx[$id].arrival);
        $spy.inner.insert($cx, $id);
    }};
    ($spy:ident, $method:ident $(, $argument:ident)*) => { $spy.inner.$method($($argument),*) };
}
delegate!([] Spy, spied);
impl Subject for Spy {}

/// Switches to and from all others conserve requests, and hand them over in order of arrival.
pub(super) fn survives_switches(make: &dyn Make, scene: &Scene, log: &mut Log) -> Result<(), String> {
    let arrivals = Rc::new(RefCell::new(Vec::new()));
    let successors = |which: u8, seed: u64, setup: Setup<'_>| -> (String, Box<dyn Subject>) {
        let others = registry::all();
        let next: &dyn Make = match which % 2 {
            0 => make,
            _ => &others[usize::from(which / 2) % others.len()],
        };
        let inner = next.build(setup, seed);
        arrivals.borrow_mut().clear();
        let spy = Spy { inner, arrivals: Rc::clone(&arrivals) };
        (format!("{}{}", next.name(), next.settings(seed)), Box::new(spy))
    };
    let mut driver = Driver::new(make, scene, Instant::ZERO, log).switching(&successors);
    for step in &scene.steps {
        driver.step(step)?;
        if !arrivals.borrow().is_sorted() {
            return Err("requests are not handed over in order of arrival".into());
        }
    }
    driver.drain()
}

#[test]
fn every_scheduler_can_take_over_and_be_replaced_at_any_time() {
    hold_all("conformance: switch", survives_switches, 150, 300);
}

/// What a suite prints of a failure can be pasted into a golden file.
fn logs_what_happened(make: &dyn Make, scene: &Scene, _: &mut Log) -> Result<(), String> {
    let mut log = Log::on();
    let successors = |which: u8, seed: u64, setup: Setup<'_>| -> (String, Box<dyn Subject>) {
        let others = registry::all();
        let next: &dyn Make = &others[usize::from(which) % others.len()];
        (format!("{}{}", next.name(), next.settings(seed)), next.build(setup, seed))
    };
    Driver::new(make, scene, Instant::ZERO, &mut log).switching(&successors).play(scene)?;
    let mut again = String::new();
    crate::ops::run(log.text(), &mut again).map_err(|error| format!("{error}\n{}", log.text()))?;
    if again == log.text() { Ok(()) } else { Err(format!("{}\nbecomes\n{again}", log.text())) }
}

#[test]
fn what_a_failure_prints_is_a_golden_file() {
    hold_all("text of failures", logs_what_happened, 40, 150);
}
