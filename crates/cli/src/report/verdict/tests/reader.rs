//! What a reader computes from a table of results, to check what a verdict says of it.

use idlewise_sim::metrics::{Better, Kind};

use super::super::table::{Aim, Goal, Measured, Table};

/// What the reader of a table computes.
pub(super) struct Reader<'a> {
    pub(super) table: &'a Table,
    pub(super) goal: Goal,
}

impl Reader<'_> {
    pub(super) fn row(&self, name: &str) -> usize {
        let name = name.trim_matches('\'');
        self.table
            .schedulers
            .iter()
            .position(|known| known == name)
            .unwrap_or_else(|| panic!("who is {name}?"))
    }

    pub(super) fn figure(&self, name: &str) -> &Measured {
        self.table.figures.iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("no {name}"))
    }

    pub(super) fn mean(&self, figure: &Measured, row: usize) -> f64 {
        figure.samples[row].iter().sum::<f64>() / figure.samples[row].len() as f64
    }

    /// Cost: less is better.
    pub(super) fn cost(&self, figure: &Measured, row: usize) -> f64 {
        let mean = self.mean(figure, row);
        if figure.better == Better::More { 1.0 / mean } else { mean }
    }

    /// How many times larger matters: replays are less sure of latencies.
    pub(super) fn threshold(figure: &Measured) -> f64 {
        if figure.replayed && figure.aim == Aim::Latency { 1.15 } else { 1.05 }
    }

    /// Whether two rows differ by as much as matters and, over seeds, beyond chance.
    pub(super) fn differ(&self, figure: &Measured, a: usize, b: usize) -> bool {
        self.differ_by(figure, a, b, Reader::threshold(figure))
    }

    /// Whether one row is more than `times` the other, beyond chance.
    fn differ_by(&self, figure: &Measured, a: usize, b: usize, times: f64) -> bool {
        let pairs = figure.samples[a].iter().zip(&figure.samples[b]).map(|(a, b)| a.ln() - b.ln());
        let pairs: Vec<f64> = pairs.collect();
        let count = pairs.len() as f64;
        let mean = pairs.iter().sum::<f64>() / count;
        let same = pairs.iter().all(|pair| *pair > 0.0) || pairs.iter().all(|pair| *pair < 0.0);
        let beyond = if figure.disks {
            same
        } else {
            pairs.len() < 2 || {
                let variance = pairs.iter().map(|pair| (pair - mean).powi(2)).sum::<f64>() / (count - 1.0);
                let student = [0.0, 0.0, 12.706, 4.303, 3.182, 2.776][pairs.len()];
                mean.abs() > student * (variance / count).sqrt()
            }
        };
        // What the mean over seeds says and what most of them say is the same.
        let agrees = (self.mean(figure, a) > self.mean(figure, b)) == (mean > 0.0);
        let (a, b) = (self.cost(figure, a), self.cost(figure, b));
        a.max(b) / a.min(b) > times && beyond && agrees
    }

    /// The logarithm of how far `a` is behind `b`: in throughput, if that differs, else in latency, as the goal wants.
    pub(super) fn behind(&self, a: usize, b: usize) -> f64 {
        let of = |aim: Aim| self.weighs().filter(|figure| figure.aim == aim).collect::<Vec<_>>();
        let part = |figures: Vec<&Measured>| {
            let differing: Vec<&&Measured> =
                figures.iter().filter(|figure| self.differ(figure, a, b)).collect();
            let ratio = |figure: &&&Measured| (self.cost(figure, a) / self.cost(figure, b)).ln();
            let sum: f64 = differing.iter().map(ratio).sum();
            (!differing.is_empty()).then(|| sum / figures.len() as f64)
        };
        part(of(Aim::Throughput)).or_else(|| part(of(Aim::Latency))).unwrap_or(0.0)
    }

    /// Whether `a` is worse than `b` by what matters.
    pub(super) fn worse(&self, figure: &Measured, a: usize, b: usize) -> bool {
        self.differ(figure, a, b) && self.cost(figure, a) > self.cost(figure, b)
    }

    /// The figures of the goal.
    pub(super) fn weighs(&self) -> impl Iterator<Item = &Measured> {
        let wanted = |figure: &&Measured| match self.goal {
            Goal::Throughput => figure.aim == Aim::Throughput,
            Goal::Latency => figure.aim == Aim::Latency,
            Goal::Balanced => true,
        };
        self.table.figures.iter().filter(wanted)
    }

    /// The longest request that the balanced goal allows.
    pub(super) fn allowed(&self, about: &[usize]) -> f64 {
        let longest = |row: &usize| self.table.longest[*row];
        let usual = about.iter().find(|row| self.table.schedulers[**row] == "mq-deadline");
        let usual = usual.map_or_else(|| about.iter().map(longest).fold(f64::MAX, f64::min), longest);
        (2.0 * usual).max(1e9)
    }

    /// The rows that the goal considers.
    pub(super) fn considered(&self, about: &[usize]) -> Vec<usize> {
        let longest = |row: &usize| self.table.longest[*row];
        let in_use =
            about.iter().find(|row| Some(&self.table.schedulers[**row]) == self.table.in_use.as_ref());
        let costs_time = |row: usize, own: usize| {
            let longer = |figure: &&Measured| self.cost(figure, row) > self.cost(figure, own);
            let fast = self.table.figures.iter().filter(|figure| figure.aim == Aim::Throughput);
            fast.filter(longer).any(|figure| self.differ_by(figure, row, own, 1.01))
        };
        let patient = about.iter().copied().filter(|row| longest(row) <= self.allowed(about));
        let patient: Vec<usize> =
            patient.filter(|row| in_use.is_none_or(|own| !costs_time(*row, *own))).collect();
        let slower = |a: usize, b: usize| {
            let fast = self.table.figures.iter().filter(|figure| figure.aim == Aim::Throughput);
            fast.into_iter().any(|figure| self.worse(figure, a, b))
        };
        let fast = |row: &usize| !patient.iter().any(|other| slower(*row, *other));
        match self.goal {
            Goal::Balanced => match patient.iter().copied().filter(fast).collect::<Vec<_>>() {
                none if none.is_empty() => patient,
                fast => fast,
            },
            _ => about.to_vec(),
        }
    }

    pub(super) fn beaten(&self, a: usize, among: &[usize]) -> bool {
        let dominated = |b: usize| {
            self.weighs().any(|figure| self.worse(figure, a, b))
                && !self.weighs().any(|figure| self.worse(figure, b, a))
        };
        among.iter().any(|b| self.behind(a, *b) > 1.05f64.ln() || dominated(*b))
    }

    /// A number with its unit, as near as three digits are.
    pub(super) fn reads(&self, text: &str, kind: Kind, value: f64) {
        let (number, unit) = text.trim_end_matches('.').split_once(' ').unwrap_or((text, ""));
        let number: f64 = number.replace(',', "").parse().unwrap_or_else(|_| panic!("'{text}' is no number"));
        let scale = match unit {
            "µs" => 1e3,
            "ms" | "MB/s" => 1e6,
            "s" => 1e9,
            _ => panic!("{kind:?} in '{unit}'"),
        };
        let off = (number * scale - value).abs();
        assert!(off <= (value * 0.006).max(scale * 0.0051), "'{text}' for {value}");
    }
}
