//! Files with bodies, joints and forces: those of the gallery as they are written, and mistakes in them.

mod gallery;
mod mistakes;
mod switched;
