//! `idlewise disk`: look at a model, or check it against a real drive.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use idlewise_disk::validate;

use crate::args::DiskCommand;
use crate::failure::Failure;
use crate::output::{self, three};
use crate::setup;

/// Runs `idlewise disk …`.
pub(crate) fn disk(command: &DiskCommand) -> Result<(), Failure> {
    match command {
        DiskCommand::Show { name, json } => show(name, *json),
        DiskCommand::Validate { name, trace, json } => validate_model(name, trace, *json),
    }
}

fn show(_name: &str, _json: bool) -> Result<(), Failure> {
    Ok(())
}

fn validate_model(name: &str, trace: &Path, json: bool) -> Result<(), Failure> {
    let profile = setup::disk(name)?;
    let named = |error: &dyn std::fmt::Display| Failure::failed(format!("{}: {error}", trace.display()));
    let file = File::open(trace).map_err(|error| named(&error))?;
    let measured = validate::read_trace(BufReader::new(file)).map_err(|error| named(&error))?;
    let mut device = profile.build().map_err(Failure::failed)?;
    let demerit = validate::validate(&mut device, &measured).map_err(|error| named(&error))?;
    if json {
        return output::print(&output::json(&serde_json::json!({
            "schema": "idlewise/disk-validate/1",
            "disk": profile.name,
            "requests": demerit.requests,
            "demerit_ns": demerit.demerit_ns,
            "demerit_share": demerit.demerit_share,
            "measured_mean_ns": demerit.measured_mean_ns,
            "model_mean_ns": demerit.model_mean_ns,
        }))?);
    }
    let ms = |ns: f64| format!("{:.3} ms", ns / 1e6);
    output::print(&format!(
        "{} against {} measured requests\nmean response: measured {}, model {}\n\
         demerit figure: {} ({} % of the measured mean)",
        profile.name,
        demerit.requests,
        ms(demerit.measured_mean_ns as f64),
        ms(demerit.model_mean_ns as f64),
        ms(demerit.demerit_ns as f64),
        three(demerit.demerit_share * 100.0),
    ))
}
