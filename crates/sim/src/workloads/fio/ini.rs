//! The outer form of a job file: sections of `key=value` lines, as fio reads them.
//!
//! `;` and `#` begin a comment anywhere in a line. A key without a value is a switch that is on.
//! `${NAME}` is replaced by that environment variable.

use super::error::FioError;

/// One `key=value` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) number: u32,
    pub(super) key: String,
    /// Empty for a switch.
    pub(super) value: String,
}

/// A `[name]` and the lines below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) number: u32,
    pub(super) name: String,
    pub(super) lines: Vec<Line>,
}

/// The sections of `text`, in order.
pub(super) fn parse(file: &str, text: &str) -> Result<Vec<Section>, FioError> {
    let mut sections: Vec<Section> = Vec::new();
    for (index, raw) in text.lines().enumerate() {
        let number = index as u32 + 1;
        let wrong = |what: String| FioError::at(file, number, what);
        let line = raw.split([';', '#']).next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.strip_suffix(']').map(str::trim).filter(|name| !name.is_empty());
            let name =
                name.ok_or_else(|| wrong(format!("'{}' is not a section: write [name]", show(line))))?;
            sections.push(Section { number, name: name.to_owned(), lines: Vec::new() });
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let (key, value) = (key.trim(), value.trim());
        if key.starts_with("include ") {
            return Err(wrong("include is not supported: copy that file's lines here".to_owned()));
        }
        if !key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(wrong(format!("'{}' is not key=value; is this a fio job file?", show(line))));
        }
        let section =
            sections.last_mut().ok_or_else(|| wrong(format!("'{key}' stands before the first [section]")))?;
        let value = expand(value).map_err(wrong)?;
        section.lines.push(Line { number, key: key.to_ascii_lowercase(), value });
    }
    Ok(sections)
}

/// `value` with each `${NAME}` replaced by the environment's.
fn expand(value: &str) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, tail) = after.split_once('}').ok_or("'${' lacks its '}'")?;
        let found = std::env::var(name).map_err(|_| {
            format!("the environment has no variable {name}: set it, or write the value here")
        })?;
        text += before;
        text += &found;
        rest = tail;
    }
    Ok(text + rest)
}

/// A piece of the file, short enough for a message and free of control characters.
fn show(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_switches_and_spaces() {
        let text = "; top\n[global]\n bs = 4k ; why\n\n[a b]\nstonewall\n#x\nsize=1m#y";
        let sections = parse("j", text).unwrap();
        let flat: Vec<_> = sections
            .iter()
            .flat_map(|section| {
                section
                    .lines
                    .iter()
                    .map(|line| (section.name.as_str(), line.number, line.key.as_str(), line.value.as_str()))
            })
            .collect();
        assert_eq!(flat, [("global", 3, "bs", "4k"), ("a b", 6, "stonewall", ""), ("a b", 8, "size", "1m")]);
    }

    #[test]
    fn what_is_not_a_job_file_is_refused_with_its_line() {
        for (text, wanted) in [
            ("bs=4k\n", "j:1: 'bs' stands before the first [section]"),
            ("[a]\n\n[b\n", "j:3: '[b' is not a section: write [name]"),
            ("[a]\n\u{1}\u{2}=x\n", "j:2: '\\u{1}\\u{2}=x' is not key=value; is this a fio job file?"),
            ("[a]\nx=${IDLEWISE_UNSET}\n", "j:2: the environment has no variable IDLEWISE_UNSET"),
            ("[a]\ninclude other.fio\n", "j:2: include is not supported"),
        ] {
            let message = parse("j", text).unwrap_err().to_string();
            assert!(message.starts_with(wanted), "{message}");
        }
    }
}
