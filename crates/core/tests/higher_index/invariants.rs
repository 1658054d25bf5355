//! Which first integrals shipped methods keep by themselves: linear ones all of them, quadratic ones the Gauss methods alone.
//! Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), IV.1 and IV.2.

use daedal::dae::{Equations, System};
use daedal::method::{Integrator, RungeKuttaFamily, Steps};
use daedal::scalar::Scalar;
use daedal::{Bdf, DormandPrince, ImplicitRungeKutta, Initial, Options, Problem, RadauIIa, Tolerance, solve};

/// Three species that react; their sum is constant.
struct Reaction;

impl Equations for Reaction {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let (a, b, c) = (x[0] - x[1] * x[2] * 0.3, x[1].square(), x[2] * x[0] * 0.7);
        (r[0], r[1], r[2]) = (xdot[0] - (c - a), xdot[1] - (a - b), xdot[2] - (b - c));
    }
}

/// The free rigid body with moments of inertia 1, 2, 3: |y|² and Σ yᵢ²/Iᵢ are constant.
struct RigidBody;

const SPINNING: [f64; 3] = [0.6, 0.0, 0.8];

impl Equations for RigidBody {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, _: S, y: &[S], ydot: &[S], r: &mut [S]) {
        let w = [y[0], y[1] / 2.0, y[2] / 3.0];
        r[0] = ydot[0] - (y[1] * w[2] - y[2] * w[1]);
        r[1] = ydot[1] - (y[2] * w[0] - y[0] * w[2]);
        r[2] = ydot[2] - (y[0] * w[1] - y[1] * w[0]);
    }
}

/// |y|² − 1 and Σ yᵢ²/Iᵢ − its value at the start, the larger one.
fn change(y: &[f64]) -> f64 {
    let sum =
        |weights: [f64; 3]| (0..3).map(|i| weights[i] * (y[i] * y[i] - SPINNING[i] * SPINNING[i])).sum::<f64>().abs();
    sum([1.0; 3]).max(sum([1.0, 0.5, 1.0 / 3.0]))
}

#[test]
fn linear_first_integrals_are_kept_by_all_methods() {
    let system = System::of(&Reaction);
    let start = [1.0, 0.5, 0.25];
    let problem = Problem::new(&system, Initial::new(0.0, &start), 20.0);
    let options = Options { tolerance: Tolerance::new(1e-4, 1e-4), ..Options::default() };
    let gauss = ImplicitRungeKutta::of(RungeKuttaFamily::Gauss);
    let lobatto = ImplicitRungeKutta::of(RungeKuttaFamily::LobattoIIIC);
    let methods: [&dyn Integrator; 5] =
        [&RadauIIa::default(), &Bdf::default(), &DormandPrince::default(), &gauss, &lobatto];
    for method in methods {
        let end = solve(&problem, method, &options).unwrap().end.x;
        // far below the tolerance
        assert!((end.iter().sum::<f64>() - 1.75).abs() < 1e-12, "{end:?}");
        assert!((end[0] - start[0]).abs() > 0.1);
    }
}

#[test]
fn quadratic_first_integrals_are_kept_by_gauss_methods_alone() {
    let system = System::of(&RigidBody);
    let problem = Problem::new(&system, Initial::new(0.0, &SPINNING), 200.0);
    let options = Options { tolerance: Tolerance::new(1e-11, 1e-11), h0: Some(0.5), ..Options::default() };
    let of = |family, stages| ImplicitRungeKutta {
        stages,
        steps: Steps::Fixed,
        max_newton: 50,
        ..ImplicitRungeKutta::of(family)
    };
    for stages in [1, 2, 3] {
        let end = solve(&problem, &of(RungeKuttaFamily::Gauss, stages), &options).unwrap().end.x;
        assert!(change(&end) < 1e-10, "{stages} stages: {:e}", change(&end));
        assert!((end[0] - SPINNING[0]).abs() > 1e-2, "{end:?}");
    }
    let explicit = DormandPrince { steps: Steps::Fixed, ..DormandPrince::default() };
    let (radau, lobatto) = (of(RungeKuttaFamily::RadauIA, 3), of(RungeKuttaFamily::LobattoIIIC, 3));
    let others: [&dyn Integrator; 3] = [&explicit, &radau, &lobatto];
    for method in others {
        let end = solve(&problem, method, &options).unwrap().end.x;
        assert!(change(&end) > 1e-6, "{:e}", change(&end));
    }
}
