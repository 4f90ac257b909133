//! Send a message: once for an answer, once for a stream (specification 1.0 §3.1.1, §3.1.2; 0.3 §7.1,
//! §7.2).

use super::begin::{Begun, is_at_rest};
use super::watch::{Until, Watch};
use super::{SendMessage, Sent, Service, Streamed};
use crate::agent::SendDefault;
use crate::error::Error;
use crate::ids::Scope;
use crate::ports::{Delivery, Interest, Subscription};
use crate::task::Task;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

impl Service {
    /// Sends a message and, unless told otherwise, waits until the task has ended or asks for something.
    /// After the wait limit the task is returned as it then is. The run goes on whatever happens to the
    /// caller.
    ///
    /// # Errors
    /// Every code of a send; nothing is stored then.
    pub async fn send(&self, scope: &Scope, call: SendMessage) -> Result<Sent, Error> {
        let default = self.0.agent(scope)?.settings.send_default;
        let wait = call.wait.unwrap_or(default == SendDefault::Wait);
        match self.begin(scope, call, Interest::Rest).await? {
            Begun::Message { message, context } => Ok(Sent::Message { message, context }),
            Begun::Task { task, events } if wait => Ok(Sent::Task(self.rest(task, events).await?)),
            Begun::Task { task, .. } => Ok(Sent::Task(task)),
        }
    }

    /// Sends a message and hands out the task as it is opened or continued, then everything that happens
    /// to it, until it has ended or asks for input.
    ///
    /// # Errors
    /// Every code of a send; nothing is stored then.
    pub async fn stream(&self, scope: &Scope, call: SendMessage) -> Result<Streamed, Error> {
        match self.begin(scope, call, Interest::Changes).await? {
            Begun::Message { message, context } => Ok(Streamed::Message { message, context }),
            Begun::Task { task, events } => {
                let context = task.context().clone();
                let until = Until::EndedOrAsking;
                let watch = Watch::new(self.0.clone(), &task, events, until);
                Ok(Streamed::Task { snapshot: Some(task), watch, context })
            }
        }
    }

    /// Waits until the task is not active, at most the wait limit.
    async fn rest(
        &self,
        task: Arc<Task>,
        mut events: Box<dyn Subscription>,
    ) -> Result<Arc<Task>, Error> {
        if is_at_rest(&task) {
            return Ok(task);
        }
        let clock = &self.0.ports.clock;
        let mut limit = None;
        let delivery = poll_fn(|context| {
            if let Poll::Ready(delivery) = events.poll(context) {
                return Poll::Ready(Some(delivery));
            }
            let limit = limit.get_or_insert_with(|| clock.sleep(self.0.limits.wait));
            limit.as_mut().poll(context).map(|()| None)
        })
        .await;
        match delivery {
            Some(Delivery::Rest(task)) => Ok(task),
            Some(Delivery::Closed) => Err(self.0.internal("the task's changes cannot be stored")),
            Some(Delivery::Changes(_) | Delivery::Lagged) | None => {
                let key = task.key();
                let stored = self.0.ports.store.load(key).await;
                stored.map_err(|error| self.0.store_error(error, &key.id.to_string()))
            }
        }
    }
}
