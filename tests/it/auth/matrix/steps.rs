//! Whether a task exists elsewhere is not told by what the server does about it either: the same steps in the
//! same order, whatever the call. How long they take is for `cargo xtask bench alike` to say.

use super::World;
use super::answer::NOBODY;
use super::operation::OPERATIONS;
use crate::support::agents::Ledger;
use crate::support::binding::BINDINGS;

/// What names a task that is not the caller's.
fn names_a_task(operation: &str) -> bool {
    operation.contains(" it") || operation.contains("its webhook") || operation.contains("the task")
}

#[tokio::test]
async fn a_foreign_task_takes_the_same_steps_as_one_that_does_not_exist() {
    let ledger = Ledger::new();
    let world = World::over(Some(ledger.clone())).await;
    let strangers = ["another owner", "its owner at another agent"];
    let strangers = world.columns.iter().filter(|column| strangers.contains(&column.name));
    let mut compared = 0;
    for column in strangers {
        let task = world.task(column.home).await;
        for binding in BINDINGS {
            for operation in OPERATIONS.into_iter().filter(|it| names_a_task(it)) {
                let mut asked = Vec::new();
                for id in [&*task, NOBODY] {
                    world.server.no_run_left().await;
                    ledger.take();
                    let call = binding.operation(operation, column.agent, id);
                    call.make(&world.server, column.key.as_deref()).await;
                    if operation == "refer to the task in a message" {
                        // Its own task goes on; what is compared comes before.
                        world.server.no_run_left().await;
                    }
                    asked.push(ledger.take());
                }
                assert_eq!(asked[0], asked[1], "{operation} {binding:?} {}", column.name);
                compared += usize::from(!asked[0].is_empty());
            }
        }
    }
    // Four bindings, two strangers, and at least: send, stream, read, cancel, watch and refer.
    assert!(compared >= 4 * 2 * 6, "{compared} pairs were compared");
    world.server.finish().await;
}
