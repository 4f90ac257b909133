//! Whole exchanges of the 1.0 line and of HTTP+JSON, from files: what is sent, and a pattern for every
//! answer. `player` says how a file reads, `support::template` how a pattern does.

mod player;

use player::play;

macro_rules! exchange {
    ($file:literal) => {
        play(include_str!(concat!("golden/", $file, ".json")))
    };
}

#[tokio::test]
async fn a_text_comes_back_as_an_artifact() {
    exchange!("send").await;
}

#[tokio::test]
async fn a_reply_without_a_task_is_a_wrapped_message() {
    exchange!("message_reply").await;
}

#[tokio::test]
async fn an_unknown_task_is_named_in_the_details() {
    exchange!("unknown_task").await;
}

#[tokio::test]
async fn a_field_that_does_not_fit_is_named() {
    exchange!("no_parts").await;
}

#[tokio::test]
async fn a_version_that_is_not_served_lists_those_that_are() {
    exchange!("unknown_version").await;
}

#[tokio::test]
async fn the_version_may_stand_in_the_query_and_its_patch_does_not_count() {
    exchange!("version").await;
}

#[tokio::test]
async fn a_body_that_says_it_is_text_is_not_parsed() {
    exchange!("content_type").await;
}

#[tokio::test]
async fn a_stream_shows_every_step() {
    exchange!("stream").await;
}

#[tokio::test]
async fn an_ended_or_unknown_task_cannot_be_watched() {
    exchange!("watch_ended").await;
}

#[tokio::test]
async fn a_waiting_task_is_watched_to_its_end() {
    exchange!("watch_waiting").await;
}

#[tokio::test]
async fn a_message_for_another_context_changes_nothing() {
    exchange!("context_mismatch").await;
}

#[tokio::test]
async fn an_ended_task_takes_no_message() {
    exchange!("message_to_ended").await;
}

#[tokio::test]
async fn a_send_need_not_wait() {
    exchange!("return_at_once").await;
}

#[tokio::test]
async fn a_list_is_read_in_pages() {
    exchange!("list").await;
}

#[tokio::test]
async fn small_rules_of_the_line_hold() {
    exchange!("small_rules").await;
}

#[tokio::test]
async fn a_card_has_a_form_for_each_line() {
    exchange!("card").await;
}

#[tokio::test]
async fn the_calls_have_paths_and_verbs() {
    exchange!("rest").await;
}

#[tokio::test]
async fn the_calls_of_the_old_line_have_paths_and_verbs() {
    exchange!("rest_03").await;
}

#[tokio::test]
async fn errors_of_the_paths_have_a_status_and_typed_details() {
    exchange!("rest_errors").await;
}

#[tokio::test]
async fn a_webhook_of_the_old_line_is_read_in_the_new_one_and_deleted_twice() {
    exchange!("webhooks").await;
}
