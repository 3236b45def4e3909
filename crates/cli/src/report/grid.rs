//! Tables of words: as text, and as HTML.

use std::fmt::Write as _;

/// A cell of a table about schedulers.
pub(super) struct Cell {
    pub(super) text: String,
    /// Half the confidence interval as a share of the value; 0 for one run.
    pub(super) spread: f64,
    /// The best, or nearly.
    pub(super) best: bool,
}

/// Rows of words in columns: the first column begins at the left, all others end together.
pub(super) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let length = |row: &Vec<String>, column: usize| row.get(column).map_or(0, |cell| cell.chars().count());
    let widest = |column| rows.iter().map(|row| length(row, column)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = format!("{:1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            let _ = write!(line, "  {cell:>width$}");
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// A table with a row for each scheduler. `label` is for screen readers.
pub(super) fn html<'a>(
    (label, caption): (&str, &str),
    heads: impl Iterator<Item = String>,
    rows: impl Iterator<Item = (&'a str, Vec<Cell>)>,
) -> String {
    let (label, caption) = (escape(label), escape(caption));
    let mut text = format!(
        "<p class=hint>{caption}</p>\n<div class=scroll tabindex=0 role=region aria-label=\"{label}\"><table>\n\
         <thead><tr><th scope=col>scheduler</th>"
    );
    heads.for_each(|head| text += &format!("<th scope=col>{head}</th>"));
    text += "</tr></thead>\n<tbody>\n";
    for (name, cells) in rows {
        let _ = write!(text, "<tr><th scope=row>{}</th>", escape(name));
        for cell in cells {
            let class = if cell.best { " class=best" } else { "" };
            let spread = match cell.spread * 100.0 {
                percent if percent > 0.0 => format!(" <small>±{percent:.1}\u{a0}%</small>"),
                _ => String::new(),
            };
            let _ = write!(text, "<td{class}>{}{spread}</td>", cell.text);
        }
        text += "</tr>\n";
    }
    text + "</tbody>\n</table></div>\n"
}

/// `text` with everything that HTML gives a meaning made harmless, control characters included.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            '\t' | '\n' => safe.push(c),
            c if c.is_control() => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}
