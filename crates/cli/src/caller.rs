//! Who calls: the command line of a process, or a program that has idlewise as a library.
//!
//! A process has words, a terminal to print to and Ctrl-C. A program gives the words, wants what is printed as text, and
//! follows and stops runs by itself. While [`call`] runs, the thread that called it is such a program's.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use idlewise_sim::engine::{Control, WHOLE_RUN};

/// How far the runs of a call are, and what stops them.
#[derive(Debug, Default)]
pub struct Following {
    /// Shared with the runs.
    pub control: Arc<Control>,
    /// Runs that were begun or are about to.
    runs: AtomicU64,
}

impl Following {
    /// Runs asked for until now. A comparison whose load leaves something open asks for more of them once the first are
    /// done.
    pub fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// How much of the runs asked for until now is done, from 0 to 1.
    pub fn share(&self) -> f64 {
        let done = self.control.millionths.load(Ordering::Relaxed) as f64;
        (done / (self.runs().max(1) * WHOLE_RUN) as f64).min(1.0)
    }
}

/// A call by a program.
struct Call {
    words: Vec<OsString>,
    following: Arc<Following>,
    printed: String,
    messages: Vec<u8>,
}

thread_local! {
    static CALL: RefCell<Option<Call>> = const { RefCell::new(None) };
}

/// What a call gave, what it printed, and its messages.
pub(crate) struct Returned<T> {
    pub(crate) value: T,
    pub(crate) printed: String,
    pub(crate) messages: String,
}

/// Does `work` for a program, as the command line `words` without the program's name has it.
pub(crate) fn call<T>(words: &[String], following: &Arc<Following>, work: impl FnOnce() -> T) -> Returned<T> {
    let words = words.iter().map(OsString::from).collect();
    let call = Call { words, following: Arc::clone(following), printed: String::new(), messages: Vec::new() };
    let before = CALL.replace(Some(call));
    // Also if `work` panics: the thread may be somebody's.
    let restore = Restore(before);
    let value = work();
    let call = CALL.take();
    drop(restore);
    let (printed, messages) = call.map(|call| (call.printed, call.messages)).unwrap_or_default();
    Returned { value, printed, messages: String::from_utf8_lossy(&messages).into_owned() }
}

struct Restore(Option<Call>);

impl Drop for Restore {
    fn drop(&mut self) {
        CALL.replace(self.0.take());
    }
}

fn of_call<T>(read: impl FnOnce(&mut Call) -> T) -> Option<T> {
    CALL.with_borrow_mut(|call| call.as_mut().map(read))
}

/// The words behind the program's name.
pub(crate) fn words() -> Vec<OsString> {
    of_call(|call| call.words.clone()).unwrap_or_else(|| std::env::args_os().skip(1).collect())
}

/// What follows the runs of this thread's call; `None` for the command line of a process.
pub(crate) fn following() -> Option<Arc<Following>> {
    of_call(|call| Arc::clone(&call.following))
}

/// These many runs are about to begin; true if a program follows them.
pub(crate) fn begins(runs: u64) -> bool {
    of_call(|call| call.following.runs.fetch_add(runs, Ordering::Relaxed)).is_some()
}

/// Keeps `text` for the program that calls; false if it goes to standard output.
pub(crate) fn keeps(text: &str) -> bool {
    of_call(|call| call.printed += text).is_some()
}

/// Where messages go: to the program that calls, or standard error.
pub(crate) struct Messages;

/// Says each of these lines there.
pub(crate) fn say(lines: &[String]) -> io::Result<()> {
    lines.iter().try_for_each(|line| writeln!(Messages, "{line}"))
}

impl Write for Messages {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match of_call(|call| call.messages.extend_from_slice(bytes)) {
            Some(()) => Ok(bytes.len()),
            None => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_its_words_and_keeps_what_is_said() {
        let following = Arc::new(Following::default());
        let told = call(&["compare".to_owned()], &following, || {
            assert!(keeps("a table") && begins(3));
            writeln!(Messages, "note: a note").unwrap();
            words()
        });
        assert_eq!((told.value, told.printed.as_str()), (vec![OsString::from("compare")], "a table"));
        assert_eq!((told.messages.as_str(), following.runs()), ("note: a note\n", 3));
        assert!(!keeps("this goes to standard output"), "the call is over");
    }
}
