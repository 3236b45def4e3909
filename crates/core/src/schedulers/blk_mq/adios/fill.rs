//! How ADIOS fills a page: of reads and others, whoever is favoured or due, as long as time is left.

use super::settings::{Nice, Order};
use super::{Adios, KINDS, Known, WRITES, side_of};
use crate::scheduler::Cx;
use crate::units::{Duration, Instant, RequestId};

impl Adios {
    /// When `id` should be served.
    fn deadline(&self, id: RequestId) -> Instant {
        self.known[id.index()].deadline
    }

    /// The request that would be next into a page, and whether the bias moves for it.
    fn next_for_page(&self) -> Option<(RequestId, bool)> {
        let favoured = usize::from(self.bias < 0);
        match (self.sides[favoured].first(), self.sides[1 - favoured].first()) {
            (Some(id), Some(other)) => Some((id, self.deadline(id) > self.deadline(other))),
            (Some(id), None) => Some((id, true)),
            (None, Some(other)) => Some((other, false)),
            (None, None) => None,
        }
    }

    /// Moves the bias away from the side that it favours.
    fn pay(&mut self, predicted: u64) {
        let reads = self.bias >= 0;
        let sign = if reads { -1 } else { 1 };
        if predicted == 0 {
            self.bias = sign;
            return;
        }
        let weight = if reads { self.tunables.read_priority } else { Nice(0) }.weight();
        let price = (predicted.saturating_mul(weight) >> 10).min(i64::MAX as u64);
        self.bias = self.bias.saturating_add(sign * price as i64);
    }

    /// Fills `page`, which is empty. Something waits.
    #[inline(never)]
    fn fill(&mut self, cx: Cx<'_>, page: usize, window: u64) {
        let limits = self.tunables.limits();
        let mut counts = [0; KINDS];
        let (mut added, mut count) = (0, 0u64);
        let by_address = self.rotational && self.tunables.batch_order == Order::Elevator;
        self.pages.open(page, by_address);
        while let Some((id, moves)) = self.next_for_page() {
            let Known { kind, predicted, .. } = self.known[id.index()];
            let full = counts[kind] >= limits[kind] || self.under_way + added + predicted > window;
            if count > 0 && (full || !self.models.knows(kind)) {
                break;
            }
            if moves {
                self.pay(predicted);
            }
            self.sides[side_of(kind)].remove(id);
            let place = self.pages.add(&mut self.links, page, id, &self.known[id.index()]);
            self.known[id.index()].place = place;
            counts[kind] += 1;
            added += predicted;
            count += 1;
        }
        if by_address && counts[WRITES] > 1 {
            self.pages.sort(cx, &mut self.links, page);
        }
        self.under_way += added;
        cx.rather("a page gets {} requests, predicted to take {}; reads are {} by {}", || {
            let word = if self.bias < 0 { "behind" } else { "ahead" };
            [count.into(), Duration(added).into(), word.into(), Duration(self.bias.unsigned_abs()).into()]
        });
    }

    /// The next request of a page, which is filled first if need be.
    pub(super) fn take_from_pages(&mut self, cx: Cx<'_>) -> Option<RequestId> {
        let window = self.tunables.window(self.rotational);
        if self.sides.iter().any(|side| !side.is_empty())
            && let Some(page) = self.pages.to_fill()
        {
            let least = window.saturating_mul(self.tunables.bq_refill_below_ratio.0) / 100;
            if self.under_way == 0 || self.under_way < least {
                self.fill(cx, page, window);
            }
        }
        let id = self.pages.pop(cx, &mut self.links, self.head)?;
        cx.because("next in the page; {} wait in pages, predicted with what is in flight to take {}", || {
            [self.pages.len().into(), Duration(self.under_way).into()]
        });
        Some(id)
    }
}
