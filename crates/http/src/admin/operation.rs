//! What operators can ask for: the table of verbs and paths.

use a2ad_domain::{AgentId, TaskId};
use axum::http::Method;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    ListAgents,
    AddAgent,
    GetAgent(AgentId),
    ChangeAgent(AgentId),
    RemoveAgent(AgentId),
    Publish(AgentId),
    Unpublish(AgentId),
    ListTasks,
    GetTask(TaskId),
    CancelTask(TaskId),
}

impl Operation {
    /// What it is called where it is written down.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::ListAgents => "agents.list",
            Self::AddAgent => "agents.add",
            Self::GetAgent(_) => "agents.get",
            Self::ChangeAgent(_) => "agents.change",
            Self::RemoveAgent(_) => "agents.remove",
            Self::Publish(_) => "agents.publish",
            Self::Unpublish(_) => "agents.unpublish",
            Self::ListTasks => "tasks.list",
            Self::GetTask(_) => "tasks.get",
            Self::CancelTask(_) => "tasks.cancel",
        }
    }
}

/// Where a request leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Operation(Operation),
    /// The path takes these verbs.
    OtherVerbs(&'static str),
    Nothing,
}

/// What a path below the base is about. An id that cannot be one is nobody's.
enum Place {
    Agents,
    Agent(AgentId),
    Publish(AgentId),
    Unpublish(AgentId),
    Tasks,
    Task(TaskId),
    CancelTask(TaskId),
}

fn place(path: &str) -> Option<Place> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let agent = |id: &str| AgentId::new(id).ok();
    Some(match segments[..] {
        ["agents"] => Place::Agents,
        ["agents", id] => Place::Agent(agent(id)?),
        ["agents", id, "publish"] => Place::Publish(agent(id)?),
        ["agents", id, "unpublish"] => Place::Unpublish(agent(id)?),
        ["tasks"] => Place::Tasks,
        ["tasks", id] => Place::Task(TaskId::parse(id)?),
        ["tasks", id, "cancel"] => Place::CancelTask(TaskId::parse(id)?),
        _ => return None,
    })
}

/// What a request of this verb to this path asks for.
pub(super) fn find(verb: &Method, path: &str) -> Found {
    let Some(place) = place(path) else { return Found::Nothing };
    let operation = match (place, verb.as_str()) {
        (Place::Agents, "GET") => Operation::ListAgents,
        (Place::Agents, "POST") => Operation::AddAgent,
        (Place::Agents, _) => return Found::OtherVerbs("GET, POST"),
        (Place::Agent(id), "GET") => Operation::GetAgent(id),
        (Place::Agent(id), "PUT") => Operation::ChangeAgent(id),
        (Place::Agent(id), "DELETE") => Operation::RemoveAgent(id),
        (Place::Agent(_), _) => return Found::OtherVerbs("GET, PUT, DELETE"),
        (Place::Publish(id), "POST") => Operation::Publish(id),
        (Place::Unpublish(id), "POST") => Operation::Unpublish(id),
        (Place::CancelTask(id), "POST") => Operation::CancelTask(id),
        (Place::Publish(_) | Place::Unpublish(_) | Place::CancelTask(_), _) => {
            return Found::OtherVerbs("POST");
        }
        (Place::Tasks, "GET") => Operation::ListTasks,
        (Place::Task(id), "GET") => Operation::GetTask(id),
        (Place::Tasks | Place::Task(_), _) => return Found::OtherVerbs("GET"),
    };
    Found::Operation(operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "917f7b3c-c641-49c9-a776-1d5dd104301a";

    #[test]
    fn every_path_has_its_verbs_and_what_is_none_is_nothing() {
        for (path, verbs) in [
            ("/agents", &["GET", "POST"][..]),
            ("/agents/a", &["GET", "PUT", "DELETE"]),
            ("/agents/a/publish", &["POST"]),
            ("/agents/a/unpublish/", &["POST"]),
            ("/tasks", &["GET"]),
            (&format!("/tasks/{TASK}"), &["GET"]),
            (&format!("/tasks/{TASK}/cancel"), &["POST"]),
        ] {
            for verb in ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"] {
                let found = find(&verb.parse().expect("a verb"), path);
                let expected = verbs.contains(&verb);
                assert_eq!(matches!(found, Found::Operation(_)), expected, "{verb} {path}");
                assert!(expected || found == Found::OtherVerbs(Box::leak(verbs.join(", ").into())));
            }
        }
        for path in
            ["", "/", "/agent", "/agents/A", "/agents//", "/agents/a/b", "/tasks/x", "agents"]
        {
            assert_eq!(find(&Method::GET, path), Found::Nothing, "{path}");
        }
    }
}
