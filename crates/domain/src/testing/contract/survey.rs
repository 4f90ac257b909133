//! What every store shows of all scopes together.

use super::store::{keep, write};
use crate::ids::{AgentId, Scope, TaskId};
use crate::ports::{StoreError, Survey, TaskStore, TaskSummary};
use crate::state::TaskState;
use crate::task::Task;
use crate::testing::sample::{self, at, foreign_scopes, key_in, opened_until, scope};

/// A task in each state for each of some scopes; those at work have to end by the time 15.
async fn filled(store: &impl TaskStore) -> Vec<Task> {
    let [bob, other_agent, tenant] = foreign_scopes();
    let mut tasks = Vec::new();
    for scope in [scope(), bob, other_agent, tenant] {
        for state in TaskState::ALL {
            let number = tasks.len() as u128 + 1;
            let mut task = opened_until(key_in(&scope, number), 0, 15);
            keep(store, &task).await;
            for change in sample::way_to(state) {
                write(store, &mut task, &[change], 10).await;
            }
            tasks.push(task);
        }
    }
    tasks.reverse();
    tasks
}

async fn found(store: &impl TaskStore, survey: &Survey) -> Vec<TaskSummary> {
    store.survey(survey).await.expect("a survey")
}

fn all() -> Survey {
    Survey { limit: 100, ..Survey::default() }
}

/// Each as it stands, of whichever owner, tenant and agent.
pub async fn a_survey_shows_the_tasks_of_all_scopes_the_newest_first(store: impl TaskStore) {
    assert_eq!(found(&store, &all()).await, []);
    let tasks = filled(&store).await;
    let expected: Vec<_> = tasks.iter().map(TaskSummary::of).collect();
    assert_eq!(found(&store, &all()).await, expected);
}

/// Alone and together.
pub async fn filters_narrow_a_survey(store: impl TaskStore) {
    let tasks = filled(&store).await;
    let agents = [None, Some(scope().agent().clone()), Some(AgentId::new("none").expect("an id"))];
    let states = std::iter::once(None).chain(TaskState::ALL.map(Some));
    for (agent, state) in agents.iter().flat_map(|it| states.clone().map(move |state| (it, state)))
    {
        for (live, overdue) in [(false, None), (true, None), (false, Some(14)), (true, Some(15))] {
            let overdue = overdue.map(at);
            let survey = Survey { agent: agent.clone(), state, live, overdue, ..all() };
            let fits = |task: &&Task| {
                agent.as_ref().is_none_or(|agent| agent == task.key().scope.agent())
                    && state.is_none_or(|state| state == task.state())
                    && !(live && task.state().is_terminal())
                    && overdue.is_none_or(|now| task.is_overdue(now))
            };
            let expected: Vec<_> = tasks.iter().filter(fits).map(TaskSummary::of).collect();
            assert_eq!(found(&store, &survey).await, expected, "{survey:?}");
        }
    }
    let overdue = Survey { overdue: Some(at(15)), ..all() };
    assert!(!found(&store, &overdue).await.is_empty(), "there is something overdue");
}

/// Whatever the filter, and also when the task that a page ended with is not among those asked for.
pub async fn pages_of_a_survey_give_every_task_once(store: impl TaskStore) {
    filled(&store).await;
    for (live, state) in [(false, None), (true, None), (false, Some(TaskState::Completed))] {
        let whole = Survey { live, state, ..all() };
        let expected = found(&store, &whole).await;
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = found(&store, &Survey { limit: 3, after, ..whole.clone() }).await;
            assert!(page.len() <= 3);
            after = page.last().map(|last| last.key.id);
            seen.extend(page);
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen, expected);
    }
}

/// And what is nowhere is not.
pub async fn a_task_is_found_in_whatever_scope_it_is(store: impl TaskStore) {
    for task in filled(&store).await {
        assert_eq!(store.find(task.key().id).await.expect("a task"), *task.key());
    }
    let unknown = store.find(TaskId::from_u128(u128::MAX)).await;
    assert!(matches!(unknown, Err(StoreError::NotFound)), "{unknown:?}");
}

/// Each once.
pub async fn the_agents_are_those_that_have_tasks(store: impl TaskStore) {
    assert_eq!(store.agents().await.expect("agents"), []);
    filled(&store).await;
    let scopes: Vec<Scope> = foreign_scopes().into_iter().chain([scope()]).collect();
    let mut expected: Vec<AgentId> = scopes.iter().map(|scope| scope.agent().clone()).collect();
    expected.sort();
    expected.dedup();
    let mut found = store.agents().await.expect("agents");
    found.sort();
    assert_eq!(found, expected);
    assert!(expected.len() > 1);
}
