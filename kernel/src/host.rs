//! A queue as the shim holds it: one for each block device under one of our elevators.
//!
//! The shim serialises all calls for one queue with its lock; building and freeing happen outside
//! that lock, since they may sleep. The block layer merges, and tells the queue (`Merging::Off`).
//! Time may come from several processors, each of which read the clock before it had the lock: what
//! is earlier than the last call counts as the same time.

use core::alloc::Layout;
use core::ffi::c_int;
use core::mem::offset_of;

use idlewise_core::collections::OutOfMemory;
use idlewise_core::registry::BuildError;
use idlewise_core::tunables::TunableError;
use idlewise_core::{
    AnyScheduler, Class, Decision, Device, HostError, Inserted, Instant, Issuer, Merging, Operation, Queue,
    Request, RequestId, Sector, Sectors, Setup, Weight,
};

use crate::auto::{Auto, iw_auto_free};
use crate::border::{INVALID, NO_MEMORY};
use crate::catalogue::entry;

/// A queue, the time of the last call, and who watches it.
pub struct Host {
    queue: Queue<AnyScheduler>,
    now: Instant,
    /// From `iw_auto_new`, or null.
    auto: *mut Auto,
}

/// The device, as the shim describes it (`struct iw_device`).
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
    /// 1 if it has moving heads.
    pub rotational: u32,
}

// A request is the core's own. The shim writes it (`struct iw_request`), and no value that the types do not have.
const _: () = {
    assert!(size_of::<Request>() == 40);
    assert!(offset_of!(Request, arrival) == 0 && offset_of!(Request, start) == 8);
    assert!(offset_of!(Request, length) == 16 && offset_of!(Request, issuer) == 20);
    assert!(offset_of!(Request, group) == 24 && offset_of!(Request, operation) == 28);
    assert!(offset_of!(Request, priority.class) == 29 && offset_of!(Request, priority.level) == 30);
    assert!(offset_of!(Request, sync) == 31 && offset_of!(Request, metadata) == 32);
    assert!(offset_of!(Request, more_follows) == 33);
    assert!(Operation::Read as u8 == 0 && Operation::Write as u8 == 1);
    assert!(Operation::Discard as u8 == 2 && Operation::Flush as u8 == 3);
    assert!(Class::RealTime as u8 == 0 && Class::BestEffort as u8 == 1 && Class::Idle as u8 == 2);
};

/// What `iw_dispatch` answers instead of an id.
const IDLE: i64 = -1;

impl From<&RawDevice> for Device {
    fn from(raw: &RawDevice) -> Device {
        Device {
            rotational: raw.rotational != 0,
            depth: raw.depth.max(1),
            hardware_queues: raw.hardware_queues.max(1),
            capacity: Sector(raw.sectors.max(1)),
            merging: Merging::Off,
            ..Device::default()
        }
    }
}

impl Host {
    /// The time of this call: never before that of the last one.
    #[inline]
    pub(crate) fn at(&mut self, now: u64) -> Instant {
        self.now = self.now.max(Instant(now));
        self.now
    }

    /// Puts `auto`, or null for nobody, in the place of who watches.
    pub(crate) fn watch(&mut self, auto: *mut Auto) -> *mut Auto {
        core::mem::replace(&mut self.auto, auto)
    }

    /// Who watches.
    #[inline]
    pub(crate) fn auto(&mut self) -> Option<&mut Auto> {
        // SAFETY: null, or the shim's, which leaves it here until it has taken it back.
        unsafe { self.auto.as_mut() }
    }

    /// Tells who watches that `id` goes away without being done.
    fn leaves(&mut self, id: RequestId) {
        if !self.auto.is_null() && id.index() < self.queue.requests().capacity() {
            let request = *self.queue.request(id);
            if let Some(auto) = self.auto() {
                auto.left(&request);
            }
        }
    }

    /// Tells the queue how large `id` is now, if that is news.
    fn update(&mut self, now: Instant, id: u32, start: u64, length: u32) -> Result<(), HostError> {
        let (id, start, length) = (RequestId(id), Sector(start), Sectors(length));
        let known = *self.queue.request(id);
        if known.start == start && known.length == length {
            return Ok(());
        }
        if let Some(auto) = self.auto() {
            let first = if start < known.start { start } else { known.end() };
            auto.joined(
                now,
                &Request { start: first, length: Sectors(length.0.saturating_sub(known.length.0)), ..known },
            );
        }
        self.queue.grown(now, id, start, length)
    }
}

/// 0, or -`EINVAL` for a call that does not fit.
fn status<T>(result: Result<T, HostError>) -> c_int {
    result.map_or(INVALID, |_| 0)
}

fn error(error: BuildError) -> c_int {
    match error {
        BuildError::OutOfMemory => NO_MEMORY,
        BuildError::Tunable(_) => INVALID,
    }
}

/// Moves `value` to memory of its own; null if there is none.
pub(crate) fn keep<T>(value: T) -> *mut T {
    // SAFETY: `T` is not of size zero, and the memory is written before it is used.
    unsafe {
        let memory = alloc::alloc::alloc(Layout::new::<T>()).cast::<T>();
        if !memory.is_null() {
            memory.write(value);
        }
        memory
    }
}

/// Undoes `keep`.
pub(crate) unsafe fn take<T>(memory: *mut T) -> T {
    // SAFETY: it came from `keep`, and nobody uses it from now on.
    unsafe {
        let value = memory.read();
        alloc::alloc::dealloc(memory.cast(), Layout::new::<T>());
        value
    }
}

/// A scheduler with its default settings for a queue on `device`. Null and an error number if it
/// cannot be had. Apart from `iw_queue_new`, so that the stack need not hold both at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_scheduler_new(
    scheduler: u32,
    device: *const RawDevice,
    failure: *mut c_int,
) -> *mut AnyScheduler {
    // SAFETY: both are the shim's.
    let (raw, failure) = unsafe { (&*device, &mut *failure) };
    *failure = NO_MEMORY;
    let Some(entry) = entry(scheduler) else {
        *failure = INVALID;
        return core::ptr::null_mut();
    };
    match entry.build(Setup { capacity: raw.ids as usize, device: &raw.into() }, &[]) {
        Ok(built) => keep(built),
        Err(reason) => {
            *failure = error(reason);
            core::ptr::null_mut()
        }
    }
}

/// Frees a scheduler that is in no queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_scheduler_free(scheduler: *mut AnyScheduler) {
    // SAFETY: it came from `iw_scheduler_new`.
    unsafe { drop(take(scheduler)) }
}

/// A queue under `scheduler`, which it takes. Null if there is no memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_queue_new(scheduler: *mut AnyScheduler, device: *const RawDevice) -> *mut Host {
    // SAFETY: the one came from `iw_scheduler_new`, the other is the shim's.
    let (scheduler, raw) = unsafe { (take(scheduler), &*device) };
    let queue = Queue::with::<OutOfMemory>(raw.ids as usize, raw.into(), |_| Ok(scheduler));
    queue.map_or(core::ptr::null_mut(), |queue| {
        keep(Host { queue, now: Instant::ZERO, auto: core::ptr::null_mut() })
    })
}

/// Frees a queue, its scheduler and who watches it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_queue_free(host: *mut Host) {
    // SAFETY: it came from `iw_queue_new`.
    unsafe {
        iw_auto_free((*host).auto);
        host.drop_in_place();
        alloc::alloc::dealloc(host.cast(), Layout::new::<Host>());
    }
}

/// Puts the successor in place of the queue's scheduler, which takes the successor's place.
/// Requests that wait move over; those in flight complete into the successor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_queue_exchange(host: *mut Host, now: u64, successor: *mut AnyScheduler) {
    // SAFETY: both came from here, and nobody else uses them now.
    unsafe {
        let host = &mut *host;
        let now = host.at(now);
        // `at` makes the time fit, which is all that could fail.
        if let Ok(old) = host.queue.replace(now, successor.read()) {
            successor.write(old);
        }
    }
}

/// A request has arrived. The id must be free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_insert(host: *mut Host, now: u64, id: u32, request: *const Request) -> c_int {
    // SAFETY: both are the shim's.
    let (host, request) = unsafe { (&mut *host, &*request) };
    let (now, id) = (host.at(now), RequestId(id));
    if let Some(auto) = host.auto() {
        auto.inserted(now, id, request);
    }
    status(host.queue.insert_as(now, id, *request).map(Inserted::id))
}

/// What now? An id; or `IDLE`; or, made negative, the time at which to ask again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_dispatch(host: *mut Host, now: u64) -> i64 {
    // SAFETY: it is the shim's.
    let host = unsafe { &mut *host };
    let now = host.at(now);
    match host.queue.dispatch(now) {
        Ok(Decision::Dispatch(id)) => i64::from(id.0),
        // After `now`, and so beyond `-IDLE`; the kernel's clock ends at the greatest signed number.
        Ok(Decision::WaitUntil(time)) => -i64::try_from(time.0).unwrap_or(i64::MAX),
        Ok(Decision::Idle) | Err(_) => IDLE,
    }
}

/// The device has finished it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_complete(host: *mut Host, now: u64, id: u32) -> c_int {
    // SAFETY: it is the shim's.
    let host = unsafe { &mut *host };
    let (now, id) = (host.at(now), RequestId(id));
    if !host.auto.is_null() && id.index() < host.queue.requests().capacity() {
        let request = *host.queue.request(id);
        if let Some(auto) = host.auto() {
            auto.completed(now, id, &request);
        }
    }
    status(host.queue.complete(now, id))
}

/// The device gave it back: it goes first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_requeue(host: *mut Host, now: u64, id: u32) -> c_int {
    // SAFETY: it is the shim's.
    let host = unsafe { &mut *host };
    let now = host.at(now);
    status(host.queue.requeue(now, RequestId(id)))
}

/// It waited and goes away.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_cancel(host: *mut Host, now: u64, id: u32) -> c_int {
    // SAFETY: it is the shim's.
    let host = unsafe { &mut *host };
    let now = host.at(now);
    host.leaves(RequestId(id));
    status(host.queue.cancel(now, RequestId(id)))
}

/// Whether the scheduler lets `request` become part of the waiting `id`, which it touches.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_may_merge(host: *const Host, id: u32, request: *const Request) -> bool {
    // SAFETY: both are the shim's.
    let (host, request) = unsafe { (&*host, &*request) };
    host.queue.may_merge(RequestId(id), request)
}

/// How many of `size` tags may be held by requests that nobody waits for, or else by all that are no
/// synchronous reads: at least one, until the next event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_quota(host: *const Host, size: u32, asynchronous: bool) -> u32 {
    // SAFETY: it is the shim's.
    let quota = unsafe { (*host).queue.quota(size as usize) };
    let limit = if asynchronous { quota.asynchronous.min(quota.others) } else { quota.others };
    u32::try_from(limit).unwrap_or(u32::MAX).clamp(1, size.max(1))
}

/// Whether the scheduler wants front merges.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_front_merges(host: *const Host) -> bool {
    // SAFETY: it is the shim's.
    unsafe { (*host).queue.front_merges() }
}

/// A waiting request has this extent now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_grown(host: *mut Host, now: u64, id: u32, start: u64, length: u32) -> c_int {
    // SAFETY: it is the shim's.
    let host = unsafe { &mut *host };
    let now = host.at(now);
    status(host.update(now, id, start, length))
}

/// `taken` has become a part of `survivor`; both waited.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_absorbed(host: *mut Host, now: u64, survivor: u32, taken: u32) -> c_int {
    // SAFETY: it is the shim's.
    let host = unsafe { &mut *host };
    let now = host.at(now);
    host.leaves(RequestId(taken));
    status(host.queue.absorbed(now, RequestId(survivor), RequestId(taken)))
}

/// A process has exited.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_issuer_gone(host: *mut Host, now: u64, issuer: u32) -> c_int {
    // SAFETY: it is the shim's.
    let host = unsafe { &mut *host };
    let now = host.at(now);
    status(host.queue.issuer_gone(now, Issuer(issuer)))
}

/// Gives a process a weight: 1 to 10 000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_set_weight(host: *mut Host, now: u64, issuer: u32, weight: u32) -> c_int {
    // SAFETY: it is the shim's.
    let host = unsafe { &mut *host };
    let now = host.at(now);
    let Some(weight) = Weight::new(weight) else { return INVALID };
    status(host.queue.set_weight(now, Issuer(issuer), weight))
}

/// The value of a tunable of the queue's scheduler.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_queue_get(host: *const Host, tunable: u32) -> u64 {
    // SAFETY: it is the shim's.
    let scheduler = unsafe { (*host).queue.scheduler() };
    let found = scheduler.tunables().get(tunable as usize);
    found.map_or(0, |tunable| scheduler.get(tunable.name).unwrap_or(0))
}

/// Sets a tunable of the queue's scheduler to a value in its range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_queue_set(host: *mut Host, tunable: u32, value: u64) -> c_int {
    // SAFETY: it is the shim's.
    let host = unsafe { &mut *host };
    let Some(found) = host.queue.scheduler().tunables().get(tunable as usize) else { return INVALID };
    match host.queue.set(found.name, value) {
        Ok(()) => 0,
        Err(TunableError::Unknown(_) | TunableError::OutOfRange(_) | TunableError::NotAValue(_)) => INVALID,
    }
}

/// Makes the core panic, as it would upon a mistake of its own: for the test of what that leaves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_queue_break(host: *mut Host) {
    // SAFETY: it is the shim's.
    let queue = unsafe { &(*host).queue };
    core::hint::black_box(queue.request(RequestId(queue.requests().capacity() as u32)));
}
