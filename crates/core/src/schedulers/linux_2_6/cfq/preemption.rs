//! Preemption: a new request whose queue need not wait for the slice of another to end.

use super::queues::Queue;
use super::slice::Slice;
use crate::request::{Class, Request};
use crate::units::{Instant, Sector};

/// By which rule a queue goes before the one whose slice it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    SliceUsed,
    NotIdleClass,
    Sync,
    Metadata,
    RealTime,
    /// The request is so many sectors from the head, and the process is waited for.
    Close(u64),
}

/// The rule by which `request`, a new one of `new`, goes before `old`, whose slice it is.
#[inline]
pub(super) fn rule(
    now: Instant,
    head: Sector,
    request: &Request,
    new: &Queue,
    old: &Queue,
    slice: &Slice,
) -> Option<Rule> {
    if slice.used(now) {
        return Some(Rule::SliceUsed);
    }
    if new.kind().is_idle_class() {
        return None;
    }
    if old.kind().is_idle_class() {
        return Some(Rule::NotIdleClass);
    }
    if request.sync && !old.kind().sync {
        return Some(Rule::Sync);
    }
    if request.metadata && !old.has_metadata() {
        return Some(Rule::Metadata);
    }
    if new.kind().class == Class::RealTime && old.kind().class != Class::RealTime {
        return Some(Rule::RealTime);
    }
    // No order of address is lost by somebody who is as near as what is waited for.
    if !slice.waited() || slice.process().is_none() {
        return None;
    }
    let far = request.start.distance(head);
    (far <= old.reach()).then_some(Rule::Close(far))
}
