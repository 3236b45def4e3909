//! Switching schedulers in the middle of a run.

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
use crate::device::Device;
use crate::learned::{Curve, Learned};
use crate::queue::Queue;
use crate::registry::{self, AnyScheduler, Entry};
use crate::request::Request;
use crate::scheduler::{Decision, Setup, delegate};
use crate::units::{Duration, Instant, Sector, Sectors};

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

/// A queue under `entry` whose device has served reads that lie far apart, each in 40 ms.
fn taught(entry: &'static Entry) -> Queue<AnyScheduler> {
    let mut queue = Queue::new(8, Device::default(), entry, &[]).unwrap();
    let mut now = Instant::ZERO;
    for place in [0, 1 << 20, 1 << 10, 1 << 24] {
        let id = queue.insert(now, Request::read(Sector(place), Sectors(8))).unwrap().id();
        while queue.dispatch(now).unwrap() != Decision::Dispatch(id) {
            now += Duration::from_ms(1);
        }
        now += Duration::from_ms(40);
        queue.complete(now, id).unwrap();
    }
    queue
}

#[test]
fn what_a_scheduler_has_learned_the_next_one_begins_with() {
    let mut learn = 0;
    let successor = |name, queue: &Queue<AnyScheduler>| {
        let setup = Setup { capacity: 8, device: queue.device() };
        registry::find(name).unwrap().build(setup, &[]).unwrap()
    };
    for entry in registry::all() {
        let mut queue = taught(entry);
        let learned = queue.learned().clone();
        if learned == Device::default().learned {
            continue;
        }
        learn += 1;
        for name in ["turns", "noop", entry.name, "turns"] {
            queue.replace(queue.now(), successor(name, &queue)).unwrap();
            assert_eq!(queue.learned(), &learned, "{} after {}", name, entry.name);
        }
        let told = Learned::from(Curve::through(&[(0, Duration::from_ms(1))]));
        queue.set_learned(&told);
        assert_eq!(queue.learned(), &told, "{}", entry.name);
    }
    assert!(learn > 5, "only {learn} schedulers learn");
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
