//! The built-in executors keep the contract of their port.

use a2ad_executor::{Echo, Script};
use std::time::Duration;

mod echo {
    a2ad_domain::executor_contract!(super::Echo::default, "hello");
}

mod paced_echo {
    fn slow() -> super::Echo {
        super::Echo::new(super::Duration::from_millis(200))
    }
    a2ad_domain::executor_contract!(slow, "hello");
}

/// The script agent, once for each of its commands that ends by itself.
macro_rules! scripts {
    ($($name:ident: $text:literal)+) => {
        $(
            mod $name {
                use super::Script;
                a2ad_domain::executor_contract!(Script::default, $text);
            }
        )+
    };
}

scripts! {
    script_that_asks: "ask which fruit?"
    script_in_chunks: "chunks:5|abcdefgh"
    script_that_rejects: "reject no"
    script_that_echoes: "hello"
    script_that_holds: "hold:1|payload"
}
