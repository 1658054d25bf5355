//! Formulas: text → tokens → tree → value in any scalar.

pub(crate) mod ast;
pub(crate) mod construction;
pub(crate) mod evaluate;
mod lexer;
pub(crate) mod operation;
pub(crate) mod parser;
#[cfg(test)]
mod tests;
