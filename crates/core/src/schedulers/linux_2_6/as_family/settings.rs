//! The tunables of Linux's anticipatory schedulers.

use crate::units::Duration;

/// The times by which an anticipatory scheduler works.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// How long an asynchronous and a synchronous request may wait before it is served out of order,
    /// and how often that is looked at.
    pub expire: [Duration; 2],
    /// How long a batch of asynchronous and of synchronous requests lasts.
    pub batch: [Duration; 2],
    /// The longest wait for a process. 0: never wait.
    pub wait: Duration,
}

/// Settings that hold the [`Times`].
pub trait Timed: crate::tunables::Tunables {
    /// The times, as they are set now.
    fn times(&self) -> Times;
}

/// Declares a struct of settings: the five that all anticipatory schedulers of Linux have, and more.
macro_rules! timed_settings {
    ($(#[$outer:meta])* pub struct $name:ident {$($more:tt)*}) => {
        $crate::tunables! {
            $(#[$outer])*
            pub struct $name {
                /// How long a synchronous request may wait before it is served out of order; also the
                /// least time between two checks of that.
                read_expire: $crate::tunables::Milliseconds = 125, 0..=3_600_000;
                /// The same for asynchronous requests.
                write_expire: $crate::tunables::Milliseconds = 250, 0..=3_600_000;
                /// How long a batch of synchronous requests lasts while others wait.
                read_batch_expire: $crate::tunables::Milliseconds = 500, 0..=3_600_000;
                /// How long a batch of asynchronous requests should last; their number follows.
                write_batch_expire: $crate::tunables::Milliseconds = 125, 0..=3_600_000;
                /// The longest wait for a process. 0: never wait.
                antic_expire: $crate::tunables::Milliseconds = 6, 0..=3_600_000;
                $($more)*
            }
        }

        impl $crate::schedulers::linux_2_6::as_family::settings::Timed for $name {
            #[inline]
            fn times(&self) -> $crate::schedulers::linux_2_6::as_family::settings::Times {
                $crate::schedulers::linux_2_6::as_family::settings::Times {
                    expire: [self.write_expire.0, self.read_expire.0],
                    batch: [self.write_batch_expire.0, self.read_batch_expire.0],
                    wait: self.antic_expire.0,
                }
            }
        }
    };
}

pub(crate) use timed_settings;

timed_settings! {
    /// Tunables of Linux's anticipatory schedulers. Names, units and defaults are Linux's.
    pub struct Settings {}
}
