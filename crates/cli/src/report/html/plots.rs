//! What scripts of the page plot: runs over time, packed into JSON, and the room for it.
//!
//! Each row of numbers is `{"most": M, "data": "…"}`: base64 of whole numbers of 16 bits, little-endian, of which 65 535 stands
//! for M. A plot of a few hundred points on a screen shows no more. Latencies span many decades, so they are 32-bit floats in
//! milliseconds: `{"floats": "…"}`. `plots.js` unpacks both.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use idlewise_core::{Direction, Instant};
use idlewise_sim::metrics::series::{Bin, Close, Dot, Quantile, Series};
use serde_json::{Value, json};

/// One scheduler's run over time, by the scheduler's name.
pub(crate) type Named<'a> = (&'a str, &'a Series);

/// The library that plots.
const LIBRARY: &str = include_str!("../../../vendor/uplot/uPlot.iife.min.js");
const LIBRARY_STYLE: &str = include_str!("../../../vendor/uplot/uPlot.min.css");
const LIBRARY_LICENSE: &str = include_str!("../../../vendor/uplot/LICENSE");
const OWN: &str = include_str!("plots.js");

/// Everything of the plots: their room, the data, the scripts. `first` are the schedulers that are shown at first.
pub(super) fn plots(runs: &[Named<'_>], first: &[&str]) -> String {
    let data = json!({ "runs": runs.iter().map(packed).collect::<Vec<_>>(), "first": first });
    // The only way out of a script of JSON is its end tag.
    let data = data.to_string().replace('<', "\\u003c");
    let room = include_str!("plots.html");
    format!(
        "{room}<style>{LIBRARY_STYLE}</style>\n<script type=\"application/json\" id=runs>{data}</script>\n\
         <script>/* uPlot 1.6.32\n{LIBRARY_LICENSE}*/\n{LIBRARY}</script>\n<script>\n{OWN}</script>\n"
    )
}

fn packed((name, series): &Named<'_>) -> Value {
    let bins = |figure: &dyn Fn(&Bin, f64) -> f64| {
        let spans = series.spans().map(|[from, to]| to.since(from).0.max(1) as f64);
        row(&series.bins.iter().zip(spans).map(|(bin, ns)| figure(bin, ns)).collect::<Vec<_>>())
    };
    let millis = |figure: fn(&Bin) -> u64| floats(series.bins.iter().map(|bin| figure(bin) as f64 / 1e6));
    let served = |process: usize| bins(&|bin, ns| bin.service_ns[process] as f64 / ns * 100.0);
    let [reads, writes] = &series.latencies;
    json!({
        "name": name,
        "bin": series.bin.0 as f64 / 1e9,
        "end": series.end.0 as f64 / 1e9,
        "read": bins(&|bin, ns| bin.bytes[Direction::Read.index()] as f64 / ns * 1e3),
        "write": bins(&|bin, ns| bin.bytes[Direction::Write.index()] as f64 / ns * 1e3),
        "readP99": millis(|bin| bin.read_ns_p99),
        "writeP99": millis(|bin| bin.write_ns_p99),
        "outstanding": bins(&|bin, ns| bin.outstanding * series.bin.0 as f64 / ns),
        "waiting": bins(&|bin, ns| bin.waiting_ns as f64 / ns * 100.0),
        "processes": series.processes,
        "served": (0..series.processes.len()).map(served).collect::<Vec<_>>(),
        "dots": dots(series),
        "closeUp": close_up(series),
        "readLatency": distribution(reads),
        "writeLatency": distribution(writes),
    })
}

fn gigabytes(dot: &Dot) -> f64 {
    (dot.start.0 * idlewise_core::SECTOR_BYTES) as f64 / 1e9
}

fn dots(series: &Series) -> Value {
    let all = |figure: fn(&Dot) -> f64| row(&series.dots.iter().map(figure).collect::<Vec<_>>());
    json!({
        "at": all(|dot| dot.at.0 as f64 / 1e9),
        "address": all(gigabytes),
        "process": bytes(series.dots.iter().map(|dot| dot.process)),
        "write": bytes(series.dots.iter().map(|dot| u8::from(dot.write))),
    })
}

/// Times in milliseconds from when the first of its commands went to the disk; what was issued before counts from there.
fn close_up(series: &Series) -> Value {
    let commands = &series.close_up.commands;
    let from = commands.iter().map(|command| command.dot.at).min().unwrap_or_default();
    let millis = |at: Instant| at.0.saturating_sub(from.0) as f64 / 1e6;
    let all = |figure: &dyn Fn(&Close) -> f64| row(&commands.iter().map(figure).collect::<Vec<_>>());
    let waits = &series.close_up.waits;
    json!({
        "from": from.0 as f64 / 1e9,
        "issued": all(&|command| millis(command.issued)),
        "at": all(&|command| millis(command.dot.at)),
        "done": all(&|command| millis(command.done)),
        "address": all(&|command| gigabytes(&command.dot)),
        "process": bytes(commands.iter().map(|command| command.dot.process)),
        "write": bytes(commands.iter().map(|command| u8::from(command.dot.write))),
        "waitFrom": row(&waits.iter().map(|wait| millis(wait[0])).collect::<Vec<_>>()),
        "waitTo": row(&waits.iter().map(|wait| millis(wait[1])).collect::<Vec<_>>()),
    })
}

fn distribution(points: &[Quantile]) -> Value {
    json!({
        "share": points.iter().map(|point| point.share).collect::<Vec<_>>(),
        "millis": floats(points.iter().map(|point| point.ns as f64 / 1e6)),
    })
}

/// Numbers of zero and more.
fn row(numbers: &[f64]) -> Value {
    let most = numbers.iter().copied().fold(0.0, f64::max);
    let whole = |number: &f64| (number / most.max(f64::MIN_POSITIVE) * f64::from(u16::MAX)).round() as u16;
    let packed: Vec<u8> = numbers.iter().flat_map(|number| whole(number).to_le_bytes()).collect();
    json!({ "most": most, "data": BASE64_STANDARD.encode(packed) })
}

fn floats(numbers: impl Iterator<Item = f64>) -> Value {
    let packed: Vec<u8> = numbers.flat_map(|number| (number as f32).to_le_bytes()).collect();
    json!({ "floats": BASE64_STANDARD.encode(packed) })
}

fn bytes(numbers: impl Iterator<Item = u8>) -> Value {
    json!({ "bytes": BASE64_STANDARD.encode(numbers.collect::<Vec<_>>()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_packed_to_a_part_in_65_535() {
        let row = row(&[0.0, 1.0, 2.0]);
        assert_eq!(row["most"], 2.0);
        let packed = BASE64_STANDARD.decode(row["data"].as_str().unwrap()).unwrap();
        assert_eq!(packed, [0, 0, 0, 128, 255, 255]);
    }

    #[test]
    fn a_name_cannot_end_the_script() {
        let series = Series { processes: vec!["</script><b>".to_owned()], ..Series::default() };
        let page = plots(&[("a</script>", &series)], &["a</script>"]);
        assert_eq!(page.matches("</script>").count(), 3, "each script has one end");
    }
}
