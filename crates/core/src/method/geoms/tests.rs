//! The decompositions of the Newton systems: published numbers for the pendulum, and dense solves of the same systems.

#[path = "../../../tests/support/mod.rs"]
mod support;

use crate::Geoms;
use crate::linalg::{Lu, Matrix, RankRule, Svd};
use crate::method::Stages;
use crate::method::collocation::tableau::{ALPHA, BETA, GAMMA, T_INVERSE};
use crate::method::collocation::{NewtonPath, StageVectors, Tableau};
use crate::method::controller::Control;
use crate::method::convergence::{Convergence, IterationEnd, Limits};
use crate::method::geoms::constraint::ConstraintPart;
use crate::method::geoms::differential::DifferentialPart;
use crate::method::geoms::regularised::{Regularised, StageRows};
use crate::method::geoms::{Decomposition, Polish, Selection};
use crate::method::weights::Weights;
use crate::method::{Method, State, Stepper};
use crate::motion::{Form, Layout, Mechanism, ReducedArray};
use crate::{Options, Statistics, Tolerance};
use faer::c64;
use proptest::prelude::*;
use support::{Academic, DoubledPendulum, PENDULUM, SliderCrank, distance, tolerance};

/// Step size of the published numbers.
const H: f64 = 0.01;

/// a, λ, v, p of the pendulum at its lowest point with speed 2.8; a = (0, −g + 2λ).
const START: [f64; 7] = [0.0, 7.84, 10.795, 2.8, 0.0, 0.0, -1.0];

/// The decomposed constraints and the selected differential part at a state.
fn decompose(
    array: &mut dyn ReducedArray,
    t: f64,
    x: &[f64],
    kinds: (Decomposition, Decomposition),
    selection: Selection,
) -> (ConstraintPart, DifferentialPart) {
    let layout = array.layout().clone();
    let mut rows = vec![0.0; layout.rows()];
    array.evaluate(t, x, &mut rows).unwrap();
    let mut constraints = ConstraintPart::new(&layout, kinds.0, RankRule::default());
    array.dense_jacobian(t, x, &rows, &mut constraints.F).unwrap();
    constraints.decompose().unwrap();
    let mut differential = DifferentialPart::new(&layout, &constraints, kinds.1, selection, 3);
    differential.select(&mut constraints, Tableau::of(3), H).unwrap();
    differential.decompose(&mut constraints, Tableau::of(3), H).unwrap();
    (constraints, differential)
}

#[test]
fn the_start_of_the_published_numbers_is_consistent() {
    let mut array = PENDULUM.array(Form::StrangenessFree, false);
    let layout = array.layout().clone();
    let mut rows = vec![0.0; layout.rows()];
    array.evaluate(0.0, &START, &mut rows).unwrap();
    assert!(rows[..layout.algebraic()].iter().all(|r| r.abs() < 1e-14), "{rows:?}");
}

#[test]
fn the_eliminated_pendulum_has_the_published_matrices() {
    let mut array = PENDULUM.array(Form::StrangenessFree, false);
    let layout = array.layout().clone();
    let (constraints, _) =
        decompose(&mut *array, 0.0, &START, (Decomposition::Lu, Decomposition::Lu), Selection::Joint);
    // free are v₁ and p₁; rows dyn1, dyn2, kin1, kin2
    let mut pivots = [false; 7];
    constraints.mark_pivots(&mut pivots);
    assert_eq!(pivots, [false, false, false, false, true, false, true]);
    assert_eq!(constraints.free_counts(), [0, 0, 1, 1]);
    let V_D = [[1.0, 0.0], [0.0, 2.8], [0.0, 1.0], [0.0, 0.0]];
    let V_B = [[0.0, 21.59], [-5.6, 0.0], [-1.0, 0.0], [0.0, -2.8]];
    let E1 = [[3.637834252744, 0.2159], [-0.056, 10.18593590768], [-0.01, 3.637834252744], [0.0, -0.028]];
    for i in 0..4 {
        for k in 0..2 {
            let column = constraints.free[k];
            let (d, b) = (constraints.D[(i, column)], constraints.F[(layout.algebraic() + i, column)]);
            assert!((d - V_D[i][k]).abs() < 1e-14, "V_D({i}, {k}) = {d}");
            assert!((b - V_B[i][k]).abs() < 1e-13, "V_B({i}, {k}) = {b}");
            assert!((GAMMA * d + H * b - E1[i][k]).abs() < 1e-11);
        }
    }
}

#[test]
fn joint_and_blockwise_selection_pick_the_published_rows() {
    // and the condition of the selected rows of E1
    for (selection, expected, condition) in [(Selection::Joint, [0, 1], 2.80), (Selection::Blockwise, [0, 2], 1.06)] {
        for kind in [Decomposition::Lu, Decomposition::Qr, Decomposition::Svd] {
            let mut array = PENDULUM.array(Form::StrangenessFree, false);
            let (constraints, differential) = decompose(&mut *array, 0.0, &START, (kind, Decomposition::Lu), selection);
            let mut selected = differential.selected().unwrap().to_vec();
            selected.sort_unstable();
            assert_eq!(selected, expected, "{selection:?} {kind:?}");
            let (mut svd, first) = (Svd::new(2, 2), array.layout().algebraic());
            for (i, row) in selected.into_iter().enumerate() {
                for (k, &j) in constraints.free.iter().enumerate() {
                    svd.A[(i, k)] = GAMMA * constraints.D[(row, j)] + H * constraints.F[(first + row, j)];
                }
            }
            svd.factor().unwrap();
            let found = svd.sigma(0) / svd.sigma(1);
            assert!((found - condition).abs() < 5e-3, "{selection:?} {kind:?}: {found}");
        }
    }
}

#[test]
fn the_first_newton_increments_are_the_published_ones() {
    // rows ΔZ₁, ΔZ₂, ΔZ₃; columns λ, v₁, v₂, p₁, p₂
    let blockwise = [
        [-0.006658280086, -0.002377957174, 0.112189529236, 0.040067689013, 0.0],
        [-0.002029538059, -0.000724835021, -0.030008698715, -0.010717392398, 0.0],
        [-0.003907723503, -0.001395615537, 0.077201920997, 0.027572114642, 0.0],
    ];
    let joint = [
        [-0.006657194193, -0.002377569355, 0.112171232338, 0.040061154406, 0.0],
        [-0.002029064760, -0.000724665986, -0.030019224829, -0.010721151725, 0.0],
        [-0.003908052517, -0.001395733042, 0.077199319571, 0.027571185561, 0.0],
    ];
    for (selection, expected) in [(Selection::Blockwise, blockwise), (Selection::Joint, joint)] {
        for kind in [Decomposition::Lu, Decomposition::Qr, Decomposition::Svd] {
            let mut array = PENDULUM.array(Form::StrangenessFree, false);
            let layout = array.layout().clone();
            let (constraints, differential) = decompose(&mut *array, 0.0, &START, (kind, Decomposition::Lu), selection);
            let mut stages = StageVectors::new(layout.dim(), Tableau::of(3), 3);
            let limits = Limits { most: 1, tolerance: 1e-12, default_rate: 0.001, rounding: 0.0 };
            let mut weights = Weights::of_array(&layout, &Tolerance::new(1e-7, 1e-7), |_| true, |_| 1).unwrap();
            weights.at(&START);
            let mut equations = Regularised { array, constraints, differential, rows: StageRows::new(&layout, 3) };
            let mut eta = 1.0;
            let way = (NewtonPath::Tangential, Convergence::new(limits, &mut eta));
            let counters = &mut Statistics::default();
            let outcome = stages.iterate(&mut equations, (0.0, &START, H), &weights, way, &mut eta, counters);
            assert!(matches!(outcome, IterationEnd::Slow { iterations: 1, .. }));
            for (r, expected) in expected.iter().enumerate() {
                // ΔZ = T⁻¹ Y after one iteration from zero
                let increment: Vec<f64> =
                    (2..7).map(|j| (0..3).map(|s| T_INVERSE[r][s] * stages.Z(s)[j]).sum()).collect();
                assert!(distance(&increment, expected) < 1e-12, "{selection:?} {kind:?}: {increment:?}");
            }
        }
    }
}

#[test]
fn one_step_gives_the_published_digits() {
    let blockwise = [10.786919232507, 2.796979074924, 0.078317927528, 0.027989928017, -0.999608205213];
    let joint = [10.786919232469, 2.796979074910, 0.078317927527, 0.027989928017, -0.999608205213];
    for (selection, expected) in [(Selection::Blockwise, blockwise), (Selection::Joint, joint)] {
        for kind in [Decomposition::Lu, Decomposition::Qr, Decomposition::Svd] {
            let method = Geoms {
                control: Control::Fixed,
                constraint_decomposition: Some(kind),
                selection,
                newton_tolerance: Some(1e-8),
                polish: Polish::Off,
                ..Geoms::default()
            };
            let options = Options { h0: Some(H), tolerance: Tolerance::new(1e-7, 1e-7), ..Options::default() };
            let at = State { t: 0.0, x: START.to_vec() };
            let mut stepper = method.start(&PENDULUM as &dyn Mechanism, at, &options).unwrap();
            stepper.advance(1.0).unwrap();
            assert_eq!(stepper.state().t, H);
            let x = &stepper.state().x[2..];
            assert!(distance(x, &expected) < 1e-11, "{selection:?} {kind:?}: {x:?}");
            assert!(stepper.residuals().position.unwrap() < 1e-12);
        }
    }
    // the motion itself, where seven stages leave rounding only
    let exact = [10.786919232523, 2.796979074929, 0.078317927528, 0.027989928017, -0.999608205213];
    let method = Geoms { control: Control::Fixed, stages: Stages::Fixed(7), ..Geoms::default() };
    let options = Options { h0: Some(H), tolerance: Tolerance::new(1e-12, 1e-12), ..Options::default() };
    let at = State { t: 0.0, x: START.to_vec() };
    let mut stepper = method.start(&PENDULUM as &dyn Mechanism, at, &options).unwrap();
    stepper.advance(1.0).unwrap();
    assert!(distance(&stepper.state().x[2..], &exact) < 1e-12, "{:?}", stepper.state().x);
}

#[test]
fn the_error_of_one_step_is_the_published_one() {
    // λ, v, p; and the norm with the tolerance 1e-7, which is 0.1 · 1e-7^(2/3) = 2.154e-6 inside
    let blockwise = ([-5.146544e-7, -1.838052e-7, -4.506795e-9, -1.609570e-9, 0.0], 0.0135585);
    let joint = ([-5.138625e-7, -1.835223e-7, -1.387909e-8, -4.956818e-9, 0.0], 0.0138435);
    for (selection, (vector, norm)) in [(Selection::Blockwise, blockwise), (Selection::Joint, joint)] {
        for kind in [Decomposition::Lu, Decomposition::Qr, Decomposition::Svd] {
            let method = Geoms {
                constraint_decomposition: Some(kind),
                newton_tolerance: Some(1e-8),
                selection,
                ..Geoms::reproduction()
            };
            let options = Options { h0: Some(H), tolerance: Tolerance::new(1e-7, 1e-7), ..Options::default() };
            let mut stepper = method.at(&PENDULUM, State { t: 0.0, x: START.to_vec() }, &options).unwrap();
            stepper.advance(1.0).unwrap();
            assert_eq!(stepper.state().t, H);
            let step = &mut stepper.formula;
            // seven digits are listed
            let apart = distance(&step.error[2..], &vector);
            assert!(apart < 1e-12, "{selection:?} {kind:?}: {:?}", &step.error[2..]);
            // weights are those of the begin
            step.collocation.weights.at(&START);
            let found = step.collocation.weights.norm(&step.error);
            assert!((found - norm).abs() < 1e-7, "{selection:?} {kind:?}: {found}");
        }
    }
}

#[test]
fn every_decomposition_of_the_constraints_makes_the_same_run() {
    let at = State { t: 0.0, x: START.to_vec() };
    let ends: Vec<Vec<f64>> = [Decomposition::Lu, Decomposition::Qr, Decomposition::Svd]
        .into_iter()
        .map(|kind| {
            let method = Geoms {
                control: Control::Fixed,
                constraint_decomposition: Some(kind),
                differential_decomposition: Some(Decomposition::Qr),
                newton_tolerance: Some(1e-8),
                ..Geoms::default()
            };
            let options = Options { h0: Some(H), ..tolerance(1e-7) };
            let mut stepper = method.start(&PENDULUM as &dyn Mechanism, at.clone(), &options).unwrap();
            for _ in 0..100 {
                stepper.advance(10.0).unwrap();
            }
            stepper.state().x.clone()
        })
        .collect();
    assert!(distance(&ends[0], &ends[1]) < 1e-9, "{ends:?}");
    assert!(distance(&ends[0], &ends[2]) < 1e-9, "{ends:?}");
}

/// D of the differential rows r, v, p.
fn leading(layout: &Layout) -> Matrix {
    let mut D = Matrix::zeros(layout.differential(), layout.dim());
    for (i, j) in layout.r().chain(layout.v()).chain(layout.p()).enumerate() {
        D[(i, j)] = 1.0;
    }
    D
}

/// Largest difference between the solves by parts and dense solves of [C; S(γD + hB)] and [C; S((α+iβ)D + hB)],
/// relative to the solutions.
fn error_of_solves(
    system: &dyn Mechanism,
    form: Form,
    kind: Decomposition,
    selection: Selection,
    x: &[f64],
    b: &[f64],
) -> f64 {
    let mut array = system.array(form, false);
    let layout = array.layout().clone();
    let (n, algebraic) = (layout.dim(), layout.algebraic());
    let t = 0.3;
    let mut rows = vec![0.0; layout.rows()];
    array.evaluate(t, x, &mut rows).unwrap();
    let mut F = Matrix::zeros(layout.rows(), n);
    array.dense_jacobian(t, x, &rows, &mut F).unwrap();
    let (mut constraints, mut differential) = decompose(&mut *array, t, x, (kind, Decomposition::Lu), selection);
    let selected = differential.selected().unwrap().to_vec();
    assert_eq!(algebraic + selected.len(), n);
    let D = leading(&layout);

    // right-hand sides: three of the algebraic, three of the differential rows
    let (mD, pick) = (layout.differential(), |k: usize| b[k % b.len()]);
    let mut bC: Vec<Vec<f64>> = (0..3).map(|s| (0..algebraic).map(|i| pick(7 * s + i)).collect()).collect();
    let bD: Vec<Vec<f64>> = (0..3).map(|s| (0..mD).map(|i| pick(11 * s + 5 * i + 3)).collect()).collect();

    // dense
    let (mut real, mut complex) = (Lu::<f64>::new(n), Lu::<c64>::new(n));
    let mut exact_real = vec![0.0; n];
    let mut exact_complex = vec![c64::new(0.0, 0.0); n];
    for i in 0..algebraic {
        for j in 0..n {
            real.A[(i, j)] = F[(i, j)];
            complex.A[(i, j)] = c64::new(F[(i, j)], 0.0);
        }
        exact_real[i] = bC[0][i];
        exact_complex[i] = c64::new(bC[1][i], bC[2][i]);
    }
    for (k, &row) in selected.iter().enumerate() {
        let i = algebraic + k;
        for j in 0..n {
            let (d, hb) = (D[(row, j)], H * F[(algebraic + row, j)]);
            real.A[(i, j)] = GAMMA * d + hb;
            complex.A[(i, j)] = c64::new(ALPHA * d + hb, BETA * d);
        }
        exact_real[i] = bD[0][row];
        exact_complex[i] = c64::new(bD[1][row], bD[2][row]);
    }
    real.factor().unwrap();
    complex.factor_complex().unwrap();
    real.solve(&mut exact_real);
    complex.solve(&mut exact_complex);

    // by parts
    for b in &mut bC {
        constraints.transform(b);
    }
    let (mut re, mut im) = (vec![0.0; n], vec![0.0; n]);
    let mut xi = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
    differential.solve_real(&constraints, &bC[0], &bD[0], &mut re);
    constraints.substitute(&bC[0], &mut re, &mut xi[0]);
    differential.solve_complex(0, &constraints, [&bC[1], &bC[2]], [&bD[1], &bD[2]], &mut re, &mut im);
    constraints.substitute(&bC[1], &mut re, &mut xi[1]);
    constraints.substitute(&bC[2], &mut im, &mut xi[2]);

    let size = |x: &[f64]| x.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    let (x2, x3): (Vec<f64>, Vec<f64>) = exact_complex.iter().map(|z| (z.re, z.im)).unzip();
    let real_error = distance(&xi[0], &exact_real) / size(&exact_real);
    let complex_error = distance(&xi[1], &x2).max(distance(&xi[2], &x3)) / size(&x2).max(size(&x3));
    real_error.max(complex_error)
}

const KINDS: [Decomposition; 3] = [Decomposition::Lu, Decomposition::Qr, Decomposition::Svd];

/// A vector of numbers in [−1, 1].
fn numbers(n: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1.0..1.0_f64, n)
}

fn perturbed(x: &[f64], by: &[f64], size: f64) -> Vec<f64> {
    x.iter().zip(by).map(|(x, d)| x + size * d).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pendulum_systems_are_solved_like_dense_ones(d in numbers(7), b in numbers(23)) {
        let x = perturbed(&START, &d, 0.3);
        for kind in KINDS {
            for selection in [Selection::Joint, Selection::Blockwise] {
                let error = error_of_solves(&PENDULUM, Form::StrangenessFree, kind, selection, &x, &b);
                prop_assert!(error < 1e-12, "{error:e} {kind:?} {selection:?}");
            }
        }
    }

    #[test]
    fn slider_crank_systems_are_solved_like_dense_ones(d in numbers(7), b in numbers(23)) {
        let x = perturbed(&[-9.8, -3.3, -17.7, 0.0, 0.0, 0.0, 0.0], &d, 0.5);
        for kind in KINDS {
            for selection in [Selection::Joint, Selection::Blockwise] {
                let error = error_of_solves(&SliderCrank { l2: 3.0 }, Form::StrangenessFree, kind, selection, &x, &b);
                prop_assert!(error < 1e-12, "{error:e} {kind:?} {selection:?}");
            }
        }
    }

    #[test]
    fn systems_with_all_kinds_of_variables_are_solved_like_dense_ones(d in numbers(16), b in numbers(29)) {
        // a, w, λ, r, v, s, p near the exact solution at t = 0.3
        let (t, (s, c)) = (0.3_f64, 0.3_f64.sin_cos());
        let exact = [
            -2.0 * s - (1.0 + t) * c, -s, -c, -2.0 * c, c, -t, -2.0 * c, -4.0 * t - t * t,
            c - (1.0 + t) * s, c, -s, 1.0 + t, t * c, (1.0 + t) * c, s, c,
        ];
        let x = perturbed(&exact, &d, 0.05);
        for kind in KINDS {
            for selection in [Selection::Joint, Selection::Blockwise] {
                let error = error_of_solves(&Academic, Form::StrangenessFree, kind, selection, &x, &b);
                prop_assert!(error < 1e-12, "{error:e} {kind:?} {selection:?}");
            }
        }
    }

    #[test]
    fn systems_without_acceleration_level_are_solved_like_dense_ones(d in numbers(7), b in numbers(23)) {
        let x = perturbed(&[-9.8, -3.3, -17.7, 0.0, 0.0, 0.0, 0.0], &d, 0.3);
        for kind in KINDS {
            // multipliers are divided by h, so that rounding errors are larger
            let error = error_of_solves(&SliderCrank { l2: 3.0 }, Form::IndexOne, kind, Selection::Blockwise, &x, &b);
            prop_assert!(error < 1e-10, "{error:e} {kind:?}");
        }
    }
}

#[test]
fn redundant_rows_are_left_out() {
    let mut array = DoubledPendulum.array(Form::StrangenessFree, false);
    let layout = array.layout().clone();
    let x = [0.0, 7.84, 5.3975, 5.3975, 2.8, 0.0, 0.0, -1.0];
    let (constraints, differential) =
        decompose(&mut *array, 0.0, &x, (Decomposition::Svd, Decomposition::Lu), Selection::Blockwise);
    assert_eq!(constraints.free_counts(), [0, 0, 1, 1]);
    assert_eq!(differential.selected().map(<[usize]>::len), Some(2));
    // λ₁ − λ₂ is undetermined
    let undetermined = constraints.undetermined();
    assert_eq!(undetermined.len(), 1);
    let lambda = &undetermined[0][layout.lambda()];
    assert!((lambda[0].abs() - 0.5_f64.sqrt()).abs() < 1e-12 && (lambda[0] + lambda[1]).abs() < 1e-12);
}
