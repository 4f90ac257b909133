//! How much a message may hold beside what it says. What is over a limit is refused by its path, before
//! anything is stored.

use crate::edge::Limit;
use a2ad_domain::service::SendMessage;
use a2ad_domain::{Content, Error, RawJson};

/// How much a message may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageLimits {
    /// How many parts.
    pub parts: usize,
    /// How deep its data and metadata may be nested.
    pub depth: usize,
    /// How long each of its metadata may be, in bytes.
    pub metadata: usize,
    /// How long its id may be, and each id and name that it refers to, in bytes.
    pub id: usize,
    /// How many tasks it may refer to, and how many extensions it may name.
    pub references: usize,
}

impl Default for MessageLimits {
    fn default() -> Self {
        Self { parts: 1000, depth: 100, metadata: 64 << 10, id: 512, references: 100 }
    }
}

/// A limit that a message does not keep to, and the refusal.
type Over = (Limit, Error);

fn over(limit: Limit, field: impl Into<String>, problem: String) -> Over {
    (limit, Error::invalid(field, problem))
}

/// Whether a message keeps to the limits.
pub(super) fn check(call: &SendMessage, limits: &MessageLimits) -> Result<(), Over> {
    let message = &call.message;
    let parts = message.parts.as_slice();
    if parts.len() > limits.parts {
        let problem = format!("holds {} parts, and {} are allowed", parts.len(), limits.parts);
        return Err(over(Limit::Parts, "message.parts", problem));
    }
    let names = [("extensions", &message.extensions), ("referenceTaskIds", &message.references)];
    for (field, names) in names {
        if names.len() > limits.references {
            let problem =
                format!("holds {} names, and {} are allowed", names.len(), limits.references);
            return Err(over(Limit::References, format!("message.{field}"), problem));
        }
        for (index, name) in names.iter().enumerate() {
            id(name, limits, || format!("message.{field}[{index}]"))?;
        }
    }
    id(message.id.as_str(), limits, || "message.messageId".to_owned())?;
    metadata(call.metadata.as_ref(), limits, || "metadata".to_owned())?;
    metadata(message.metadata.as_ref(), limits, || "message.metadata".to_owned())?;
    for (index, part) in parts.iter().enumerate() {
        if let Content::Data(data) = &part.content {
            depth(data, limits, || format!("message.parts[{index}].data"))?;
        }
        let said = part.label.as_ref().and_then(|label| label.metadata.as_ref());
        metadata(said, limits, || format!("message.parts[{index}].metadata"))?;
    }
    Ok(())
}

fn id(id: &str, limits: &MessageLimits, field: impl Fn() -> String) -> Result<(), Over> {
    if id.len() <= limits.id {
        return Ok(());
    }
    Err(over(Limit::Id, field(), format!("must be at most {} bytes", limits.id)))
}

fn metadata(
    said: Option<&RawJson>,
    limits: &MessageLimits,
    field: impl Fn() -> String,
) -> Result<(), Over> {
    let Some(said) = said else { return Ok(()) };
    if said.as_str().len() > limits.metadata {
        let problem = format!("must be at most {} bytes", limits.metadata);
        return Err(over(Limit::Metadata, field(), problem));
    }
    depth(said, limits, field)
}

fn depth(json: &RawJson, limits: &MessageLimits, field: impl Fn() -> String) -> Result<(), Over> {
    if is_within(json.as_str(), limits.depth) {
        return Ok(());
    }
    let problem = format!("must be nested at most {} deep", limits.depth);
    Err(over(Limit::Depth, field(), problem))
}

/// Whether values of a JSON text, which a parser has accepted, are nested no deeper than that.
fn is_within(json: &str, most: usize) -> bool {
    let mut bytes = json.bytes();
    let mut depth = 0_usize;
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                if depth > most {
                    return false;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'"' => break,
                        b'\\' => drop(bytes.next()),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_that_of_values_and_not_of_texts() {
        for (json, depth) in [
            ("1", 0),
            ("[]", 1),
            (r#"{"a":[1,{"b":2}],"c":[]}"#, 3),
            (r#"["[[[[", "\"[[[", "\\", [1]]"#, 2),
            (r#"{"[[[":"]]]","\\\"{":{}}"#, 2),
        ] {
            assert!(is_within(json, depth), "{json}");
            assert!(depth == 0 || !is_within(json, depth - 1), "{json}");
        }
    }
}
