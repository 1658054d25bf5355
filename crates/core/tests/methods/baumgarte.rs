//! Baumgarte's terms in an explicit method: they hold the constraints, and large parameters make the equations stiff. Steinbrecher, thesis
//! (2006), 4.6.

use daedal::dae::{Equations, System};
use daedal::scalar::Scalar;
use daedal::{DormandPrince, Initial, Options, Pair, Problem, Tolerance, solve};

/// The pendulum as an ordinary equation of p and v: v' = f − Gᵀλ with λ from g'' + 2α g' + α² g = 0.
struct Stabilised {
    alpha: f64,
}

impl Equations for Stabilised {
    fn dim(&self) -> usize {
        4
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let ([p, q, u, v], gravity) = ([x[0], x[1], x[2], x[3]], 13.75);
        // of g = (p² + q² − 1)/2
        let square = p.square() + q.square();
        let (g, rate) = ((square - 1.0) * 0.5, p * u + q * v);
        let curvature = u.square() + v.square() - q * gravity;
        let lambda = (curvature + rate * (2.0 * self.alpha) + g * self.alpha.powi(2)) / square;
        (r[0], r[1]) = (xdot[0] - u, xdot[1] - v);
        (r[2], r[3]) = (xdot[2] + p * lambda, xdot[3] + q * lambda + gravity);
    }
}

/// From the residuals g = 1e-4 and gI = 2e-4 of g = p² + q² − 1 to t = 10 at 1e-8. Another program with a pair of the same orders makes so many
/// evaluations and ends with such residuals.
#[test]
fn large_parameters_cost_evaluations_and_buy_little() {
    let listed = [(0.0, 3284.0, 2.1e-3), (5.0, 3746.0, 2.9e-9), (20.0, 9800.0, 6.4e-10), (200.0, 61904.0, 2.5e-11)];
    // one step may use the whole tolerance there, a fifth of it here
    let tolerance = Tolerance::new(5e-8, 5e-8);
    let options = Options { tolerance, max_steps: 1_000_000, ..Options::default() };
    for (alpha, evaluations, residual) in listed {
        let system = System::of(&Stabilised { alpha });
        let problem = Problem::new(&system, Initial::new(0.0, &[1.0, 0.01, 0.0, 0.01]), 10.0);
        let solution = solve(&problem, &DormandPrince::of(Pair::Order5), &options).unwrap();
        let (x, found) = (&solution.end.x, solution.statistics.residuals as f64);
        let g = (x[0] * x[0] + x[1] * x[1] - 1.0).abs();
        println!("{alpha}: {found} for {evaluations}, {g:.2e} for {residual:e}");
        assert!((found / evaluations - 1.0).abs() < 0.03, "{alpha}: {found} for {evaluations}");
        assert!((g / residual - 1.0).abs() < 0.1, "{alpha}: {g:e} for {residual:e}");
    }
}
