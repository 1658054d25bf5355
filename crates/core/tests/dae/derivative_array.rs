//! T16: ranks of the derivative array of the pendulum, and integration through it. Hairer & Wanner II, VII.2; Wunderlich (2008), 2.2.

use crate::examples::{HorizontalPendulum, Pendulum, moving_pendulum};
use daedal::dae::{Depth, Form, InForm, System, characterise, fit_derivatives, levels};
use daedal::linalg::{Matrix, RankRule};
use daedal::{Initial, Options, Problem, RadauIIa, Tolerance, solve};

/// φ = −0.8, φ' = 0.9.
fn point() -> [f64; 5] {
    let ((s, c), speed) = ((-0.8_f64).sin_cos(), 0.9);
    [c, s, -speed * s, speed * c, speed * speed - s]
}

#[test]
fn t16_ranks_of_the_pendulum_level_by_level() {
    let system = System::of(&HorizontalPendulum);
    let mut array = system.array();
    let mut jet = point().to_vec();
    jet.resize(6 * 5, 0.0);
    assert!(fit_derivatives(&mut array, 4, 0.0, &mut jet, RankRule::default()).unwrap().consistent());
    // equations, rank of the part without x, 1-full
    let table = [(1, 10, 8, false), (2, 15, 12, false), (3, 20, 17, true), (4, 25, 22, true)];
    let mut corank = 0;
    for (m, equations, rank, one_full) in table {
        let mut J = Matrix::zeros(equations, 5 * (m + 2));
        array.jacobian(m, 0.0, &jet[..5 * (m + 2)], &mut J).unwrap();
        let (found, _, ranks) = levels::analyse(&J, (5, 5), m, corank, None, RankRule::default()).unwrap();
        assert_eq!(ranks.derivatives, rank, "m = {m}");
        assert_eq!(found.one_full, one_full, "m = {m}");
        assert_eq!(found.rank, equations, "m = {m}: full row rank");
        assert_eq!(found.a, if m == 1 { 2 } else { 3 }, "m = {m}");
        corank = equations - found.rank;
    }
}

#[test]
fn t16_the_differentiation_index_is_three_with_three_constraints() {
    let system = System::of(&HorizontalPendulum);
    let depth = Depth { confirm: true, ..Depth::default() };
    let found = characterise(&system, &Initial::new(0.0, &point()), depth).unwrap();
    assert_eq!((found.differentiation_index(), found.values.a, found.values.d), (Some(3), 3, 2));
    assert_eq!(found.levels.iter().map(|l| l.one_full).collect::<Vec<_>>(), [false, false, false, true]);
}

#[test]
fn t16_integration_through_the_array_meets_the_reference() {
    let reference = [
        0.949_866_994_783_450_4,
        -0.312_654_269_475_177_1,
        0.007_635_150_101_058_841,
        0.023_196_155_591_884_906,
        0.313_250_626_626_485_7,
    ];
    let system = System::of(&HorizontalPendulum);
    // the published errors of an explicit pair in u_b at 1e-6 and 1e-10 are 5e-7 and 7e-11, residuals at rounding
    for (tolerance, most) in [(1e-6, 5e-7), (1e-8, 5e-9), (1e-10, 7e-11)] {
        let options = Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() };
        let problem = Problem::new(&system, Initial::new(0.0, &point()), 1.0);
        let solution =
            solve(&problem, &InForm { form: Form::DerivativeArray, integrator: &RadauIIa::default() }, &options)
                .unwrap();
        let error = solution.end.x.iter().zip(reference).map(|(x, e)| (x - e).abs()).fold(0.0, f64::max);
        println!("T16 {tolerance:e}: {error:.1e}, {} steps, {:?}", solution.statistics.steps, solution.max_residuals);
        assert!(error < most, "{tolerance:e}: {error:e}");
        assert!(solution.max_residuals.hidden.unwrap() < 1e-5 * tolerance.max(1e-9));
    }
}

#[test]
fn hybrid_1_3_the_pendulum_in_first_order_form() {
    let found = characterise(&System::of(&Pendulum), &Initial::new(0.0, &moving_pendulum()), Depth::default()).unwrap();
    let v = found.values;
    assert_eq!((v.mu, v.d, v.a, v.v, v.u), (2, 2, 3, 0, 0));
    let last = found.levels.last().unwrap();
    assert_eq!((last.rank, last.rank - last.a), (15, 12));
}
