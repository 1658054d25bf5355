//! Characteristic values of the worked examples. Steinbrecher (2006), 3.2 – 3.5.

use crate::examples::*;
use daedal::Initial;
use daedal::dae::analysis::{Analysis, ClaimVerdict, Finding, PerturbationClass, PerturbationIndex, Scope};
use daedal::dae::{AnalysisError, Structural};
use daedal::dae::{Characteristics, Depth, Equations, System, characterise};
use daedal::graph::Tape;
use daedal::scalar::Scalar;

fn analyse<E: Equations>(equations: &E, x: &[f64]) -> Characteristics {
    let depth = Depth { confirm: true, ..Depth::default() };
    characterise(&System::of(equations), &Initial::new(0.3, x), depth).unwrap()
}

/// (ν_c, ν_s), (d, a, v, u); ν_c = −1 without constraints.
fn numbers(c: &Characteristics) -> ((i32, usize), [usize; 4]) {
    let v = c.values;
    ((c.constraint_level().map_or(-1, |l| l as i32), v.mu), [v.d, v.a, v.v, v.u])
}

/// Rows (r, a, v, d, hypothesis) of the levels.
fn table(c: &Characteristics) -> Vec<(usize, usize, usize, usize, bool, bool)> {
    c.levels.iter().map(|l| (l.rank, l.a, l.v, l.d, l.holds, l.one_full)).collect()
}

#[test]
fn example_7_2_a_leading_matrix_of_varying_rank() {
    let c = analyse(&VaryingRank, &[1.3, 1.0, 1.0]);
    assert_eq!(numbers(&c), ((1, 1), [1, 2, 0, 0]));
    assert_eq!(c.differentiation_index(), Some(2));
    assert_eq!(table(&c), [(3, 1, 0, 1, false, false), (6, 2, 0, 1, true, false), (9, 2, 0, 1, true, true)]);
    // at the singular point the answer is another one: that of the linearised system, x1' = x1, 0 = x2, 0 = x3
    let c = analyse(&VaryingRank, &[0.0, 1.0, 1.0]);
    assert_eq!(numbers(&c), ((0, 0), [1, 2, 0, 0]));
    assert_eq!(c.differentiation_index(), Some(1));
    assert_eq!(table(&c), [(3, 2, 0, 1, true, false), (6, 2, 0, 1, true, true)]);
}

/// 3.5.59: the rows that remain beside x3 = 1 and x2 = 1.
#[test]
fn example_7_2_is_regularised_by_its_first_equation() {
    assert_eq!(numbers(&analyse(&VaryingRankSelected, &[1.3, 1.0, 1.0])), ((0, 0), [1, 2, 0, 0]));
    assert_eq!(numbers(&analyse(&VaryingRankSelected, &[0.0, 1.0, 1.0])), ((0, 0), [1, 2, 0, 0]));
}

#[test]
fn example_7_3_a_singular_pencil() {
    let c = analyse(&SingularPencil, &[0.0, 0.0]);
    assert_eq!(numbers(&c), ((1, 1), [0, 2, 0, 0]));
    assert_eq!(table(&c)[..2], [(2, 1, 0, 0, false, false), (4, 2, 0, 0, true, false)]);
    assert_eq!(c.differentiation_index(), Some(2));
}

#[test]
fn examples_7_4_to_7_6() {
    assert_eq!(numbers(&analyse(&Circle, &[1.0, 0.0])), ((0, 0), [1, 1, 0, 0]));
    let c = analyse(&IndexTwo, &[0.2, (0.3_f64.cos() - 0.2).sqrt(), 0.0]);
    assert_eq!(numbers(&c), ((1, 1), [1, 2, 0, 0]));
    assert_eq!(c.levels.iter().map(|l| l.a).collect::<Vec<_>>(), [1, 2, 2]);
    let c = analyse(&IndexTwoAlgebraic, &[0.3_f64.sin(), 0.3_f64.cos() - 0.3_f64.sin()]);
    assert_eq!(numbers(&c), ((1, 1), [0, 2, 0, 0]));
    assert_eq!(numbers(&analyse(&NoConstraint, &[2.0])), ((-1, 0), [1, 0, 0, 0]));
}

#[test]
fn examples_7_7_and_7_8_over_and_underdetermined() {
    let c = analyse(&Overdetermined, &[0.0]);
    assert_eq!(numbers(&c), ((0, 1), [0, 1, 1, 0]));
    assert_eq!(c.differentiation_index(), None);
    let rows = |c: &Characteristics| table(c).iter().map(|r| (r.0, r.1, r.2, r.3, r.4)).collect::<Vec<_>>();
    assert_eq!(rows(&c)[..2], [(2, 1, 0, 0, false), (3, 1, 1, 0, true)]);
    let c = analyse(&RedundantUnderdetermined, &[0.0, 0.0, 0.7]);
    assert_eq!(numbers(&c), ((1, 2), [0, 2, 1, 1]));
    assert_eq!(rows(&c), [(3, 1, 0, 1, false), (6, 2, 0, 0, false), (8, 2, 1, 0, true), (10, 2, 1, 0, true)]);
    assert!(c.levels.iter().all(|level| !level.one_full));
}

#[test]
fn example_7_9_hessenberg_form_of_order_three() {
    let c = analyse(&HessenbergThree, &[0.1, 0.4, 0.2, 0.3, 0.0]);
    assert_eq!(numbers(&c), ((2, 2), [2, 3, 0, 0]));
    assert_eq!(c.levels.iter().map(|l| l.a).collect::<Vec<_>>(), [1, 2, 3, 3]);
    assert_eq!(c.differentiation_index(), Some(3));
    // b' and c' with all three constraints; b', c' and d' with two of them
    let of = |complete: bool| {
        let c = analyse(&HessenbergSelected { complete }, &[0.1, 0.4, 0.2, 0.3, 0.0]);
        (numbers(&c), c.differentiation_index())
    };
    assert_eq!(of(true), (((0, 0), [2, 3, 0, 0]), Some(1)));
    assert_eq!(of(false), (((1, 1), [2, 3, 0, 0]), Some(2)));
}

#[test]
fn example_7_14_the_formulations_of_the_pendulum() {
    let x = moving_pendulum();
    let six = [x[0], x[1], x[2], x[3], x[4], 0.0];
    let seven = [x[0], x[1], x[2], x[3], x[4], -2.0 * x[0] * x[4], -2.0 * x[1] * x[4] - 13.75];
    assert_eq!(numbers(&analyse(&Pendulum, &x)), ((2, 2), [2, 3, 0, 0]));
    assert_eq!(numbers(&analyse(&PendulumVelocity, &x)), ((1, 1), [3, 2, 0, 0]));
    assert_eq!(numbers(&analyse(&PendulumAcceleration, &x)), ((0, 0), [4, 1, 0, 0]));
    assert_eq!(numbers(&analyse(&PendulumOde, &x)), ((-1, 0), [5, 0, 0, 0]));
    assert_eq!(numbers(&analyse(&PendulumBaumgarte, &x)), ((0, 0), [4, 1, 0, 0]));
    assert_eq!(numbers(&analyse(&PendulumGgl, &six)), ((1, 1), [2, 4, 0, 0]));
    assert_eq!(numbers(&analyse(&PendulumOverdetermined, &x)), ((0, 1), [2, 3, 2, 0]));
    assert_eq!(numbers(&analyse(&PendulumEnergy, &x)), ((2, 2), [1, 4, 1, 0]));
    assert_eq!(numbers(&analyse(&PendulumDummy, &seven)), ((0, 0), [2, 5, 0, 0]));
    let indices = [
        analyse(&Pendulum, &x).differentiation_index(),
        analyse(&PendulumVelocity, &x).differentiation_index(),
        analyse(&PendulumAcceleration, &x).differentiation_index(),
        analyse(&PendulumOde, &x).differentiation_index(),
        analyse(&PendulumBaumgarte, &x).differentiation_index(),
        analyse(&PendulumGgl, &six).differentiation_index(),
        analyse(&PendulumOverdetermined, &x).differentiation_index(),
        analyse(&PendulumDummy, &seven).differentiation_index(),
        analyse(&PendulumEnergy, &x).differentiation_index(),
    ];
    assert_eq!(indices, [Some(3), Some(2), Some(1), Some(0), Some(1), Some(2), None, Some(1), None]);
}

#[test]
fn example_7_13_a_constraint_given_twice() {
    let x = moving_pendulum();
    let c = analyse(&PendulumTwice, &[x[0], x[1], x[2], x[3], x[4], 0.0]);
    assert_eq!(c.levels.iter().map(|l| l.a).collect::<Vec<_>>(), [1, 2, 3, 3]);
    let v = c.values;
    assert_eq!((v.d, v.a, v.v, v.u), (2, 3, 1, 1));
}

/// Formulas of the hidden constraints, level by level, and where they hold.
fn hidden<E: Equations>(equations: &E, x: &[f64]) -> Vec<(usize, String)> {
    let found = full(equations, x).hidden;
    assert!(found.iter().all(|c| c.nonzero.is_empty()), "{found:?}");
    found.into_iter().map(|c| (c.level, c.formula)).collect()
}

#[test]
fn the_hidden_constraints_of_the_pendulum_are_formulas() {
    let expected = [(1, "2*x.0*x.2 + 2*x.1*x.3"), (2, "2*(x.2^2 - 2*x.0^2*x.4) + 2*(x.3^2 - x.1*(2*x.1*x.4 + 13.75))")];
    assert_eq!(hidden(&Pendulum, &moving_pendulum()), expected.map(|(level, formula)| (level, formula.to_string())));
}

#[test]
fn the_hidden_constraints_of_examples_7_5_and_7_9_are_formulas() {
    // k2,x1 k1 + k2,t
    let expected = "x.2 + x.1 + 2*x.1*(x.2 - x.0 + 0.5*sin(x.2)) + sin(t)";
    assert_eq!(hidden(&IndexTwo, &[0.2, (0.3_f64.cos() - 0.2).sqrt(), 0.0]), [(1, expected.to_string())]);
    assert_eq!(hidden(&IndexTwoAlgebraic, &[0.3_f64.sin(), 0.0]), [(1, "x.1 + x.0 - cos(t)".to_string())]);
    // c' + (ab)' + 2 (b (d − a))' + sin t along the rates
    let level_1 = "x.0*x.1 + x.2 + 2*x.1*(x.3 - x.0) - cos(t)";
    let level_2 = "x.1*(x.0*x.1 + x.2) + x.0*(x.3 - x.0) + sin(x.0) + x.4 + 2*((x.3 - x.0)^2 + x.1*(2*x.4 - x.2*x.3 - x.0*x.1 - x.2)) + sin(t)";
    let found = hidden(&HessenbergThree, &[0.1, 0.4, 0.2, 0.3, 0.0]);
    assert_eq!(found, [(1, level_1.to_string()), (2, level_2.to_string())]);
}

/// An input in the constraint, g = a + b² u − sin u with u = 1 + t: the source leaves the term 2 b u' (d − a) of the second level out.
#[test]
fn example_7_9_with_an_input_has_the_total_derivative_of_its_constraint() {
    let (t, x) = (0.3_f64, [0.1, 0.4, 0.2, 0.3, 0.0]);
    let found = full(&HessenbergDriven, &x);
    let level_1 = "x.0*x.1 + x.2 + 2*(t + 1)*x.1*(x.3 - x.0) + x.1^2 - cos(t + 1)";
    assert_eq!((found.hidden[0].level, found.hidden[0].formula.as_str()), (1, level_1));
    let all = &found.restrictions.as_ref().unwrap();
    let level_2 = all.all.iter().find(|c| c.level == 2).unwrap();
    // at any point, consistent or not: g'' along a' = c + ab, b' = d − a, c' = w + sin a, d' = 2w − cd
    let first = &System::of(&HessenbergDriven).first;
    let [a, b, c, d, w] = x;
    let u = 1.0 + t;
    let [a1, b1, c1, d1] = [c + a * b, d - a, w + a.sin(), 2.0 * w - c * d];
    let [a2, b2] = [c1 + a1 * b + a * b1, d1 - a1];
    let exact = a2 + 2.0 * u * (b1 * b1 + b * b2) + 4.0 * b * b1 + u.sin();
    let mut inputs = vec![f64::NAN; all.graph.inputs().len()];
    inputs[first.place(first.t)] = t;
    first.x.iter().zip(x).for_each(|(&e, x)| inputs[first.place(e)] = x);
    let value = Tape::new(&all.graph, &[level_2.residual]).evaluate(&inputs)[0];
    assert!((value.abs() - exact.abs()).abs() < 1e-13, "{value} {exact}");
    assert!((2.0 * b * b1).abs() > 0.1);
}

#[test]
fn the_hidden_constraints_of_examples_7_2_7_3_and_7_10_contain_no_derivative() {
    // x2 = 1, x2 = 0, x1 = 0
    assert_eq!(hidden(&VaryingRank, &[1.3, 1.0, 1.0]), [(1, "x.1 - 1".to_string())]);
    assert_eq!(hidden(&SingularPencil, &[0.0, 0.0]), [(1, "x.1".to_string())]);
    assert_eq!(hidden(&CrossingLines, &[0.0, 0.8]), [(1, "x.0".to_string())]);
}

/// ∂h/∂x of hidden constraints is the span of the array's, level by level: as many as the ranks say.
#[test]
fn as_many_constraints_are_told_as_the_ranks_say() {
    let count = |found: &Analysis| found.restrictions.as_ref().unwrap().all.len();
    for (found, a) in [
        (full(&Pendulum, &moving_pendulum()), 3),
        (full(&VaryingRank, &[1.3, 1.0, 1.0]), 2),
        (full(&SingularPencil, &[0.0, 0.0]), 2),
        (full(&HessenbergThree, &[0.1, 0.4, 0.2, 0.3, 0.0]), 3),
        (full(&Circle, &[1.0, 0.0]), 1),
        (full(&NoConstraint, &[2.0]), 0),
    ] {
        assert_eq!((found.at.values.a, count(&found)), (a, a), "{:?}", found.hidden);
    }
}

/// Example 2.3.15: f = (x, x) and the selector S(x) = (cos(π/4 + x), sin(π/4 + x)), S f = √2 x cos x.
#[test]
fn a_selector_that_depends_on_the_state_adds_roots() {
    struct Redundant;
    impl Equations for Redundant {
        fn dim(&self) -> usize {
            1
        }
        fn rows(&self) -> usize {
            2
        }
        fn residual<S: Scalar>(&self, _: S, x: &[S], _: &[S], r: &mut [S]) {
            r[0] = x[0];
            r[1] = x[0];
        }
    }
    struct Selected;
    impl Equations for Selected {
        fn dim(&self) -> usize {
            1
        }
        fn residual<S: Scalar>(&self, _: S, x: &[S], _: &[S], r: &mut [S]) {
            let angle = x[0] + std::f64::consts::FRAC_PI_4;
            r[0] = angle.cos() * x[0] + angle.sin() * x[0];
        }
    }
    // beside the root that the selector adds, Daedal's own selectors are numbers
    let found = analyse(&Redundant, &[1.5]);
    assert!(found.x()[0].abs() < 1e-12 && found.values.v == 1, "{:?}", found.values);
    let found = analyse(&Selected, &[1.5]);
    assert!((found.x()[0] - std::f64::consts::FRAC_PI_2).abs() < 1e-9, "{:?}", found.x());
}

fn full<E: Equations>(equations: &E, x: &[f64]) -> Analysis {
    daedal::dae::analysis::analyse(&System::of(equations), &Initial::new(0.3, x), Scope::default()).unwrap()
}

#[test]
fn example_7_3_the_structural_index_is_one_and_the_true_one_two() {
    let found = full(&SingularPencil, &[0.0, 0.0]);
    assert_eq!(found.at.differentiation_index(), Some(2));
    assert!(matches!(found.structural, Structural::Regular { index: 1, trusted: false, .. }));
    assert!(found.findings.contains(&Finding::StructuralIndexDiffers { structural: 1, numerical: 2 }));
    assert!(found.findings.contains(&Finding::StructureMisleads));
}

#[test]
fn example_7_2_points_beside_the_singular_one_are_regular() {
    let found = full(&VaryingRank, &[0.0, 1.0, 1.0]);
    assert_eq!(found.at.values.mu, 0);
    assert!(found.elsewhere.iter().all(|e| e.values.mu == 1), "{:?}", found.elsewhere);
    assert!(found.findings.iter().any(|f| matches!(f, Finding::SingularPoint { .. })));
    let found = full(&VaryingRank, &[1.3, 1.0, 1.0]);
    assert!(found.findings.is_empty(), "{:?}", found.findings);
    assert_eq!(found.perturbation, PerturbationIndex::MayBeHigher);
}

#[test]
fn example_7_1_a_multiple_root_is_told() {
    let found = full(&DoubleRoot, &[0.0]);
    println!("{:?} {:?} {:?}", found.at.values, found.elsewhere, found.findings);
    assert!(found.findings.iter().any(|f| matches!(f, Finding::SingularPoint { .. })));
}

/// t x = 0, x(0) = 0: only zero is a solution, and every c δ is one as a distribution. Wunderlich (2008), example 2.52.
#[test]
fn an_equation_that_vanishes_at_the_start_is_a_singular_point() {
    let system = System::of(&Vanishing);
    let at = |t: f64, x: f64| daedal::dae::analysis::analyse(&system, &Initial::new(t, &[x]), Scope::default());
    let found = at(0.0, 0.0).unwrap();
    assert!(found.findings.iter().any(|f| matches!(f, Finding::SingularPoint { .. })), "{:?}", found.findings);
    // later nothing is open
    let found = at(0.5, 0.3).unwrap();
    assert_eq!(numbers(&found.at), ((0, 0), [0, 1, 0, 0]));
    assert_eq!(found.at.x(), [0.0]);
}

#[test]
fn example_7_8_redundancy_and_undetermined_unknowns_are_named() {
    let found = full(&RedundantUnderdetermined, &[0.0, 0.0, 0.7]);
    let told: Vec<String> = found.redundant.iter().map(ToString::to_string).collect();
    let free: Vec<String> = found.undetermined.iter().map(ToString::to_string).collect();
    println!("{told:?} {free:?} {:?} {:?}", found.free, found.findings);
    assert_eq!(free, ["x.2"]);
    assert_eq!(told.len(), 1);
    assert!(matches!(found.structural, Structural::Singular { .. }));
}

#[test]
fn example_7_10_crossing_lines_have_different_answers() {
    let at = |x: &[f64]| {
        let c = analyse(&CrossingLines, x);
        (c.levels.iter().map(|l| l.a).collect::<Vec<_>>(), c.values)
    };
    let (a, values) = at(&[0.0, 0.8]);
    assert_eq!((a, values.mu, values.v, values.u), (vec![1, 1, 1], 1, 1, 1));
    // where the lines meet E vanishes, and ∂F/∂x = (2x1' + x2' − 1, x1') is (−1, 0) for a point at rest: x1 = 0 is seen at once
    let c = analyse(&CrossingLines, &[0.0, 0.0]);
    assert_eq!((c.x(), table(&c)[0]), (&[0.0, 0.0][..], (1, 1, 1, 0, true, false)));
    // on the other line level 0 holds and level 1 does not: 0.7 x1' + 0.7 x2' = 0.7, and 0 by the differentiated constraint
    let fixed = Initial::new(0.3, &[0.7, -0.7]).fix(0, 0.7).fix(1, -0.7);
    let error = characterise(&System::of(&CrossingLines), &fixed, Depth::default()).unwrap_err();
    let AnalysisError::FixedInconsistent { equations, .. } = &error else { panic!("{error}") };
    assert_eq!(equations.iter().map(|e| e.differentiated).collect::<Vec<_>>(), [0, 1]);
    assert!(equations.iter().all(|e| (e.residual.abs() - 0.35).abs() < 1e-6), "{equations:?}");
    // released, it goes to where both lines meet
    let found = analyse(&CrossingLines, &[0.7, -0.7]);
    assert!(found.x().iter().all(|x| x.abs() < 1e-9), "{:?}", found.x());
}

#[test]
fn the_pendulum_has_structural_index_three_and_two_free_unknowns() {
    let found = full(&Pendulum, &moving_pendulum());
    assert!(matches!(found.structural, Structural::Regular { index: 3, trusted: true, .. }));
    assert_eq!(found.free.len(), 2);
    assert!(found.findings.is_empty(), "{:?}", found.findings);
}

#[test]
fn the_perturbation_index_of_known_classes_is_the_differentiation_index() {
    let index = |found: Analysis| found.perturbation;
    let known = |index, class| PerturbationIndex::Known { index, class };
    assert_eq!(index(full(&Pendulum, &moving_pendulum())), known(3, PerturbationClass::Hessenberg));
    assert_eq!(index(full(&HessenbergThree, &[0.1, 0.4, 0.2, 0.3, 0.0])), known(3, PerturbationClass::Hessenberg));
    let x = [0.2, (0.3_f64.cos() - 0.2).sqrt(), 0.0];
    assert_eq!(index(full(&IndexTwo, &x)), known(2, PerturbationClass::Hessenberg));
    assert_eq!(index(full(&SingularPencil, &[0.0, 0.0])), known(2, PerturbationClass::Linear));
    assert_eq!(index(full(&PendulumOde, &moving_pendulum())), PerturbationIndex::Open);
    assert_eq!(index(full(&PendulumAcceleration, &moving_pendulum())), known(1, PerturbationClass::SemiExplicit));
    assert_eq!(index(full(&Overdetermined, &[0.0])), PerturbationIndex::Undefined);
}

#[test]
fn stated_hidden_constraints_of_a_rust_model_are_compared() {
    let mut formulas = daedal::dae::Formulas::trace(&Pendulum);
    let [x, y, vx, vy] = [0, 1, 2, 3].map(|j| formulas.input(j, 0).unwrap());
    let derivative = formulas.input(0, 1).unwrap();
    let stated = formulas.graph.with(|| {
        [x * vx + y * vy, (x * vx + y * vy) * x.square(), x.square() + y.square() - 2.0, x - 0.5, derivative - vx]
    });
    formulas.hidden = stated.into_iter().enumerate().map(|(k, e)| (k.to_string(), e)).collect();
    let system = System::new(&formulas, daedal::graph::Interpreted);
    let found =
        daedal::dae::analysis::analyse(&system, &Initial::new(0.3, &moving_pendulum()), Scope::default()).unwrap();
    let verdicts: Vec<ClaimVerdict> = found.comparison.claims.iter().map(|claim| claim.verdict).collect();
    assert_eq!(verdicts[..2], [ClaimVerdict::Implied; 2]);
    assert!(matches!(verdicts[2], ClaimVerdict::Contradicting { value } if (value + 1.0).abs() < 1e-9), "{verdicts:?}");
    assert!(matches!(verdicts[3], ClaimVerdict::NotImplied { .. }), "{verdicts:?}");
    assert_eq!(verdicts[4], ClaimVerdict::WithDerivatives);
    // the acceleration level is not among them
    assert_eq!((found.comparison.missing.len(), found.comparison.further), (1, 0), "{:?}", found.comparison);
    assert_eq!(found.comparison.missing[0], found.hidden[1].formula);
}
