//! The memory store and the local bus keep the contracts of their ports.

mod store {
    use a2ad_store::{Capacity, MemoryStore};

    fn make() -> MemoryStore {
        MemoryStore::new(Capacity::default())
    }

    a2ad_domain::store_contract!(make);
}

mod bus {
    use a2ad_store::LocalBus;
    a2ad_domain::bus_contract!(LocalBus::new);
}
