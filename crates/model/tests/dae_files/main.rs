//! The general systems in `models/`: every file is read, has the expected size, and says what its source says.

mod files;
mod initial;
mod sizes;
mod solutions;
mod vanishing;
