//! Vectors and rotations of space, for every scalar.
//!
//! ```text
//! R(q) = [ (q0² − q⃗·q⃗) I + 2 q⃗q⃗ᵀ + 2 q0 q⃗~ ] / |q|²        q' = ½ ( −q⃗·ω ;  q0 ω + q⃗×ω )
//! ```
//! R is divided by |q|², so that a quaternion whose length has drifted is the same rotation; undivided, it would stretch bodies.

use daedal::scalar::Scalar;

/// A vector of space.
pub type Vector<S> = [S; 3];
/// A matrix of space, by rows; rotations take coordinates of a body to those of the world.
pub type Matrix3<S> = [[S; 3]; 3];
/// (q0, q⃗).
pub type Quaternion<S> = [S; 4];

/// The unit matrix.
pub const IDENTITY: Matrix3<f64> = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// Numbers as constants of a scalar.
pub fn constant<S: Scalar>(a: Vector<f64>) -> Vector<S> {
    a.map(S::from)
}
/// 0.
pub fn zero<S: Scalar>() -> Vector<S> {
    constant([0.0; 3])
}
/// a + b.
pub fn add<S: Scalar>(a: Vector<S>, b: Vector<S>) -> Vector<S> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
/// a − b.
pub fn sub<S: Scalar>(a: Vector<S>, b: Vector<S>) -> Vector<S> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
/// −a.
pub fn negative<S: Scalar>(a: Vector<S>) -> Vector<S> {
    a.map(|x| -x)
}
/// s a.
pub fn scale<S: Scalar>(s: S, a: Vector<S>) -> Vector<S> {
    a.map(|x| s * x)
}
/// a·b.
pub fn dot<S: Scalar>(a: Vector<S>, b: Vector<S>) -> S {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
/// a×b.
pub fn cross<S: Scalar>(a: Vector<S>, b: Vector<S>) -> Vector<S> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
/// |a|.
pub fn norm<S: Scalar>(a: Vector<S>) -> S {
    dot(a, a).sqrt()
}
/// A a.
pub fn times<S: Scalar>(A: &Matrix3<S>, a: Vector<S>) -> Vector<S> {
    A.map(|row| dot(row, a))
}
/// Aᵀ a.
pub fn transposed_times<S: Scalar>(A: &Matrix3<S>, a: Vector<S>) -> Vector<S> {
    times(&transposed(A), a)
}
/// Aᵀ.
pub fn transposed<S: Scalar>(A: &Matrix3<S>) -> Matrix3<S> {
    [0, 1, 2].map(|j| [A[0][j], A[1][j], A[2][j]])
}
/// A B.
pub fn product<S: Scalar>(A: &Matrix3<S>, B: &Matrix3<S>) -> Matrix3<S> {
    let columns = transposed(B);
    A.map(|row| columns.map(|column| dot(row, column)))
}
/// Numbers as constants of a scalar.
pub fn constants<S: Scalar>(A: &Matrix3<f64>) -> Matrix3<S> {
    A.map(constant)
}

/// a/|a|, unless a has no direction.
pub fn unit(a: Vector<f64>) -> Option<Vector<f64>> {
    let size = norm(a);
    (size.is_finite() && size > 1e-150).then(|| scale(1.0 / size, a))
}

/// Some unit vector normal to the unit vector a.
pub fn normal_to(a: Vector<f64>) -> Vector<f64> {
    // the axis of the world that is furthest from a; y first, so that frames about z are those of the world
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut best = axes[0];
    for axis in axes {
        if dot(a, axis).abs() < dot(a, best).abs() - 1e-9 {
            best = axis;
        }
    }
    let along = scale(dot(a, best), a);
    unit(sub(best, along)).unwrap_or(axes[0])
}

/// The right-handed frame (e₁, e₂, e₃) with e₃ along an axis, as columns.
pub fn frame_about(axis: Vector<f64>) -> Matrix3<f64> {
    let e1 = normal_to(axis);
    transposed(&[e1, cross(axis, e1), axis])
}

/// R(q), of degree 0 in q.
pub fn rotation<S: Scalar>(q: Quaternion<S>) -> Matrix3<S> {
    let [a, b, c, d] = q;
    let size = a.square() + b.square() + c.square() + d.square();
    let two = S::from(2.0) / size;
    let (bb, cc, dd) = (b * b, c * c, d * d);
    let (ab, ac, ad, bc, bd, cd) = (a * b, a * c, a * d, b * c, b * d, c * d);
    let diagonal = |x: S| -two * x + 1.0;
    [
        [diagonal(cc + dd), two * (bc - ad), two * (bd + ac)],
        [two * (bc + ad), diagonal(bb + dd), two * (cd - ab)],
        [two * (bd - ac), two * (cd + ab), diagonal(bb + cc)],
    ]
}

/// q' for the angular velocity ω in the body.
pub fn quaternion_rate<S: Scalar>(q: Quaternion<S>, omega: Vector<S>) -> Quaternion<S> {
    let ([a, b, c, d], [x, y, z]) = (q, omega);
    [
        -(b * x + c * y + d * z) * 0.5,
        (a * x + c * z - d * y) * 0.5,
        (a * y + d * x - b * z) * 0.5,
        (a * z + b * y - c * x) * 0.5,
    ]
}

/// The unit quaternion of a rotation, q0 ≥ 0. Shepperd: the largest component first.
pub fn quaternion_of(R: &Matrix3<f64>) -> Quaternion<f64> {
    let trace = R[0][0] + R[1][1] + R[2][2];
    let squares = [trace, R[0][0], R[1][1], R[2][2]];
    let mut k = 0;
    (1..4).for_each(|j| k = if squares[j] > squares[k] { j } else { k });
    let mut q = [0.0; 4];
    if k == 0 {
        let s = (1.0 + trace).max(0.0).sqrt() * 2.0;
        q = [s / 4.0, (R[2][1] - R[1][2]) / s, (R[0][2] - R[2][0]) / s, (R[1][0] - R[0][1]) / s];
    } else {
        let (i, j, l) = (k - 1, k % 3, (k + 1) % 3);
        let s = (1.0 + R[i][i] - R[j][j] - R[l][l]).max(0.0).sqrt() * 2.0;
        q[0] = (R[l][j] - R[j][l]) / s;
        q[1 + i] = s / 4.0;
        q[1 + j] = (R[j][i] + R[i][j]) / s;
        q[1 + l] = (R[l][i] + R[i][l]) / s;
    }
    let size = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    let sign = if q[0] < 0.0 { -1.0 } else { 1.0 };
    q.map(|x| sign * x / size)
}

/// The rotation about a unit axis.
pub fn about(axis: Vector<f64>, angle: f64) -> Matrix3<f64> {
    let (s, c) = (angle / 2.0).sin_cos();
    rotation([c, s * axis[0], s * axis[1], s * axis[2]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quaternions_and_rotations_belong_to_each_other() {
        for q in [[1.0, 0.0, 0.0, 0.0], [0.1, 0.9, -0.3, 0.2], [0.0, 0.0, 1.0, 0.0], [0.2, 0.1, 0.2, -0.9]] {
            let size: f64 = q.iter().map(|x: &f64| x * x).sum::<f64>().sqrt();
            let back = quaternion_of(&rotation(q));
            (0..4).for_each(|k| assert!((back[k] - q[k] / size).abs() < 1e-15, "{q:?} {back:?}"));
        }
    }

    #[test]
    fn a_longer_quaternion_is_the_same_rotation() {
        let q = [0.4, -0.2, 0.7, 0.3];
        let (R, L) = (rotation(q), rotation(q.map(|x| 3.7 * x)));
        for i in 0..3 {
            for j in 0..3 {
                assert!((R[i][j] - L[i][j]).abs() < 1e-15);
                let entry: f64 = product(&R, &transposed(&R))[i][j];
                assert!((entry - IDENTITY[i][j]).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn frames_are_right_handed_with_the_axis_third() {
        for axis in [[0.0, 0.0, 1.0], [0.6, 0.0, 0.8], [0.0, -1.0, 0.0]] {
            let columns = transposed(&frame_about(axis));
            let third = cross(columns[0], columns[1]);
            (0..3).for_each(|k| assert!((third[k] - axis[k]).abs() < 1e-15));
        }
    }
}
