//! Scenes: a device, settings and a sequence of steps, generated and shrunk by proptest.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use super::log::Log;
use super::subject::Make;
use crate::device::{Device, Merging};
use crate::request::{Class, Operation, Priority};
use crate::units::{Duration, Sectors};

/// One step of a host. Numbers that choose among requests are taken modulo how many there are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Insert(Spec),
    Dispatch,
    Complete(u8),
    Cancel(u8),
    Requeue(u8),
    Gone(u8),
    Weigh(u8, u32),
    Pass(Duration),
    /// Go to the time that the scheduler named, and ask.
    KeepPromise,
    Set(u8, u64),
    Switch(u8, u64),
    /// A switch in steps. They are made before the steps of the scene that follow.
    Begin(u8, u64),
}

/// A request to be, its place relative to what is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spec {
    pub(super) place: Place,
    pub(super) length: u32,
    pub(super) issuer: u32,
    pub(super) group: u32,
    pub(super) operation: Operation,
    pub(super) sync: bool,
    pub(super) priority: Priority,
    pub(super) metadata: bool,
    pub(super) more: bool,
    pub(super) past: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// At this sector.
    At(u64),
    /// Where the last one inserted ends.
    After,
    /// Ending where the last one inserted begins.
    Before,
    /// Where the last one inserted begins.
    Same,
    /// Where some waiting request ends.
    AfterWaiting(u8),
    /// Ending where some waiting request begins.
    BeforeWaiting(u8),
}

/// A device, settings and what happens.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) size: usize,
    pub(super) device: Device,
    /// Chooses the settings; 0 is the defaults.
    pub(super) seed: u64,
    pub(super) steps: Vec<Step>,
}

const TIMES: [Duration; 16] = [
    Duration::from_us(1),
    Duration::from_us(10),
    Duration::from_us(100),
    Duration::from_us(500),
    Duration::from_ms(1),
    Duration::from_ms(3),
    Duration::from_ms(7),
    Duration::from_ms(20),
    Duration::from_ms(60),
    Duration::from_ms(125),
    Duration::from_ms(250),
    Duration::from_ms(500),
    Duration::from_s(1),
    Duration::from_s(5),
    Duration::from_s(11),
    Duration::from_s(100),
];

impl Step {
    /// Any numbers make a step; zeros make the simplest.
    pub(super) fn decode(kind: u8, a: u8, b: u32) -> Step {
        match kind {
            0..=95 => Step::Insert(Spec::decode(a, b)),
            96..=163 => Step::Dispatch,
            164..=203 => Step::Complete(a),
            204..=209 => Step::Cancel(a),
            210..=212 => Step::Requeue(a),
            213 => Step::Weigh(a % 8, [1, 50, 100, 300, 10_000][b as usize % 5]),
            214..=215 => Step::Gone(a % 8),
            216..=243 => {
                let base = TIMES[b as usize % TIMES.len()];
                Step::Pass(if a < 128 { base } else { base * a as u64 / 128 })
            }
            244..=250 => Step::KeepPromise,
            251..=252 => Step::Set(a, b as u64),
            253 => Step::Switch(a, b as u64 % 8),
            254..=255 => Step::Begin(a, b as u64 % 8),
        }
    }
}

impl Spec {
    fn decode(a: u8, b: u32) -> Spec {
        let far = b as u64 >> 12;
        let place = match b % 16 {
            0..=4 => Place::At(far % 64 * 8),
            5 | 6 => Place::After,
            7 => Place::Before,
            8 => Place::Same,
            9 | 10 => Place::AfterWaiting(far as u8),
            11 => Place::BeforeWaiting(far as u8),
            12 => Place::At(1_000_000 + far % 4096 * 8),
            _ => Place::At(far * 1_801),
        };
        let operation = match (a >> 3) % 16 {
            0..=8 => Operation::Read,
            9..=14 => Operation::Write,
            _ if b & 1 == 0 => Operation::Flush,
            _ => Operation::Discard,
        };
        let length =
            if operation == Operation::Flush { 0 } else { [8, 8, 8, 1, 16, 64, 128, 256][a as usize >> 5] };
        let rare = (b >> 4) as u8;
        let priority = match rare % 32 {
            1 => Priority { class: Class::RealTime, level: 0 },
            2 => Priority { class: Class::Idle, level: 7 },
            3 => Priority { class: Class::BestEffort, level: 0 },
            4 => Priority { class: Class::BestEffort, level: 7 },
            _ => Priority::default(),
        };
        Spec {
            place,
            length,
            issuer: u32::from(a % 8),
            group: u32::from(a % 8 / 3),
            operation,
            sync: (operation == Operation::Read) != (rare % 11 == 5),
            priority,
            metadata: rare % 16 == 7,
            more: rare % 16 == 9,
            past: rare % 16 == 11,
        }
    }
}

/// Scenes of up to `steps` steps.
pub(super) fn scenes(steps: usize) -> impl Strategy<Value = Scene> {
    let step = (any::<u8>(), any::<u8>(), any::<u32>()).prop_map(|(kind, a, b)| Step::decode(kind, a, b));
    let frame = (any::<u8>(), any::<u8>(), any::<u8>());
    (frame, vec(step, 0..steps)).prop_map(|((size, kind, seed), steps)| Scene {
        size: [64, 128, 40, 16, 5, 3, 2, 1][size as usize % 8],
        device: Device {
            depth: [1, 1, 2, 5][(kind >> 1) as usize % 4],
            merging: [Merging::All, Merging::All, Merging::Off, Merging::LastOnly][(kind >> 3) as usize % 4],
            max_sectors: Sectors([2560, 2560, 40, 256][(kind >> 5) as usize % 4]),
            max_parts: if kind & 128 == 0 { 128 } else { 3 },
            ..Device::usual(kind & 1 == 0)
        },
        seed: u64::from(seed / 2),
        steps,
    })
}

/// What a suite checks of one scheduler on one scene, writing the events to the log.
pub(super) type Check = fn(&dyn Make, &Scene, &mut Log) -> Result<(), String>;

std::thread_local! {
    /// Panics on this thread are caught and need no report of their own.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Keeps panics that are caught from being reported hundreds of times while a failure is shrunk.
fn hush_caught_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(std::boxed::Box::new(move |info| {
            if !CAUGHT.get() {
                report(info);
            }
        }));
    });
}

/// Runs `check`; a panic is a failure like any other.
fn attempt(check: Check, make: &dyn Make, scene: &Scene, log: &mut Log) -> Result<(), String> {
    hush_caught_panics();
    CAUGHT.set(true);
    let result = catch_unwind(AssertUnwindSafe(|| check(make, scene, log)));
    CAUGHT.set(false);
    result.unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A runner for `cases` generated cases, or as many more as the environment asks for.
pub(super) fn runner(cases: u32) -> TestRunner {
    let cases = cases * number("IDLEWISE_CASES", 1) as u32;
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 4096, ..Config::default() };
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number("IDLEWISE_SEED", 1).to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}

/// Holds what `make` builds to `check` on `cases` scenes of up to `steps` steps.
///
/// A failure is shrunk and shown as text that can be pasted into a golden file.
pub(super) fn hold(make: &dyn Make, check: Check, cases: u32, steps: usize) -> Result<(), String> {
    let result = runner(cases).run(&scenes(steps), |scene| {
        attempt(check, make, &scene, &mut Log::off()).map_err(TestCaseError::fail)
    });
    match result {
        Ok(()) => Ok(()),
        Err(TestError::Abort(reason)) => Err(format!("{}: {reason}", make.name())),
        Err(TestError::Fail(_, scene)) => {
            let mut log = Log::on();
            let what =
                attempt(check, make, &scene, &mut log).err().unwrap_or_else(|| "does not fail again".into());
            let (name, seed) = (make.name(), number("IDLEWISE_SEED", 1));
            Err(format!("{name}: {what}\n# IDLEWISE_SEED={seed} IDLEWISE_ONLY={name}\n{}", log.text()))
        }
    }
}

/// Holds every scheduler of the registry to `check`, and says for which it ran.
pub(super) fn hold_all(suite: &str, check: Check, cases: u32, steps: usize) {
    let mut failures = Vec::new();
    for entry in super::subject::all() {
        match hold(entry, check, cases, steps) {
            Ok(()) => std::println!("{suite}: {} holds", entry.name),
            Err(failure) => failures.push(failure),
        }
    }
    assert!(failures.is_empty(), "{suite}\n{}", failures.join("\n\n"));
}
