//! Whether an answer is the right one. Every answer is searched for what it must hold, and some
//! are parsed as a whole.

use crate::Result;
use a2ad_bench::PAGE;
use memchr::memmem;
use serde_json::Value;
use std::collections::HashSet;

/// One answer in so many is parsed; parsing all would make the generator the slower side.
const PARSED: u64 = 64;

/// Whether the answer to this call is parsed as a whole.
pub(crate) fn in_full(number: u64) -> bool {
    number % PARSED == 1
}

/// An answer to this very call, with a result.
pub(crate) fn answers(body: &[u8], number: u64) -> Result {
    let id = format!(r#""id":{number}"#);
    let own = memmem::find_iter(body, &id)
        .any(|at| !body.get(at + id.len()).is_some_and(u8::is_ascii_digit));
    if !own {
        return wrong("the id is not that of the call", body);
    }
    if memmem::find(body, br#""error":"#).is_some() {
        return wrong("the answer is an error", body);
    }
    Ok(())
}

/// A completed task that brings the text of this call back as its artifact.
pub(crate) fn completed(body: &[u8], number: u64, text: &str) -> Result {
    answers(body, number)?;
    holds(body, r#""state":"completed""#)?;
    holds(body, text)?;
    if !in_full(number) {
        return Ok(());
    }
    let result = result(body)?;
    let artifact: String =
        result["artifacts"].as_array().into_iter().flatten().map(texts).collect();
    let as_it_should = result["kind"] == "task"
        && result["status"]["state"] == "completed"
        && result["id"].as_str().is_some_and(|id| !id.is_empty());
    if !as_it_should || artifact != text {
        return wrong("not a completed task with the text as its artifact", body);
    }
    Ok(())
}

/// A full page of tasks. Returns the token of the next page, if the answer was parsed.
pub(crate) fn page(body: &[u8], number: u64, parsed: bool) -> Result<Option<String>> {
    answers(body, number)?;
    holds(body, r#""totalSize":"#)?;
    let tasks = memmem::find_iter(body, r#""kind":"task""#).count();
    if tasks != PAGE {
        return wrong(&format!("a page of {tasks} tasks instead of {PAGE}"), body);
    }
    if !parsed {
        return Ok(None);
    }
    let result = result(body)?;
    let tasks = result["tasks"].as_array().map_or(&[][..], Vec::as_slice);
    if tasks.len() != PAGE || tasks.iter().any(|task| task["status"]["state"] != "completed") {
        return wrong("not a page of completed tasks", body);
    }
    Ok(result["nextPageToken"].as_str().map(str::to_owned))
}

/// That the tasks of a page are all different.
pub(crate) fn distinct(body: &[u8]) -> Result {
    let result = result(body)?;
    let tasks = result["tasks"].as_array().map_or(&[][..], Vec::as_slice);
    let ids: HashSet<&str> = tasks.iter().filter_map(|task| task["id"].as_str()).collect();
    if ids.len() == tasks.len() { Ok(()) } else { wrong("a task is on a page twice", body) }
}

/// A task in the state canceled.
pub(crate) fn canceled(body: &[u8], number: u64, task: &str) -> Result {
    answers(body, number)?;
    holds(body, r#""state":"canceled""#)?;
    holds(body, &format!(r#""id":"{task}""#))
}

/// The id of the task that an answer is.
pub(crate) fn task_id(body: &[u8]) -> Result<String> {
    match result(body)?["id"].as_str() {
        Some(id) => Ok(id.to_owned()),
        None => wrong("no task id", body),
    }
}

/// The ids of the tasks of a page.
pub(crate) fn task_ids(body: &[u8]) -> Result<Vec<String>> {
    let result = result(body)?;
    let tasks = result["tasks"].as_array().into_iter().flatten();
    Ok(tasks.filter_map(|task| task["id"].as_str().map(str::to_owned)).collect())
}

/// The text of the artifacts of the task that an answer is.
pub(crate) fn artifact(body: &[u8]) -> Result<String> {
    let result = result(body)?;
    let text: String = result["artifacts"].as_array().into_iter().flatten().map(texts).collect();
    if text.is_empty() { wrong("no artifact", body) } else { Ok(text) }
}

pub(crate) fn holds(body: &[u8], text: &str) -> Result {
    if memmem::find(body, text.as_bytes()).is_some() {
        return Ok(());
    }
    let shown: String = text.chars().take(40).collect();
    wrong(&format!("{shown:?} is missing"), body)
}

/// The result of an answer as a tree of values.
pub(crate) fn result(body: &[u8]) -> Result<Value> {
    match serde_json::from_slice::<Value>(body) {
        Ok(mut answer) => Ok(answer["result"].take()),
        Err(error) => wrong(&format!("no JSON, {error}"), body),
    }
}

/// The text of all parts of an artifact.
pub(crate) fn texts(artifact: &Value) -> String {
    let parts = artifact["parts"].as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect()
}

/// A failure that shows the beginning of the answer.
pub(crate) fn wrong<T>(problem: &str, body: &[u8]) -> Result<T> {
    let start = String::from_utf8_lossy(&body[..body.len().min(400)]);
    Err(format!("{problem}: {start}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: u64, state: &str, text: &str) -> Vec<u8> {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"kind":"task","id":"t","status":{{"state":"{state}"}},"artifacts":[{{"parts":[{{"kind":"text","text":"{text}"}}]}}]}}}}"#
        )
        .into_bytes()
    }

    #[test]
    fn the_right_answer_passes() {
        assert_eq!(completed(&task(1, "completed", "abc"), 1, "abc"), Ok(()));
        assert_eq!(completed(&task(2, "completed", "abc"), 2, "abc"), Ok(()));
        assert_eq!(canceled(&task(2, "canceled", ""), 2, "t"), Ok(()));
        assert_eq!(task_id(&task(2, "completed", "abc")), Ok("t".to_owned()));
    }

    #[test]
    fn every_sort_of_wrong_answer_fails() {
        assert!(completed(&task(12, "completed", "abc"), 1, "abc").is_err());
        assert!(completed(&task(2, "failed", "abc"), 2, "abc").is_err());
        assert!(completed(&task(2, "completed", "abd"), 2, "abc").is_err());
        assert!(completed(&task(1, "completed", "abcd"), 1, "abc").is_err());
        assert!(answers(br#"{"id":1,"error":{"code":1}}"#, 1).is_err());
        assert!(canceled(&task(2, "canceled", ""), 2, "u").is_err());
    }

    #[test]
    fn a_page_is_full_or_wrong() {
        let one = r#"{"kind":"task","id":"t","status":{"state":"completed"}}"#;
        let page_of = |count: usize| {
            let tasks = vec![one; count].join(",");
            format!(
                r#"{{"id":1,"result":{{"tasks":[{tasks}],"nextPageToken":"n","totalSize":9}}}}"#
            )
        };
        assert_eq!(page(page_of(PAGE).as_bytes(), 1, true), Ok(Some("n".to_owned())));
        assert!(page(page_of(PAGE - 1).as_bytes(), 1, false).is_err());
        assert!(distinct(page_of(2).as_bytes()).is_err());
    }
}
