//! The fakes keep the contracts of the ports they stand for, so that what is tested with them holds with
//! real adapters.

mod store {
    use a2ad_domain::testing::FakeStore;
    a2ad_domain::store_contract!(FakeStore::new);
}

mod yielding_store {
    use a2ad_domain::testing::FakeStore;

    fn yielding() -> FakeStore {
        let store = FakeStore::new();
        store.set_yielding();
        store
    }

    a2ad_domain::store_contract!(yielding);
}

mod bus {
    use a2ad_domain::testing::FakeBus;
    a2ad_domain::bus_contract!(FakeBus::new);
}

mod executor {
    use a2ad_domain::testing::{ScriptedAgent, Step};
    use std::sync::Arc;

    fn writes_everything() -> ByScript {
        ByScript(ScriptedAgent::new([
            Step::Working(None),
            Step::Working(Some("half")),
            Step::Artifact("a", "x".to_owned()),
            Step::Chunk("b", "y".to_owned()),
            Step::Chunk("b", "z".to_owned()),
            Step::NeedAuth("a key"),
            Step::Inbox,
            Step::complete("done"),
        ]))
    }

    fn asks() -> ByScript {
        ByScript(ScriptedAgent::new([Step::Working(None), Step::ask("which?")]))
    }

    /// The contract shares executors itself.
    struct ByScript(Arc<ScriptedAgent>);

    #[async_trait::async_trait]
    impl a2ad_domain::ports::AgentExecutor for ByScript {
        async fn run(
            &self,
            turn: a2ad_domain::ports::Turn,
            out: &mut a2ad_domain::service::TaskWriter,
        ) -> Result<a2ad_domain::ports::Outcome, a2ad_domain::ports::AgentError> {
            self.0.run(turn, out).await
        }
    }

    mod that_completes {
        a2ad_domain::executor_contract!(super::writes_everything, "go");
    }

    mod that_asks {
        a2ad_domain::executor_contract!(super::asks, "go");
    }
}

mod webhooks {
    use a2ad_domain::testing::FakeStore;
    a2ad_domain::push_store_contract!(FakeStore::new);
}
