//! Models from engineering practice, solved by the command as a user would, against numbers that come from somewhere
//! else.
//!
//! No reference value was computed by Daedal. Mechanisms were reduced by hand to minimal coordinates and integrated
//! with DOP853 of SciPy at a tolerance of 1e-13, forces in joints then follow from free bodies; circuits between two
//! switches are matrix exponentials; inverse problems are differentiated in closed form with forty digits. Each test
//! says which equations.

mod circuits;
mod inverse;
mod mechanisms;
mod processes;
mod rotations;
mod run;
mod switching;
mod wheels;
