//! Who may call which agent, by the configuration.

use crate::ConfigError;
use crate::config::{AgentConfig, AuthConfig, MethodConfig};
use a2ad_domain::Agent;
use a2ad_domain::ports::Clock;
use a2ad_http::{Access, AnyOf, Authenticator, Certificates, Front, Keys, Method, Tokens};
use std::sync::Arc;
use std::time::SystemTime;

/// Gives each agent its access.
pub(crate) struct Guards {
    /// What a program that embeds the server has brought; it stands for every agent.
    own: Option<Arc<dyn Authenticator>>,
    /// What the configuration describes.
    described: Vec<(MethodConfig, Arc<dyn Method>)>,
    /// Those made so far, by what they take: agents that take the same share one.
    made: Vec<(Vec<MethodConfig>, Arc<dyn Authenticator>)>,
}

impl Guards {
    pub(crate) fn new(
        own: Option<Arc<dyn Authenticator>>,
        config: &AuthConfig,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, ConfigError> {
        let mut described: Vec<(MethodConfig, Arc<dyn Method>)> = Vec::new();
        if let Some(path) = &config.keys {
            let keys = Keys::open(path.clone());
            let keys = keys.map_err(|it| ConfigError::new("auth.keys", it.to_string()))?;
            described.push((MethodConfig::Key, Arc::new(keys)));
        }
        if let Some(jwt) = &config.jwt {
            let wrong = |problem: String| ConfigError::new("auth.jwt", problem);
            let settings = jwt.settings().map_err(|(key, it)| wrong(format!("{key}: {it}")))?;
            let tokens = Tokens::new(settings, clock.clone()).map_err(wrong)?;
            described.push((MethodConfig::Jwt, Arc::new(tokens)));
        }
        if config.client_ca.is_some() {
            described.push((MethodConfig::Mtls, Arc::new(Certificates)));
        }
        Ok(Self { own, described, made: Vec::new() })
    }

    /// What an agent shows to whom. Without a configuration it has been added by a program.
    pub(crate) fn front(&mut self, agent: &Arc<Agent>, config: Option<&AgentConfig>) -> Front {
        let share_tasks = config.is_some_and(|config| config.share_tasks);
        let access = match self.authenticator(config.and_then(|config| config.auth.as_deref())) {
            Some(by) => Access::Guarded { by, share_tasks },
            None => Access::Open,
        };
        let card_mode = config.map(|config| config.card_mode.mode()).unwrap_or_default();
        Front { agent: agent.clone(), access, card_mode, since: SystemTime::now() }
    }

    /// Knows the callers of an agent that asks for any of these; `None` if it asks for nothing.
    fn authenticator(&mut self, asked: Option<&[MethodConfig]>) -> Option<Arc<dyn Authenticator>> {
        if let Some(own) = &self.own {
            return Some(own.clone());
        }
        let asks = |method: &MethodConfig| asked.is_none_or(|asked| asked.contains(method));
        let (names, methods): (Vec<MethodConfig>, Vec<Arc<dyn Method>>) =
            self.described.iter().filter(|(name, _)| asks(name)).cloned().unzip();
        if names.is_empty() {
            return None;
        }
        if let Some((_, made)) = self.made.iter().find(|(known, _)| *known == names) {
            return Some(made.clone());
        }
        let new: Arc<dyn Authenticator> = Arc::new(AnyOf::new(methods));
        self.made.push((names, new.clone()));
        Some(new)
    }
}
