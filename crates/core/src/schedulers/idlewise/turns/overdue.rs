//! How many requests may be sent before an overdue one.

use crate::scheduler::Cx;
use crate::units::{Instant, RequestId};

use super::next::Next;
use super::settings::{SPARED, SPARED_BELOW, Settings};
use super::waiting::{Class, Waiting};

/// What has been dispatched since something of a kind was.
#[derive(Default)]
struct Passed {
    /// Requests.
    count: u64,
    /// When something of the kind was dispatched, if it ever was.
    last: Option<Instant>,
}

impl Passed {
    /// A request is dispatched, of that kind if `such`.
    fn goes(&mut self, now: Instant, such: bool) {
        self.count += 1;
        if such {
            *self = Passed { count: 0, last: Some(now) };
        }
    }

    /// Whether enough requests of higher classes have been dispatched. `sends`: more of them would.
    fn is_enough(&self, now: Instant, sends: bool, tunables: &Settings) -> bool {
        let long = self.last.is_none_or(|last| now.since(last) >= tunables.half());
        sends && long && self.count >= SPARED || self.count >= SPARED_BELOW
    }
}

/// What has been dispatched since something overdue was.
#[derive(Default)]
pub(super) struct Overdue {
    /// That was not of the idle class.
    usual: Passed,
    /// Since something of the idle class was dispatched, overdue or not.
    idle: Passed,
}

impl Overdue {
    /// `id`, of `class`, is dispatched. `oldest`: nothing that is not of the idle class has waited for longer.
    pub(super) fn goes(
        &mut self,
        cx: Cx<'_>,
        id: RequestId,
        class: Class,
        oldest: bool,
        tunables: &Settings,
    ) {
        self.usual.goes(cx.now, oldest && tunables.is_overdue(cx.age(id)));
        self.idle.goes(cx.now, class == Class::Idle);
    }

    /// What is dispatched instead of `next` because it is overdue; or `next`. `oldest` is the oldest of `waiting` that is not of the idle
    /// class. `urgent`: the real-time class has its say.
    pub(super) fn or(
        &self,
        cx: Cx<'_>,
        next: Next,
        waiting: &Waiting,
        oldest: Option<RequestId>,
        urgent: bool,
        tunables: &Settings,
    ) -> Next {
        let is_overdue = |id: &RequestId| tunables.is_overdue(cx.age(*id));
        let sends = matches!(next, Next::Send(_) | Next::Begin(..));
        let usual = oldest.filter(is_overdue).filter(|id| match next {
            _ if urgent => self.usual.is_enough(cx.now, sends, tunables),
            _ if self.usual.count >= SPARED => true,
            Next::Send(_) | Next::Begin(..) | Next::Round => false,
            Next::Wait(_) => waiting.class(*id) != Class::Async,
            Next::Hold => true,
        });
        let late = usual.or_else(|| {
            let idle = waiting.oldest_idle().filter(is_overdue);
            idle.filter(|_| self.idle.is_enough(cx.now, sends, tunables))
        });
        let Some(id) = late else { return next };
        cx.because("{} has waited for {}, longer than {}", || {
            [id.into(), cx.age(id).into(), tunables.expire().into()]
        });
        Next::Send(id)
    }
}
