//! Several runs' samples as one figure: a mean with its confidence interval.

/// A mean and half the width of its 95 % confidence interval (0 for one run).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figure {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval.
    pub ci95: f64,
}

/// Student's t for 95 %, two-sided, by degrees of freedom from 1; beyond, the normal value.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

impl Figure {
    /// Of several runs.
    pub fn of(samples: &[f64]) -> Figure {
        let count = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / count;
        if samples.len() < 2 {
            return Figure { mean, ci95: 0.0 };
        }
        let variance = samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0);
        let t = STUDENT.get(samples.len() - 2).copied().unwrap_or(1.96);
        Figure { mean, ci95: t * (variance / count).sqrt() }
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
}
