//! The fuzz target for event sequences, run for a moment on random bytes.

#[allow(unreachable_pub, reason = "the fuzz crate exports it")]
#[path = "../../../fuzz/src/events.rs"]
mod events;

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

#[test]
fn any_bytes_are_events_that_every_scheduler_survives() {
    let config = Config { cases: 20_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let result = runner.run(&vec(any::<u8>(), 0..600), |bytes| {
        events::run_events(&bytes);
        events::run_text(&bytes);
        Ok(())
    });
    result.unwrap();
}
