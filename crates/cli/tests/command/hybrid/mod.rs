//! Models with modes through the command.

mod check;
mod files;
mod refused;
mod solve;
