//! Puts together what tells webhooks, by the configuration.

use crate::{Config, ConfigError};
use a2ad_domain::ports::{Clock, EventBus, IdGenerator, PushStore, TaskStore};
use a2ad_domain::service::{Outbox, Push};
use a2ad_http::webhook::{Client, Courier, Sender, Signer, SystemLookup};
use std::sync::Arc;

/// What there is where there are push notifications.
#[derive(Clone)]
pub(crate) struct Post {
    pub(crate) courier: Courier,
    /// What says which webhooks may be called, and calls them.
    pub(crate) client: Client,
    store: Arc<dyn PushStore>,
}

impl Post {
    /// `None` where there are no push notifications: they are off, or the store cannot keep webhooks.
    pub(crate) fn new(
        config: &Config,
        tasks: Arc<dyn TaskStore>,
        webhooks: Option<Arc<dyn PushStore>>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGenerator>,
    ) -> Result<Option<Self>, ConfigError> {
        let Some(store) = webhooks.filter(|_| config.push.enabled) else { return Ok(None) };
        let (retention, config) = (config.store.retention.0, &config.push);
        let wrong = |problem: String| ConfigError::new("push", problem);
        let client = Client::new(config.rules(), Arc::new(SystemLookup::default()));
        let secret = config.signs_with().map_err(|problem| wrong(format!("secret: {problem}")))?;
        let signer = secret.map(|secret| Signer::new(&secret));
        let (most, of_a_host) = (config.max_deliveries, config.max_per_host);
        let sender = Sender::new(client.clone(), most, of_a_host, clock.clone()).signed(signer);
        let courier = Courier::new(Outbox {
            tasks,
            webhooks: store.clone(),
            sender: Arc::new(sender),
            clock,
            ids,
            patience: config.patience(retention),
        });
        Ok(Some(Self { courier, client, store }))
    }

    /// What the use cases need of it.
    pub(crate) fn push(&self) -> Push {
        Push { store: self.store.clone(), bell: Arc::new(self.courier.clone()) }
    }

    /// The bus that tells the courier what it carries.
    pub(crate) fn listening(&self, bus: Arc<dyn EventBus>) -> Arc<dyn EventBus> {
        self.courier.listening(bus)
    }
}
