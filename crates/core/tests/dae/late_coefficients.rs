//! Coefficients that change late, or with the state: what the first times show is not the structure.

use crate::examples::*;
use daedal::dae::{Equations, Form, InForm, System, Unknowns};
use daedal::method::StartFailure;
use daedal::scalar::Scalar;
use daedal::{Initial, Options, Problem, RadauIIa, Solution, SolveError, Tolerance, solve};

example!(
    /// x' = −(1 + max(0, t − 5)³) x + y, 0 = x − sin t.
    LateDamping,
    2,
    2,
    |t, x, d, r| {
        let late = (t - 5.0).max(S::from(0.0));
        r[0] = d[0] + (late.powi(3) + 1.0) * x[0] - x[1];
        r[1] = x[0] - t.sin();
    }
);
example!(
/// x' = (1 if x < ½, else 2) + y, 0 = x − sin t: linear on both sides.
Jump, 2, 2, |t, x, d, r| {
    r[0] = d[0] - (x[0] - 0.5).select(S::from(2.0), S::from(1.0)) - x[1];
    r[1] = x[0] - t.sin();
});

fn run<E: Equations>(equations: &E, form: Form, tend: f64) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
    let options = Options { tolerance: Tolerance::new(1e-8, 1e-8), ..Options::default() };
    let system = System::of(equations);
    solve(
        &Problem::new(&system, Initial::new(0.0, &[0.0, 0.0]), tend),
        &InForm { form, integrator: &RadauIIa::default() },
        &options,
    )
}

#[test]
fn a_coefficient_that_is_constant_until_late_is_not_constant() {
    let exact = 10.0_f64.cos() + 126.0 * 10.0_f64.sin();
    for form in [Form::Auto, Form::Linear, Form::QuasiLinear, Form::DerivativeArray] {
        let y = run(&LateDamping, form, 10.0).unwrap().end.x[1];
        assert!((y - exact).abs() < 1e-5, "{form:?}: {y} {exact}");
    }
}

#[test]
fn a_condition_on_the_state_is_not_linear() {
    let refused = run(&Jump, Form::Linear, 1.0).unwrap_err();
    assert!(matches!(refused, SolveError::Start(StartFailure::NotLinear)), "{refused:?}");
    // y jumps where sin t = ½: a method may stop there, or go over it
    for form in [Form::Auto, Form::QuasiLinear, Form::DerivativeArray] {
        match run(&Jump, form, 1.0) {
            Ok(solution) => {
                let y = solution.end.x[1];
                assert!((y - (1.0_f64.cos() - 2.0)).abs() < 1e-8, "{form:?}: {y}");
            }
            Err(SolveError::Stopped { partial, .. }) => assert!((partial.end.t.sin() - 0.5).abs() < 1e-6),
            Err(error) => panic!("{form:?}: {error:?}"),
        }
    }
}
