//! Random ids that begin with the time.

use a2ad_domain::ports::IdGenerator;
use std::time::{SystemTime, UNIX_EPOCH};
use uuid::{Builder, Uuid};

/// Makes version 7 UUIDs (RFC 9562 §5.7): milliseconds, then 74 random bits from a generator in user space
/// that the system has seeded. Ids that were made one after the other stand side by side in the index of
/// a store, which then writes few of its pages; random ones are spread over all of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl IdGenerator for RandomIds {
    fn uuid(&self) -> Uuid {
        // A clock before 1970 makes ids that are as random and in no order.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = u64::try_from(now.as_millis()).unwrap_or_default();
        // What is not random in a version 4 UUID stands where version 7 has the same fixed bits.
        let [_, _, _, _, _, _, random @ ..] = Uuid::new_v4().into_bytes();
        Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }
}
