//! Schedulers that a program brings along and that the registry does not know, such as one in Python.

use idlewise_core::{Scheduler, Setup};

/// What is done with a foreign scheduler once it is built: a whole run.
pub type Hosted<'a> = &'a mut dyn for<'s> FnMut(Box<dyn Scheduler + 's>);

/// A scheduler of a program's own.
pub trait Foreign: Send + Sync {
    /// Builds the scheduler for one run, hands it to `run`, and returns when the run is over. What the scheduler needs
    /// meanwhile, such as an interpreter, is there until then, and its calls come from this thread.
    ///
    /// # Errors
    /// Why it could not be built, or what went wrong in it, in words. The run's results do not count then.
    fn host(&self, setup: Setup<'_>, run: Hosted<'_>) -> Result<(), String>;
}
