//! What every store of operators' decisions about agents holds to.

use crate::ids::AgentId;
use crate::ports::{AgentStore, KeptAgent};
use crate::raw_json::RawJson;

fn agent(name: &str, description: Option<&str>, published: bool) -> KeptAgent {
    KeptAgent {
        id: AgentId::new(name).expect("an id"),
        description: description.map(|text| RawJson::parse(text).expect("JSON")),
        published,
    }
}

async fn kept(store: &impl AgentStore) -> Vec<KeptAgent> {
    store.kept().await.expect("a store")
}

/// With the digits and the order that it had, in the order of the ids.
pub async fn what_is_kept_about_an_agent_is_read_as_it_was_kept(store: impl AgentStore) {
    assert_eq!(kept(&store).await, []);
    let two = [
        agent("added", Some(r#"{"id":"added","b":1.50,"a":"é\""}"#), true),
        agent("withdrawn", None, false),
    ];
    for agent in two.iter().rev() {
        store.keep(agent).await.expect("a store");
    }
    assert_eq!(kept(&store).await, two);
}

/// Of one agent only.
pub async fn what_is_kept_takes_the_place_of_what_was(store: impl AgentStore) {
    let other = agent("other", Some("{}"), true);
    store.keep(&other).await.expect("a store");
    for one in
        [agent("one", Some("{}"), true), agent("one", Some("[]"), false), agent("one", None, true)]
    {
        store.keep(&one).await.expect("a store");
        assert_eq!(kept(&store).await, [one, other.clone()]);
    }
}

/// However often it is forgotten.
pub async fn what_is_forgotten_is_not_kept(store: impl AgentStore) {
    let (one, other) = (agent("one", Some("{}"), true), agent("other", None, false));
    for agent in [&one, &other] {
        store.keep(agent).await.expect("a store");
    }
    for _ in 0..2 {
        store.forget(&one.id).await.expect("a store");
        assert_eq!(kept(&store).await, std::slice::from_ref(&other));
    }
}
