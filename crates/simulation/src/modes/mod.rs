//! Runs through several modes: which methods solve them, and their points as columns.

pub mod plan;
pub mod record;
pub mod table;
