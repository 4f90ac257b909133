//! Agent cards (specification 0.3 §5.5) and the catalog.

use crate::json::{self, Object};
use a2ad_domain::{Agent, Skill};

/// The version of the protocol that cards name.
const PROTOCOL_VERSION: &str = "0.3.0";
const TRANSPORT: &str = "JSONRPC";

/// The address of an agent's JSON-RPC route.
pub(crate) fn rpc_url(base: &str, agent: &Agent) -> String {
    format!("{base}/api/v1/a2a/{}/jsonrpc", agent.id)
}

/// Writes an agent's card. Arrays are there even when they are empty, and what is not set is not there.
pub(crate) fn card(agent: &Agent, base: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    let (card, url) = (&agent.card, rpc_url(base, agent));
    json::object(&mut out, |o| {
        o.string("name", &card.name);
        o.string("description", &card.description);
        o.string("version", &card.version);
        o.string("protocolVersion", PROTOCOL_VERSION);
        o.string("url", &url);
        o.string("preferredTransport", TRANSPORT);
        o.array("additionalInterfaces", [&url], |out, url| {
            json::object(out, |o| {
                o.string("url", url);
                o.string("transport", TRANSPORT);
            });
        });
        o.object("capabilities", |o| {
            o.plain("streaming", true);
            o.plain("pushNotifications", false);
        });
        o.strings("defaultInputModes", &card.input_modes);
        o.strings("defaultOutputModes", &card.output_modes);
        o.array("skills", &card.skills, |out, skill| {
            json::object(out, |o| members_of_skill(o, skill));
        });
    });
    out
}

fn members_of_skill(o: &mut Object<'_>, skill: &Skill) {
    o.string("id", &skill.id);
    o.string("name", &skill.name);
    o.string("description", &skill.description);
    o.strings("tags", &skill.tags);
    if !skill.examples.is_empty() {
        o.strings("examples", &skill.examples);
    }
}

/// Writes the list of agents that can be called.
pub(crate) fn catalog<'a>(agents: impl Iterator<Item = &'a Agent>, base: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    json::object(&mut out, |o| {
        o.array("agents", agents, |out, agent| {
            let route = format!("{base}/api/v1/a2a/{}", agent.id);
            json::object(out, |o| {
                o.string("id", agent.id.as_str());
                o.string("name", &agent.card.name);
                o.string("description", &agent.card.description);
                o.string("version", &agent.card.version);
                o.string("url", &rpc_url(base, agent));
                o.string("card", &format!("{route}/.well-known/agent-card.json"));
            });
        });
    });
    out
}
