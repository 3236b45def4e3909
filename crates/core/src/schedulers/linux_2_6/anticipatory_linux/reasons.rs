//! Why a wait begins, why it ends or why there is none, in words and numbers.

use super::rules::Manner;
use super::statistics::ONE;
use crate::scheduler::Cx;
use crate::units::{Duration, Instant, Issuer, RequestId};

/// Why a process is not waited for, or not any longer. See [`rules`](super::rules).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// What was waited for has come.
    Own,
    /// So much time has passed since its last request was done.
    Elapsed(Duration),
    /// So many of its requests wait.
    HasMore(u64),
    /// The request is so many sectors from the head.
    Close(u64),
    /// It has exited; that is so probable, or so probably nobody follows it.
    Exited(u64),
    /// It is new, and these are the probabilities that such exit and that nobody follows them.
    NewOnesExit { exits: u64, alone: u64 },
    /// It thinks so long.
    ThinksLong(Duration),
    /// It seeks further than the request is away.
    SeeksFar { mean: u64, distance: u64 },
}

/// The end of a wait, or that there is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) reason: Reason,
    pub(super) who: Issuer,
    /// The request that could go instead.
    pub(super) request: Option<RequestId>,
}

const fn percent(probability: u64) -> u64 {
    probability * 100 / ONE
}

/// The step of OLS'05 that the rule is: of LAS (§2.2), or of CAS (§4).
const fn step(manner: Manner, reason: Reason) -> &'static str {
    let steps = match reason {
        Reason::Own | Reason::HasMore(_) => ["", ""],
        Reason::Elapsed(_) => ["LAS step 2", "CAS step 2"],
        Reason::Exited(_) => ["LAS step 3", "CAS step 4"],
        Reason::Close(_) => ["LAS step 4", "CAS step 3"],
        Reason::NewOnesExit { .. } => ["LAS step 5", "CAS step 5"],
        Reason::ThinksLong(_) => ["LAS step 6", "CAS step 6"],
        Reason::SeeksFar { .. } => ["LAS step 7", "CAS step 3"],
    };
    steps[if matches!(manner, Manner::Alone) { 0 } else { 1 }]
}

/// Why `id` goes: a wait ended, or there is none.
pub(super) fn ended(cx: Cx<'_>, manner: Manner, wait: Duration, id: RequestId, ended: Ended) {
    let Ended { reason, who, request } = ended;
    let step = step(manner, reason);
    let request = request.unwrap_or(id);
    match reason {
        Reason::Own => {
            cx.because("no wait for process {}: it has issued {}", || [who.into(), request.into()]);
        }
        Reason::Elapsed(time) => cx.because("{}: gives up on process {}: {} have passed, of {}", || {
            [step.into(), who.into(), time.into(), wait.into()]
        }),
        Reason::HasMore(count) => {
            cx.because("no wait for process {}: {} of its requests wait here", || [who.into(), count.into()]);
        }
        Reason::Close(distance) => {
            cx.because("{}: no wait for process {}: {} is close, {} sectors from the head", || {
                [step.into(), who.into(), request.into(), distance.into()]
            });
        }
        Reason::Exited(probability) => {
            let text = match manner {
                Manner::Alone => "{}: gives up on process {}: it has exited; {} % of new ones do",
                Manner::Together => {
                    "{}: gives up on process {}: it has exited, and {} % of those have no successor"
                }
                Manner::Paper => "{}: gives up on process {}: it has exited, and only {} % do",
            };
            cx.because(text, || [step.into(), who.into(), percent(probability).into()]);
        }
        Reason::NewOnesExit { exits, .. } if manner == Manner::Alone => {
            cx.because("{}: gives up on process {}: it is new, and {} % of those exit", || {
                [step.into(), who.into(), percent(exits).into()]
            });
        }
        Reason::NewOnesExit { exits, alone } => cx.because(
            "{}: gives up on process {}: it is new, {} % of those exit, and {} % have no successor",
            || [step.into(), who.into(), percent(exits).into(), percent(alone).into()],
        ),
        Reason::ThinksLong(mean) => {
            cx.because("{}: gives up on process {}: its mean think time {} exceeds antic_expire {}", || {
                [step.into(), who.into(), mean.into(), wait.into()]
            });
        }
        Reason::SeeksFar { mean, distance } => {
            cx.because("{}: gives up on process {}: its mean seek of {} sectors exceeds {}", || {
                [step.into(), who.into(), mean.into(), distance.into()]
            });
        }
    }
}

/// Why a read goes before its turn.
pub(super) fn overdue(cx: Cx<'_>, manner: Manner, id: RequestId, late: Duration, every: Duration) {
    let step = if manner == Manner::Alone { "LAS step 1" } else { "CAS step 1" };
    cx.because("{}: {} is {} overdue, which is looked at once in {}", || {
        [step.into(), id.into(), late.into(), every.into()]
    });
}

/// Who is waited for.
pub(super) struct Awaited {
    pub(super) who: Issuer,
    pub(super) until: Instant,
    pub(super) thought: Duration,
    pub(super) is_new: bool,
    pub(super) exited: bool,
}

/// Why nothing goes until a time.
pub(super) fn waits(cx: Cx<'_>, awaited: &Awaited) {
    let Awaited { who, until, thought, is_new, exited } = *awaited;
    let text = match (exited, is_new) {
        (true, _) => "waits for a successor of process {} until {}: its mean think time was {}",
        (false, true) => "waits for process {} until {}: it is new, and the mean think time of those is {}",
        (false, false) => "waits for process {} until {}: its mean think time is {}",
    };
    cx.because(text, || [who.into(), until.into(), thought.into()]);
}
