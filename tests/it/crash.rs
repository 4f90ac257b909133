//! The server is killed again and again while clients send, stream, continue and cancel. Whatever anybody
//! was told still holds afterwards.

mod client;
mod jobs;
mod mortal;
mod stored;
mod told;
mod verdict;

use crate::support::Place;
use crate::support::chance::{self, Chance};
use client::Client;
use futures_util::future::{join, join_all};
use mortal::Mortal;
use told::Told;

pub(crate) use mortal::integrity;

/// How often the server is killed while clients are at work.
const KILLS: usize = 10;
/// How many clients there are.
const CLIENTS: u64 = 12;

#[tokio::test]
async fn what_clients_were_told_outlives_ten_kills() {
    let seed = chance::seed();
    let place = Place::new("crash");
    let (server, told) = (Mortal::new(&place), Told::default());
    let clients = (1..=CLIENTS).map(|number| {
        let client = Client::new(&server, &told);
        Box::pin(jobs::work(client, Chance::new(seed, number)))
    });
    let lives = Box::pin(server.live(KILLS, Chance::new(seed, 0), &told));
    let (last, _) = join(lives, join_all(clients)).await;
    // The end of the last life is no better than that of the others, only nobody is there to see it. What
    // is read next comes from the file.
    let process = server.kill_and_start(last).await;
    let counts = told.counts();
    let found = verdict::check(&process, told).await;
    process.signal("TERM").await;
    assert_eq!(process.ended().await.0.code(), Some(0));
    assert_eq!(integrity(&place.file()), "ok");
    println!("{counts:#?}\n{found:#?}");
    assert!(found.lost >= KILLS, "each kill met a task at work");
}
