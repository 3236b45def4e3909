//! The `idlewise` program: which disk scheduler should this disk use, and why. All of it is in the library.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    idlewise::main()
}
