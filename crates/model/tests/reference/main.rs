//! The reference problems as model files: `models/NAME.toml` says the same as the Rust model of that name.

mod files;
mod formulas;
mod runs;
