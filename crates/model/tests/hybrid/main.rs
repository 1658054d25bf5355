//! Model files with modes: what is read, what their runs give, files against problems written in Rust, damaged files.

mod between;
mod files;
mod mutations;
mod runs;
mod structure;
mod times;
mod widths;
