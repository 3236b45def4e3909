//! Several runs' samples as one figure: a mean with its confidence interval.

/// A mean and half the width of its 95 % confidence interval (0 for one run).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figure {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval.
    pub ci95: f64,
}

/// What [`student`] is, by degrees of freedom from 1.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// Student's t for 95 %, two-sided.
fn student(freedom: usize) -> f64 {
    let known = freedom.checked_sub(1).and_then(|place| STUDENT.get(place));
    known.copied().unwrap_or_else(|| far_student(freedom as f64))
}

/// The same for more degrees of freedom than the table has: the normal value `z`, and the first terms of t's expansion in powers
/// of 1/`freedom` (Abramowitz and Stegun, 26.7.5), which are right to 6 digits there.
fn far_student(freedom: f64) -> f64 {
    let z: f64 = 1.959_964;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + (first + (second + third / freedom) / freedom) / freedom
}

impl Figure {
    /// Of several runs.
    pub fn of(samples: &[f64]) -> Figure {
        let count = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / count;
        if samples.len() < 2 {
            return Figure { mean, ci95: 0.0 };
        }
        let variance = samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0);
        Figure { mean, ci95: student(samples.len() - 1) * (variance / count).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        let figure = Figure::of(&[1.0, 2.0, 3.0]);
        assert!((figure.mean - 2.0).abs() < 1e-12);
        assert!((figure.ci95 - 4.303 / 3f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn the_quantile_of_many_runs_is_students() {
        let known = [(2, 4.303), (30, 2.042), (31, 2.03951), (39, 2.02269), (60, 2.00030), (120, 1.97993)];
        for (freedom, t) in known {
            let ci95 = Figure::of(&samples(freedom + 1)).ci95;
            assert!((ci95 - t).abs() < 1e-5, "{freedom}: {ci95}");
        }
        assert!((student(1_000_000) - 1.959_966).abs() < 1e-6);
    }

    /// As many samples, whose mean has a standard error of 1.
    fn samples(count: usize) -> Vec<f64> {
        let mut samples = vec![0.0; count];
        samples[0] = count as f64;
        samples
    }
}
