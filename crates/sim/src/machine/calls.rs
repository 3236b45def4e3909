//! What each operation of a program does, as far as it comes without waiting.
//!
//! A call is made again after each wait, and goes on from what the process remembers. So a call first asks for all that
//! it needs, and changes something only when that is there.

pub(super) mod names;
mod pages;
pub(super) mod reads;
pub(super) mod syncs;
pub(super) mod writes;
