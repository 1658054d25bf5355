//! Hybrid reference problems against closed forms and published values.
//!
//! | what must hold | where |
//! | --- | --- |
//! | characteristic values of all modes | each problem |
//! | 15.1: 13 switches, the diode at 0.182225, exact start | `boost_converter` |
//! | 15.2: 395 switches without sliding, 7 with it; momentum | `friction_bodies` |
//! | 15.3: times, equal slips, 248,000 switches without sliding | `belt` |
//! | 15.4: 8 switches with sliding (N = 100), 12 and 157 (N = 20) | `bowed_string` |
//! | M5 with every solver | `rope_cut` |
//! | Example 5.45 | `no_solution` |

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
