//! Compiles the disk profiles into Rust: a kernel has neither a TOML reader nor floating point.
//!
//! The `Debug` form of a specification is Rust, but for its lists. The lists become tables of their own,
//! and the compiler checks the rest.

use std::fmt::{self, Write};
use std::path::Path;
use std::{env, fs};

use idlewise_disk::AnySpec;
use idlewise_disk::profile::{self, Profile};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../../crates/disk");
    let folder = env::var_os("OUT_DIR").expect("cargo says where");
    let text = profiles().expect("text can be written");
    fs::write(Path::new(&folder).join("profiles.rs"), text).expect("the folder can be written");
}

/// A function for each profile, and a table of them by name.
fn profiles() -> Result<String, fmt::Error> {
    let (mut functions, mut table) = (String::new(), String::new());
    for (number, name) in profile::names().enumerate() {
        let Profile { description, model, .. } = Profile::named(name).expect("built-in profiles are valid");
        writeln!(functions, "/// {description}\nfn profile_{number}() -> Result<AnySpec, BuildError> {{")?;
        function(&mut functions, model)?;
        writeln!(functions, "}}")?;
        writeln!(table, "    ({name:?}, profile_{number}),")?;
    }
    Ok(format!("{functions}\nstatic PROFILES: &[(&str, Make)] = &[\n{table}];\n"))
}

/// What makes `model`.
fn function(text: &mut String, model: AnySpec) -> fmt::Result {
    let AnySpec::Mechanical(mut spec) = model else {
        return writeln!(text, "    Ok(AnySpec::{model:?})");
    };
    writeln!(text, "    static ZONES: &[ZoneSpec] = &{:?};", spec.zones)?;
    writeln!(text, "    static SEEK: &[(u32, u32)] = &{:?};", spec.seek)?;
    (spec.zones, spec.seek) = (Vec::new(), Vec::new());
    let rest = format!("{spec:?}")
        .replace("zones: []", "zones: list(ZONES)?")
        .replace("seek: []", "seek: list(SEEK)?")
        .replace("read_ahead: ", "read_ahead: ReadAhead::");
    writeln!(text, "    Ok(AnySpec::Mechanical({rest}))")
}
