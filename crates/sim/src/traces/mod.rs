//! Traces: what a disk was asked to do, in the formats that people have.

pub mod record;

pub use record::Record;
