//! Why a wait begins, why it ends or why there is none, in words and numbers.

use super::rules::{Ended, Reason, RuleSet, Terms};
use crate::scheduler::Cx;
use crate::units::{Duration, RequestId};

/// The step of OLS'05 that the rule is: of LAS (§2.2), or of CAS (§4).
const fn step(rules: RuleSet, reason: Reason) -> &'static str {
    let steps = match reason {
        Reason::Own | Reason::HasMore(_) => ["", ""],
        Reason::Elapsed(_) => ["LAS step 2", "CAS step 2"],
        Reason::Exited(_) => ["LAS step 3", "CAS step 4"],
        Reason::Close(_) => ["LAS step 4", "CAS step 3"],
        Reason::NewOnesExit { .. } => ["LAS step 5", "CAS step 5"],
        Reason::ThinksLong(_) => ["LAS step 6", "CAS step 6"],
        Reason::SeeksFar { .. } => ["LAS step 7", "CAS step 3"],
    };
    steps[if matches!(rules, RuleSet::Las) { 0 } else { 1 }]
}

/// Why `id` goes: a wait ended, or there is none.
pub(super) fn ended(cx: Cx<'_>, terms: Terms, id: RequestId, ended: Ended) {
    let Ended { reason, who, request } = ended;
    let (step, longest) = (step(terms.rules, reason), terms.longest);
    let request = request.unwrap_or(id);
    match reason {
        Reason::Own => {
            cx.because("no wait for process {}: it has issued {}", || [who.into(), request.into()]);
        }
        Reason::Elapsed(time) => cx.because("{}: gives up on process {}: {} have passed, of {}", || {
            [step.into(), who.into(), time.into(), longest.into()]
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
            let text = match terms.rules {
                RuleSet::Las => "{}: gives up on process {}: it has exited; {} % of new ones do",
                RuleSet::Linux2618 => {
                    "{}: gives up on process {}: it has exited, and {} % of those have no successor"
                }
                RuleSet::Cas => "{}: gives up on process {}: it has exited, and only {} % do",
            };
            cx.because(text, || [step.into(), who.into(), probability.percent().into()]);
        }
        Reason::NewOnesExit { exit, .. } if terms.rules == RuleSet::Las => {
            cx.because("{}: gives up on process {}: it is new, and {} % of those exit", || {
                [step.into(), who.into(), exit.percent().into()]
            });
        }
        Reason::NewOnesExit { exit, no_successor } => cx.because(
            "{}: gives up on process {}: it is new, {} % of those exit, and {} % have no successor",
            || [step.into(), who.into(), exit.percent().into(), no_successor.percent().into()],
        ),
        Reason::ThinksLong(mean) => {
            cx.because("{}: gives up on process {}: its mean think time {} exceeds antic_expire {}", || {
                [step.into(), who.into(), mean.into(), longest.into()]
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
pub(super) fn overdue(cx: Cx<'_>, rules: RuleSet, id: RequestId, late: Duration, every: Duration) {
    let step = if rules == RuleSet::Las { "LAS step 1" } else { "CAS step 1" };
    cx.because("{}: {} is {} overdue, which is looked at once in {}", || {
        [step.into(), id.into(), late.into(), every.into()]
    });
}
