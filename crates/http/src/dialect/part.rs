//! Reads parts: what a part holds follows from its members, and it holds one thing.

use super::Invalid;
use a2ad_domain::{Content, Part, PartLabel};
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;

/// Standard or URL-safe, padded or not.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// Says what is wrong with the part of this index, or with one of its members.
pub(super) fn wrong(index: usize, member: &str, problem: &str) -> Invalid {
    let dot = if member.is_empty() { "" } else { "." };
    Invalid::new(format!("message.parts[{index}]{dot}{member}"), problem)
}

/// The contents that were found in a part, with the members they were found in.
#[derive(Default)]
pub(super) struct Found(Vec<(&'static str, Content)>);

impl Found {
    pub(super) fn add(&mut self, member: &'static str, content: Content) {
        self.0.push((member, content));
    }

    /// The only content, and its member.
    pub(super) fn only(
        mut self,
        index: usize,
        missing: &str,
    ) -> Result<(&'static str, Content), Invalid> {
        let Some(found) = self.0.pop() else { return Err(wrong(index, missing, "is required")) };
        if self.0.is_empty() {
            return Ok(found);
        }
        Err(wrong(index, "", "must hold one content, not several"))
    }
}

/// A part with what it says about itself, if it says anything.
pub(super) fn labelled(content: Content, label: PartLabel) -> Part {
    let label = (label != PartLabel::default()).then(|| Box::new(label));
    Part { content, label }
}

pub(super) fn base64(text: &str) -> Result<Bytes, &'static str> {
    let url_safe = text.bytes().any(|byte| byte == b'-' || byte == b'_');
    let alphabet = if url_safe { &URL_SAFE } else { &STANDARD };
    let bytes = GeneralPurpose::new(alphabet, LENIENT).decode(text);
    bytes.map(Bytes::from).map_err(|_| "is not base64")
}
