//! The example of model files says what it promises.
#![allow(missing_docs)]

#[allow(dead_code)] // its own `main`
#[path = "../examples/model_file.rs"]
mod model_file;

#[test]
fn one_pendulum_in_two_files_moves_in_one_way() {
    let [mechanism, equations] = model_file::run().unwrap();
    assert!((mechanism - equations).abs() < 1e-6, "{mechanism} {equations}");
    // the angle knows no constraint
    assert!((mechanism - angle(2.0, 5.0).sin()).abs() < 1e-6, "{mechanism}");
}

/// ϑ of ϑ″ = −g sin ϑ with g = 13.75, by the classical Runge–Kutta method with steps that leave rounding only.
fn angle(v0: f64, end: f64) -> f64 {
    let steps = 100_000;
    let h = end / f64::from(steps);
    let f = |(a, w): (f64, f64)| (w, -13.75 * a.sin());
    let add = |(a, w): (f64, f64), c: f64, (da, dw): (f64, f64)| (a + c * da, w + c * dw);
    let mut y = (0.0, v0);
    for _ in 0..steps {
        let k1 = f(y);
        let k2 = f(add(y, 0.5 * h, k1));
        let k3 = f(add(y, 0.5 * h, k2));
        let k4 = f(add(y, h, k3));
        y = add(add(add(add(y, h / 6.0, k1), h / 3.0, k2), h / 3.0, k3), h / 6.0, k4);
    }
    y.0
}
