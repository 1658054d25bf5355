//! Hybrid reference problems against closed forms and published values.

mod belt;
mod boost_converter;
mod bouncing_ball;
mod bowed_string;
mod clutch;
mod diode_bridge;
mod friction_bodies;
mod newtons_cradle;
mod no_solution;
mod relay;
mod rope_cut;
mod support;
