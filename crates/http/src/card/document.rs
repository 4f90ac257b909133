//! Writes agent cards (specification 0.3 §5.5, 1.0 §4.4.1). The top-level members of the two lines have
//! different names, so one document can hold both.

use super::CardMode;
use crate::auth::{Scheme, scheme};
use crate::json::{self, Object};
use a2ad_domain::{Agent, Card, Extension, Skill};

/// The version of the protocol that the 0.3 form names.
const OLD_VERSION: &str = "0.3.0";
const RPC: &str = "JSONRPC";
const REST: &str = "HTTP+JSON";

/// Where an agent is called.
struct Addresses {
    rpc: String,
    rest: String,
}

impl Addresses {
    fn new(base: &str, agent: &Agent) -> Self {
        let rest = format!("{base}/api/v1/a2a/{}", agent.id);
        Self { rpc: format!("{rest}/jsonrpc"), rest }
    }

    /// Every interface, the preferred one first: binding, version, address.
    fn interfaces(&self) -> [(&'static str, &'static str, &str); 4] {
        [
            (RPC, "1.0", &self.rpc),
            (REST, "1.0", &self.rest),
            (RPC, "0.3", &self.rpc),
            (REST, "0.3", &self.rest),
        ]
    }
}

/// Writes one of an agent's cards. `schemes` is what callers can show, `notifies` whether there are push
/// notifications. Arrays are there even when they are empty, and what is not set is not there.
pub(super) fn card(
    agent: &Agent,
    card: &Card,
    base: &str,
    form: CardMode,
    schemes: &[Scheme],
    notifies: bool,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(2048);
    let addresses = Addresses::new(base, agent);
    let extended = agent.extended_card.is_some();
    json::object(&mut out, |o| {
        o.string("name", &card.name);
        o.string("description", &card.description);
        o.string("version", &card.version);
        if form != CardMode::V1 {
            old_addresses(o, &addresses);
            if extended {
                o.plain("supportsAuthenticatedExtendedCard", true);
            }
        }
        if form != CardMode::V03 {
            o.array("supportedInterfaces", addresses.interfaces(), |out, interface| {
                let (binding, version, url) = interface;
                json::object(out, |o| {
                    o.string("url", url);
                    o.string("protocolBinding", binding);
                    o.string("protocolVersion", version);
                });
            });
        }
        o.object("capabilities", |o| {
            o.plain("streaming", true);
            o.plain("pushNotifications", notifies);
            if form != CardMode::V03 {
                o.plain("extendedAgentCard", extended);
            }
            if !agent.extensions.is_empty() {
                o.array("extensions", &agent.extensions, extension);
            }
        });
        scheme::section(o, schemes, form);
        o.strings("defaultInputModes", &card.input_modes);
        o.strings("defaultOutputModes", &card.output_modes);
        o.array("skills", &card.skills, skill);
    });
    out
}

fn old_addresses(o: &mut Object<'_>, addresses: &Addresses) {
    o.string("protocolVersion", OLD_VERSION);
    o.string("url", &addresses.rpc);
    o.string("preferredTransport", RPC);
    let interfaces = addresses.interfaces().into_iter().filter(|(_, version, _)| *version == "0.3");
    o.array("additionalInterfaces", interfaces, |out, (transport, _, url)| {
        json::object(out, |o| {
            o.string("url", url);
            o.string("transport", transport);
        });
    });
}

fn extension(out: &mut Vec<u8>, extension: &Extension) {
    json::object(out, |o| {
        o.string("uri", &extension.uri);
        o.maybe("description", extension.description.as_deref());
        o.plain("required", extension.required);
        if let Some(params) = &extension.params {
            o.raw("params", params.as_str());
        }
    });
}

fn skill(out: &mut Vec<u8>, skill: &Skill) {
    json::object(out, |o| {
        o.string("id", &skill.id);
        o.string("name", &skill.name);
        o.string("description", &skill.description);
        o.strings("tags", &skill.tags);
        if !skill.examples.is_empty() {
            o.strings("examples", &skill.examples);
        }
    });
}

/// Writes the list of agents that can be called.
pub(super) fn catalog<'a>(agents: impl Iterator<Item = &'a Agent>, base: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    json::object(&mut out, |o| {
        o.array("agents", agents, |out, agent| {
            let addresses = Addresses::new(base, agent);
            json::object(out, |o| {
                o.string("id", agent.id.as_str());
                o.string("name", &agent.card.name);
                o.string("description", &agent.card.description);
                o.string("version", &agent.card.version);
                o.string("url", &addresses.rpc);
                o.string("card", &format!("{}/.well-known/agent-card.json", addresses.rest));
            });
        });
    });
    out
}
