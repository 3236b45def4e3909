//! One value in memory of its own: what `Box` is, but with an error where there is no memory.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use super::OutOfMemory;

/// A value that is large and seldom moved, such as a scheduler: a kernel's stack is small.
#[derive(Debug)]
pub struct TryBox<T>(Box<[T; 1]>);

impl<T> TryBox<T> {
    /// Keeps what `make` returns.
    ///
    /// # Errors
    /// [`OutOfMemory`], and the errors of `make`.
    #[inline]
    pub fn new<E: From<OutOfMemory>>(make: impl FnOnce() -> Result<T, E>) -> Result<Self, E> {
        let mut memory = Vec::new();
        memory.try_reserve_exact(1).map_err(|_| OutOfMemory)?;
        memory.push(make()?);
        Ok(TryBox(memory.try_into().map_err(|_| OutOfMemory)?))
    }
}

impl<T> Deref for TryBox<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.0[0]
    }
}

impl<T> DerefMut for TryBox<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0[0]
    }
}
