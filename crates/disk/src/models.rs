//! The list of models, and any of them behind one type: a specification ([`AnySpec`]) and what it builds
//! ([`AnyModel`]). A model is a file, its line in `models!`, and its keys in a profile (`profile.rs`). Nothing else
//! tells models apart.

use crate::array;
use crate::device::{Alteration, Command, Completion, DiskModel, Spec, SubmitError, WithModel};
use crate::error::BuildError;
use crate::{Fixed, FixedSpec, Flash, FlashSpec, Mechanical, MechanicalSpec};
use alloc::vec::Vec;
use idlewise_core::{Duration, Instant, Sector};

type Array = array::Array<AnyModel>;
type ArraySpec = array::ArraySpec<AnySpec>;

macro_rules! models {
    ($d:tt $($(#[doc = $doc:literal])+ $model:ident($spec:ident) = $name:literal;)+) => {
        /// What a disk is, as integers: the specification of one of the models.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum AnySpec {
            $($(#[doc = $doc])+ $model($spec),)+
        }

        /// A disk of any model.
        #[derive(Clone, Debug)]
        #[allow(clippy::large_enum_variant, reason = "a simulation has one")]
        pub enum AnyModel {
            $($(#[doc = $doc])+ $model($model),)+
        }

        $(impl From<$model> for AnyModel {
            fn from(disk: $model) -> AnyModel {
                AnyModel::$model(disk)
            }
        })+

        impl AnySpec {
            /// What the model is called.
            pub fn name(&self) -> &'static str {
                match self { $(AnySpec::$model(_) => $name,)+ }
            }
        }

        /// The same expression for every model.
        macro_rules! each {
            ($d kind:ident, $d any:expr, $d one:ident => $d body:expr) => {
                match $d any { $($d kind::$model($d one) => $d body,)+ }
            };
        }
    };
}

models! { $
    /// Platters and an arm.
    Mechanical(MechanicalSpec) = "mechanical";
    /// Channels and dies.
    Flash(FlashSpec) = "flash";
    /// Several disks as one.
    Array(ArraySpec) = "array";
    /// The same latency for every command.
    Fixed(FixedSpec) = "fixed";
}

impl AnySpec {
    /// Builds the disk. Allocates all the memory it will ever use.
    pub fn build(&self) -> Result<AnyModel, BuildError> {
        Ok(each!(AnySpec, self, spec => spec.build()?.into()))
    }

    /// Whether writes complete before they are durable, so that a flush means something.
    pub fn write_cache(&self) -> bool {
        each!(AnySpec, self, spec => spec.write_cache())
    }

    /// The figures that a summary shows.
    pub fn facts(&self) -> Vec<(&'static str, u64)> {
        each!(AnySpec, self, spec => spec.facts())
    }
}

impl Spec for AnySpec {
    type Disk = AnyModel;

    fn build(&self) -> Result<AnyModel, BuildError> {
        AnySpec::build(self)
    }

    fn write_cache(&self) -> bool {
        AnySpec::write_cache(self)
    }

    fn depth(&mut self) -> &mut u32 {
        each!(AnySpec, self, spec => spec.depth())
    }

    fn set_bus(&mut self, sector_ns: u32) {
        each!(AnySpec, self, spec => spec.set_bus(sector_ns));
    }

    fn set_capacity(&mut self, sectors: u64) -> bool {
        each!(AnySpec, self, spec => spec.set_capacity(sectors))
    }

    fn alter(&mut self, what: Alteration) -> bool {
        each!(AnySpec, self, spec => spec.alter(what))
    }

    fn latency_ns(&mut self) -> Option<&mut u64> {
        each!(AnySpec, self, spec => spec.latency_ns())
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        AnySpec::facts(self)
    }
}

impl AnyModel {
    /// Lets `user` have the disk, whichever model it is.
    pub fn with_model<U: WithModel>(&mut self, user: U) -> U::Output {
        each!(AnyModel, self, disk => user.with_model(disk))
    }
}

impl DiskModel for AnyModel {
    fn capacity(&self) -> Sector {
        each!(AnyModel, self, disk => disk.capacity())
    }

    fn depth(&self) -> u32 {
        each!(AnyModel, self, disk => disk.depth())
    }

    fn rotational(&self) -> bool {
        each!(AnyModel, self, disk => disk.rotational())
    }

    fn remembers(&self) -> bool {
        each!(AnyModel, self, disk => disk.remembers())
    }

    fn positioning_curve(&self, points: usize) -> Vec<(u64, Duration)> {
        each!(AnyModel, self, disk => disk.positioning_curve(points))
    }

    #[inline]
    fn submit(&mut self, now: Instant, command: Command) -> Result<(), SubmitError> {
        each!(AnyModel, self, disk => disk.submit(now, command))
    }

    #[inline]
    fn next_event(&self) -> Option<Instant> {
        each!(AnyModel, self, disk => disk.next_event())
    }

    #[inline]
    fn advance(&mut self, now: Instant) -> Option<Completion> {
        each!(AnyModel, self, disk => disk.advance(now))
    }
}
