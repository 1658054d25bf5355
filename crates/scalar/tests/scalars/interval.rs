//! Intervals enclose what happens inside of them.

use daedal_scalar::{Interval, Scalar, Taylor};
use proptest::prelude::*;

/// Formulas that use every function.
fn formulas<S: Scalar>(x: S, y: S) -> Vec<S> {
    let (s, c) = x.sin_cos();
    let (sh, ch) = (x * 0.3).sinh_cosh();
    vec![
        x + y,
        x - y,
        x * y,
        x / y,
        x / 3.0 - 0.1,
        x.square() - y.square(),
        x.recip(),
        (x.square() + 0.1).sqrt(),
        x.sqrt(),
        (x * 0.5).exp(),
        x.ln(),
        s * 3.0,
        c - s,
        x.tan(),
        sh - ch,
        x.tanh(),
        (x * 0.2).asin(),
        (x * 0.2).acos(),
        x.atan(),
        x.atan2(y),
        x.powi(3) + x.powi(4) - y.powi(-2),
        x.powi(-3),
        (x.square() + 0.2).powf(0.7) - x.abs().powf(-1.3),
        (x.square() + 0.2).pow(y),
        x.abs() - y.abs(),
        x.select(y, x * x),
        x.max(y) - x.min(y * 2.0),
    ]
}

fn range() -> impl Strategy<Value = (f64, f64)> {
    let width = prop_oneof![Just(0.0), 0.0..0.01_f64, 0.0..1.0_f64, 0.0..8.0_f64];
    (prop_oneof![-5.0..5.0_f64, Just(0.0), Just(1.0)], width).prop_map(|(a, w)| (a, a + w))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn values_lie_inside(x in range(), y in range(), at in 0.0..=1.0_f64, up in 0.0..=1.0_f64) {
        let bounds = formulas(Interval::new(x.0, x.1), Interval::new(y.0, y.1));
        let inside = |(a, b): (f64, f64), part: f64| (a + part * (b - a)).clamp(a, b);
        let values = formulas(inside(x, at), inside(y, up));
        for (k, (bound, value)) in bounds.iter().zip(&values).enumerate() {
            prop_assert!(!value.is_finite() || bound.contains(*value), "formula {k}: {value:e} in {bound:?}");
        }
    }

    #[test]
    fn coefficients_lie_inside(x in range(), y in range(), at in 0.0..=1.0_f64) {
        let of = |x: Interval, y: Interval| formulas(Taylor::<_, 5>::parameter(x), Taylor::constant(y));
        let bounds = of(Interval::new(x.0, x.1), Interval::from(y.0));
        let inside = (x.0 + at * (x.1 - x.0)).clamp(x.0, x.1);
        let values = formulas(Taylor::<f64, 5>::parameter(inside), Taylor::constant(y.0));
        for (k, (bound, value)) in bounds.iter().zip(&values).enumerate() {
            for (b, c) in bound.coefficients.iter().zip(&value.coefficients) {
                // derivatives of |x| and of selections exist beside their kinks only
                let close = 1e-9 * (1.0 + c.abs());
                let inside = b.is_undefined() || b.low - close <= *c && *c <= b.high + close;
                prop_assert!(!c.is_finite() || inside, "formula {k}: {c:e} in {b:?}");
            }
        }
    }
}

#[test]
fn exact_sums_stay_exact() {
    let five = Interval::from(5.0) - 5.0;
    assert_eq!(five, Interval::from(0.0));
    assert_eq!(Interval::from(0.0) * Interval::EVERYTHING, Interval::from(0.0));
    let third = Interval::from(1.0) / 3.0;
    assert!(third.low < third.high && (third * 3.0).contains(1.0));
}

#[test]
fn enclosures_of_waves_touch_their_extremes() {
    let top = Interval::new(1.5, 1.7).sin();
    assert!(top.high == 1.0 && (top.low - 1.7_f64.sin()).abs() < 1e-14);
    assert_eq!(Interval::new(0.0, 7.0).cos(), Interval::new(-1.0, 1.0));
    // far away, where the period is known to a few digits only
    let far = Interval::new(1e6, 1e6 + 0.1).sin();
    assert!(far.contains((1e6 + 0.05_f64).sin()) && far.width() < 0.11);
}
