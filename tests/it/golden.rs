//! Whole exchanges as they go over the wire, from files: what is sent, and a pattern for every answer.
//! `player` says how a file reads, `support::template` how a pattern does.

mod cached_card;
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
async fn a_sparse_message_is_completed_at_the_sparse_route() {
    exchange!("praison_send").await;
}

#[tokio::test]
async fn a_reply_without_a_task_is_a_message() {
    exchange!("message_reply").await;
}

#[tokio::test]
async fn an_unknown_task_is_answered_byte_for_byte() {
    exchange!("unknown_task").await;
}

#[tokio::test]
async fn an_unknown_task_is_named_at_the_sparse_route() {
    exchange!("praison_unknown_task").await;
}

#[tokio::test]
async fn a_completed_task_is_not_canceled_and_not_touched() {
    exchange!("cancel_completed").await;
}

#[tokio::test]
async fn the_sparse_route_has_its_own_words_for_a_cancel() {
    exchange!("praison_cancel").await;
}

#[tokio::test]
async fn another_agent_does_not_know_the_task() {
    exchange!("other_agent").await;
}

#[tokio::test]
async fn bad_envelopes_have_their_codes() {
    exchange!("envelopes").await;
}

#[tokio::test]
async fn parameters_of_the_wrong_kind_are_invalid() {
    exchange!("wrong_params").await;
}

#[tokio::test]
async fn a_batch_and_an_id_that_is_none_are_no_requests() {
    exchange!("batch_and_bad_id").await;
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
async fn a_canceled_stream_ends_with_the_cancel() {
    exchange!("cancel_stream").await;
}

#[tokio::test]
async fn a_send_need_not_wait() {
    exchange!("return_at_once").await;
}

#[tokio::test]
async fn a_card_says_where_and_what() {
    exchange!("card").await;
}

#[tokio::test]
async fn the_history_cannot_be_shorter_than_nothing() {
    exchange!("negative_history").await;
}

#[tokio::test]
async fn unknown_members_are_ignored() {
    exchange!("unknown_members").await;
}

#[tokio::test]
async fn a_call_about_a_task_names_it() {
    exchange!("no_task_id").await;
}

#[tokio::test]
async fn a_failing_agent_fails_its_task_and_not_the_call() {
    exchange!("failing_agent").await;
}

#[tokio::test]
async fn a_waiting_task_is_canceled_once() {
    exchange!("cancel_waiting").await;
}

#[tokio::test]
async fn a_waiting_task_goes_on_with_the_next_message() {
    exchange!("ask_and_go_on").await;
}

#[tokio::test]
async fn a_message_for_another_context_changes_nothing() {
    exchange!("context_mismatch").await;
}

#[tokio::test]
async fn a_finished_task_takes_no_message() {
    exchange!("message_to_finished").await;
}

#[tokio::test]
async fn a_list_is_read_in_pages() {
    exchange!("list").await;
}

#[tokio::test]
async fn a_waiting_task_is_watched_to_its_end() {
    exchange!("watch_waiting").await;
}

#[tokio::test]
async fn a_version_that_is_not_served_is_named() {
    exchange!("version").await;
}
