//! The 0.3 line, spoken by everybody who names no version.

mod decode;
mod fault;
mod part;
mod push;

use super::shape::Shape;
use super::{Call, Dialect, Method, Unreadable};
use crate::call::Fault;
use serde_json::value::RawValue;

/// The 0.3 line.
pub(crate) struct V03;

/// The methods (specification 0.3 §7, with `tasks/list` as later drafts have it), and other names that
/// the specification and servers before us have used for the extended card.
const METHODS: [(&str, Method); 13] = [
    ("message/send", Method::Send),
    ("message/stream", Method::Stream),
    ("tasks/get", Method::Get),
    ("tasks/list", Method::List),
    ("tasks/cancel", Method::Cancel),
    ("tasks/resubscribe", Method::Attach),
    ("tasks/pushNotificationConfig/set", Method::SetPush),
    ("tasks/pushNotificationConfig/get", Method::GetPush),
    ("tasks/pushNotificationConfig/list", Method::ListPush),
    ("tasks/pushNotificationConfig/delete", Method::DeletePush),
    ("agent/getAuthenticatedExtendedCard", Method::ExtendedCard),
    ("agent/authenticatedExtendedCard", Method::ExtendedCard),
    ("agent/getExtendedCard", Method::ExtendedCard),
];

/// Names from before 0.2 and what they are called now.
const SUCCESSORS: [(&str, &str); 2] =
    [("tasks/send", "message/send"), ("tasks/sendSubscribe", "message/stream")];

impl Dialect for V03 {
    fn method(&self, name: &str) -> Option<Method> {
        METHODS.iter().find(|(known, _)| *known == name).map(|(_, method)| *method)
    }

    fn decode(
        &self,
        method: Method,
        params: Option<&RawValue>,
        shape: &Shape,
    ) -> Result<Call, Unreadable> {
        decode::call(method, params, shape)
    }

    fn fault(&self, fault: &Fault, shape: &Shape, out: &mut Vec<u8>) {
        fault::fault(fault, shape, out);
    }

    fn extensions_header(&self) -> &'static str {
        "x-a2a-extensions"
    }
}

/// The method that took the place of a name from before 0.2.
pub(crate) fn successor(name: &str) -> Option<&'static str> {
    SUCCESSORS.iter().find(|(old, _)| *old == name).map(|(_, new)| *new)
}
