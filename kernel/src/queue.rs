//! A queue as the shim holds it: one for each block device under one of our elevators.
//!
//! The shim serialises all calls for one queue with its lock; building and freeing happen outside
//! that lock, since they may sleep. The block layer merges, and tells the queue (`Merging::Off`).
//! Times come from several processors, each of which read the clock before it had the lock: `Host::at` puts them in order.

use alloc::boxed::Box;
use core::ffi::{c_char, c_int};

use idlewise_core::collections::OutOfMemory;
use idlewise_core::registry::BuildError;
use idlewise_core::{
    AnyScheduler, Decision, Device, Instant, Issuer, Merging, Queue, Request, RequestId, Sector, Sectors,
    Setup, Weight,
};

use crate::boundary::{INVALID, NO_MEMORY, keep, put_c};
use crate::catalogue::entry;
use crate::curve::Known;
use crate::selector::Auto;

/// A queue and, in the elevator that hosts all, the selector that follows it.
///
/// cbindgen:ignore
pub type Host = idlewise_core::Host<AnyScheduler, Option<Box<Auto>>>;

/// The device, as the shim describes it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawDevice {
    /// 512-byte sectors.
    pub sectors: u64,
    /// Request ids are below this.
    pub ids: u32,
    /// Commands that it takes at once.
    pub depth: u32,
    /// Hardware queues.
    pub hardware_queues: u32,
    /// The device has moving heads.
    pub rotational: bool,
}

/// The answer of `iw_dispatch` if no request is to be dispatched before the next event.
pub const IDLE: i64 = -1;

/// The answer of `iw_auto_tick` for a queue without a selector.
pub const NOBODY: u32 = u32::MAX;

/// The answer of `iw_auto_tick` if the scheduler in use is the wanted one.
pub const STAY: u32 = u32::MAX - 1;

impl From<&RawDevice> for Device {
    fn from(raw: &RawDevice) -> Device {
        Device {
            depth: raw.depth.max(1),
            hardware_queues: raw.hardware_queues.max(1),
            capacity: Sector(raw.sectors.max(1)),
            merging: Merging::Off,
            ..Device::usual(raw.rotational)
        }
    }
}

/// The device, in memory of its own while a scheduler is built, which needs the stack.
#[inline(never)]
fn describe(device: &RawDevice) -> Option<Box<Device>> {
    keep(device.into())
}

/// 0, or -`EINVAL` for a call that does not fit.
fn status<T, E>(result: Result<T, E>) -> c_int {
    result.map_or(INVALID, |_| 0)
}

/// A scheduler with its default settings for a queue on `device`. Null and an error number if it
/// cannot be had. Apart from `iw_queue_new`, so that the stack need not hold both at once. May sleep.
#[unsafe(no_mangle)]
pub extern "C" fn iw_scheduler_new(
    scheduler: u32,
    device: &RawDevice,
    failure: &mut c_int,
) -> Option<Box<AnyScheduler>> {
    *failure = NO_MEMORY;
    let Some(entry) = entry(scheduler) else {
        *failure = INVALID;
        return None;
    };
    let described = describe(device)?;
    match entry.build(Setup { capacity: device.ids as usize, device: &described }, &[]) {
        Ok(built) => keep(built),
        Err(BuildError::OutOfMemory) => None,
        Err(BuildError::Tunable(_)) => {
            *failure = INVALID;
            None
        }
    }
}

/// Frees a scheduler that is in no queue.
#[unsafe(no_mangle)]
pub extern "C" fn iw_scheduler_free(scheduler: Box<AnyScheduler>) {
    drop(scheduler);
}

/// A queue under `scheduler`, which it takes. Null if there is no memory. May sleep.
#[unsafe(no_mangle)]
pub extern "C" fn iw_queue_new(scheduler: Box<AnyScheduler>, device: &RawDevice) -> Option<Box<Host>> {
    let queue = Queue::with::<OutOfMemory>(device.ids as usize, device.into(), |_| Ok(*scheduler));
    let mut queue = queue.ok()?;
    queue.keep_order();
    keep(Host::new(queue, None))
}

/// Frees a queue, its scheduler and its selector.
#[unsafe(no_mangle)]
pub extern "C" fn iw_queue_free(host: Box<Host>) {
    drop(host);
}

/// Requests that a step of a switch hands over. One takes up to a microsecond, and the queue's lock is held meanwhile.
const STEP: usize = 8;

/// Puts the successor in place of the queue's scheduler, which takes the successor's place. It is handed what waits by
/// `iw_queue_carry`.
#[unsafe(no_mangle)]
pub extern "C" fn iw_queue_begin(host: &mut Host, now: u64, successor: &mut AnyScheduler) {
    let now = host.at(Instant(now));
    // SAFETY: the successor is moved out, and the old scheduler is moved into the same place. Only a time that goes
    // back could make `begin` fail, and `at` never goes back.
    unsafe {
        if let Ok(old) = host.parts().0.begin(now, core::ptr::read(successor)) {
            core::ptr::write(successor, old);
        }
    }
}

/// Hands some of the requests to the scheduler that has taken over. Returns whether more are left.
#[unsafe(no_mangle)]
pub extern "C" fn iw_queue_carry(host: &mut Host, now: u64) -> bool {
    let now = host.at(Instant(now));
    host.parts().0.carry(now, STEP).unwrap_or(false)
}

/// A request has arrived. The id must be free.
#[unsafe(no_mangle)]
pub extern "C" fn iw_insert(host: &mut Host, now: u64, id: u32, request: &Request) -> c_int {
    status(host.insert_as(host.at(Instant(now)), RequestId(id), *request))
}

/// Asks the scheduler. Returns the id of a request to dispatch; or [`IDLE`]; or, made negative, the time at which to ask again.
#[unsafe(no_mangle)]
pub extern "C" fn iw_dispatch(host: &mut Host, now: u64) -> i64 {
    match host.dispatch(host.at(Instant(now))) {
        Ok(Decision::Dispatch(id)) => i64::from(id.0),
        // After `now`, and so beyond `-IDLE`; the kernel's clock ends at the greatest signed number.
        Ok(Decision::WaitUntil(time)) => -i64::try_from(time.0).unwrap_or(i64::MAX),
        Ok(Decision::Idle) | Err(_) => IDLE,
    }
}

/// The device has finished a request.
#[unsafe(no_mangle)]
pub extern "C" fn iw_complete(host: &mut Host, now: u64, id: u32) -> c_int {
    status(host.complete(host.at(Instant(now)), RequestId(id)))
}

/// The device gave a request back: the request goes first.
#[unsafe(no_mangle)]
pub extern "C" fn iw_requeue(host: &mut Host, now: u64, id: u32) -> c_int {
    status(host.requeue(host.at(Instant(now)), RequestId(id)))
}

/// A waiting request goes away.
#[unsafe(no_mangle)]
pub extern "C" fn iw_cancel(host: &mut Host, now: u64, id: u32) -> c_int {
    status(host.cancel(host.at(Instant(now)), RequestId(id)))
}

/// Whether the scheduler lets `request` become part of the waiting `id`, which it touches.
#[unsafe(no_mangle)]
pub extern "C" fn iw_may_merge(host: &Host, id: u32, request: &Request) -> bool {
    host.queue().may_merge(RequestId(id), request)
}

/// The number of tags, of `size`, that asynchronous requests may hold, or else all requests but synchronous reads. At
/// least one; valid until the next event.
#[unsafe(no_mangle)]
pub extern "C" fn iw_quota(host: &Host, size: u32, asynchronous: bool) -> u32 {
    let limit = host.queue().depth_limit(size as usize);
    let limit = if asynchronous { limit.asynchronous.min(limit.others) } else { limit.others };
    u32::try_from(limit).unwrap_or(u32::MAX).clamp(1, size.max(1))
}

/// Whether the scheduler wants front merges.
#[unsafe(no_mangle)]
pub extern "C" fn iw_front_merges(host: &Host) -> bool {
    host.queue().front_merges()
}

/// A waiting request has this extent now.
#[unsafe(no_mangle)]
pub extern "C" fn iw_grown(host: &mut Host, now: u64, id: u32, start: u64, length: u32) -> c_int {
    status(host.grown(host.at(Instant(now)), RequestId(id), Sector(start), Sectors(length)))
}

/// `taken` has become a part of `survivor`; both waited.
#[unsafe(no_mangle)]
pub extern "C" fn iw_absorbed(host: &mut Host, now: u64, survivor: u32, taken: u32) -> c_int {
    status(host.absorbed(host.at(Instant(now)), RequestId(survivor), RequestId(taken)))
}

/// A process has exited.
#[unsafe(no_mangle)]
pub extern "C" fn iw_issuer_gone(host: &mut Host, now: u64, issuer: u32) -> c_int {
    status(host.exited(host.at(Instant(now)), Issuer(issuer)))
}

/// Gives a process a weight: 1 to 10 000.
#[unsafe(no_mangle)]
pub extern "C" fn iw_set_weight(host: &mut Host, now: u64, issuer: u32, weight: u32) -> c_int {
    let now = host.at(Instant(now));
    let Some(weight) = Weight::new(weight) else { return INVALID };
    status(host.parts().0.set_weight(now, Issuer(issuer), weight))
}

/// The value of a tunable of the queue's scheduler.
#[unsafe(no_mangle)]
pub extern "C" fn iw_queue_get(host: &Host, tunable: u32) -> u64 {
    let scheduler = host.queue().scheduler();
    let found = scheduler.tunables().get(tunable as usize);
    found.map_or(0, |tunable| scheduler.get(tunable.name).unwrap_or(0))
}

/// Sets a tunable of the queue's scheduler to a value in its range.
#[unsafe(no_mangle)]
pub extern "C" fn iw_queue_set(host: &mut Host, tunable: u32, value: u64) -> c_int {
    let queue = host.parts().0;
    let Some(found) = queue.scheduler().tunables().get(tunable as usize) else { return INVALID };
    status(queue.set(found.name, value))
}

/// From now on the queue's device has this curve, whatever its scheduler has learned; null is the usual one.
#[unsafe(no_mangle)]
pub extern "C" fn iw_queue_set_curve(host: &mut Host, curve: Option<&Known>) {
    let queue = host.parts().0;
    match curve {
        Some(known) => queue.set_learned(&known.learned),
        None => queue.set_learned(&Device::usual(queue.device().rotational).learned),
    }
}

/// From now on `selector`, or none, sees the queue's requests. Returns the one before.
#[unsafe(no_mangle)]
pub extern "C" fn iw_queue_set_selector(host: &mut Host, selector: Option<Box<Auto>>) -> Option<Box<Auto>> {
    core::mem::replace(host.parts().1, selector)
}

/// The number of the scheduler that is to take over, as the queue's selector wants it now, or [`STAY`], and when to ask
/// again; [`NOBODY`] without a selector.
#[unsafe(no_mangle)]
pub extern "C" fn iw_auto_tick(host: &mut Host, now: u64, next: &mut u64) -> u32 {
    let now = host.at(Instant(now));
    let current = host.queue().scheduler().name();
    let Some(auto) = host.parts().1 else { return NOBODY };
    let wanted = auto.tick(now, current);
    *next = auto.next_tick().0;
    wanted.unwrap_or(STAY)
}

/// `successor`, which was built because the queue's selector wants it, gets the settings that the selector wants for it.
#[unsafe(no_mangle)]
pub extern "C" fn iw_auto_place(host: &mut Host, successor: &mut AnyScheduler) {
    if let Some(auto) = host.parts().1 {
        auto.place(successor);
    }
}

/// Writes what the queue's selector last saw and decided; returns the length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_auto_show(host: &Host, room: *mut c_char, size: usize) -> usize {
    let auto = host.follower().as_ref();
    auto.map_or(0, |auto| unsafe { put_c(room, size, format_args!("{auto}")) })
}

/// Makes the core panic, as it would upon a mistake of its own: for the test of what that leaves.
#[unsafe(no_mangle)]
pub extern "C" fn iw_queue_break(host: &Host) {
    let queue = host.queue();
    core::hint::black_box(queue.request(RequestId(queue.requests().capacity() as u32)));
}
