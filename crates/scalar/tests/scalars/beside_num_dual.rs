//! First and second derivatives of fixed functions beside those of the crate num-dual.

use super::assert_close;
use daedal_scalar::{Dual, Scalar};
use num_dual::{DualNum, HyperDual64};

type Second = Dual<Dual<f64, 1>, 1>;

macro_rules! compare {
    ($($name:ident: |$x:ident, $y:ident| $f:expr;)+) => {$(
        #[test]
        fn $name() {
            let ours = |$x: Second, $y: Second| -> Second { $f };
            let theirs = |$x: HyperDual64, $y: HyperDual64| -> HyperDual64 { $f };
            for (x, y) in [(0.3, 0.8), (-0.6, 1.7), (0.9, -0.4)] {
                // ∂²/∂x², ∂²/∂x∂y, ∂²/∂y²: (dx₁, dy₁), (dx₂, dy₂)
                for [dx1, dy1, dx2, dy2] in [[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]] {
                    let seed = |v: f64, d1: f64, d2: f64| Dual {
                        value: Dual { value: v, lanes: [d1] },
                        lanes: [Dual::from(d2)],
                    };
                    let a = ours(seed(x, dx1, dx2), seed(y, dy1, dy2));
                    let b = theirs(HyperDual64::new(x, dx1, dx2, 0.0), HyperDual64::new(y, dy1, dy2, 0.0));
                    assert_close(b.re, a.value.value, "value");
                    assert_close(b.eps1, a.value.lanes[0], "first derivative");
                    assert_close(b.eps2, a.lanes[0].value, "first derivative");
                    assert_close(b.eps1eps2, a.lanes[0].lanes[0], "second derivative");
                }
            }
        }
    )+};
}

compare! {
    a_rational_function_agrees: |x, y| (x * y * 3.0 - x + 2.0) / (x * x + y * y + 0.5);
    a_composition_of_circular_functions_agrees: |x, y| (x * y).sin() * (x - y).cos() + (x * 0.7).tan();
    a_composition_of_inverse_functions_agrees: |x, y| (x * y * 0.5).asin() + (x * 0.9).acos() * y.atan();
    a_composition_of_hyperbolic_functions_agrees: |x, y| (x + y).sinh() * (x * y).tanh() - (x - y).cosh();
    exponentials_and_logarithms_agree: |x, y| (x * y).exp() * (x * x + y * y + 1.0).ln();
    roots_and_powers_agree: |x, y| {
        (x * x + y * y).sqrt() + (x + 1.5).powf(1.7) * y.powi(3) + y.powi(-2) + (x * y + 2.0).recip()
    };
    the_angle_of_a_point_agrees: |x, y| y.atan2(x) * (x + y);
}
