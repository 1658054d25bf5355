//! The control problem of index 2 that steers a point along the circle, and what a perturbation of its constraint does:
//!
//! ```text
//! y₁' = 0.7 y₂ + sin 2.5z,   y₂' = 1.4 y₁ + cos 2.5z,   0 = y₁² + y₂² − 1 + ε sin ωt.
//! ```
//!
//! Hairer & Wanner, Solving ODEs II, (VII.1.9), figure 1.3 and exercise 6 of VII.1.

use daedal::dae::{Equations, System};
use daedal::scalar::Scalar;
use daedal::{Initial, Options, Problem, RadauIIa, Save, SolveError, Tolerance, solve};

/// The problem with its perturbation.
#[derive(Clone, Copy, Default)]
struct Steering {
    epsilon: f64,
    omega: f64,
}

impl Equations for Steering {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let angle = x[2] * 2.5;
        r[0] = xdot[0] - x[1] * 0.7 - angle.sin();
        r[1] = xdot[1] - x[0] * 1.4 - angle.cos();
        r[2] = x[0].square() + x[1].square() - 1.0 + (t * self.omega).sin() * self.epsilon;
    }
}

impl Steering {
    /// The angle −0.5, with the control of the hidden constraint: sin(2.5z + φ) = −1.05 sin 2φ − εω/2.
    fn initial(self) -> Initial {
        let (phi, slope) = (-0.5_f64, self.epsilon * self.omega);
        let control = ((-1.05 * (2.0 * phi).sin() - slope / 2.0).asin() - phi) / 2.5;
        Initial::new(0.0, &[phi.cos(), phi.sin(), control])
    }
}

/// (y₁, y₂, z) at times.
fn values(steering: Steering, times: &[f64], tolerance: f64) -> Vec<[f64; 3]> {
    let system = System::of(&steering);
    let problem = Problem::new(&system, steering.initial(), times[times.len() - 1]);
    let tolerance = Tolerance::new(tolerance, tolerance);
    let options = Options { tolerance, save: Save::At(times.to_vec()), ..Options::default() };
    let solution = solve(&problem, &RadauIIa::default(), &options).unwrap();
    (0..solution.len()).map(|k| std::array::from_fn(|i| solution.state(k)[i])).collect()
}

#[test]
fn the_control_problem_has_the_tabulated_solution() {
    let table = [
        (0.1, [0.944771483381, -0.327729834146, 0.416710827644]),
        (0.2, [0.993076016972, -0.117473505586, 0.146100360615]),
        (0.3, [0.992783052821, 0.119924184511, -0.149167119786]),
        (0.4, [0.944101677850, 0.329654397636, -0.419295517546]),
    ];
    let found = values(Steering::default(), &table.map(|(t, _)| t), 1e-11);
    for ((t, expected), found) in table.iter().zip(found) {
        assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-9), "{t}: {found:?}");
    }
}

/// T3: g_y f_z vanishes at sin 2φ = 1/1.05, which is reached after a finite time.
#[test]
fn the_run_stops_at_the_singular_angle() {
    let steering = Steering::default();
    let system = System::of(&steering);
    let options = Options { tolerance: Tolerance::new(1e-9, 1e-9), ..Options::default() };
    let error = solve(&Problem::new(&system, steering.initial(), 1.0), &RadauIIa::default(), &options).unwrap_err();
    let SolveError::Stopped { cause, partial } = error else { panic!("{error}") };
    println!("{cause}");
    assert!((cause.time() - 0.621962170962).abs() < 1e-4, "{cause}");
    let angle = partial.end.x[1].atan2(partial.end.x[0]).to_degrees();
    assert!((angle - 36.1236049190).abs() < 0.5, "{angle}");
}

/// T4: Δz grows like εω, Δy does not, but for the quadratic term (εω)².
#[test]
fn a_fast_perturbation_moves_the_control_but_not_the_state() {
    let times: Vec<f64> = (1..=600).map(|k| 0.3 * f64::from(k) / 600.0).collect();
    let calm = values(Steering::default(), &times, 1e-9);
    let deviation = |epsilon: f64, omega: f64| {
        let mut largest = [0.0_f64; 2];
        for (moved, calm) in values(Steering { epsilon, omega }, &times, 1e-9).iter().zip(&calm) {
            largest[0] = largest[0].max((moved[0] - calm[0]).hypot(moved[1] - calm[1]));
            largest[1] = largest[1].max((moved[2] - calm[2]).abs());
        }
        largest
    };
    let epsilon = 1e-4;
    let mut quotients = Vec::new();
    for (omega, state, control) in [(10.0, 1.0e-4, 4.3e-4), (100.0, 1.1e-4, 4.2e-3), (1000.0, 6.3e-4, 4.7e-2)] {
        let [dy, dz] = deviation(epsilon, omega);
        println!("{omega}: {dy:e} {dz:e}");
        assert!((0.5..2.0).contains(&(dy / state)), "ω = {omega}: Δy = {dy:e}");
        assert!((0.5..2.0).contains(&(dz / control)), "ω = {omega}: Δz = {dz:e}");
        quotients.push((dy / epsilon, dz / (epsilon * omega)));
    }
    // Δz/(εω) does not depend on ω; Δy/ε does only through (εω)²/ε
    assert!(quotients.iter().all(|q| (0.5..2.0).contains(&(q.1 / quotients[0].1))));
    assert!((0.5..2.0).contains(&(quotients[1].0 / quotients[0].0)));
    // at ω = 1000, ε → ε/4 divides the quadratic term by 16
    let [dy, dz] = deviation(epsilon / 4.0, 1e3);
    assert!(dy < 6.3e-4 / 8.0, "{dy:e}");
    assert!((0.5..2.0).contains(&(4.0 * dz / 4.7e-2)), "{dz:e}");
}
