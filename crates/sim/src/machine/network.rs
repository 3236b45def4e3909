//! The machine's network: one link to all clients, and a buffer for each process's connection.

use std::collections::VecDeque;

use idlewise_core::{Duration, Instant};

use super::parameters::Network;

/// The link, which carries what it is given in that order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link {
    busy: Instant,
}

/// What a process has sent and the link has not yet carried: when each piece is through, and its bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Connection(VecDeque<(Instant, u32)>);

impl Link {
    /// Sends `bytes` through a connection. If its buffer has no room, says how long until something in it is through; then
    /// nothing was sent. An empty buffer has room for everything.
    pub(super) fn send(
        &mut self,
        connection: &mut Connection,
        now: Instant,
        bytes: u32,
        network: Network,
    ) -> Option<Duration> {
        let buffered = &mut connection.0;
        while buffered.front().is_some_and(|(through, _)| *through <= now) {
            buffered.pop_front();
        }
        let held: u32 = buffered.iter().map(|(_, bytes)| bytes).sum();
        if let Some((through, _)) = buffered.front().filter(|_| held + bytes > network.buffer) {
            return Some(through.since(now));
        }
        let time = Duration(u64::from(bytes) * 1_000_000_000 / u64::from(network.rate));
        self.busy = self.busy.max(now) + time;
        buffered.push_back((self.busy, bytes));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte a microsecond, and room for two pieces of a thousand.
    const NETWORK: Network = Network { rate: 1_000_000, buffer: 2000 };

    #[test]
    fn a_full_buffer_waits_for_its_first_piece() {
        let (mut link, mut one) = (Link::default(), Connection::default());
        let mut send = |at| link.send(&mut one, Instant(at), 1000, NETWORK);
        assert_eq!([send(0), send(0)], [None, None]);
        assert_eq!(send(400_000), Some(Duration::from_us(600)));
        assert_eq!(send(1_000_000), None);
        assert_eq!(send(1_000_000), Some(Duration::from_ms(1)));
    }

    #[test]
    fn connections_share_the_link() {
        let (mut link, mut one, mut other) = (Link::default(), Connection::default(), Connection::default());
        let now = Instant::ZERO;
        assert_eq!(link.send(&mut one, now, 2000, NETWORK), None);
        assert_eq!(link.send(&mut other, now, 2000, NETWORK), None);
        let waits = [&mut one, &mut other].map(|each| link.send(each, now, 1, NETWORK));
        assert_eq!(waits, [Some(Duration::from_ms(2)), Some(Duration::from_ms(4))]);
        assert_eq!(
            link.send(&mut Connection::default(), now, 5000, NETWORK),
            None,
            "more than a buffer holds"
        );
    }
}
