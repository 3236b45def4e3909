//! The program, made of the same compiled crates as the wheel: the tests hold the wheel against it.

fn main() -> std::process::ExitCode {
    idlewise::main()
}
