//! Pencils, invariants, systems of second order, pairs with structure. Problems and random numbers are those of the tests of `daedal`.
#![allow(missing_docs)]

#[path = "../../src/blocks.rs"]
#[allow(dead_code)]
mod blocks;
mod control;
#[path = "../../../core/tests/support/hidden.rs"]
#[allow(dead_code)]
mod hidden;
mod high_order;
mod invariants;
mod kronecker;
#[path = "../../../core/tests/support/linear.rs"]
mod linear;
mod mechanisms;
#[path = "../../../core/tests/support/orders.rs"]
mod orders;
mod pencils;
#[path = "../../../core/tests/support/random.rs"]
mod random;
mod second_order;
mod structured;
