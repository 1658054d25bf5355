//! What bodies look like: for pictures, and for mass and inertia where none is given.

use crate::inertia;
use crate::vector::{Matrix3, Vector};
use std::f64::consts::PI;

/// A homogeneous shape about the origin of its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// Edges along x, y, z.
    Box {
        /// Lengths of the edges.
        size: Vector<f64>,
    },
    /// About an axis of the body: 0, 1, 2 for x, y, z.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Length.
        length: f64,
        /// Number of the axis.
        axis: usize,
    },
    /// A ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
}

impl Form {
    /// Its volume.
    pub fn volume(self) -> f64 {
        match self {
            Form::Box { size: [a, b, c] } => a * b * c,
            Form::Cylinder { radius, length, .. } => PI * radius * radius * length,
            Form::Sphere { radius } => 4.0 / 3.0 * PI * radius.powi(3),
        }
    }

    /// J about its centre, for mass 1.
    pub fn inertia(self) -> Matrix3<f64> {
        match self {
            Form::Box { size } => inertia::of_box(size),
            Form::Cylinder { radius, length, axis } => inertia::of_cylinder(radius, length, axis),
            Form::Sphere { radius } => inertia::of_sphere(radius),
        }
    }
}

/// A form at its place on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// The form.
    pub form: Form,
    /// Its centre, in body coordinates.
    pub at: Vector<f64>,
    /// Its axes in the body.
    pub rotation: Matrix3<f64>,
}
