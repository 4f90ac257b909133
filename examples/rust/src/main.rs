//! An agent in Rust: it adds numbers, streams the running total, asks for numbers when there are none,
//! and takes a moment for each, so that it can be watched and canceled.

mod sum;

use a2ad::{Card, Server};
use sum::Sum;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    // Where to listen may be given as the only argument; port 0 lets the system choose.
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8000".to_owned());
    let card = Card::new("Sum", "Adds the numbers of a message.").with_skill(
        "sum",
        "Sum",
        "Adds numbers, and shows the total as it grows.",
    );
    Server::builder().agent("sum", card, Sum::default()).serve(address.as_str()).await?;
    Ok(())
}
