//! The whole server against a reference model: random sequences of calls of several callers to several
//! agents. After each call everything that anybody can see is what the model says. A server with a file may
//! crash between two calls and is started again.

mod actions;
mod driver;
mod home;
mod reference;
mod seen;
mod streams;

use actions::Action;
use driver::Driver;
use home::Home;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

fn check(
    strategy: impl proptest::strategy::Strategy<Value = Vec<Action>>,
    cases: u32,
    home: fn() -> Home,
) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    // A case takes some dozen calls, so shrinking gets a limit of its own.
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let result = runner.run(&strategy, |actions| {
        runtime.block_on(Driver::follow(home(), actions)).map_err(TestCaseError::fail)
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn the_server_does_what_the_model_says() {
    check(actions::sequences(40), 96, Home::memory);
}

#[test]
fn one_task_in_many_hands_does_what_the_model_says() {
    check(actions::of_one_task(30), 96, Home::memory);
}

#[test]
fn a_server_that_crashes_does_what_the_model_says() {
    check(actions::sequences(40), 48, Home::file);
}

#[test]
fn one_task_in_many_hands_outlives_crashes_as_the_model_says() {
    check(actions::of_one_task(30), 48, Home::file);
}
