//! The real command: what it prints, what it writes, and with which code it exits.

mod check;
mod compare;
mod control;
mod events;
mod files;
mod general;
mod hybrid;
mod init;
mod list;
mod model_file;
mod ranks;
mod refused;
mod report;
mod solve;
mod support;
mod sweep;
mod tolerances;
