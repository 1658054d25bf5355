//! Mass and inertia: J about the centre of mass, in body axes.

use crate::vector::{Matrix3, Vector, dot};

/// J of a homogeneous box with these edges, for mass 1.
pub fn of_box([a, b, c]: Vector<f64>) -> Matrix3<f64> {
    diagonal([(b * b + c * c) / 12.0, (a * a + c * c) / 12.0, (a * a + b * b) / 12.0])
}

/// J of a homogeneous cylinder about the axis number `axis`, for mass 1.
pub fn of_cylinder(radius: f64, length: f64, axis: usize) -> Matrix3<f64> {
    let across = (3.0 * radius * radius + length * length) / 12.0;
    let mut J = [across; 3];
    J[axis] = radius * radius / 2.0;
    diagonal(J)
}

/// J of a homogeneous sphere, for mass 1.
pub fn of_sphere(radius: f64) -> Matrix3<f64> {
    diagonal([0.4 * radius * radius; 3])
}

/// A diagonal matrix.
pub fn diagonal([x, y, z]: Vector<f64>) -> Matrix3<f64> {
    [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]]
}

/// Why no body has such an inertia.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadInertia {
    /// Not symmetric.
    #[error("it is not symmetric")]
    NotSymmetric,
    /// A principal moment is not positive.
    #[error("a principal moment is {0:.3e}: moments of inertia are positive")]
    NotPositive(f64),
    /// The largest principal moment is larger than the sum of the others.
    #[error("the principal moments {:.4}, {:.4}, {:.4} violate the triangle inequality: none is larger than the sum of the other two", .0[0], .0[1], .0[2])]
    Triangle([f64; 3]),
}

/// Can a body have this inertia?
pub fn check(J: &Matrix3<f64>) -> Result<(), BadInertia> {
    let size = J.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
    for i in 0..3 {
        for j in 0..i {
            if (J[i][j] - J[j][i]).abs() > 1e-12 * size {
                return Err(BadInertia::NotSymmetric);
            }
        }
    }
    let moments = principal(J);
    if !(moments[0] > 1e-14 * size) || !size.is_finite() {
        return Err(BadInertia::NotPositive(moments[0]));
    }
    if moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9) {
        return Err(BadInertia::Triangle(moments));
    }
    Ok(())
}

/// Principal moments in rising order, by Jacobi's rotations.
pub fn principal(J: &Matrix3<f64>) -> [f64; 3] {
    let mut A = *J;
    for _ in 0..30 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if A[p][q] == 0.0 {
                continue;
            }
            let angle = 0.5 * (2.0 * A[p][q]).atan2(A[q][q] - A[p][p]);
            let (s, c) = angle.sin_cos();
            for k in 0..3 {
                (A[k][p], A[k][q]) = (c * A[k][p] - s * A[k][q], s * A[k][p] + c * A[k][q]);
            }
            for k in 0..3 {
                (A[p][k], A[q][k]) = (c * A[p][k] - s * A[q][k], s * A[p][k] + c * A[q][k]);
            }
        }
    }
    let mut moments = [A[0][0], A[1][1], A[2][2]];
    moments.sort_by(f64::total_cmp);
    moments
}

/// J about another point, at `arm` from the centre of mass (Steiner).
pub fn about(J: &Matrix3<f64>, mass: f64, arm: Vector<f64>) -> Matrix3<f64> {
    let square = dot(arm, arm);
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| J[i][j] + mass * (if i == j { square } else { 0.0 } - arm[i] * arm[j])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{product, rotation, transposed};

    #[test]
    fn principal_moments_do_not_depend_on_the_axes() {
        let J = diagonal([0.3, 0.5, 0.6]);
        let R = rotation([0.3, 0.4, -0.2, 0.8]);
        let turned = product(&product(&R, &J), &transposed(&R));
        for (a, b) in principal(&turned).into_iter().zip([0.3, 0.5, 0.6]) {
            assert!((a - b).abs() < 1e-14, "{a} {b}");
        }
        assert_eq!(check(&turned), Ok(()));
    }

    #[test]
    fn inertias_that_no_body_has_are_refused() {
        assert!(matches!(check(&diagonal([1.0, 1.0, 2.5])), Err(BadInertia::Triangle(_))));
        assert!(matches!(check(&diagonal([1.0, -1.0, 1.0])), Err(BadInertia::NotPositive(_))));
        assert!(matches!(check(&[[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), Err(BadInertia::NotSymmetric)));
        // a plate is the limit
        assert_eq!(check(&diagonal([1.0, 1.0, 2.0])), Ok(()));
    }

    #[test]
    fn a_rod_about_its_end_has_a_third_of_its_mass_times_length_squared() {
        let J = about(&of_box([2.0, 0.0, 0.0]), 1.0, [1.0, 0.0, 0.0]);
        assert!((J[1][1] - 4.0 / 3.0).abs() < 1e-15);
    }
}
