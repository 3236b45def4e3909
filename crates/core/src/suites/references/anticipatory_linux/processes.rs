//! What the reference knows of processes, and whether it continues to wait for one.

use super::{Reference, RuleSet, State};
use crate::request::Request;
use crate::scheduler::Cx;
use crate::units::{Instant, RequestId};

#[derive(Clone, Copy, Default)]
pub(super) struct Process {
    pub(super) who: u32,
    issued: bool,
    pub(super) done: Option<Instant>,
    end: u64,
    thoughts: u64,
    thought_total: u64,
    thought: u64,
    seeks: u64,
    seek_total: u64,
    seek: u64,
    pub(super) waiting: u64,
    pub(super) gone: bool,
}

impl Process {
    pub(super) fn reborn(&self) -> Process {
        Process { who: self.who, waiting: self.waiting, ..Process::default() }
    }
}

fn up(p: &mut u64) {
    *p = (7 * *p + 256) / 8;
}

fn down(p: &mut u64) {
    *p = 7 * *p / 8;
}

/// 7/8 × `total` + 256/8 × `x`, which may be absurdly large.
fn mix(total: u64, x: u64) -> u64 {
    let exact = (7 * u128::from(total)).min(u64::MAX.into()) + (256 * u128::from(x)).min(u64::MAX.into());
    (exact.min(u64::MAX.into()) as u64) / 8
}

impl Reference {
    pub(super) fn process(&mut self, who: u32) -> &mut Process {
        if !self.processes.iter().any(|process| process.who == who) {
            self.processes.push(Process { who, ..Process::default() });
        }
        self.processes.iter_mut().find(|process| process.who == who).unwrap()
    }

    /// The same process once more, after a synchronous request.
    pub(super) fn learn(&mut self, who: u32, now: Instant, request: &Request) {
        let mut p = *self.process(who);
        if p.issued || p.done.is_some() {
            let mut think = 0;
            if let Some(done) = p.done.filter(|_| p.waiting == 0) {
                think = now.since(done).0.min(19_000_000);
            }
            if p.thoughts == 0 {
                self.new_thought_total = mix(self.new_thought_total, think);
                down(&mut self.exits);
            }
            up(&mut p.thoughts);
            p.thought_total = mix(p.thought_total, think);
            p.thought = (p.thought_total + 128_000_000) / p.thoughts / 1_000_000 * 1_000_000;
            let mut seek = request.start.0.abs_diff(p.end);
            if p.seeks == 0 {
                self.new_seek_total = mix(self.new_seek_total, seek);
            }
            let most = u128::from(p.seek) * 4 + if p.seeks <= 60 { 2_097_152 } else { 131_072 };
            seek = u128::from(seek).min(most) as u64;
            up(&mut p.seeks);
            p.seek_total = mix(p.seek_total, seek);
            p.seek = (p.seek_total + p.seeks / 2) / p.seeks;
        }
        p.issued = true;
        p.end = request.end().0;
        *self.process(who) = p;
    }

    /// The timer.
    pub(super) fn clock(&mut self, now: Instant) {
        if self.state != State::Next || now < self.until {
            return;
        }
        self.state = State::Finished;
        let process = *self.process(self.awaited.unwrap());
        if process.thoughts == 0 {
            up(&mut self.exits);
        }
        if process.gone && self.rules == RuleSet::Linux2618 {
            up(&mut self.alone);
        }
        if process.gone && self.rules == RuleSet::Cas {
            down(&mut self.helped);
        }
    }

    fn close(&mut self, now: Instant, who: u32, at: u64) -> bool {
        let last = self.last_end[self.side];
        let waited = if self.state == State::Off { None } else { self.done };
        let ms = waited.map_or(0, |done| now.since(done).0 / 1_000_000);
        let short = ms <= 20 && ms * 1_000_000 <= self.times.wait.0;
        if self.rules == RuleSet::Las {
            let delta = match ms {
                0 | 1 => 64,
                _ if short => 64 << (ms - 1),
                _ => return true,
            };
            return last.wrapping_sub(delta / 2) <= at && at <= last + delta;
        }
        let p = *self.process(who);
        let usual = if p.seeks == 0 { self.new_seek_total / 256 } else { p.seek };
        if at.abs_diff(last) < usual || ms > 0 && !short {
            return true;
        }
        let delta = 8192 << ms;
        last <= at + delta / 2 && at <= last + delta
    }

    /// Whether waiting for `who` makes no sense, given that `id` could go.
    pub(super) fn give_up(&mut self, cx: Cx<'_>, who: u32, id: Option<(RequestId, u32)>) -> bool {
        let (paper, wait) = (self.rules == RuleSet::Cas, self.times.wait);
        if id.is_some_and(|(_, owner)| owner == who) {
            return true;
        }
        if self.done.is_some_and(|done| cx.now.since(done) >= wait) {
            return true;
        }
        let p = *self.process(who);
        let new = p.thoughts == 0;
        if self.rules == RuleSet::Las && p.gone {
            if new {
                up(&mut self.exits);
            }
            return true;
        }
        if p.waiting > 0 {
            return true;
        }
        if let Some(request) = id.map(|(id, _)| cx[id]).filter(|request| request.sync)
            && self.close(cx.now, who, request.start.0)
        {
            match self.rules {
                RuleSet::Las if p.done.is_some() => self.process(who).done = Some(cx.now),
                RuleSet::Las => {}
                RuleSet::Linux2618 => {
                    if p.gone && new {
                        up(&mut self.exits);
                    }
                    if p.gone {
                        down(&mut self.alone);
                    }
                    self.learn(who, cx.now, &request);
                }
                RuleSet::Cas => {
                    up(&mut self.helped);
                    if !p.gone {
                        self.learn(who, cx.now, &request);
                    }
                }
            }
            return true;
        }
        if p.gone {
            if new || paper {
                up(&mut self.exits);
            }
            if paper && self.exits < 128 || !paper && self.alone > 128 {
                return true;
            }
        }
        if new {
            let likely = match self.rules {
                RuleSet::Las => self.exits > 128,
                RuleSet::Linux2618 => self.exits * self.alone > 128 * 256,
                RuleSet::Cas => self.exits > 128 && self.helped < 128,
            };
            if likely {
                return true;
            }
        }
        if wait.0 < if new { self.new_thought_total / 256_000_000 * 1_000_000 } else { p.thought } {
            return true;
        }
        if self.rules == RuleSet::Las
            && let Some((id, _)) = id
        {
            let usual = if p.seeks == 0 { self.new_seek_total / 256 } else { p.seek };
            return usual > cx[id].start.0.abs_diff(self.last_end[1]);
        }
        false
    }
}
