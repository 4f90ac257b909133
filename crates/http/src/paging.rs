//! Page tokens: where a page ended, tied to the caller and the filters they were made for. Nothing is
//! looked up by a token, so it stays good when the task it names is gone.

use a2ad_domain::Scope;
use a2ad_domain::ports::Cursor;
use a2ad_domain::service::ListTasks;
use a2ad_domain::{TaskId, Timestamp};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::hash::{DefaultHasher, Hash, Hasher};

const LENGTH: usize = 32;

/// The token of the page after `cursor`.
pub(crate) fn token(cursor: Cursor, scope: &Scope, list: &ListTasks) -> String {
    let mut bytes = [0; LENGTH];
    bytes[..8].copy_from_slice(&cursor.status_at.as_millis().to_be_bytes());
    bytes[8..24].copy_from_slice(cursor.id.as_uuid().as_bytes());
    bytes[24..].copy_from_slice(&seal(scope, list));
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The place that a token names; `None` when it is none of ours, or of another caller or other filters.
pub(crate) fn cursor(token: &str, scope: &Scope, list: &ListTasks) -> Option<Cursor> {
    let bytes: [u8; LENGTH] = URL_SAFE_NO_PAD.decode(token).ok()?.try_into().ok()?;
    if bytes[24..] != seal(scope, list) {
        return None;
    }
    let millis = i64::from_be_bytes(bytes[..8].try_into().ok()?);
    let id = u128::from_be_bytes(bytes[8..24].try_into().ok()?);
    Some(Cursor { status_at: Timestamp::from_millis(millis), id: TaskId::from_u128(id) })
}

/// A check sum over what a token is for. Not a secret: a page shows the caller's own tasks only,
/// whatever the token says.
fn seal(scope: &Scope, list: &ListTasks) -> [u8; 8] {
    let mut hasher = DefaultHasher::new();
    let filters = (&list.context, list.state, list.since, list.overdue);
    (scope, filters).hash(&mut hasher);
    hasher.finish().to_be_bytes()
}
