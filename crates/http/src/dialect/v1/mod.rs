//! The 1.0 line: ProtoJSON shapes, full names, typed error details.

mod decode;
mod fault;
mod number;
mod push;
mod spelling;

use super::shape::Shape;
use super::{Call, Dialect, Method, Unreadable};
use crate::call::Fault;
use serde_json::value::RawValue;

pub(crate) use fault::details;

/// The 1.0 line.
pub(crate) struct V1;

/// The methods (specification 1.0 §5.3 and §9.4).
const METHODS: [(&str, Method); 11] = [
    ("SendMessage", Method::Send),
    ("SendStreamingMessage", Method::Stream),
    ("GetTask", Method::Get),
    ("ListTasks", Method::List),
    ("CancelTask", Method::Cancel),
    ("SubscribeToTask", Method::Attach),
    ("CreateTaskPushNotificationConfig", Method::SetPush),
    ("GetTaskPushNotificationConfig", Method::GetPush),
    ("ListTaskPushNotificationConfigs", Method::ListPush),
    ("DeleteTaskPushNotificationConfig", Method::DeletePush),
    ("GetExtendedAgentCard", Method::ExtendedCard),
];

impl Dialect for V1 {
    fn method(&self, name: &str) -> Option<Method> {
        METHODS.iter().find(|(known, _)| *known == name).map(|(_, method)| *method)
    }

    fn decode(
        &self,
        method: Method,
        params: Option<&RawValue>,
        _shape: &Shape,
    ) -> Result<Call, Unreadable> {
        match (decode::call(method, params), params) {
            // What looks like a member given twice may be its two spellings.
            (Err(Unreadable::NotJson), Some(params)) => {
                decode::call(method, Some(&*spelling::unified(params)?))
            }
            (read, _) => read,
        }
    }

    fn fault(&self, fault: &Fault, shape: &Shape, out: &mut Vec<u8>) {
        fault::fault(fault, shape, out);
    }

    fn extensions_header(&self) -> &'static str {
        "a2a-extensions"
    }
}
