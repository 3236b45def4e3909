//! Reading `name:key=value,key=value`, and the sizes and times in it.

use idlewise_core::{Duration, SECTOR_BYTES};

/// A workload as a command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The workload's name.
    pub name: String,
    /// The workload's options, in the order given.
    pub options: Vec<(String, String)>,
}

/// What is wrong with a workload's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum SpecError {
    /// An option lacks its value.
    #[error("'{0}' is not key=value: write options as NAME:key=value,key=value")]
    NotAnOption(String),
    /// No workload has this name.
    #[error("there is no workload '{0}': `idlewise list workloads` names them all")]
    UnknownWorkload(String),
    /// The workload has no such option.
    #[error("workload '{workload}' has no option '{option}'; it has: {known}")]
    UnknownOption { workload: String, option: String, known: String },
    /// The value does not fit the option.
    #[error("{option}={value}: {cure}")]
    BadValue { option: String, value: String, cure: String },
}

impl Spec {
    /// Reads `name` or `name:key=value,key=value`.
    ///
    /// # Errors
    /// [`SpecError::NotAnOption`].
    pub fn parse(text: &str) -> Result<Spec, SpecError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let options = rest
            .split(',')
            .filter(|part| !part.is_empty())
            .map(|part| match part.split_once('=') {
                Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
                None => Err(SpecError::NotAnOption(part.to_owned())),
            })
            .collect::<Result<_, _>>()?;
        Ok(Spec { name: name.to_owned(), options })
    }
}

/// A size: bytes, or with suffix `k`, `m`, `g` or `t` (powers of 1024), as fio reads them.
fn parse_bytes(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let short = lower.strip_suffix("ib").or(lower.strip_suffix('b')).unwrap_or(&lower);
    let digits = short.find(|c: char| !c.is_ascii_digit()).unwrap_or(short.len());
    let (number, suffix) = short.split_at(digits);
    let shift = match suffix {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// A time: a number with `ns`, `us`, `ms` or `s`; fractions are allowed.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let scale = match suffix.trim() {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "" if number == "0" => 1.0,
        _ => return None,
    };
    let ns = number.parse::<f64>().ok()? * scale;
    if ns.is_finite() && ns <= 1e18 { Some(Duration(ns.round() as u64)) } else { None }
}

/// The options of one workload: given values over defaults.
pub(crate) struct Options<'a> {
    pub(crate) given: &'a [(String, String)],
    pub(crate) defaults: &'static [(&'static str, &'static str, &'static str)],
}

impl Options<'_> {
    /// The text of `option`, given or default.
    pub(crate) fn text(&self, option: &str) -> &str {
        let given = self.given.iter().rev().find(|(key, _)| key == option).map(|(_, value)| value.as_str());
        let default = || self.defaults.iter().find(|row| row.0 == option).map_or("", |row| row.1);
        given.unwrap_or_else(default)
    }

    /// Whether `option` was given a value.
    pub(crate) fn is_given(&self, option: &str) -> bool {
        self.given.iter().any(|(key, _)| key == option)
    }

    pub(crate) fn bad(&self, option: &str, cure: &str) -> SpecError {
        SpecError::BadValue {
            option: option.to_owned(),
            value: self.text(option).to_owned(),
            cure: cure.to_owned(),
        }
    }

    /// A whole number in `range`.
    pub(crate) fn number(
        &self,
        option: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<u64, SpecError> {
        let number = self.text(option).parse().ok().filter(|number| range.contains(number));
        let cure =
            || self.bad(option, &format!("wants a whole number from {} to {}", range.start(), range.end()));
        number.ok_or_else(cure)
    }

    /// A number above zero, with or without a fraction.
    pub(crate) fn rate(&self, option: &str) -> Result<f64, SpecError> {
        let rate = self.text(option).parse::<f64>().ok().filter(|rate| *rate > 0.0 && *rate <= 1e9);
        rate.ok_or_else(|| self.bad(option, "wants a number above 0, up to 1e9"))
    }

    /// A size in sectors: at least one, at most 1 TiB.
    pub(crate) fn sectors(&self, option: &str) -> Result<u64, SpecError> {
        let bytes = parse_bytes(self.text(option));
        let fits =
            bytes.filter(|bytes| *bytes >= SECTOR_BYTES && bytes % SECTOR_BYTES == 0 && *bytes <= 1 << 50);
        fits.map(|bytes| bytes / SECTOR_BYTES)
            .ok_or_else(|| self.bad(option, "wants a size in multiples of 512, such as 4k or 1g"))
    }

    /// A size in sectors, which may be 0.
    pub(crate) fn sectors_or_none(&self, option: &str) -> Result<u64, SpecError> {
        if self.text(option) == "0" { Ok(0) } else { self.sectors(option) }
    }

    /// A request size in sectors: at most 1 GiB.
    pub(crate) fn request_size(&self, option: &str) -> Result<u32, SpecError> {
        let sectors = self.sectors(option)?;
        let fits = u32::try_from(sectors).ok().filter(|sectors| *sectors <= 1 << 21);
        fits.ok_or_else(|| self.bad(option, "wants a request size of at most 1g"))
    }

    /// A time.
    pub(crate) fn duration(&self, option: &str) -> Result<Duration, SpecError> {
        parse_duration(self.text(option))
            .ok_or_else(|| self.bad(option, "wants a time, such as 500us or 2ms"))
    }

    /// Whole numbers separated by colons, each in `range`.
    pub(crate) fn numbers(
        &self,
        option: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Vec<u64>, SpecError> {
        let parse = |part: &str| part.parse().ok().filter(|number| range.contains(number));
        let numbers: Option<Vec<u64>> = self.text(option).split(':').map(parse).collect();
        let cure = || {
            let (from, to) = (range.start(), range.end());
            self.bad(
                option,
                &format!("wants whole numbers from {from} to {to}, separated by colons, such as 1:2"),
            )
        };
        numbers.ok_or_else(cure)
    }

    /// One of `words`, by index.
    pub(crate) fn choice(&self, option: &str, words: &[&str]) -> Result<usize, SpecError> {
        let place = words.iter().position(|word| *word == self.text(option));
        place.ok_or_else(|| self.bad(option, &format!("wants one of {}", words.join(", "))))
    }
}
