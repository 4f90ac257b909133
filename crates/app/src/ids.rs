//! Random ids.

use a2ad_domain::ports::IdGenerator;
use uuid::Uuid;

/// Makes version 4 UUIDs from a generator in user space, seeded by the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl IdGenerator for RandomIds {
    fn uuid(&self) -> Uuid {
        Uuid::new_v4()
    }
}
