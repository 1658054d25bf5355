//! Bodies: mass, inertia, where they are drawn, what they look like.

use crate::inertia;
use crate::shape::{Form, Shape};
use crate::vector::{
    IDENTITY, Matrix3, Vector, add, cross, negative, quaternion_of, scale, sub, times, transposed, transposed_times,
    unit,
};

/// A body of a system, or the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyId(pub(crate) usize);

/// What does not move: the world.
pub const GROUND: BodyId = BodyId(usize::MAX);

impl BodyId {
    /// The body of this number.
    pub fn of(number: usize) -> Self {
        BodyId(number)
    }
    /// Its number among the bodies, unless it is the ground.
    pub fn number(self) -> Option<usize> {
        (self != GROUND).then_some(self.0)
    }
}

/// A rigid body. Its frame stands in the centre of mass.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name.
    pub name: String,
    /// Mass; zero until it is given.
    pub mass: f64,
    /// J about the centre of mass, in body axes; that of the shape unless it is given.
    pub inertia: Matrix3<f64>,
    /// Centre of mass where it is drawn.
    pub at: Vector<f64>,
    /// Axes where it is drawn: body → world.
    pub rotation: Matrix3<f64>,
    /// What it looks like.
    pub shapes: Vec<Shape>,
    /// Points with names, in body coordinates.
    pub points: Vec<(String, Vector<f64>)>,
    /// A colour for pictures.
    pub color: Option<String>,
    /// Is it part of the ground?
    pub fixed: bool,
    /// is the inertia that of the shape, for mass 1?
    of_shape: bool,
}

impl Body {
    /// A body with mass and inertia and without a shape.
    pub fn new(mass: f64, inertia: Matrix3<f64>) -> Self {
        Body {
            name: String::new(),
            mass,
            inertia,
            at: [0.0; 3],
            rotation: IDENTITY,
            shapes: Vec::new(),
            points: Vec::new(),
            color: None,
            fixed: false,
            of_shape: false,
        }
    }

    /// A homogeneous body of a form about its centre.
    pub fn of(form: Form) -> Self {
        let shape = Shape { form, at: [0.0; 3], rotation: IDENTITY };
        Body { shapes: vec![shape], of_shape: true, ..Body::new(0.0, form.inertia()) }
    }

    /// A bar of square section between two points of the drawing; its x axis points from the first to the second, its ends are the points
    /// `from` and `to`.
    pub fn bar(from: Vector<f64>, to: Vector<f64>, width: f64) -> Self {
        Body::along(from, to, |length| Form::Box { size: [length, width, width] })
    }

    /// A round bar.
    pub fn round_bar(from: Vector<f64>, to: Vector<f64>, radius: f64) -> Self {
        Body::along(from, to, |length| Form::Cylinder { radius, length, axis: 0 })
    }

    fn along(from: Vector<f64>, to: Vector<f64>, form: impl Fn(f64) -> Form) -> Self {
        let between = sub(to, from);
        let length = crate::vector::norm(between);
        // y is horizontal where that says something
        let x = unit(between).unwrap_or([1.0, 0.0, 0.0]);
        let y = unit(cross([0.0, 0.0, 1.0], x)).filter(|_| x[2].abs() < 1.0 - 1e-12).unwrap_or([0.0, 1.0, 0.0]);
        let half = [length / 2.0, 0.0, 0.0];
        let mut body = Body::of(form(length));
        body.at = scale(0.5, add(from, to));
        body.rotation = transposed(&[x, y, cross(x, y)]);
        body.points = vec![("from".into(), negative(half)), ("to".into(), half)];
        body
    }

    /// A homogeneous box.
    pub fn cuboid(size: Vector<f64>) -> Self {
        Body::of(Form::Box { size })
    }
    /// A homogeneous cylinder about z.
    pub fn cylinder(radius: f64, length: f64) -> Self {
        Body::of(Form::Cylinder { radius, length, axis: 2 })
    }
    /// A homogeneous ball.
    pub fn sphere(radius: f64) -> Self {
        Body::of(Form::Sphere { radius })
    }

    /// Its name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Its mass; the inertia of a shape follows.
    pub fn mass(mut self, mass: f64) -> Self {
        if self.of_shape {
            let old = if self.mass > 0.0 { self.mass } else { 1.0 };
            self.inertia = self.inertia.map(|row| row.map(|x| x / old * mass));
        }
        self.mass = mass;
        self
    }

    /// The mass of its shape.
    pub fn density(self, density: f64) -> Self {
        let volume: f64 = self.shapes.iter().map(|shape| shape.form.volume()).sum();
        self.mass(density * volume)
    }

    /// J about the centre of mass instead of that of the shape.
    pub fn inertia(mut self, inertia: Matrix3<f64>) -> Self {
        (self.inertia, self.of_shape) = (inertia, false);
        self
    }

    /// Principal moments about the body axes.
    pub fn moments(self, moments: Vector<f64>) -> Self {
        self.inertia(inertia::diagonal(moments))
    }

    /// Its centre of mass in the drawing.
    pub fn at(mut self, at: Vector<f64>) -> Self {
        self.at = at;
        self
    }

    /// Its axes in the drawing.
    pub fn rotation(mut self, rotation: Matrix3<f64>) -> Self {
        self.rotation = rotation;
        self
    }

    /// A point with a name, in world coordinates of the drawing.
    pub fn point(mut self, name: impl Into<String>, at: Vector<f64>) -> Self {
        let at = self.local(at);
        self.points.push((name.into(), at));
        self
    }

    /// A part of the ground.
    pub fn fixed(mut self) -> Self {
        self.fixed = true;
        self
    }

    /// A point of the drawing in body coordinates.
    pub fn local(&self, at: Vector<f64>) -> Vector<f64> {
        transposed_times(&self.rotation, sub(at, self.at))
    }

    /// Body coordinates in the drawing.
    pub fn drawn(&self, at: Vector<f64>) -> Vector<f64> {
        add(self.at, times(&self.rotation, at))
    }

    /// The quaternion of the drawing.
    pub fn quaternion(&self) -> [f64; 4] {
        quaternion_of(&self.rotation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_has_its_ends_where_they_are_drawn() {
        let (from, to) = ([0.0, 0.05, 0.16], [0.2, 0.0, 0.0]);
        let bar = Body::bar(from, to, 0.015).mass(0.4);
        for (k, end) in [from, to].into_iter().enumerate() {
            let drawn = bar.drawn(bar.points[k].1);
            (0..3).for_each(|i| assert!((drawn[i] - end[i]).abs() < 1e-15));
        }
        let length = 0.2f64.hypot(0.05).hypot(0.16);
        assert!((bar.inertia[2][2] - 0.4 * (length * length + 0.015 * 0.015) / 12.0).abs() < 1e-16);
    }

    #[test]
    fn mass_and_density_say_the_same() {
        let (a, b) = (Body::cuboid([1.0, 2.0, 3.0]).mass(12.0), Body::cuboid([1.0, 2.0, 3.0]).density(2.0));
        assert_eq!((a.mass, a.inertia), (b.mass, b.inertia));
    }
}
