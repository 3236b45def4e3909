//! Rotation and positioning time by distance, from commands that went to the medium.
//!
//! Such a command takes controller and seek, which depend on the distance, and then anything from nothing to a whole
//! revolution, each equally likely. So for each distance the service times fill a box: where it begins is the
//! positioning curve, and how wide it is the revolution. Both are found together, as what makes the recording most
//! likely; a few commands in the buffer or retried may lie anywhere.

use super::platters::KNOTS;

/// What a command shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// Distance as a share of all tracks.
    pub(super) distance: f64,
    /// Its time, in ns.
    pub(super) time: f64,
    /// What of that the transfer takes if the assumed rate is right.
    pub(super) transfer: f64,
}

/// Share of the commands that may lie anywhere.
const STRAY: f64 = 0.05;

/// How much the curve may bend, in ns of the second difference: a bend of this size costs half a nat.
const BEND_NS: f64 = 400_000.0;

/// Speeds that nearly all disks have turned at, a minute.
const USUAL_RPM: [f64; 6] = [5400.0, 5900.0, 7200.0, 10_000.0, 10_500.0, 15_000.0];

/// A usual speed is taken for the true one if it is that near: drives differ from what they are called by half as much.
const USUAL_WITHIN: f64 = 0.008;

/// How far off assumed rates usually are, as a logarithm: a factor of two.
const TRANSFER_LN: f64 = 0.7;

/// A sample's time and transfer in ns, and its place between the knots.
type Placed = (f64, f64, (usize, f64));

/// The shortest revolution and the longest, in ns: 20 000 and 3000 a minute.
const SHORTEST: f64 = 3e6;
const LONGEST: f64 = 20e6;

/// Fewer samples show no box.
pub(super) const FEWEST: usize = 100;

/// Where the time of a revolution comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// From how widely service times spread.
    Spread,
    /// A usual speed near that.
    Usual,
    /// From places that passed more than once.
    Counted,
}

/// The positioning of a disk.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Positioning {
    /// Time of a revolution, in ns.
    pub(super) period: f64,
    /// By how much it may be off, as a share.
    pub(super) error: f64,
    /// Where it comes from.
    pub(super) given: Given,
    /// Where the box begins, in ns: for the distance 0, and at each knot.
    pub(super) starts: [f64; KNOTS.len() + 1],
    /// What transfers take, as a share of what was assumed.
    pub(super) transfer: f64,
    /// How blurred the edges of the box are, in ns.
    pub(super) blur: f64,
}

impl Positioning {
    /// The place of a distance between the knots: an index, and how far to the next.
    fn place(distance: f64) -> (usize, f64) {
        let after = KNOTS.partition_point(|&knot| knot < distance).min(KNOTS.len() - 1);
        let from = if after == 0 { 0.0 } else { KNOTS[after - 1].sqrt() };
        let to = KNOTS[after].sqrt();
        (after, ((distance.sqrt() - from) / (to - from)).clamp(0.0, 1.0))
    }

    fn start(&self, (index, part): (usize, f64)) -> f64 {
        self.starts[index] + (self.starts[index + 1] - self.starts[index]) * part
    }

    /// Minus the logarithm of how likely the samples are.
    fn cost(&self, samples: &[Placed], span: f64) -> f64 {
        if !(SHORTEST..=LONGEST).contains(&self.period) || self.blur < 2_000.0 {
            return f64::INFINITY;
        }
        let edge = |x: f64| 1.0 / (1.0 + (-x.clamp(-40.0, 40.0)).exp());
        let mut cost = 0.5 * (self.transfer.ln() / TRANSFER_LN).powi(2);
        for &(time, transfer, place) in samples {
            let into = time - transfer * self.transfer - self.start(place);
            let inside = edge(into / self.blur) - edge((into - self.period) / self.blur);
            cost -= ((1.0 - STRAY) * inside / self.period + STRAY / span).ln();
        }
        let roots: Vec<f64> = std::iter::once(0.0).chain(KNOTS.iter().map(|knot| knot.sqrt())).collect();
        for at in 1..KNOTS.len() {
            let slope = |a: usize, b: usize| (self.starts[b] - self.starts[a]) / (roots[b] - roots[a]);
            let bend = (slope(at, at + 1) - slope(at - 1, at)) * (roots[at + 1] - roots[at - 1]) / 2.0;
            cost += 0.5 * (bend / BEND_NS).powi(2);
        }
        let falls = self.starts.windows(2).map(|two| (two[0] - two[1]).max(0.0)).sum::<f64>();
        cost + falls / 10_000.0
    }
}

/// Where boxes begin and how wide they are, at first: from the times in order of distance.
fn begin(samples: &[Sample]) -> Positioning {
    let mut sorted: Vec<Sample> = samples.to_vec();
    sorted.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    let size = (sorted.len() / 12).clamp(40, 400);
    let mut edges: Vec<(f64, f64, f64)> = Vec::new();
    for window in sorted.chunks(size).filter(|window| window.len() * 2 >= size) {
        let mut times: Vec<f64> = window.iter().map(|sample| sample.time - sample.transfer).collect();
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        edges.push((window[window.len() / 2].distance.sqrt(), at(0.04), at(0.96)));
    }
    let mut widths: Vec<f64> = edges.iter().map(|&(_, low, high)| (high - low) / 0.92).collect();
    widths.sort_by(f64::total_cmp);
    let period = widths[widths.len() / 2].clamp(SHORTEST, LONGEST);
    let near = |root: f64| {
        let by =
            |a: &&(f64, f64, f64), b: &&(f64, f64, f64)| (a.0 - root).abs().total_cmp(&(b.0 - root).abs());
        edges.iter().min_by(by).map_or(0.0, |&(_, low, _)| low)
    };
    let mut starts = [near(0.0); KNOTS.len() + 1];
    for (start, knot) in starts[1..].iter_mut().zip(KNOTS) {
        *start = near(knot.sqrt());
    }
    Positioning { period, error: 1.0, given: Given::Spread, transfer: 1.0, starts, blur: period / 10.0 }
}

/// The positioning that makes the samples most likely; gives also minus the logarithm of how likely.
/// `turn` tells the time of a revolution near a first estimate, and by how much it may be off, if it is known better. With
/// `rates_open` the samples say how long transfers take, too.
pub(super) fn positioning(
    samples: &[Sample],
    rates_open: bool,
    turn: impl Fn(f64, f64) -> Option<(f64, f64)>,
) -> Option<(Positioning, f64)> {
    if samples.len() < FEWEST {
        return None;
    }
    let placed: Vec<Placed> = samples
        .iter()
        .map(|sample| (sample.time, sample.transfer, Positioning::place(sample.distance)))
        .collect();
    let span = samples.iter().map(|sample| sample.time).fold(LONGEST, f64::max);
    let (mut best, cost) = climb(begin(samples), &placed, span, rates_open);
    // Along with the curve it can change by about twice as much as alone.
    best.error = 2.0 * error(&best, &placed, span, cost);
    if let Some((period, error)) = turn(best.period, (2.0 * best.error).max(USUAL_WITHIN)) {
        (best.period, best.error, best.given) = (period, error, Given::Counted);
        return Some(climb(best, &placed, span, rates_open));
    }
    // A usual speed among those that are as likely.
    let off = |rpm: f64| (60e9 / rpm / best.period - 1.0).abs();
    let usual = USUAL_RPM.into_iter().min_by(|&a, &b| off(a).total_cmp(&off(b)));
    let Some(rpm) = usual.filter(|&rpm| off(rpm) <= (best.error / 2.0).max(USUAL_WITHIN)) else {
        return Some((best, cost));
    };
    (best.period, best.given) = (60e9 / rpm, Given::Usual);
    Some(climb(best, &placed, span, rates_open))
}

/// The likeliest positioning near `best`. The speed stays if it does not come from the spread.
fn climb(mut best: Positioning, placed: &[Placed], span: f64, rates_open: bool) -> (Positioning, f64) {
    let mut cost = best.cost(placed, span);
    let mut step = 1e6;
    while step > 2_000.0 {
        let mut moved = false;
        for knob in 0..best.starts.len() + 5 {
            for sign in [1.0, -1.0] {
                let mut other = best.clone();
                let by = sign * step;
                match knob {
                    0 | 1 if best.given != Given::Spread => continue,
                    0 => other.period += by,
                    // The later edge stays.
                    1 => {
                        other.starts.iter_mut().for_each(|start| *start += by);
                        other.period -= by;
                    }
                    2 => other.blur *= (by / 2e6).exp(),
                    3 => other.starts.iter_mut().for_each(|start| *start += by),
                    4 if !rates_open => continue,
                    4 => other.transfer *= (by / 2e6).exp(),
                    at => other.starts[at - 5] += by,
                }
                let new = other.cost(placed, span);
                if new < cost - 1e-6 {
                    (best, cost, moved) = (other, new, true);
                }
            }
        }
        if !moved {
            step /= 2.0;
        }
    }
    (best, cost)
}

/// By how much the period can change until the samples are clearly less likely.
fn error(best: &Positioning, placed: &[Placed], span: f64, cost: f64) -> f64 {
    let worse = |by: f64| {
        let mut other = Positioning { period: best.period * (1.0 + by), ..best.clone() };
        let one = other.cost(placed, span);
        other.starts.iter_mut().for_each(|start| *start -= best.period * by);
        one.min(other.cost(placed, span)) > cost + 2.0
    };
    let mut by = 0.0005;
    while by < 0.2 && !(worse(by) && worse(-by)) {
        by *= 1.2;
    }
    by
}
