//! What must hold of a whole server is looked at without a socket. The package `fuzz` does that; nothing else has the
//! feature.

use crate::Server;
use a2ad_http::Router;

/// The routes of a server, those of operators among them.
pub fn routes(server: &Server) -> Router {
    server.router.clone()
}
