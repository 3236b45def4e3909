//! Numbers and lines as people read them.

/// Columns of the terminal that standard output is: `COLUMNS`, else what the terminal says. `None`: another program or
/// a file is written to, where lines may be as long as they are.
pub(crate) fn terminal() -> Option<usize> {
    let variable = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let terminal =
        || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    variable.or_else(terminal).map(|width: usize| width.max(NARROWEST))
}

/// Narrower terminals are taken for this wide: below it nothing can be read.
const NARROWEST: usize = 40;

/// `text` with each line that is longer than `width` going on below, `indent` columns in.
pub(crate) fn folded(text: &str, indent: usize, width: usize) -> String {
    // At least half of the line is for words.
    let indent = indent.min(width / 2);
    let mut lines = String::new();
    for line in text.lines() {
        let mut rest: Vec<char> = line.chars().collect();
        while rest.len() > width {
            let inside = rest[..=width].iter().rposition(|c| *c == ' ').filter(|at| *at > indent);
            let (end, next) = inside.map_or((width, width), |at| (at, at + 1));
            lines += rest[..end].iter().collect::<String>().trim_end();
            lines.push('\n');
            rest = std::iter::repeat_n(' ', indent).chain(rest[next..].iter().copied()).collect();
        }
        lines.extend(rest);
        lines.push('\n');
    }
    lines
}

/// Columns of the terminal: `COLUMNS`, else what the terminal says; 100 if there is none.
pub(crate) fn width() -> usize {
    let variable = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    variable.or_else(terminal).unwrap_or(100).clamp(NARROWEST, 100)
}

/// `text` in lines of at most `width` characters. A number stays with its unit.
pub(crate) fn wrap(text: &str, width: usize) -> String {
    const UNITS: [&str; 5] = ["%", "µs", "ms", "s", "MB/s"];
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let unit = UNITS.contains(&word.trim_end_matches([',', ';', '.', ')']));
        match words.last_mut() {
            Some(last) if unit && last.ends_with(|c: char| c.is_ascii_digit()) => {
                *last += &format!(" {word}");
            }
            _ => words.push(word.to_owned()),
        }
    }
    let mut lines = String::new();
    let mut column = 0;
    for word in &words {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            lines.push('\n');
            column = 0;
        } else if column > 0 {
            lines.push(' ');
            column += 1;
        }
        lines += word;
        column += length;
    }
    lines
}

/// A number with three significant digits or all before the point, in groups of three.
pub(crate) fn three(number: f64) -> String {
    match number.abs() {
        size if size >= 999.5 => grouped(number.round_ties_even() as i64),
        size if size >= 99.95 => format!("{number:.0}"),
        size if size >= 9.995 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// A whole number in groups of three digits.
pub(crate) fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = if number < 0 { "-".to_owned() } else { String::new() };
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_go_on_below() {
        assert_eq!(folded("short\n", 4, 20), "short\n");
        assert_eq!(folded("name  one two three four", 6, 16), "name  one two\n      three four\n");
        assert_eq!(folded("0123456789abcdef", 2, 10), "0123456789\n  abcdef\n");
        assert_eq!(folded("0123456789 abc", 2, 10), "0123456789\n  abc\n");
    }

    #[test]
    fn numbers_are_short_and_grouped() {
        let shown = [0.0, 1.234, 12.34, 123.4, 999.4, 999.6, 1234.5, 1_234_567.0, -1234.0].map(three);
        assert_eq!(shown, ["0.00", "1.23", "12.3", "123", "999", "1,000", "1,234", "1,234,567", "-1,234"]);
    }
}
