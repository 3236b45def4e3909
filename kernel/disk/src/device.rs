//! A disk as the driver holds it: commands in, completions out. The driver serialises all calls for one
//! disk with its lock; building and freeing happen outside that lock, since they may sleep.
//!
//! Time may come from several processors, each of which read the clock before it had the lock: what
//! is earlier than the last call counts as the same time.

use core::alloc::Layout;
use core::ffi::c_int;
use core::{fmt, slice};

use idlewise_core::{Instant, Operation, Sector, Sectors};
use idlewise_disk::{AnyModel, BuildError, Command, DiskModel};

use crate::border::{INVALID, NO_MEMORY, put};
use crate::profiles::{Fault, build};

/// What `iwd_next` answers while no command is outstanding.
const NEVER: u64 = u64::MAX;

/// A disk and the time of the last call.
pub struct Disk {
    model: AnyModel,
    now: Instant,
}

/// What a disk is (`struct iwd_traits`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawTraits {
    /// 512-byte sectors.
    pub sectors: u64,
    /// Commands that it takes at once.
    pub depth: u32,
    /// 1 if it has moving heads.
    pub rotational: u8,
    /// 1 if writes complete before they are durable.
    pub write_cache: u8,
    /// Its profile's name, ended by a zero byte.
    pub name: [u8; 30],
}

/// A command, as the driver describes it (`struct iwd_command`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawCommand {
    /// First 512-byte sector.
    pub start: u64,
    /// Length in 512-byte sectors.
    pub length: u32,
    /// The driver's name for it.
    pub tag: u32,
    /// 0 read, 1 write, 2 discard, 3 flush.
    pub operation: u8,
    /// 1: completes only when it is on the medium.
    pub fua: u8,
}

/// A completion, as the driver wants it (`struct iwd_completion`). Times are in nanoseconds.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawCompletion {
    /// Moving the arm.
    pub seek: u64,
    /// Waiting for the first sector.
    pub rotation: u64,
    /// Moving data.
    pub transfer: u64,
    /// Controller work.
    pub overhead: u64,
    /// The command's tag.
    pub tag: u32,
    /// 1 if it touched only the buffer.
    pub cached: u8,
}

impl Disk {
    /// The time of this call: never before that of the last one.
    fn at(&mut self, now: u64) -> Instant {
        self.now = self.now.max(Instant(now));
        self.now
    }
}

fn status(fault: &Fault<'_>) -> c_int {
    match fault {
        Fault::Build(BuildError::Memory) => NO_MEMORY,
        _ => INVALID,
    }
}

/// Builds the disk that `wanted` names. Null if it cannot be had; then `failure` is the error's
/// number and `room` says why, ended by a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iwd_new(
    wanted: *const u8,
    length: usize,
    traits: *mut RawTraits,
    failure: *mut c_int,
    room: *mut u8,
    size: usize,
) -> *mut Disk {
    // SAFETY: the driver has that many bytes at both places.
    let (wanted, room) =
        unsafe { (slice::from_raw_parts(wanted, length), slice::from_raw_parts_mut(room, size)) };
    let wanted = core::str::from_utf8(wanted).unwrap_or_default();
    let fault = match build(wanted) {
        Ok((name, model, write_cache)) => {
            let mut raw = RawTraits {
                sectors: model.capacity().0,
                depth: model.depth(),
                rotational: u8::from(model.rotational()),
                write_cache: u8::from(write_cache),
                name: [0; 30],
            };
            put_ended(&mut raw.name, format_args!("{name}"));
            // SAFETY: `Disk` is not of size zero; the memory is written before it is used; `traits` is the driver's.
            unsafe {
                traits.write(raw);
                let memory = alloc::alloc::alloc(Layout::new::<Disk>()).cast::<Disk>();
                if memory.is_null() {
                    failure.write(NO_MEMORY);
                } else {
                    memory.write(Disk { model, now: Instant::ZERO });
                }
                return memory;
            }
        }
        Err(fault) => fault,
    };
    // SAFETY: as above.
    unsafe { failure.write(status(&fault)) };
    put_ended(room, format_args!("{fault}"));
    core::ptr::null_mut()
}

/// Undoes `iwd_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iwd_free(disk: *mut Disk) {
    // SAFETY: it came from `iwd_new`, and nobody uses it from now on.
    unsafe {
        disk.drop_in_place();
        alloc::alloc::dealloc(disk.cast(), Layout::new::<Disk>());
    }
}

/// The disk takes a command. 0, or -`EINVAL` if it does not fit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iwd_submit(disk: *mut Disk, now: u64, command: *const RawCommand) -> c_int {
    // SAFETY: both are the driver's.
    let (disk, raw) = unsafe { (&mut *disk, &*command) };
    let now = disk.at(now);
    let operation = match raw.operation {
        0 => Operation::Read,
        1 => Operation::Write,
        2 => Operation::Discard,
        _ => Operation::Flush,
    };
    let (start, length) = (Sector(raw.start), Sectors(raw.length));
    let command = Command { tag: raw.tag, operation, start, length, fua: raw.fua != 0 };
    disk.model.submit(now, command).map_or(INVALID, |()| 0)
}

/// When to call `iwd_advance`; the largest number while no command is outstanding.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iwd_next(disk: *const Disk) -> u64 {
    // SAFETY: it is the driver's.
    unsafe { (*disk).model.next_event() }.map_or(NEVER, |at| at.0)
}

/// Brings the disk to `now`. True if a command is done by then; to be called until it is false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iwd_advance(disk: *mut Disk, now: u64, completion: *mut RawCompletion) -> bool {
    // SAFETY: both are the driver's.
    let disk = unsafe { &mut *disk };
    let now = disk.at(now);
    let Some(done) = disk.model.advance(now) else { return false };
    let raw = RawCompletion {
        seek: done.timing.seek.0,
        rotation: done.timing.rotation.0,
        transfer: done.timing.transfer.0,
        overhead: done.timing.overhead.0,
        tag: done.tag,
        cached: u8::from(done.timing.cached),
    };
    // SAFETY: as above.
    unsafe { completion.write(raw) };
    true
}

/// Writes `text` to `room`, ended by a zero byte also where it is cut.
fn put_ended(room: &mut [u8], text: fmt::Arguments<'_>) {
    if let Some((last, room)) = room.split_last_mut() {
        let used = put(room, text);
        *last = 0;
        if let Some(end) = room.get_mut(used) {
            *end = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_serves_what_the_driver_asks() {
        let mut room = [0u8; 400];
        let (mut traits, mut failure) =
            (RawTraits { sectors: 0, depth: 0, rotational: 0, write_cache: 0, name: [0; 30] }, 0);
        let mut new = |wanted: &str| unsafe {
            let disk = iwd_new(
                wanted.as_ptr(),
                wanted.len(),
                &mut traits,
                &mut failure,
                room.as_mut_ptr(),
                room.len(),
            );
            (disk, traits, failure, String::from_utf8_lossy(&room).split('\0').next().unwrap().to_owned())
        };
        let (none, _, failure, said) = new("floppy");
        assert!(
            none.is_null()
                && failure == INVALID
                && said.starts_with("no disk profile is called floppy; there are")
        );

        let (disk, traits, ..) = new("deskstar-34gxp:depth=2");
        assert_eq!((traits.depth, traits.rotational, traits.write_cache), (2, 1, 1));
        assert!(traits.name.starts_with(b"deskstar-34gxp\0"));
        let mut done = RawCompletion { seek: 0, rotation: 0, transfer: 0, overhead: 0, tag: 0, cached: 0 };
        unsafe {
            assert_eq!(iwd_next(disk), NEVER);
            let read = |tag, start| RawCommand { start, length: 128, tag, operation: 0, fua: 0 };
            assert_eq!(iwd_submit(disk, 1_000, &read(7, 1 << 24)), 0);
            assert_eq!(iwd_submit(disk, 900, &read(8, 1 << 25)), 0, "time does not go back");
            assert_eq!(iwd_submit(disk, 1_000, &read(9, 0)), INVALID, "it takes two");
            let mut tags = Vec::new();
            while iwd_next(disk) != NEVER {
                let at = iwd_next(disk);
                while iwd_advance(disk, at, &mut done) {
                    tags.push(done.tag);
                    assert!(done.seek > 1_000_000 && done.transfer > 0);
                }
            }
            tags.sort_unstable();
            assert_eq!(tags, [7, 8]);
            iwd_free(disk);
        }
    }
}
