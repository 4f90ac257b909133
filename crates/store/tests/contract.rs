//! The stores and the local bus keep the contracts of their ports.

mod support;

mod memory {
    use a2ad_store::{Capacity, MemoryStore};

    fn make() -> MemoryStore {
        MemoryStore::new(Capacity::default())
    }

    a2ad_domain::store_contract!(make);
    mod webhooks {
        use super::make;
        a2ad_domain::push_store_contract!(make);
    }
    mod agents {
        use a2ad_store::MemoryAgents;
        a2ad_domain::agent_store_contract!(MemoryAgents::default);
    }
}

/// A store in a file, and the folder that it is in; the store is closed first.
macro_rules! in_a_file {
    ($name:ident, $durability:ident) => {
        mod $name {
            use crate::support::Folder;
            use a2ad_domain::ports::{AgentStore, PushStore, TaskStore};
            use a2ad_store::Durability;

            fn make() -> impl TaskStore + PushStore + AgentStore + 'static {
                let folder = Folder::new();
                let store = folder.open(Durability::$durability);
                // The open file stays usable when its name is gone, and nothing is left behind.
                drop(folder);
                store
            }

            a2ad_domain::store_contract!(make);
            mod webhooks {
                use super::make;
                a2ad_domain::push_store_contract!(make);
            }
            mod agents {
                use super::make;
                a2ad_domain::agent_store_contract!(make);
            }
        }
    };
}

in_a_file!(sqlite, Process);
in_a_file!(sqlite_that_survives_the_power, Power);

mod bus {
    use a2ad_store::LocalBus;
    a2ad_domain::bus_contract!(LocalBus::new);
}
