//! Calls that are no good calls: what each mistake in the body, the envelope, the method's name and the
//! HTTP request around them is answered with.

mod codes;
mod duplicates;
mod http;
mod ids;
mod methods;
mod parse;
mod request;
mod size;
