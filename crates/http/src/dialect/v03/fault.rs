//! Writes the error objects of the 0.3 line (specification 0.3 §8).

use crate::call::Fault;
use crate::dialect::SUPPORTED_VERSIONS;
use crate::dialect::shape::Shape;
use crate::json::{self, Object};
use a2ad_domain::Error;
use a2ad_domain::error::Unsupported;
use std::borrow::Cow;

pub(super) fn fault(fault: &Fault, shape: &Shape, out: &mut Vec<u8>) {
    let (number, message) = number_and_message(fault, shape);
    json::object(out, |o| {
        o.plain("code", number);
        o.string("message", &message);
        if shape.errors.data {
            data(o, fault);
        }
    });
}

fn number_and_message(fault: &Fault, shape: &Shape) -> (i32, Cow<'static, str>) {
    let code = fault.code(shape);
    let message = match fault {
        Fault::Batch => "Batch requests are not supported".into(),
        Fault::TooLarge => "Payload too large".into(),
        Fault::UnknownMethod { successor: Some(name) } => {
            format!("{}: use {name}", code.message()).into()
        }
        Fault::Failed(Error::TaskNotFound { id }) if shape.errors.not_found.is_some() => {
            let (number, template) = shape.errors.not_found.unwrap_or((code.number(), ""));
            return (number, template.replace("{}", id).into());
        }
        Fault::Failed(error) => message_of(error, shape),
        Fault::Parse
        | Fault::NotARequest
        | Fault::ContentType
        | Fault::UnknownMethod { successor: None }
        | Fault::SendWithoutParams
        | Fault::ExtensionRequired { .. }
        | Fault::Version { .. } => code.message().into(),
    };
    (code.number(), message)
}

fn message_of(error: &Error, shape: &Shape) -> Cow<'static, str> {
    let standard = error.code().message();
    match error {
        Error::TaskNotCancelable { state, .. } => match shape.errors.not_cancelable {
            Some(template) => template.replace("{}", shape.state(*state)).into(),
            None => standard.into(),
        },
        // Clients look for the words "terminal state" to know that they have to open a new task.
        Error::UnsupportedOperation { why: Unsupported::Terminal(_), .. } => {
            format!("{standard}: the task is in a terminal state").into()
        }
        Error::InvalidParams { field, problem } => match shape.errors.invalid_params {
            Some(template) => {
                template.replace("{}", &format!("'{field}' {}", short(problem))).into()
            }
            None => standard.into(),
        },
        Error::TaskNotFound { .. }
        | Error::UnsupportedOperation { .. }
        | Error::ContentTypeNotSupported { .. }
        | Error::PushNotificationNotSupported
        | Error::ExtendedCardNotConfigured
        | Error::Unavailable(_)
        | Error::Internal { .. } => standard.into(),
    }
}

/// `is required` in the words of the templates.
fn short(problem: &str) -> &str {
    problem.strip_prefix("is ").filter(|rest| *rest == "required").unwrap_or(problem)
}

/// What is known beyond the code: `null` when that is nothing.
fn data(o: &mut Object<'_>, fault: &Fault) {
    if let Fault::Failed(Error::InvalidParams { field, problem }) = fault
        && !field.is_empty()
    {
        violation(o, field, problem);
    } else if let Fault::Failed(Error::ContentTypeNotSupported { field }) = fault {
        violation(o, field, "has a media type that does not fit");
    } else if let Fault::Failed(Error::Internal { reference, .. }) = fault {
        o.object("data", |o| o.displayed("reference", reference));
    } else if let Fault::Version { requested } = fault {
        o.object("data", |o| {
            o.string("requestedVersion", requested);
            o.string("supportedVersions", SUPPORTED_VERSIONS);
        });
    } else if let Fault::ExtensionRequired { uri } = fault {
        o.object("data", |o| o.string("extension", uri));
    } else {
        o.raw("data", "null");
    }
}

fn violation(o: &mut Object<'_>, field: &str, description: &str) {
    o.object("data", |o| {
        o.array("fieldViolations", [(field, description)], |out, (field, description)| {
            json::object(out, |o| {
                o.string("field", field);
                o.string("description", description);
            });
        });
    });
}
