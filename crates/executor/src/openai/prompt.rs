//! A conversation as the messages of a request.

use a2ad_domain::{Content, Message, Part, Role};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::sync::Arc;

/// The messages: what the model is told first, what was said before, and what is said now. Of what was
/// said before, files are named and not sent again.
pub(super) fn messages(system: Option<&str>, said: &[Arc<Message>], now: &Message) -> Value {
    let system = system.map(|text| json!({ "role": "system", "content": text }));
    // Many models want the user to begin; a conversation that was cut may not.
    let before = said.iter().skip_while(|message| message.role == Role::Agent).map(|message| {
        let role = if message.role == Role::User { "user" } else { "assistant" };
        let lines: Vec<String> = message.parts.as_slice().iter().map(noted).collect();
        json!({ "role": role, "content": lines.join("\n") })
    });
    let now = json!({ "role": "user", "content": content(now) });
    Value::Array(system.into_iter().chain(before).chain([now]).collect())
}

/// A text where there is nothing else, otherwise a list.
fn content(message: &Message) -> Value {
    let parts = message.parts.as_slice();
    let texts: Option<Vec<&str>> = parts
        .iter()
        .map(|part| match &part.content {
            Content::Text(text) => Some(&**text),
            Content::Bytes(_) | Content::Url(_) | Content::Data(_) => None,
        })
        .collect();
    match texts {
        Some(texts) => texts.join("\n").into(),
        None => parts.iter().map(item).collect(),
    }
}

fn media_type(part: &Part) -> &str {
    let label = part.label.as_deref().and_then(|label| label.media_type.as_deref());
    label.unwrap_or("application/octet-stream")
}

fn filename(part: &Part) -> &str {
    let label = part.label.as_deref().and_then(|label| label.filename.as_deref());
    label.unwrap_or("file")
}

fn text_item(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn image_item(url: &str) -> Value {
    json!({ "type": "image_url", "image_url": { "url": url } })
}

/// A part as the API takes it.
fn item(part: &Part) -> Value {
    match &part.content {
        Content::Text(text) => text_item(text),
        Content::Data(data) => text_item(data.as_str()),
        Content::Url(url) if is_image(part, url) => image_item(url),
        Content::Url(url) => text_item(url),
        Content::Bytes(bytes) => file_item(part, bytes),
    }
}

fn file_item(part: &Part, bytes: &[u8]) -> Value {
    let (media_type, name) = (media_type(part), filename(part));
    let is_text = media_type.starts_with("text/") || media_type == "application/json";
    if is_text && let Ok(text) = std::str::from_utf8(bytes) {
        return text_item(&format!("{name}:\n{text}"));
    }
    let encoded = STANDARD.encode(bytes);
    let format = match media_type {
        "audio/wav" | "audio/x-wav" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
    };
    if let Some(format) = format {
        return json!({ "type": "input_audio", "input_audio": { "data": encoded, "format": format } });
    }
    let url = format!("data:{media_type};base64,{encoded}");
    if media_type.starts_with("image/") {
        return image_item(&url);
    }
    json!({ "type": "file", "file": { "filename": name, "file_data": url } })
}

fn is_image(part: &Part, url: &str) -> bool {
    const ENDS: [&str; 5] = [".png", ".jpg", ".jpeg", ".gif", ".webp"];
    let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    media_type(part).starts_with("image/") || ENDS.iter().any(|end| path.ends_with(end))
}

/// How much of a part of an earlier message goes out.
pub(super) fn weigh(part: &Part) -> usize {
    match &part.content {
        Content::Text(text) | Content::Url(text) => text.len(),
        Content::Data(data) => data.as_str().len(),
        Content::Bytes(_) => noted(part).len(),
    }
}

/// A part of an earlier message, in words.
fn noted(part: &Part) -> String {
    match &part.content {
        Content::Text(text) => text.to_string(),
        Content::Data(data) => data.as_str().to_owned(),
        Content::Url(url) => url.to_string(),
        Content::Bytes(_) => format!("[{}, {}]", filename(part), media_type(part)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2ad_domain::{MessageId, PartLabel, Parts, RawJson};

    fn message(role: Role, parts: Vec<Part>) -> Message {
        let id = MessageId::new("m-1").expect("an id");
        Message::new(id, role, Parts::new(parts).expect("parts"))
    }

    fn labelled(content: Content, media_type: &str, filename: &str) -> Part {
        let label = PartLabel {
            metadata: None,
            media_type: Some(media_type.into()),
            filename: Some(filename.into()),
        };
        Part { content, label: Some(Box::new(label)) }
    }

    #[test]
    fn a_conversation_is_told_in_order_with_its_roles() {
        let said = [
            Arc::new(message(Role::User, vec![Part::text("hi"), Part::text("there")])),
            Arc::new(message(Role::Agent, vec![Part::text("hello")])),
        ];
        let now = message(Role::User, vec![Part::text("and now?")]);
        let expected = json!([
            { "role": "system", "content": "be kind" },
            { "role": "user", "content": "hi\nthere" },
            { "role": "assistant", "content": "hello" },
            { "role": "user", "content": "and now?" },
        ]);
        assert_eq!(messages(Some("be kind"), &said, &now), expected);
    }

    #[test]
    fn files_go_out_as_far_as_the_api_takes_them() {
        let bytes = |text: &str| Content::Bytes(text.as_bytes().to_vec().into());
        let data = RawJson::parse(r#"{"n":1}"#).expect("JSON");
        let url = |text: &str| Content::Url(text.into());
        let cases = [
            (Part::data(data), json!({ "type": "text", "text": "{\"n\":1}" })),
            (
                labelled(bytes("x"), "image/png", "a.png"),
                json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,eA==" } }),
            ),
            (
                labelled(bytes("x"), "audio/wav", "a.wav"),
                json!({ "type": "input_audio", "input_audio": { "data": "eA==", "format": "wav" } }),
            ),
            (
                labelled(bytes("a,b"), "text/csv", "a.csv"),
                json!({ "type": "text", "text": "a.csv:\na,b" }),
            ),
            (
                labelled(bytes("x"), "application/pdf", "a.pdf"),
                json!({ "type": "file", "file": {
                    "filename": "a.pdf", "file_data": "data:application/pdf;base64,eA==" } }),
            ),
            (
                labelled(url("https://example.org/A.PNG?x=1"), "", ""),
                json!({ "type": "image_url", "image_url": { "url": "https://example.org/A.PNG?x=1" } }),
            ),
            (
                labelled(url("https://example.org/a.pdf"), "application/pdf", ""),
                json!({ "type": "text", "text": "https://example.org/a.pdf" }),
            ),
        ];
        for (part, expected) in cases {
            let now = message(Role::User, vec![Part::text("see"), part]);
            let sent = messages(None, &[], &now);
            assert_eq!(sent[0]["content"], json!([{ "type": "text", "text": "see" }, expected]));
        }
    }

    #[test]
    fn a_file_of_an_earlier_message_is_only_named() {
        let file = labelled(Content::Bytes(vec![0; 1000].into()), "image/png", "a.png");
        let said = [Arc::new(message(Role::User, vec![Part::text("see"), file]))];
        let sent = messages(None, &said, &message(Role::User, vec![Part::text("and?")]));
        assert_eq!(sent[0]["content"], "see\n[a.png, image/png]");
    }
}
