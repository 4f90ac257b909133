//! Writes the error objects of the 1.0 line, with the typed details of `google.rpc`
//! (specification 1.0 §9.5 and §11.6).

use crate::call::Fault;
use crate::dialect::SUPPORTED_VERSIONS;
use crate::dialect::shape::Shape;
use crate::json::{self, Object};
use a2ad_domain::{Error, ErrorCode};

const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
const DOMAIN: &str = "a2a-protocol.org";

pub(super) fn fault(fault: &Fault, shape: &Shape, out: &mut Vec<u8>) {
    let code = fault.code(shape);
    json::object(out, |o| {
        o.plain("code", code.number());
        o.string("message", fault.message(shape));
        // What JSON-RPC defines itself says all with its code.
        let bare = matches!(
            code,
            ErrorCode::ParseError | ErrorCode::InvalidRequest | ErrorCode::MethodNotFound
        );
        if !bare {
            details(fault, shape, o.member("data"));
        }
    });
}

/// Writes the array of details.
pub(crate) fn details(fault: &Fault, shape: &Shape, out: &mut Vec<u8>) {
    let violation = if let Fault::Failed(Error::InvalidParams { field, problem }) = fault {
        Some((&**field, &**problem))
    } else if let Fault::SendWithoutParams = fault {
        Some(("message", "is required"))
    } else {
        None
    };
    let both = [true, false];
    let count = if violation.is_some_and(|(field, _)| !field.is_empty()) { 2 } else { 1 };
    json::array(out, &both[..count], |out, info| {
        json::object(out, |o| match violation {
            Some((field, problem)) if !info => bad_request(o, field, problem),
            _ => error_info(o, fault, shape),
        });
    });
}

fn error_info(o: &mut Object<'_>, fault: &Fault, shape: &Shape) {
    o.string("@type", ERROR_INFO);
    o.string("reason", fault.code(shape).reason());
    o.string("domain", DOMAIN);
    o.object("metadata", |o| metadata(o, fault));
}

/// What is known beyond the code, as texts.
fn metadata(o: &mut Object<'_>, fault: &Fault) {
    match fault {
        Fault::Version { requested } => {
            o.string("requestedVersion", requested);
            o.string("supportedVersions", SUPPORTED_VERSIONS);
            if requested.is_empty() {
                o.string("hint", "name the version in the header A2A-Version");
            }
        }
        Fault::ExtensionRequired { uri } => o.string("extension", uri),
        Fault::Failed(error) => metadata_of(o, error),
        Fault::Parse
        | Fault::NotARequest
        | Fault::Batch
        | Fault::TooLarge
        | Fault::ContentType
        | Fault::UnknownMethod { .. }
        | Fault::SendWithoutParams => {}
    }
}

fn metadata_of(o: &mut Object<'_>, error: &Error) {
    match error {
        Error::TaskNotFound { id } => o.string("taskId", id),
        Error::TaskNotCancelable { id, .. } => o.displayed("taskId", id),
        Error::UnsupportedOperation { id: Some(id), .. } => o.displayed("taskId", id),
        Error::Internal { reference, .. } => o.displayed("reference", reference),
        Error::ContentTypeNotSupported { field } => o.string("field", field),
        Error::UnsupportedOperation { id: None, .. }
        | Error::InvalidParams { .. }
        | Error::PushNotificationNotSupported
        | Error::ExtendedCardNotConfigured
        | Error::Unavailable(_) => {}
    }
}

fn bad_request(o: &mut Object<'_>, field: &str, description: &str) {
    o.string("@type", BAD_REQUEST);
    o.array("fieldViolations", [(field, description)], |out, (field, description)| {
        json::object(out, |o| {
            o.string("field", field);
            o.string("description", description);
        });
    });
}
