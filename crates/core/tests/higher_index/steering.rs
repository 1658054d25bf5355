//! The control problem of index 2 that steers a point along the circle, and what a perturbation of its constraint does:
//!
//! ```text
//! y₁' = 0.7 y₂ + sin 2.5z,   y₂' = 1.4 y₁ + cos 2.5z,   0 = y₁² + y₂² − 1 + θ(x).
//! ```
//!
//! With y = r (cos φ, sin φ), r² = 1 − θ, everything is explicit:
//! r sin(2.5z + φ) = −1.05 r² sin 2φ − θ'/2 and r² φ' = 1.4 y₁² − 0.7 y₂² + r cos(2.5z + φ).
//! Hairer & Wanner, Solving ODEs II, (VII.1.9), figure 1.3 and exercise 6 of VII.1.

use super::dormand_prince::DormandPrince;
use super::explicit::distance;

/// f(y, z).
fn field(y: &[f64; 2], z: f64) -> [f64; 2] {
    let (sine, cosine) = (2.5 * z).sin_cos();
    [0.7 * y[1] + sine, 1.4 * y[0] + cosine]
}

/// g(y).
pub fn constraint(y: &[f64; 2]) -> f64 {
    y[0] * y[0] + y[1] * y[1] - 1.0
}

/// z on the branch cos(2.5z + φ) > 0 with g_y f = −θ', where θ' is the slope of a perturbation of the constraint.
fn perturbed_control(y: &[f64; 2], slope: f64) -> f64 {
    let r = y[0].hypot(y[1]);
    (((-2.1 * y[0] * y[1] - slope / 2.0) / r).asin() - y[1].atan2(y[0])) / 2.5
}

/// z from the hidden constraint g_y f = 0.
pub fn control(y: &[f64; 2]) -> f64 {
    perturbed_control(y, 0.0)
}

/// Right-hand side of the index-1 equations.
pub fn slope(y: &[f64; 2]) -> [f64; 2] {
    field(y, control(y))
}

/// Projection along the image of f_z, with g_y f_z held fixed.
pub fn project(y: &mut [f64; 2]) {
    let z = control(y);
    let f_z = [2.5 * (2.5 * z).cos(), -2.5 * (2.5 * z).sin()];
    let g_y_f_z = 2.0 * (y[0] * f_z[0] + y[1] * f_z[1]);
    let (start, mut mu) = (*y, 0.0);
    for _ in 0..5 {
        mu -= constraint(y) / g_y_f_z;
        *y = [start[0] + f_z[0] * mu, start[1] + f_z[1] * mu];
    }
}

/// A perturbation θ(x) of the constraint and its slope.
type Perturbation<'a> = &'a dyn Fn(f64) -> [f64; 2];

/// y, z and φ' where the angle is φ.
fn on_the_circle(phi: f64, [theta, slope]: [f64; 2]) -> ([f64; 2], f64, f64) {
    let r = (1.0 - theta).sqrt();
    let y = [r * phi.cos(), r * phi.sin()];
    let z = perturbed_control(&y, slope);
    let rate = (1.4 * y[0] * y[0] - 0.7 * y[1] * y[1] + r * (2.5 * z + phi).cos()) / (r * r);
    (y, z, rate)
}

/// The angle at x, from `phi` at zero, without perturbation.
pub fn angle_at(phi: f64, x: f64) -> f64 {
    DormandPrince::new(1e-14).integrate(|_, y| [on_the_circle(y[0], [0.0; 2]).2], 0.0, [phi], x, |_, _| {}).0[0]
}

/// Largest |Δy| and |Δz| on [0, 0.3] from the angle −0.5.
fn deviation(theta: Perturbation) -> [f64; 2] {
    let mut largest = [0.0_f64; 2];
    let both = |x: f64, phi: &[f64; 2]| [on_the_circle(phi[0], [0.0; 2]).2, on_the_circle(phi[1], theta(x)).2];
    let mut phi = [-0.5; 2];
    for k in 0..3000 {
        let x = f64::from(k) * 1e-4;
        phi = super::explicit::runge_kutta4(both, x, &phi, 1e-4);
        let (y, z, _) = on_the_circle(phi[0], [0.0; 2]);
        let (y_hat, z_hat, _) = on_the_circle(phi[1], theta(x + 1e-4));
        largest[0] = largest[0].max((y[0] - y_hat[0]).hypot(y[1] - y_hat[1]));
        largest[1] = largest[1].max((z - z_hat).abs());
    }
    largest
}

#[test]
fn the_angle_equation_solves_the_perturbed_problem() {
    let theta = |x: f64| [1e-2 * (30.0 * x).sin(), 0.3 * (30.0 * x).cos()];
    for (x, phi) in [(0.0, -0.5), (0.07, -0.2), (0.2, 0.1), (0.31, 0.45)] {
        let (y, z, rate) = on_the_circle(phi, theta(x));
        assert!((constraint(&y) + theta(x)[0]).abs() < 1e-15);
        // y' = r' (cos φ, sin φ) + φ' (−y₂, y₁) with 2 r r' = −θ'
        let radial = -theta(x)[1] / (2.0 * (1.0 - theta(x)[0]));
        let derivative = [radial * y[0] - rate * y[1], radial * y[1] + rate * y[0]];
        assert!(distance(&derivative, &field(&y, z)) < 1e-14);
    }
}

#[test]
fn the_control_problem_has_the_tabulated_solution() {
    let table = [
        (0.1, [0.944771483381, -0.327729834146], 0.416710827644),
        (0.2, [0.993076016972, -0.117473505586], 0.146100360615),
        (0.3, [0.992783052821, 0.119924184511], -0.149167119786),
        (0.4, [0.944101677850, 0.329654397636], -0.419295517546),
    ];
    assert!((control(&[(-0.5_f64).cos(), (-0.5_f64).sin()]) - 0.633350871125).abs() < 1e-12);
    for (x, expected, z) in table {
        let (y, computed, _) = on_the_circle(angle_at(-0.5, x), [0.0; 2]);
        assert!(distance(&y, &expected) < 1e-11 && (computed - z).abs() < 1e-11, "{x}: {y:?} {computed}");
    }
}

/// T3: g_y f_z vanishes at sin 2φ = 1/1.05, which is reached after a finite time on both branches.
#[test]
fn the_singular_angle_is_reached_in_finite_time() {
    let singular = (1.0_f64 / 1.05).asin() / 2.0;
    assert!((singular.to_degrees() - 36.1236049190).abs() < 1e-10);
    // x = ∫ dφ/φ'; with φ = φ* − s² the root at the end becomes smooth
    let time = |from: f64, branch: f64| {
        let n = 2000;
        let length = (singular - from).sqrt();
        let value = |s: f64| {
            let phi = singular - s * s;
            let root = (1.0 - 1.1025 * (2.0 * phi).sin().powi(2)).max(0.0).sqrt();
            2.0 * s / (1.4 * phi.cos().powi(2) - 0.7 * phi.sin().powi(2) + branch * root)
        };
        let simpson = |k: u32| if k == 0 || k == n { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
        let h = length / f64::from(n);
        (0..=n).map(|k| simpson(k) * value(f64::from(k) * h)).sum::<f64>() * h / 3.0
    };
    for (from, branch, expected) in
        [(-0.5, 1.0, 0.621962170962), (0.0, 1.0, 0.372489707488), (0.0, -1.0, 1.477287606907)]
    {
        let x = time(from, branch);
        assert!((x - expected).abs() < 1e-9, "{x} {expected}");
    }
}

/// T4: Δz grows like εω, Δy does not, but for the quadratic term (εω)².
#[test]
fn a_fast_perturbation_moves_the_control_but_not_the_state() {
    let epsilon = 1e-4;
    let measured = [(10.0, 1.0e-4, 4.3e-4), (100.0, 1.1e-4, 4.2e-3), (1000.0, 6.3e-4, 4.7e-2)];
    let mut quotients = Vec::new();
    for (omega, state, control) in measured {
        let theta = |x: f64| [epsilon * (omega * x).sin(), epsilon * omega * (omega * x).cos()];
        let [dy, dz] = deviation(&theta);
        assert!((0.5..2.0).contains(&(dy / state)), "ω = {omega}: Δy = {dy:e}");
        assert!((0.5..2.0).contains(&(dz / control)), "ω = {omega}: Δz = {dz:e}");
        quotients.push((dy / epsilon, dz / (epsilon * omega)));
    }
    // Δz/(εω) does not depend on ω; Δy/ε does only through (εω)²/ε
    assert!(quotients.iter().all(|q| (0.5..2.0).contains(&(q.1 / quotients[0].1))));
    assert!((0.5..2.0).contains(&(quotients[1].0 / quotients[0].0)));
    // at ω = 1000, ε → ε/4 divides the quadratic term by 16
    let [dy, dz] = deviation(&|x| [epsilon / 4.0 * (1e3 * x).sin(), epsilon / 4.0 * 1e3 * (1e3 * x).cos()]);
    assert!(dy < 6.3e-4 / 8.0, "{dy:e}");
    assert!((0.5..2.0).contains(&(4.0 * dz / 4.7e-2)), "{dz:e}");
}

/// T4: where the perturbation has a kink, z jumps; y stays continuous.
#[test]
fn a_kink_of_the_perturbation_makes_the_control_jump() {
    let slope = 0.02;
    let phi = angle_at(-0.5, 0.15);
    let (before, z_before, _) = on_the_circle(phi, [0.0, -slope]);
    let (after, z_after, _) = on_the_circle(phi, [0.0, slope]);
    assert_eq!(before, after);
    // to first order Δz = −[θ'] / (g_y f_z), g_y f_z = 5 cos(2.5z + φ)
    let jump = -2.0 * slope / (5.0 * (2.5 * control(&before) + phi).cos());
    assert!(((z_after - z_before) / jump - 1.0).abs() < 1e-3, "{} {jump}", z_after - z_before);
    // both satisfy the differentiated constraint 2 yᵀ f = −θ'
    for (z, slope) in [(z_before, -slope), (z_after, slope)] {
        let f = field(&before, z);
        assert!((2.0 * (before[0] * f[0] + before[1] * f[1]) + slope).abs() < 1e-14);
    }
}
