//! Frames seen from other frames, and what a rigid body weighs in them.

use daedal_multibody::inertia;
use daedal_multibody::vector::{
    IDENTITY, Matrix3, Vector, about, add, negative, product, scale, sub, times, transposed, transposed_times,
};

/// X_AB: frame B seen from A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    /// Axes of B as columns.
    pub R: Matrix3<f64>,
    /// Origin of B.
    pub p: Vector<f64>,
}

impl Frame {
    /// A itself.
    pub const IDENTITY: Frame = Frame { R: IDENTITY, p: [0.0; 3] };

    /// X_AC = X_AB X_BC.
    pub fn then(&self, other: &Frame) -> Frame {
        Frame { R: product(&self.R, &other.R), p: self.point(other.p) }
    }

    /// A point of B in coordinates of A.
    pub fn point(&self, s: Vector<f64>) -> Vector<f64> {
        add(self.p, times(&self.R, s))
    }

    /// A point of A in coordinates of B.
    pub fn local(&self, s: Vector<f64>) -> Vector<f64> {
        transposed_times(&self.R, sub(s, self.p))
    }

    /// A direction of B in coordinates of A.
    pub fn direction(&self, a: Vector<f64>) -> Vector<f64> {
        times(&self.R, a)
    }

    /// X_BA.
    pub fn inverse(&self) -> Frame {
        Frame { R: transposed(&self.R), p: negative(transposed_times(&self.R, self.p)) }
    }

    /// Turned about a unit axis through a point.
    pub fn turned(at: Vector<f64>, axis: Vector<f64>, angle: f64) -> Frame {
        let R = about(axis, angle);
        Frame { R, p: sub(at, times(&R, at)) }
    }

    /// Moved along an axis.
    pub fn moved(axis: Vector<f64>, travel: f64) -> Frame {
        Frame { R: IDENTITY, p: scale(travel, axis) }
    }
}

/// Roll about x, then pitch about y, then yaw about z, all fixed.
pub(super) fn rpy(angles: Vector<f64>) -> Matrix3<f64> {
    let [roll, pitch, yaw] = [0, 1, 2].map(|k| about(IDENTITY[k], angles[k]));
    product(&yaw, &product(&pitch, &roll))
}

/// R J Rᵀ.
fn turned(R: &Matrix3<f64>, J: &Matrix3<f64>) -> Matrix3<f64> {
    let J = product(&product(R, J), &transposed(R));
    // rounding leaves it unsymmetric
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| 0.5 * (J[i][j] + J[j][i])))
}

/// Mass, centre of mass, and J about it in the axes of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct MassProperties {
    pub mass: f64,
    pub centre: Vector<f64>,
    pub J: Matrix3<f64>,
}

impl MassProperties {
    /// The same body, from a frame where its own one is X.
    pub fn seen(&self, X: &Frame) -> MassProperties {
        MassProperties { mass: self.mass, centre: X.point(self.centre), J: turned(&X.R, &self.J) }
    }

    /// Several bodies that move as one: m = Σ mₖ, m c = Σ mₖ cₖ, J by Steiner.
    pub fn joined(parts: &[MassProperties]) -> MassProperties {
        if let [one] = parts {
            return *one;
        }
        let mass: f64 = parts.iter().map(|part| part.mass).sum();
        let moment = parts.iter().fold([0.0; 3], |sum, part| add(sum, scale(part.mass, part.centre)));
        let centre = if mass > 0.0 { scale(1.0 / mass, moment) } else { [0.0; 3] };
        let mut J = [[0.0; 3]; 3];
        for part in parts {
            let about_centre = inertia::about(&part.J, part.mass, sub(part.centre, centre));
            (0..3).for_each(|i| J[i] = add(J[i], about_centre[i]));
        }
        MassProperties { mass, centre, J }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use daedal_multibody::inertia::of_box;

    #[test]
    fn a_frame_and_its_inverse_cancel() {
        let X = Frame { R: rpy([0.3, -0.7, 1.9]), p: [0.1, -2.0, 0.4] };
        let one = X.then(&X.inverse());
        for i in 0..3 {
            assert!(one.p[i].abs() < 1e-15);
            (0..3).for_each(|j| assert!((one.R[i][j] - IDENTITY[i][j]).abs() < 1e-15));
        }
        let s = [0.2, 0.5, -0.3];
        (0..3).for_each(|k| assert!((X.local(X.point(s))[k] - s[k]).abs() < 1e-15));
    }

    #[test]
    fn two_halves_of_a_box_are_the_box() {
        let half = |x: f64| MassProperties {
            mass: 3.0,
            centre: [x, 0.0, 0.0],
            J: of_box([1.0, 0.4, 0.2]).map(|row| row.map(|entry| 3.0 * entry)),
        };
        let X = Frame { R: rpy([0.4, 0.1, -0.8]), p: [1.0, 2.0, 3.0] };
        let whole = MassProperties::joined(&[half(-0.5).seen(&X), half(0.5).seen(&X)]);
        let direct =
            MassProperties { mass: 6.0, centre: [0.0; 3], J: of_box([2.0, 0.4, 0.2]).map(|r| r.map(|e| 6.0 * e)) };
        let direct = direct.seen(&X);
        assert_eq!(whole.mass, 6.0);
        for i in 0..3 {
            assert!((whole.centre[i] - direct.centre[i]).abs() < 1e-15);
            (0..3).for_each(|j| assert!((whole.J[i][j] - direct.J[i][j]).abs() < 1e-14));
        }
    }
}
