//! The machine as a named workload: `machine:program=find,n=2,scale=25`.

use super::layout::Full;
use super::parameters::PAGE;
use super::presets;
use super::programs::{self, Setting, Wish};
use super::running::Machine;
use crate::workloads::{Ground, Named, Options, SpecError};

/// A machine that runs a program.
///
/// # Errors
/// [`Full`]: the disk has no room for the program's files.
pub fn build(program: &programs::Row, wish: Wish, ground: Ground) -> Result<Machine, Full> {
    let mut setting = Setting::new(wish, ground)?;
    let jobs = (program.make)(&mut setting)?;
    Ok(Machine::new(wish.parameters, setting.files, ground.depth, jobs))
}

/// The machine that `options` describe.
///
/// # Errors
/// [`SpecError`] if a name is unknown, a number wrong, or the disk too small.
pub(crate) fn workload(options: &Options<'_>, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let names = |all: Vec<&str>| format!("wants one of {}", all.join(", "));
    let program = programs::named(options.text("program"));
    let program = program
        .ok_or_else(|| options.bad("program", &names(programs::ALL.iter().map(|row| row.name).collect())))?;
    let name = if options.text("machine").is_empty() { program.machine } else { options.text("machine") };
    let parameters = presets::named(name)
        .ok_or_else(|| options.bad("machine", &names(presets::ALL.iter().map(|one| one.name).collect())))?;
    let scale = options.number("scale", 1..=1000)? as u32;
    let instances = match options.text("n") {
        "" => program.instances,
        _ => options.number("n", 1..=256)? as u32,
    };
    let parameters = match options.text("memory") {
        "" => parameters.scaled(scale),
        _ => parameters.with_memory(options.number("memory", 1..=1 << 20)? * (1 << 20) / PAGE),
    };
    let wish = Wish { parameters, instances, scale };
    let machine = build(program, wish, ground);
    Ok(Box::new(machine.map_err(|Full| options.bad("scale", "choose a smaller scale, or a larger disk"))?))
}
