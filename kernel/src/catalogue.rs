//! Which schedulers there are, under which elevator names, with which tunables.
//!
//! An elevator's name is its scheduler's, with two exceptions. A name that the kernel has taken gets
//! [`TAKEN_PREFIX`]. Of a longer name than the kernel keeps, the first [`NAME_LENGTH`] characters are
//! left; as the kernel cuts what is written to `scheduler` in the same place, the whole name works too.

use core::ffi::{c_char, c_int};
use core::fmt;

use idlewise_core::registry::{self, Entry, TAKEN_PREFIX};
use idlewise_core::tunables::{Tunable, TunableError, Unit};

use crate::boundary::{INVALID, put_c, text};

/// Characters that the kernel keeps of an elevator's name (`ELV_NAME_MAX`, with its zero byte).
pub const NAME_LENGTH: usize = 15;

/// Names of the kernel's own elevators. `deadline` is another name of its mq-deadline.
const TAKEN: [&str; 4] = ["mq-deadline", "deadline", "kyber", "bfq"];

/// The most tunables that a scheduler may have: for each the shim makes an attribute by a macro.
pub const TUNABLES_MAX: usize = 48;

/// Room for what is wrong with a setting.
pub const MESSAGE: usize = 160;

/// `ERANGE` of the kernel.
const OUT_OF_RANGE: c_int = -34;

pub(crate) fn entry(scheduler: u32) -> Option<&'static Entry> {
    registry::all().get(scheduler as usize)
}

/// The number of the scheduler called `name` in the registry.
pub(crate) fn number(name: &str) -> Option<u32> {
    registry::all().iter().position(|entry| entry.name == name).map(|number| number as u32)
}

fn tunable(scheduler: u32, index: u32) -> Option<&'static Tunable> {
    entry(scheduler)?.tunables.get(index as usize)
}

/// The part of an elevator's name before the scheduler's.
fn prefix(name: &str) -> &'static str {
    if TAKEN.contains(&name) { TAKEN_PREFIX } else { "" }
}

/// Writes `text`, ended by a zero byte.
pub(crate) fn tell(room: &mut [c_char; MESSAGE], text: fmt::Arguments<'_>) {
    *room = [0; MESSAGE];
    // The last byte stays zero. C has all of them there.
    unsafe { put_c(room.as_mut_ptr(), MESSAGE - 1, text) };
}

/// How many schedulers there are.
#[unsafe(no_mangle)]
pub extern "C" fn iw_schedulers() -> u32 {
    registry::all().len() as u32
}

/// The number of the scheduler called `name` in the registry, or -`EINVAL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_scheduler_find(name: *const c_char, length: usize) -> c_int {
    number(unsafe { text(name, length) }).map_or(INVALID, |number| number as c_int)
}

/// Writes a scheduler's name in the registry; returns its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_scheduler_name(scheduler: u32, room: *mut c_char, size: usize) -> usize {
    let name = entry(scheduler).map_or("", |entry| entry.name);
    unsafe { put_c(room, size, format_args!("{name}")) }
}

/// Writes a scheduler's name as an elevator; returns its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_elevator_name(scheduler: u32, room: *mut c_char, size: usize) -> usize {
    let name = entry(scheduler).map_or("", |entry| entry.name);
    unsafe { put_c(room, size.min(NAME_LENGTH), format_args!("{}{name}", prefix(name))) }
}

/// How many tunables a scheduler has.
#[unsafe(no_mangle)]
pub extern "C" fn iw_tunables(scheduler: u32) -> u32 {
    entry(scheduler).map_or(0, |entry| entry.tunables.len() as u32)
}

/// Writes a tunable's name; returns its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_tunable_name(
    scheduler: u32,
    index: u32,
    room: *mut c_char,
    size: usize,
) -> usize {
    let name = tunable(scheduler, index).map_or("", |tunable| tunable.name);
    unsafe { put_c(room, size, format_args!("{name}")) }
}

/// Writes a tunable's value as its attribute shows it: a plain number in the tunable's unit, or
/// the word of a choice. Returns the length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_tunable_format(
    scheduler: u32,
    index: u32,
    value: u64,
    room: *mut c_char,
    size: usize,
) -> usize {
    let words: &[&str] = match tunable(scheduler, index) {
        Some(Tunable { unit: Unit::Choice(words), .. }) => words,
        _ => &[],
    };
    match words.get(value as usize) {
        Some(word) => unsafe { put_c(room, size, format_args!("{word}")) },
        None => unsafe { put_c(room, size, format_args!("{value}")) },
    }
}

/// Reads what was written to a tunable's attribute. Returns 0 and the value, or -`EINVAL` or
/// -`ERANGE` and, in `wrong`, what is wrong, ended by a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iw_tunable_parse(
    scheduler: u32,
    index: u32,
    from: *const c_char,
    length: usize,
    value: &mut u64,
    wrong: &mut [c_char; MESSAGE],
) -> c_int {
    let Some(tunable) = tunable(scheduler, index) else { return INVALID };
    let error = match tunable.parse(unsafe { text(from, length) }.trim()) {
        Ok(read) => {
            *value = read;
            return 0;
        }
        Err(error) => error,
    };
    tell(wrong, format_args!("{error}"));
    match error {
        TunableError::OutOfRange(_) => OUT_OF_RANGE,
        _ => INVALID,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::string::String;

    use super::*;

    fn elevator_name(scheduler: u32) -> String {
        let mut room = [0; 64];
        let length = unsafe { iw_elevator_name(scheduler, room.as_mut_ptr().cast(), room.len()) };
        String::from_utf8(room[..length].to_vec()).unwrap()
    }

    #[test]
    fn elevator_names_fit_and_differ() {
        let names: BTreeSet<String> = (0..iw_schedulers()).map(elevator_name).collect();
        assert_eq!(names.len() as u32, iw_schedulers(), "two schedulers share an elevator name: {names:?}");
        for name in &names {
            assert!(name.len() <= NAME_LENGTH, "{name} is too long");
            assert!(!TAKEN.contains(&name.as_str()), "{name} is the kernel's");
            assert!(!name.starts_with("none"), "the kernel takes {name} for none");
            assert_ne!(name, "idlewise", "that is the elevator which hosts all");
        }
        assert!(
            names.contains("iw-mq-deadline") && names.contains("antic-stride-sp") && names.contains("cas")
        );
    }

    #[test]
    fn no_scheduler_has_more_tunables_than_attributes_are_made() {
        for entry in registry::all() {
            assert!(
                entry.tunables.len() <= TUNABLES_MAX,
                "{}: raise the number, and the macro EACH in `shim/attributes.c`",
                entry.name
            );
        }
    }

    #[test]
    fn a_tunable_reads_what_it_shows_and_refuses_the_rest() {
        let (mut room, mut wrong) = ([0; 128], [0; MESSAGE]);
        for scheduler in 0..iw_schedulers() {
            for index in 0..iw_tunables(scheduler) {
                let tunable = tunable(scheduler, index).unwrap();
                let (mut value, size) = (0, room.len());
                let length = unsafe {
                    iw_tunable_format(scheduler, index, tunable.default, room.as_mut_ptr().cast(), size)
                };
                let shown = room;
                let mut parse = |text: &[u8]| unsafe {
                    iw_tunable_parse(
                        scheduler,
                        index,
                        text.as_ptr().cast(),
                        text.len(),
                        &mut value,
                        &mut wrong,
                    )
                };
                assert_eq!(parse(&shown[..length]), 0);
                for wrong in [&b"no such word\n"[..], b"99999999999999999999", b""] {
                    assert_ne!(parse(wrong), 0, "{} takes {wrong:?}", tunable.name);
                }
                assert_eq!(value, tunable.default, "{}", tunable.name);
            }
        }
    }
}
