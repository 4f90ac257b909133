//! Puts together what tells webhooks, by the configuration.

use crate::{Config, ConfigError};
use a2ad_domain::ports::{Clock, EventBus, IdGenerator, PushStore, StoreError, TaskStore};
use a2ad_domain::service::{Outbox, Push};
use a2ad_http::SigningKey;
use a2ad_http::webhook::{Client, Courier, NoticeSigner, Sender, Signer, SystemLookup};
use std::sync::Arc;

/// What there is where there are push notifications.
#[derive(Clone)]
pub(crate) struct Post {
    pub(crate) courier: Courier,
    /// What says which webhooks may be called, and calls them.
    pub(crate) client: Client,
    store: Arc<dyn PushStore>,
    signer: Option<Arc<NoticeSigner>>,
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
        let client = Client::new(config.rules(), Arc::new(SystemLookup::default()));
        let secret = config.signs_with().map_err(|it| ConfigError::new("push.secret", it))?;
        let keys = config.signing_keys().map_err(|it| ConfigError::new("push.keys", it))?;
        let signer = NoticeSigner::new(keys).map(Arc::new);
        let (most, of_a_host) = (config.max_deliveries, config.max_per_host);
        let sender = Sender::new(client.clone(), most, of_a_host, clock.clone());
        let sender = sender.signed(secret.map(|secret| Signer::new(&secret)), signer.clone());
        let courier = Courier::new(Outbox {
            tasks,
            webhooks: store.clone(),
            sender: Arc::new(sender),
            clock,
            ids,
            patience: config.patience(retention),
        });
        Ok(Some(Self { courier, client, store, signer }))
    }

    /// The keys that notifications are signed with.
    pub(crate) fn keys(&self) -> &[SigningKey] {
        self.signer.as_ref().map_or(&[], |signer| signer.keys())
    }

    /// Begins with what is to be told, by a server that is reached at this address.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn start(&self, base_url: &str) -> Result<(), StoreError> {
        if let Some(signer) = &self.signer {
            signer.issue_from(base_url);
        }
        self.courier.start().await
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
