//! The suites that every implementation of a port passes. Each case is a function; the macros make tests
//! of them.

pub mod agents;
pub mod brought;
pub mod bus;
pub mod executor;
pub mod push;
pub mod store;
pub mod store_lists;
pub mod survey;

/// Makes a test of every case of a [`TaskStore`](crate::ports::TaskStore). `$make` is called for each case
/// and gives an empty store with room for a few hundred tasks.
///
/// The tests run on `tokio` with the features `macros` and `rt-multi-thread`.
#[macro_export]
macro_rules! store_contract {
    ($make:expr) => {
        $crate::store_contract!(@cases store $make;
            a_task_is_found_only_under_its_key
            an_id_is_taken_once
            a_foreign_task_cannot_be_told_from_an_unknown_one
            an_append_needs_the_version_that_is_stored
            a_refused_append_changes_nothing
            several_changes_are_committed_as_one
            the_log_gives_exactly_the_changes_after_a_version
            what_came_before_the_log_is_too_old
            a_task_that_was_read_does_not_change
            a_loaded_task_is_the_fold_of_its_changes
        );
        $crate::store_contract!(@cases store_lists $make;
            an_empty_scope_has_an_empty_page
            the_newest_status_comes_first_and_then_the_greater_id
            a_task_moves_in_the_list_with_its_status_only
            filters_narrow_a_page_and_its_total
            pages_give_every_task_once
            a_page_follows_a_place_whose_task_has_moved
            a_page_follows_a_place_whose_task_is_gone
            a_list_shows_one_scope_only
            only_what_should_have_ended_is_listed_as_overdue
            only_tasks_that_wait_too_long_are_found_waiting
            only_what_ended_long_enough_ago_is_purged
        );
        $crate::store_contract!(@cases survey $make;
            a_survey_shows_the_tasks_of_all_scopes_the_newest_first
            filters_narrow_a_survey
            pages_of_a_survey_give_every_task_once
            a_task_is_found_in_whatever_scope_it_is
            the_agents_are_those_that_have_tasks
        );

        #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
        async fn of_many_writers_at_one_version_exactly_one_wins() {
            $crate::testing::contract::store::one_of_many_writers_wins($make(), async |writers| {
                let writers: Vec<_> = writers.into_iter().map(::tokio::spawn).collect();
                let mut won = Vec::new();
                for writer in writers {
                    won.push(writer.await.expect("a writer that does not panic"));
                }
                won
            })
            .await;
        }
    };
    (@cases $suite:ident $make:expr; $($case:ident)+) => {
        $(
            #[::tokio::test]
            async fn $case() {
                $crate::testing::contract::$suite::$case($make()).await;
            }
        )+
    };
}

/// Makes a test of every case of a [`PushStore`](crate::ports::PushStore). `$make` is called for each case and
/// gives an empty store that keeps tasks as well.
#[macro_export]
macro_rules! push_store_contract {
    ($make:expr) => {
        $crate::store_contract!(@cases push $make;
            a_webhook_is_read_as_it_was_set
            a_webhook_belongs_to_a_task_that_exists_in_the_scope
            a_webhook_of_the_same_id_takes_the_place_and_what_was_not_told
            a_task_has_so_many_webhooks_and_no_more
            a_deleted_webhook_is_gone_for_everybody
            a_webhook_is_told_from_now_on_or_from_a_version
            what_is_due_is_what_has_changes_that_were_not_told
            a_webhook_of_an_ended_task_is_over_when_it_was_told_all
            what_was_given_up_is_not_due
            webhooks_go_with_their_task
        );
        $crate::store_contract!(@cases brought $make;
            a_task_and_the_webhook_of_its_message_are_there_together
            a_task_that_is_refused_leaves_no_webhook
            changes_and_the_webhook_that_comes_with_them_are_there_together
            changes_that_are_refused_leave_no_webhook_and_a_webhook_that_is_leaves_no_changes
        );
    };
}

/// Makes a test of every case of an [`AgentStore`](crate::ports::AgentStore). `$make` is called for each case
/// and gives an empty store.
#[macro_export]
macro_rules! agent_store_contract {
    ($make:expr) => {
        $crate::store_contract!(@cases agents $make;
            what_is_kept_about_an_agent_is_read_as_it_was_kept
            what_is_kept_takes_the_place_of_what_was
            what_is_forgotten_is_not_kept
        );
    };
}

/// Makes a test of every case of an [`EventBus`](crate::ports::EventBus). `$make` is called for each case
/// and gives a bus without subscribers.
#[macro_export]
macro_rules! bus_contract {
    ($make:expr) => {
        $crate::bus_contract!(@cases $make;
            changes_arrive_in_order_and_once
            a_subscriber_hears_only_its_task
            every_subscriber_hears_everything
            a_subscriber_that_waits_is_woken
            a_slow_subscriber_is_told_that_it_lags_and_nobody_waits_for_it
            whoever_waits_for_rest_hears_only_of_rest
            what_was_published_is_heard_before_the_end
            a_subscriber_that_left_is_not_missed
        );
    };
    (@cases $make:expr; $($case:ident)+) => {
        $(
            #[::tokio::test]
            async fn $case() {
                $crate::testing::contract::bus::$case($make()).await;
            }
        )+
    };
}

/// Makes a test of every case of an [`AgentExecutor`](crate::ports::AgentExecutor). `$make` is called for
/// each run of a case and gives an executor; `$text` is a first message that it opens a task for and ends
/// its run on by itself.
#[macro_export]
macro_rules! executor_contract {
    ($make:expr, $text:expr) => {
        $crate::executor_contract!(@cases $make, $text;
            a_run_ends_with_a_decision
            an_executor_serves_one_run_after_the_other
            a_run_may_be_dropped_wherever_it_waits
            a_run_stops_when_its_task_is_canceled
            nothing_is_written_to_a_task_that_has_ended
            a_store_that_fails_ends_the_run
        );
    };
    (@cases $make:expr, $text:expr; $($case:ident)+) => {
        $(
            #[::tokio::test]
            async fn $case() {
                $crate::testing::contract::executor::$case(&|| ::std::sync::Arc::new($make()), $text).await;
            }
        )+
    };
}
