//! Measuring the time on a core, which other programs on the machine do not lengthen.

use criterion::measurement::{Measurement, ValueFormatter, WallTime};

/// The time that this thread had a core for.
pub(crate) struct CoreTime(pub(crate) WallTime);

/// Nanoseconds on a core, or `None` without Linux's `/proc`.
fn core_time() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

impl Measurement for CoreTime {
    type Intermediate = (Option<u64>, std::time::Instant);
    type Value = std::time::Duration;

    fn start(&self) -> Self::Intermediate {
        (core_time(), self.0.start())
    }

    fn end(&self, (core, wall): Self::Intermediate) -> Self::Value {
        match (core, core_time()) {
            (Some(from), Some(to)) => std::time::Duration::from_nanos(to - from),
            _ => self.0.end(wall),
        }
    }

    fn add(&self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        *a + *b
    }

    fn zero(&self) -> Self::Value {
        self.0.zero()
    }

    fn to_f64(&self, value: &Self::Value) -> f64 {
        self.0.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        self.0.formatter()
    }
}
