//! Any sequence of changes: what a task takes, what it refuses, and what it then holds.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::testing::{generate, sample};
use a2ad_domain::{
    ArtifactId, Change, Message, Recorded, Refusal, StatusChange, Task, TaskState, Timestamp,
};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Changes at times that also go back, as clocks do.
fn life() -> impl Strategy<Value = Vec<(Change, Timestamp)>> {
    let times = proptest::collection::vec(0..50_i64, 32);
    (generate::changes(32), times).prop_map(|(changes, times)| {
        changes.into_iter().zip(times.into_iter().map(sample::at)).collect()
    })
}

/// Applies what fits and gives the task, its opening and what it took.
fn live(life: Vec<(Change, Timestamp)>) -> (Task, Task, Vec<Recorded>) {
    let opening = sample::opened(sample::key(1), 10);
    let mut task = opening.clone();
    let taken = life.into_iter().filter_map(|(change, at)| task.apply(change, at).ok()).collect();
    (task, opening, taken)
}

/// The messages of a life in the order in which they were said, the opening one included.
fn said(opening: &Task, taken: &[Recorded]) -> Vec<Arc<Message>> {
    let said = taken.iter().filter_map(|recorded| match &recorded.change {
        Change::Message(message) => Some(message.clone()),
        Change::Status(status) => status.message.clone(),
        Change::Artifact(_) => None,
    });
    opening.history().iter().cloned().chain(said).collect()
}

/// The artifacts of a life, made in another way: all parts of each, joined.
fn results(taken: &[Recorded]) -> (Vec<ArtifactId>, HashMap<ArtifactId, Vec<a2ad_domain::Part>>) {
    let (mut order, mut all) = (Vec::new(), HashMap::new());
    for recorded in taken {
        let Change::Artifact(piece) = &recorded.change else { continue };
        if !all.contains_key(&piece.id) {
            order.push(piece.id.clone());
        }
        let parts: &mut Vec<_> = all.entry(piece.id.clone()).or_default();
        if !piece.append {
            parts.clear();
        }
        parts.extend_from_slice(piece.parts.as_slice());
    }
    (order, all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_terminal_task_never_changes_again(life in life(), end in generate::state(), more in life()) {
        prop_assume!(end.is_terminal());
        let (mut task, ..) = live(life);
        let _ = task.apply(sample::status(end), sample::at(60));
        let ended = task.clone();
        for (change, at) in more {
            prop_assert_eq!(task.apply(change, at), Err(Refusal::Terminal(ended.state())));
            prop_assert_eq!(&task, &ended);
        }
    }

    #[test]
    fn a_refusal_changes_nothing_and_says_why(life in life()) {
        let mut task = sample::opened(sample::key(1), 10);
        for (change, at) in life {
            let before = task.clone();
            match (task.apply(change.clone(), at), &change) {
                (Ok(_), _) => {}
                (Err(Refusal::Terminal(state)), _) => prop_assert_eq!(state, before.state()),
                (Err(Refusal::Transition { from, to }), Change::Status(status)) => {
                    prop_assert_eq!((from, to), (before.state(), status.state));
                    prop_assert!(!from.may_become(to));
                    prop_assert_eq!(&task, &before);
                }
                (Err(Refusal::UnknownArtifact(id)), Change::Artifact(piece)) => {
                    prop_assert!(id == piece.id && piece.append && before.artifact(&id).is_none());
                    prop_assert_eq!(&task, &before);
                }
                (Err(refusal), change) => prop_assert!(false, "{refusal:?} for {change:?}"),
            }
        }
    }

    #[test]
    fn each_change_counts_one_and_time_never_goes_back(life in life()) {
        let (task, opening, taken) = live(life.clone());
        let mut latest = opening.created();
        for (index, recorded) in taken.iter().enumerate() {
            prop_assert_eq!(recorded.version.0, index as u64 + 2);
            prop_assert!(recorded.at >= latest);
            prop_assert!(recorded.at == latest || life.iter().any(|(_, at)| *at == recorded.at));
            latest = recorded.at;
        }
        prop_assert_eq!(task.version().0, taken.len() as u64 + 1);
        prop_assert_eq!(task.created(), opening.created());
    }

    #[test]
    fn replaying_what_was_taken_makes_the_same_task(life in life()) {
        let (task, mut replayed, taken) = live(life);
        for recorded in &taken {
            prop_assert_eq!(replayed.replay(recorded), Ok(()));
        }
        prop_assert_eq!(replayed, task);
    }

    #[test]
    fn the_status_is_the_one_written_last(life in life()) {
        let (task, opening, taken) = live(life);
        let last = taken.iter().rev().find_map(|recorded| match &recorded.change {
            Change::Status(status) => Some((status.clone(), recorded.at)),
            Change::Message(_) | Change::Artifact(_) => None,
        });
        let (status, at) = last.unwrap_or((
            StatusChange { state: TaskState::Submitted, message: None, parked: false, details: None },
            opening.created(),
        ));
        prop_assert_eq!((task.state(), task.status_at()), (status.state, at));
        prop_assert_eq!(task.is_running(), !status.state.is_terminal() && !status.parked);
    }

    #[test]
    fn history_is_everything_said_in_order_and_nothing_twice(life in life()) {
        let (task, opening, taken) = live(life);
        let mut said = said(&opening, &taken);
        // What the status says has been said, and joins the history when it is superseded.
        if let Some(current) = task.status_message() {
            let last = said.pop();
            prop_assert_eq!(last.as_ref(), Some(current));
        }
        prop_assert_eq!(task.history(), &said[..]);
        for limit in 0..said.len() + 2 {
            let tail = task.history_tail(Some(limit));
            prop_assert_eq!(tail, &said[said.len().saturating_sub(limit)..]);
        }
        prop_assert_eq!(task.history_tail(None), &said[..]);
    }

    #[test]
    fn artifacts_are_what_their_pieces_make_of_them(life in life()) {
        let (task, _, taken) = live(life);
        let (order, results) = results(&taken);
        let ids: Vec<ArtifactId> = task.artifacts().iter().map(|a| a.id.clone()).collect();
        prop_assert_eq!(ids, order);
        for artifact in task.artifacts() {
            let parts: Vec<_> = artifact.parts().cloned().collect();
            prop_assert_eq!(&parts, &results[&artifact.id]);
        }
    }

    #[test]
    fn the_weight_covers_the_texts_that_are_kept(life in life()) {
        let (task, ..) = live(life);
        let text = |part: &a2ad_domain::Part| part.plain_text().map_or(0, str::len);
        let kept: usize = task.artifacts().iter().flat_map(a2ad_domain::Artifact::parts).map(text).sum();
        let said: usize = task.history().iter().flat_map(|m| m.parts.as_slice()).map(text).sum();
        prop_assert!(task.weight() >= kept + said);
    }
}

#[test]
fn every_pair_of_states_is_taken_or_refused_as_the_table_says() {
    for from in TaskState::ALL {
        for to in TaskState::ALL {
            let (mut task, _) =
                sample::applied(sample::opened(sample::key(1), 0), &sample::way_to(from), 1);
            let took = task.apply(sample::status(to), sample::at(2));
            assert_eq!(took.is_ok(), from.may_become(to), "{from} -> {to}");
            assert_eq!(task.state(), if took.is_ok() { to } else { from });
        }
    }
}

#[test]
fn a_task_is_overdue_from_its_deadline_on_until_it_has_ended() {
    let message = Arc::new(sample::message("m", "x"));
    let open = |deadline| {
        Task::open(sample::key(1), sample::context("c"), message.clone(), deadline, sample::at(0))
    };
    let mut task = open(Some(sample::at(10)));
    assert!(!task.is_overdue(sample::at(9)));
    assert!(task.is_overdue(sample::at(10)));
    assert!(!open(None).is_overdue(sample::at(i64::MAX)));
    task.apply(sample::status(TaskState::Completed), sample::at(11)).unwrap();
    assert!(!task.is_overdue(sample::at(12)));
}
