//! What the host kit does with the host's calls, right and wrong.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::*;
use crate::Device;
use crate::device::Merging;
use crate::registry::AnyScheduler;
use crate::selectors::registry::find;

/// Writes down what it is told.
#[derive(Default)]
struct Told(Vec<String>);

impl Follower for Told {
    fn inserted(&mut self, inserted: Inserted, request: &Request) {
        self.0.push(format!("{} came at {}", inserted.id(), request.arrival.0));
    }
    fn joined(&mut self, piece: &Request) {
        self.0.push(format!("{}+{} joined at {}", piece.start.0, piece.length.0, piece.arrival.0));
    }
    fn left(&mut self, request: &Request) {
        self.0.push(format!("{} left", request.start.0));
    }
    fn dispatched(&mut self, now: Instant, id: RequestId) {
        self.0.push(format!("{id} goes at {}", now.0));
    }
    fn completed(&mut self, now: Instant, id: RequestId, request: &Request) {
        self.0.push(format!("{id} of {} done at {}", request.length.0, now.0));
    }
    fn exited(&mut self, now: Instant, who: Issuer) {
        self.0.push(format!("{} exits at {}", who.0, now.0));
    }
}

fn host(merging: Merging) -> Host<AnyScheduler, Told> {
    let device = Device { merging, ..Device::default() };
    let noop = crate::registry::find("noop").unwrap();
    Host::new(Queue::new(4, device, noop, &[]).unwrap(), Told::default())
}

fn read(start: u64) -> Request {
    Request::read(Sector(start), Sectors(8))
}

#[test]
fn the_follower_is_told_of_all_and_a_clock_that_lags_is_mended() {
    let mut host = host(Merging::All);
    host.insert(Instant(5), read(0)).unwrap();
    assert!(host.insert(Instant(3), read(8)).is_err(), "time does not go back");
    host.insert(host.at(Instant(3)), read(8)).unwrap();
    let Decision::Dispatch(id) = host.dispatch(Instant(7)).unwrap() else { panic!("one waits") };
    assert!(host.complete(Instant(6), id).is_err());
    host.complete(host.at(Instant(6)), id).unwrap();
    host.exited(Instant(9), Issuer(3)).unwrap();
    let said = "#0 came at 5, #1 came at 5, #0 goes at 7, #0 of 8 done at 7, #1 of 8 done at 7, 3 exits at 9";
    assert_eq!(host.follower().0.join(", "), said);
}

#[test]
fn a_host_that_merges_tells_of_pieces() {
    let mut host = host(Merging::Off);
    for (id, start) in [(0, 0), (1, 16), (2, 400)] {
        host.insert_as(Instant(1), RequestId(id), read(start)).unwrap();
    }
    host.parts().1.0.clear();
    host.grown(Instant(2), RequestId(0), Sector(0), Sectors(16)).unwrap();
    host.grown(Instant(2), RequestId(0), Sector(0), Sectors(16)).unwrap();
    host.absorbed(Instant(3), RequestId(0), RequestId(1)).unwrap();
    host.cancel(Instant(4), RequestId(2)).unwrap();
    assert_eq!(host.follower().0, ["8+8 joined at 2", "16 left", "400 left"]);
    assert_eq!(host.queue().request(RequestId(0)).length, Sectors(24));
}

#[test]
fn a_mistake_of_the_host_is_an_error_and_nobody_is_told() {
    let mut host = host(Merging::Off);
    host.insert_as(Instant(1), RequestId(0), read(0)).unwrap();
    host.parts().1.0.clear();
    let (here, gone, beyond) = (RequestId(0), RequestId(1), RequestId(9));
    assert!(host.insert_as(Instant(1), here, read(0)).is_err());
    assert!(host.absorbed(Instant(1), here, here).is_err());
    for id in [gone, beyond] {
        assert!(host.cancel(Instant(1), id).is_err() && host.complete(Instant(1), id).is_err());
        assert!(host.grown(Instant(1), id, Sector(0), Sectors(16)).is_err());
        assert!(host.absorbed(Instant(1), here, id).is_err());
    }
    assert!(host.complete(Instant(1), here).is_err());
    assert!(host.follower().0.is_empty(), "{:?}", host.follower().0);
}

#[test]
fn a_setting_that_does_not_fit_is_said() {
    let wrong = |words| chooser(find("auto-matrix").unwrap(), 16, Instant::ZERO, words).err().unwrap();
    assert!(wrong("gaol=mean").to_string().starts_with("no such tunable; there are period"));
    assert!(wrong("goal").to_string().contains("goal wants one of lowest"));
    assert!(wrong("manual=5").to_string().contains("there are 4 candidates"));
}
