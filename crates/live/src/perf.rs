//! Events of the kernel through `perf_event_open`: one ring buffer for each processor, shared by all its events.
//!
//! All that is unsafe in this crate is here: a system call, three ioctls and a mapping. What the kernel writes is copied
//! out of the mapping before anybody looks at it.
//!
//! [`Ring::open`] maps the buffer of one processor and asks for the lives of processes; [`Ring::add`] adds a
//! tracepoint; [`Ring::take`] copies what has come.
#![allow(unsafe_code)]

use std::ffi::{CString, c_void};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// `struct perf_event_attr`, as far as version 5 has it.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample: u64,
    read: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: [u32; 5],
    branches: u64,
    user_registers: u64,
    user_stack: u32,
    clock: i32,
    registers: u64,
    aux_watermark: u32,
    max_stack: u16,
    reserved: u16,
}

const KIND_SOFTWARE: u32 = 1;
const KIND_TRACEPOINT: u32 = 2;
const SOFTWARE_DUMMY: u64 = 9;
/// Task, time and the tracepoint's fields.
const SAMPLE: u64 = 1 << 1 | 1 << 2 | 1 << 10;
/// `read` gives the count of lost samples behind the value.
const READ_LOST: u64 = 1 << 4;
const DISABLED: u64 = 1;
/// Names, programs begun; forks and exits; wake by bytes; task and time in all records; a clock of our choice.
const LIVES: u64 = 1 << 9 | 1 << 24 | 1 << 13 | 1 << 18;
const BY_BYTES: u64 = 1 << 14;
const OWN_CLOCK: u64 = 1 << 25;
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// Where the control page has the positions of writer and reader, and the data (`struct perf_event_mmap_page`).
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

const ENABLE: libc::Ioctl = libc::_IO(b'$' as u32, 0);
const SET_OUTPUT: libc::Ioctl = libc::_IO(b'$' as u32, 5);
const SET_FILTER: libc::Ioctl = libc::_IOW::<*mut c_void>(b'$' as u32, 6);

/// Opens an event on one processor, for all processes.
fn open(attributes: &Attributes, cpu: u32) -> io::Result<OwnedFd> {
    // SAFETY: `attributes` is the structure that its own `size` says, and lives through the call.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(attributes),
            -1,
            cpu as libc::c_int,
            -1,
            CLOSE_ON_EXEC,
        )
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as libc::c_int) })
}

/// An ioctl whose argument is a number, or a pointer as a number.
fn control(fd: &OwnedFd, request: libc::Ioctl, argument: usize) -> io::Result<()> {
    // SAFETY: all three requests take a number or a string that outlives the call (see the callers).
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), request, argument) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The ring buffer of one processor, and the events that write to it.
pub(crate) struct Ring {
    /// The event that owns the buffer.
    owner: File,
    events: Vec<File>,
    cpu: u32,
    map: *mut u8,
    page: usize,
    /// Bytes of data; a power of two.
    size: usize,
    /// The kernel counts what is lost.
    counts_lost: bool,
}

impl Ring {
    /// A buffer of `size` bytes, a power of two and at least a page, for the processor `cpu`. Times are of
    /// `CLOCK_MONOTONIC`. A reader that polls is woken when a quarter is full.
    pub(crate) fn open(cpu: u32, size: usize) -> io::Result<Ring> {
        let attributes = Attributes {
            kind: KIND_SOFTWARE,
            config: SOFTWARE_DUMMY,
            flags: DISABLED | LIVES | BY_BYTES | OWN_CLOCK,
            ..Ring::attributes(size)
        };
        let lossy = |attributes| open(&Attributes { read: READ_LOST, ..attributes }, cpu);
        let (owner, counts_lost) = match lossy(attributes) {
            // Linux before 6.0.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => (open(&attributes, cpu)?, false),
            other => (other?, true),
        };
        let page = rustix::param::page_size();
        // SAFETY: a new shared mapping of a descriptor that is ours, at a place of the kernel's choice.
        let map = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                page + size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                owner.as_raw_fd(),
                0,
            )
        };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Ring { owner: owner.into(), events: Vec::new(), cpu, map: map.cast(), page, size, counts_lost })
    }

    fn attributes(size: usize) -> Attributes {
        Attributes {
            size: size_of::<Attributes>() as u32,
            period: 1,
            sample: SAMPLE,
            wakeup: (size / 4) as u32,
            clock: libc::CLOCK_MONOTONIC,
            ..Attributes::default()
        }
    }

    /// Adds the tracepoint `id`, of which only events that pass `filter` are recorded.
    pub(crate) fn add(&mut self, id: u16, filter: &str) -> io::Result<()> {
        let attributes = Attributes {
            kind: KIND_TRACEPOINT,
            config: u64::from(id),
            read: if self.counts_lost { READ_LOST } else { 0 },
            flags: DISABLED | BY_BYTES | OWN_CLOCK,
            ..Ring::attributes(self.size)
        };
        let event = open(&attributes, self.cpu)?;
        let filter = CString::new(filter)?;
        control(&event, SET_FILTER, filter.as_ptr() as usize)?;
        control(&event, SET_OUTPUT, self.owner.as_raw_fd() as usize)?;
        self.events.push(event.into());
        Ok(())
    }

    /// Begins to record the tracepoint that was added at place `at`.
    pub(crate) fn enable(&self, at: usize) -> io::Result<()> {
        control_file(&self.events[at])
    }

    /// Begins to record the lives of processes.
    pub(crate) fn enable_lives(&self) -> io::Result<()> {
        control_file(&self.owner)
    }

    /// What becomes readable when a quarter of the buffer is full.
    pub(crate) fn readable(&self) -> &File {
        &self.owner
    }

    /// Appends what has come since the last call to `into`, and gives its room back to the kernel.
    pub(crate) fn take(&mut self, into: &mut Vec<u8>) {
        let head = self.position(DATA_HEAD).load(Ordering::Acquire);
        let tail = self.position(DATA_TAIL).load(Ordering::Relaxed);
        let length = head.wrapping_sub(tail).min(self.size as u64) as usize;
        let from = (tail % self.size as u64) as usize;
        let first = length.min(self.size - from);
        for (at, length) in [(from, first), (0, length - first)] {
            // SAFETY: `at + length` is at most `size`, so all of it is in the mapping; the kernel writes there
            // again only once `DATA_TAIL` says that it may.
            let bytes = unsafe { std::slice::from_raw_parts(self.map.add(self.page + at), length) };
            into.extend_from_slice(bytes);
        }
        self.position(DATA_TAIL).store(head, Ordering::Release);
    }

    /// Samples that found no room, if the kernel counts them.
    pub(crate) fn lost(&mut self) -> Option<u64> {
        if !self.counts_lost {
            return None;
        }
        let mut lost = 0;
        for event in std::iter::once(&mut self.owner).chain(&mut self.events) {
            let mut words = [0; 16];
            event.read_exact(&mut words).ok()?;
            lost += u64::from_ne_bytes(words[8..].try_into().ok()?);
        }
        Some(lost)
    }

    fn position(&self, at: usize) -> &AtomicU64 {
        // SAFETY: the control page is mapped as long as `self` lives, and has an aligned 64-bit position there.
        unsafe { AtomicU64::from_ptr(self.map.add(at).cast()) }
    }
}

fn control_file(file: &File) -> io::Result<()> {
    // SAFETY: the request takes no argument.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), ENABLE, 0) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: this is the whole mapping that `open` made, and nothing refers to it any more.
        unsafe { libc::munmap(self.map.cast(), self.page + self.size) };
    }
}
