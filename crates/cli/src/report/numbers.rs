//! Numbers and lines as people read them.

/// Columns of the terminal: `COLUMNS`, else what the terminal says; 100 if there is none.
pub(crate) fn width() -> usize {
    let variable = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    variable.or_else(terminal).unwrap_or(100).clamp(40, 100)
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

/// Nanoseconds as milliseconds with three significant digits.
pub(crate) fn ms(ns: f64) -> String {
    three(ns / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_grouped() {
        let shown = [0.0, 1.234, 12.34, 123.4, 999.4, 999.6, 1234.5, 1_234_567.0, -1234.0].map(three);
        assert_eq!(shown, ["0.00", "1.23", "12.3", "123", "999", "1,000", "1,234", "1,234,567", "-1,234"]);
    }
}
