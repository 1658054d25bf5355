//! General systems through the command.

mod check;
mod files;
mod init;
mod refused;
mod solve;
mod tables;
