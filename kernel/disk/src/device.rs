//! A disk as the driver holds it: commands in, completions out. The driver serialises all calls for one
//! disk with its lock; building and freeing happen outside that lock, since they may sleep.
//!
//! Time may come from several processors, each of which read the clock before it had the lock: what
//! is earlier than the last call counts as the same time.

use alloc::boxed::Box;
use core::ffi::{c_char, c_int};

use idlewise_core::{Instant, Operation, Sector, Sectors};
use idlewise_disk::{AnyModel, BuildError, Command, DiskModel};

use crate::boundary::{INVALID, NO_MEMORY, keep, put_c, text};
use crate::profiles::{Fault, build};

/// The answer of `iwd_next` while no command is outstanding.
pub const NEVER: u64 = u64::MAX;

/// A disk and the time of the last call.
pub struct Disk {
    model: AnyModel,
    now: Instant,
}

/// The properties of a disk.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct RawTraits {
    /// 512-byte sectors.
    pub sectors: u64,
    /// Commands that it takes at once.
    pub depth: u32,
    /// The disk has moving heads.
    pub rotational: bool,
    /// Writes complete before they are durable.
    pub write_cache: bool,
    /// The profile's name, ended by a zero byte.
    pub name: [c_char; 30],
}

/// A command, as the driver describes it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawCommand {
    /// First 512-byte sector.
    pub start: u64,
    /// Length in 512-byte sectors.
    pub length: u32,
    /// The driver's name for it.
    pub tag: u32,
    /// The operation. The driver writes no value that the type does not have.
    pub operation: Operation,
    /// The command completes only when its data is on the medium.
    pub fua: bool,
}

/// A completion, as the driver wants it. Times are in nanoseconds.
#[repr(C)]
#[derive(Clone, Copy, Default)]
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
    /// The command touched only the buffer.
    pub cached: bool,
}

impl Disk {
    /// The time of this call: never before the last one's.
    fn at(&mut self, now: u64) -> Instant {
        self.now = self.now.max(Instant(now));
        self.now
    }
}

/// Builds the disk that `wanted` names. Null if it cannot be had; then `failure` is the error's
/// number and `room` says why, ended by a zero byte. May sleep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iwd_new(
    wanted: *const c_char,
    length: usize,
    traits: &mut RawTraits,
    failure: &mut c_int,
    room: *mut c_char,
    size: usize,
) -> Option<Box<Disk>> {
    *failure = NO_MEMORY;
    match build(unsafe { text(wanted, length) }) {
        Ok((name, model, write_cache)) => {
            let (sectors, depth, rotational) = (model.capacity().0, model.depth(), model.rotational());
            *traits = RawTraits { sectors, depth, rotational, write_cache, ..RawTraits::default() };
            // The last byte stays zero.
            unsafe { put_c(traits.name.as_mut_ptr(), traits.name.len() - 1, format_args!("{name}")) };
            keep(Disk { model, now: Instant::ZERO })
        }
        Err(fault) => {
            if !matches!(fault, Fault::Build(BuildError::Memory)) {
                *failure = INVALID;
            }
            // Where it is cut, the driver's last byte is zero.
            unsafe { put_c(room, size - 1, format_args!("{fault}\0")) };
            None
        }
    }
}

/// Undoes `iwd_new`.
#[unsafe(no_mangle)]
pub extern "C" fn iwd_free(disk: Box<Disk>) {
    drop(disk);
}

/// The disk takes a command. 0, or -`EINVAL` if it does not fit.
#[unsafe(no_mangle)]
pub extern "C" fn iwd_submit(disk: &mut Disk, now: u64, command: &RawCommand) -> c_int {
    let now = disk.at(now);
    let RawCommand { start, length, tag, operation, fua } = *command;
    let command = Command { tag, operation, start: Sector(start), length: Sectors(length), fua };
    disk.model.submit(now, command).map_or(INVALID, |()| 0)
}

/// When to call `iwd_advance`; the largest number while no command is outstanding.
#[unsafe(no_mangle)]
pub extern "C" fn iwd_next(disk: &Disk) -> u64 {
    disk.model.next_event().map_or(NEVER, |at| at.0)
}

/// Brings the disk to `now`. True if a command is done by then; to be called until it is false.
#[unsafe(no_mangle)]
pub extern "C" fn iwd_advance(disk: &mut Disk, now: u64, completion: &mut RawCompletion) -> bool {
    let now = disk.at(now);
    let Some(done) = disk.model.advance(now) else { return false };
    *completion = RawCompletion {
        seek: done.timing.seek.0,
        rotation: done.timing.rotation.0,
        transfer: done.timing.transfer.0,
        overhead: done.timing.overhead.0,
        tag: done.tag,
        cached: done.timing.cached,
    };
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_serves_what_the_driver_asks() {
        let mut room = [0u8; 400];
        let (mut traits, mut failure) = (RawTraits::default(), 0);
        let mut new = |wanted: &str| unsafe {
            let (from, to) = (wanted.as_ptr().cast(), room.as_mut_ptr().cast());
            let disk = iwd_new(from, wanted.len(), &mut traits, &mut failure, to, room.len());
            (disk, traits, failure, String::from_utf8_lossy(&room).split('\0').next().unwrap().to_owned())
        };
        let (none, _, failure, said) = new("floppy");
        assert!(none.is_none() && failure == INVALID);
        assert!(said.starts_with("no disk profile is called floppy; there are"), "{said}");

        let (disk, traits, ..) = new("deskstar-34gxp:depth=2");
        assert!(traits.depth == 2 && traits.rotational && traits.write_cache);
        assert!(traits.name.iter().zip(b"deskstar-34gxp\0").all(|(own, wanted)| *own == *wanted as c_char));
        let mut disk = disk.unwrap();
        let mut done = RawCompletion::default();
        assert_eq!(iwd_next(&disk), NEVER);
        let read =
            |tag, start| RawCommand { start, length: 128, tag, operation: Operation::Read, fua: false };
        assert_eq!(iwd_submit(&mut disk, 1_000, &read(7, 1 << 24)), 0);
        assert_eq!(iwd_submit(&mut disk, 900, &read(8, 1 << 25)), 0, "time does not go back");
        assert_eq!(iwd_submit(&mut disk, 1_000, &read(9, 0)), INVALID, "it takes two");
        let mut tags = Vec::new();
        while iwd_next(&disk) != NEVER {
            let at = iwd_next(&disk);
            while iwd_advance(&mut disk, at, &mut done) {
                tags.push(done.tag);
                assert!(done.seek > 1_000_000 && done.transfer > 0);
            }
        }
        tags.sort_unstable();
        assert_eq!(tags, [7, 8]);
        iwd_free(disk);
    }
}
