//! The `idlewise` program.
fn main() {}
