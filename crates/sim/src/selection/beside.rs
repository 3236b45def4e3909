//! Work that is done beside a run, on a thread of its own; where there are no threads, as in a browser, at once.
//! A run is the same either way: an answer counts from a stated virtual time on.

/// An answer that is being worked out.
#[cfg(not(target_family = "wasm"))]
pub(super) struct Beside<T>(std::thread::JoinHandle<T>);

#[cfg(not(target_family = "wasm"))]
impl<T: Send + 'static> Beside<T> {
    /// Begins to work `answer` out.
    pub(super) fn begin(answer: impl FnOnce() -> T + Send + 'static) -> Beside<T> {
        Beside(std::thread::spawn(answer))
    }

    /// The answer, as soon as it is there. Panics if working it out did.
    pub(super) fn end(self) -> T {
        self.0.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// An answer that is there.
#[cfg(target_family = "wasm")]
pub(super) struct Beside<T>(T);

#[cfg(target_family = "wasm")]
impl<T> Beside<T> {
    /// Works `answer` out.
    pub(super) fn begin(answer: impl FnOnce() -> T) -> Beside<T> {
        Beside(answer())
    }

    /// The answer.
    pub(super) fn end(self) -> T {
        self.0
    }
}
