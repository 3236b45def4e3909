//! The shared test suites. Every scheduler of the registry goes through all of them.

mod pool;

pub(crate) use pool::Pool;
