//! Re-attach to a task (specification 1.0 §3.1.6, 0.3 §7.9).

use super::watch::{LOG_PAGE, Until, Watch};
use super::{Core, Resume, Service, Streamed};
use crate::error::{Error, Unsupported};
use crate::ids::{Scope, Version};
use crate::ports::{Changes, Interest};

impl Service {
    /// Follows a task that exists: first the task as it is, then every change, until it has ended. With
    /// `resume`, exactly the changes that the client has not seen, as far as the log still holds them.
    ///
    /// # Errors
    /// `TaskNotFound`; `UnsupportedOperation` when the task has ended and the client has missed nothing
    /// that can still be told.
    pub async fn attach(
        &self,
        scope: &Scope,
        id: &str,
        resume: Option<Resume>,
    ) -> Result<Streamed, Error> {
        let core = &self.0;
        let key = Core::key(scope, id)?;
        // Subscribed before the task is read: what is committed in between comes twice, and the watch
        // drops it by its number.
        let events = core.ports.bus.subscribe(&key, Interest::Changes);
        let stored = |error| core.store_error(error, id);
        let task = core.ports.store.load(&key).await.map_err(stored)?;
        // An id that is no version of this task counts as absent.
        let resume = resume.filter(|resume| {
            resume.seen >= Version::FIRST && resume.seen <= task.version() && !resume.snapshot
        });
        let missed = match resume {
            Some(resume) => {
                let log = core.ports.store.changes_after(&key, resume.seen, LOG_PAGE).await;
                match log.map_err(stored)? {
                    Changes::After(changes) => Some((resume.seen, changes)),
                    Changes::TooOld => None,
                }
            }
            None => None,
        };
        let context = task.context().clone();
        let watch = Watch::new(core.clone(), &task, events, Until::Ended);
        match missed {
            Some((seen, changes)) if !task.state().is_terminal() || !changes.is_empty() => {
                let watch = watch.with_backlog(seen, changes);
                Ok(Streamed::Task { snapshot: None, watch, context })
            }
            _ if task.state().is_terminal() => {
                let why = Unsupported::Terminal(task.state());
                Err(Error::UnsupportedOperation { id: Some(key.id), why })
            }
            _ => Ok(Streamed::Task { snapshot: Some(task), watch, context }),
        }
    }
}
