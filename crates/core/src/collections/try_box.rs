//! One value in memory of its own: what `Box` is, but with an error where there is no memory.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use super::OutOfMemory;

/// A value that is large and seldom moved, such as a scheduler: a kernel's stack is small.
#[derive(Debug)]
pub struct TryBox<T>(Box<[T; 1]>);

/// Memory for one value that is not there yet.
pub struct Room<T>(Vec<T>);

impl<T> TryBox<T> {
    /// Room for a value. To be had before the value is: then the value goes there at once.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn room() -> Result<Room<T>, OutOfMemory> {
        let mut memory = Vec::new();
        memory.try_reserve_exact(1).map_err(|_| OutOfMemory)?;
        Ok(Room(memory))
    }
}

impl<T> Room<T> {
    /// Keeps `value`. Inlined, since a function would have a copy of it on the stack.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    #[allow(clippy::inline_always, reason = "the stack is what matters, not the speed")]
    #[inline(always)]
    pub fn keep(mut self, value: T) -> Result<TryBox<T>, OutOfMemory> {
        self.0.push(value);
        Ok(TryBox(self.0.try_into().map_err(|_| OutOfMemory)?))
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
