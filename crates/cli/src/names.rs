//! Names that users mistype: finding what they meant.

/// The best guess at what `wanted` should have been, as a phrase; empty if nothing is near.
pub(crate) fn did_you_mean<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = |name: &&str| strsim::damerau_levenshtein(wanted, name) <= 1 + name.len() / 4;
    let scored = known.into_iter().filter(near).map(|name| (strsim::damerau_levenshtein(wanted, name), name));
    scored.min().map_or_else(String::new, |(_, name)| format!("; did you mean '{name}'?"))
}
