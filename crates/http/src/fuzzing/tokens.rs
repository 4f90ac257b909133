//! Page tokens: ours lead back to where they were made, and nowhere else.

use crate::paging::{cursor, token};
use a2ad_domain::ports::Cursor;
use a2ad_domain::service::ListTasks;
use a2ad_domain::{AgentId, ContextId, Owner, Scope, TaskId, TaskState, Timestamp};

/// A place, what is listed there, and a text that somebody says is a token.
pub fn tokens(input: &[u8]) {
    let Some((place, rest)) = input.split_at_checked(24) else { return };
    let Some((filters, text)) = rest.split_at_checked(2) else { return };
    let millis = i64::from_be_bytes(place[..8].try_into().expect("8 bytes"));
    let id = u128::from_be_bytes(place[8..].try_into().expect("16 bytes"));
    let at = Cursor { status_at: Timestamp::from_millis(millis), id: TaskId::from_u128(id) };
    let text = String::from_utf8_lossy(text);
    let (scope, list) = (scope("a"), list(filters, &text));
    let made = token(at, &scope, &list);
    assert_eq!(cursor(&made, &scope, &list), Some(at));
    assert!(made.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)), "{made}");
    // It is good for these filters and for this caller alone.
    let other = ListTasks { overdue: !list.overdue, ..list.clone() };
    assert_eq!(cursor(&made, &scope, &other), None);
    assert_eq!(cursor(&made, &self::scope("b"), &list), None);
    // How many there are on a page is not part of it, and a page that was made smaller goes on.
    let smaller = ListTasks { limit: 1, ..list.clone() };
    assert_eq!(cursor(&made, &scope, &smaller), Some(at));
    // Whatever is taken can be told back: there is one token for each place.
    for text in [&*text, &made[..made.len() - 1], &format!("{made}="), &format!("{made}A")] {
        if let Some(at) = cursor(text, &scope, &list) {
            assert_eq!(token(at, &scope, &list), *text);
        }
    }
}

fn scope(owner: &str) -> Scope {
    let agent = AgentId::new("agent").expect("an agent id");
    Scope::new(agent, None, Owner::new(owner).expect("an owner"))
}

fn list(filters: &[u8], text: &str) -> ListTasks {
    let state = TaskState::ALL.get(usize::from(filters[0]) % 16).copied();
    let context = ContextId::new(text.chars().take(16).collect::<String>()).ok();
    let since = (filters[1] > 127).then(|| Timestamp::from_millis(filters[1].into()));
    ListTasks { context, state, since, overdue: filters[1] % 2 == 1, limit: 50, after: None }
}
