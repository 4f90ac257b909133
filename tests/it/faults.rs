//! Stores that fail or take their time: calls wait and succeed, or fail as a whole with an id that the log
//! has; the server says that it is not ready, and goes on by itself when the cause is gone.

mod wrapped;
