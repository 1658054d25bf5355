//! What the analysis says about small models with known answers.

use crate::support::{Academic, DoubledPendulum, PENDULUM, SliderCrank, academic_start, says};
use daedal::analysis::{
    Analysis, AnalysisError, Definiteness, Finding, Formula, Kind, Level, Place, Residual, Severity, Stiffness,
    Verdict, analyse,
};
use daedal::linalg::Matrix;
use daedal::motion::consistent::InitialisationError;
use daedal::motion::{EquationsOfMotion, Mechanism, Motion, Names, Position, Sizes, Velocity};
use daedal::scalar::Scalar;
use daedal::{Initial, Start};
use proptest::prelude::*;

fn look(system: &dyn Mechanism, initial: &Initial, tend: f64) -> Analysis {
    analyse(system, initial, tend).unwrap()
}

fn freedom(found: &Analysis) -> (usize, usize) {
    let constraints = found.constraints.as_ref().unwrap();
    (constraints.position_freedom, constraints.velocity_freedom)
}

/// Masses on springs and dampers with linear constraints: M p'' = −k p − d p', 0 = A p − b.
#[derive(Clone, Debug, Default)]
struct Linear {
    mass: Vec<f64>,
    k: Vec<f64>,
    d: Vec<f64>,
    A: Vec<Vec<f64>>,
    b: Vec<f64>,
}

impl Linear {
    fn free(mass: &[f64], k: &[f64], d: &[f64]) -> Self {
        Linear { mass: mass.to_vec(), k: k.to_vec(), d: d.to_vec(), A: vec![], b: vec![] }
    }

    fn constrained(mut self, A: &[&[f64]], b: &[f64]) -> Self {
        self.A = A.iter().map(|row| row.to_vec()).collect();
        self.b = b.to_vec();
        self
    }
}

impl EquationsOfMotion for Linear {
    fn sizes(&self) -> Sizes {
        let n = self.mass.len();
        Sizes { positions: n, velocities: n, holonomic: self.b.len(), ..Sizes::default() }
    }
    fn names(&self) -> Names {
        let constraints: Vec<String> = (0..self.b.len()).map(|i| format!("c{i}")).collect();
        let constraints: Vec<&str> = constraints.iter().map(String::as_str).collect();
        Names::numbered(&EquationsOfMotion::sizes(self)).constraints(&constraints, &[])
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        for (i, m) in self.mass.iter().enumerate() {
            M[(i, i)] = S::from(*m);
        }
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        for i in 0..f.len() {
            f[i] = at.p[i] * -self.k[i] - at.v[i] * self.d[i];
        }
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        for (g, (row, b)) in g.iter_mut().zip(self.A.iter().zip(&self.b)) {
            *g = row.iter().zip(at.p).fold(S::from(-b), |sum, (a, p)| sum + *p * *a);
        }
    }
}

#[test]
fn a_pendulum_has_one_degree_of_freedom_and_index_three() {
    let found = look(&PENDULUM, &Initial::motion(0.0, &[0.6, -0.8], &[0.8, 0.6]), 1.0);
    assert_eq!(freedom(&found), (1, 1));
    assert!(found.is_possible() && found.findings.is_empty());
    let index = found.index.unwrap();
    assert_eq!((index.strangeness, index.differentiation), (2, Some(3)));
    assert_eq!(found.consistency.place, Place::Consistent);
    let levels: Vec<(Level, bool)> = found.equations.iter().map(|e| (e.level, e.hidden)).collect();
    assert_eq!(levels, [(Level::Position, false), (Level::Velocity, true), (Level::Acceleration, true)]);
    let mass = found.mass.as_ref().unwrap();
    assert_eq!(mass.condition(), Some(1.0));
    assert_eq!(mass.definiteness, Definiteness::Positive);
    let constraints = found.constraints.unwrap();
    assert_eq!((constraints.holonomic.rank, constraints.all.rank), (1, 1));
    assert_eq!(constraints.all.gap().between(), None);
}

#[test]
fn formulas_stand_beside_the_equations_they_belong_to() {
    let text = "x^2 + y^2 - L^2".to_string();
    let formula = Formula { name: "1".into(), kind: Kind::Holonomic, level: Level::Position, text: text.clone() };
    let found = look(&PENDULUM, &Initial::motion(0.0, &[0.6, -0.8], &[0.8, 0.6]), 1.0).with_formulas(&[formula]);
    let told: Vec<Option<String>> = found.equations.into_iter().map(|e| e.formula).collect();
    assert_eq!(told, [Some(text), None, None]);
}

#[test]
fn a_doubled_constraint_is_redundant_and_leaves_its_multipliers_open() {
    let found = look(&DoubledPendulum, &Initial::motion(0.0, &[0.6, -0.8], &[0.8, 0.6]), 1.0);
    assert_eq!(freedom(&found), (1, 1));
    assert!(found.is_possible());
    let index = found.index.unwrap();
    assert_eq!((index.strangeness, index.differentiation), (2, None));
    let constraints = found.constraints.as_ref().unwrap();
    assert_eq!((constraints.all.rank, constraints.all.rows), (1, 2));
    assert!(constraints.all.gap().ratio() > 1e9);
    let redundancy = &constraints.redundancies[0];
    assert_eq!(redundancy.combination.to_string(), "rod − copy");
    assert!(redundancy.is_consistent());
    assert_eq!(constraints.nearby.unwrap().rank, 1);
    let open = &found.mass.as_ref().unwrap().undetermined_multipliers;
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].to_string(), "lambda.rod − lambda.copy");
    assert!(matches!(&found.findings[..], [Finding::Redundant { nearby: Some(true), .. }]));
    assert_eq!(found.findings[0].equations(), ["rod", "copy"]);
}

#[test]
fn contradictory_constraints_are_named() {
    // p1 + p2 = 1 and 2 p1 + 2 p2 = 3; p3 = 0 has nothing to do with it
    let model = Linear::free(&[1.0; 3], &[1.0; 3], &[0.0; 3])
        .constrained(&[&[1.0, 1.0, 0.0], &[0.0, 0.0, 1.0], &[2.0, 2.0, 0.0]], &[1.0, 0.0, 3.0]);
    let found = look(&model, &Initial::motion(0.0, &[0.5, 0.5, 0.0], &[0.0; 3]), 1.0);
    assert!(!found.is_possible());
    let error = found.consistency.error.as_ref().unwrap();
    let InitialisationError::Contradictory { equations, fixed } = error else { panic!("{error:?}") };
    let names: Vec<&str> = equations.iter().map(|e| e.0.as_str()).collect();
    assert_eq!(names, ["holonomic constraint c0", "holonomic constraint c2"]);
    assert!(fixed.is_empty());
    says(&error.to_string(), &["contradict each other", "c0", "c2"]);
    let told = found.findings.iter().find(|f| f.code() == "contradictory_constraints").unwrap();
    assert_eq!(told.equations(), ["c0", "c2"]);
    assert_eq!(told.severity(), Severity::Impossible);
}

#[test]
fn a_place_that_cannot_be_reached_is_a_contradiction() {
    // the rod has length 1, and p2 = −2 is fixed
    let mut initial = Initial::motion(0.0, &[0.3, -2.0], &[0.0, 0.0]);
    initial.p[1] = Start::Fixed(-2.0);
    let found = look(&PENDULUM, &initial, 1.0);
    let error = found.consistency.error.as_ref().unwrap();
    let InitialisationError::Contradictory { equations, fixed } = error else { panic!("{error:?}") };
    assert_eq!(equations[0].0, "holonomic constraint 1");
    // the nearest place is x = 0
    assert!((equations[0].1 - 3.0).abs() < 1e-6, "{equations:?}");
    assert_eq!(fixed, &["p2"]);
    assert_eq!(found.consistency.place, Place::Nearest);
}

#[test]
fn fixed_values_that_contradict_each_other_are_named_without_the_others() {
    let mut initial = Initial::motion(0.0, &[0.6, -0.8], &[0.8, 0.6]);
    initial.p = vec![Start::Fixed(0.6), Start::Fixed(-0.9)];
    initial.v[0] = Start::Fixed(0.1);
    let found = look(&PENDULUM, &initial, 1.0);
    let error = found.consistency.error.as_ref().unwrap();
    let InitialisationError::Contradictory { equations, fixed } = error else { panic!("{error:?}") };
    assert_eq!(equations.len(), 1);
    assert_eq!(fixed, &["p1", "p2"]);
    assert_eq!(found.findings[0].code(), "no_consistent_start");
}

#[test]
fn an_acceleration_without_mass_and_constraint_is_named() {
    // p2 has no mass, and the constraint is on p1 and p3 only; a force on p2 makes it contradictory, none leaves it open
    for k in [0.0, 1.0] {
        let model = Linear::free(&[1.0, 0.0, 1.0], &[1.0, k, 1.0], &[0.0; 3]).constrained(&[&[1.0, 0.0, 1.0]], &[1.0]);
        let found = look(&model, &Initial::motion(0.0, &[0.5, 1.0, 0.5], &[0.0; 3]), 1.0);
        assert!(!found.is_possible(), "k = {k}");
        let mass = found.mass.as_ref().unwrap();
        assert_eq!((mass.rank.rank, mass.definiteness), (2, Definiteness::Semidefinite));
        assert_eq!(mass.condition(), None);
        let told = found.findings.iter().find(|f| f.code() == "singular_mass").unwrap();
        assert_eq!(told.equations(), ["dynamics of v2"]);
        says(&told.to_string(), &["v2'", "dynamics of v2", "no constraint contains"]);
        assert!(found.time_scales.is_none());
        assert!(found.index.is_none());
    }
}

#[test]
fn a_constraint_that_leaves_a_massless_combination_free_is_named() {
    // p1 and p2 have no mass; the constraint on p1 + p2 leaves p1 − p2 open
    let model = Linear::free(&[0.0, 0.0, 2.0], &[0.0; 3], &[0.0; 3]).constrained(&[&[1.0, 1.0, 0.0]], &[0.0]);
    let found = look(&model, &Initial::motion(0.0, &[0.0; 3], &[0.0; 3]), 1.0);
    let mass = found.mass.as_ref().unwrap();
    assert_eq!(mass.undetermined.len(), 1);
    assert_eq!(mass.undetermined[0].to_string(), "v1' − v2'");
    assert_eq!(mass.touching, ["c0"]);
    let told = found.findings.iter().find(|f| f.code() == "singular_mass").unwrap();
    assert_eq!(told.equations(), ["dynamics of v1", "dynamics of v2", "c0"]);
}

#[test]
fn a_massless_coordinate_on_a_constraint_is_allowed() {
    let model = Linear::free(&[1.0, 0.0], &[4.0, 0.0], &[0.0; 2]).constrained(&[&[1.0, -1.0]], &[0.0]);
    let found = look(&model, &Initial::motion(0.0, &[1.0, 1.0], &[0.0; 2]), 1.0);
    assert!(found.is_possible(), "{:?}", found.findings);
    let mass = found.mass.as_ref().unwrap();
    assert_eq!(mass.rank.rank, 1);
    assert!(mass.is_regular_with_constraints());
    // one oscillator of frequency 2/2π
    let scales = found.time_scales.unwrap();
    assert!((scales.highest_frequency.unwrap() - 2.0 / std::f64::consts::TAU).abs() < 1e-12);
}

#[test]
fn eigenvalues_of_a_stiff_spring_on_a_slope_are_those_of_the_oscillator() {
    // a mass on the line p2 = 2 p1 with a spring k and a damper d: s'' = −k s − d s'
    let (k, d) = (1e6, 2.5e3);
    let model = Linear::free(&[1.0; 2], &[k; 2], &[d; 2]).constrained(&[&[2.0, -1.0]], &[0.0]);
    let found = look(&model, &Initial::motion(0.0, &[0.1, 0.2], &[0.3, 0.6]), 10.0);
    let scales = found.time_scales.unwrap();
    assert_eq!(scales.dimension, 2);
    // s² + d s + k = 0: −500 and −2000
    for (mode, exact) in scales.modes.iter().zip([-2000.0, -500.0]) {
        assert!((mode.re / exact - 1.0).abs() < 1e-6 && mode.im == 0.0, "{mode:?} is not {exact}");
    }
    assert!((scales.fastest_decay.unwrap() - 1.0 / 2000.0).abs() < 1e-9);
    assert!(scales.fastest_growth.is_none() && scales.highest_frequency.is_none());

    // beside a slow oscillator it is stiff
    let model = Linear::free(&[1.0; 2], &[1e6, 1.0], &[1e4, 0.2]);
    let scales = look(&model, &Initial::motion(0.0, &[0.0, 1.0], &[0.0; 2]), 100.0).time_scales.unwrap();
    let exact = [(-9.898979485566356e3, 0.0), (-1.0102051443364380e2, 0.0), (-0.1, 0.99_f64.sqrt())];
    for (mode, exact) in scales.modes.iter().zip(exact) {
        let error = (mode.re - exact.0).hypot(mode.im - exact.1) / exact.0.hypot(exact.1);
        assert!(error < 1e-6, "{mode:?} is not {exact:?}");
    }
    assert_eq!(scales.stiffness, Stiffness::Stiff);
    assert!((scales.stiffness_ratio.unwrap() / 9.899e3 - 1.0).abs() < 1e-3);
    let slow = scales.modes[2];
    assert!((slow.damping() - 0.1).abs() < 1e-9);
    assert!((slow.time_constant().unwrap() - 10.0).abs() < 1e-6);

    // a spring that pushes
    let model = Linear::free(&[1.0], &[-9.0], &[0.0]);
    let scales = look(&model, &Initial::motion(0.0, &[0.0], &[0.0]), 1.0).time_scales.unwrap();
    assert!((scales.fastest_growth.unwrap() - 1.0 / 3.0).abs() < 1e-9);
    assert_eq!(scales.stiffness, Stiffness::NotStiff);
}

#[test]
fn a_singular_configuration_is_told_from_redundancy() {
    // equal arms of the slider crank, folded: the constraint loses its rank there only
    let half = std::f64::consts::FRAC_PI_2;
    let found = look(&SliderCrank { l2: 1.0 }, &Initial::motion(0.0, &[-half, -half], &[0.0, 0.0]), 1.0);
    let constraints = found.constraints.as_ref().unwrap();
    assert!(constraints.nearby.is_some(), "{:?} {constraints:?}", found.consistency);
    assert_eq!((constraints.all.rank, constraints.nearby.unwrap().rank), (0, 1));
    assert!(found.findings.iter().any(|f| f.code() == "singular_configuration"), "{:?}", found.findings);
    assert!(!found.is_possible());
    // elsewhere it is regular
    let found = look(&SliderCrank { l2: 1.0 }, &Initial::motion(0.0, &[0.0, 0.0], &[0.0, 0.0]), 1.0);
    assert!(found.is_possible() && found.findings.is_empty());
    assert!(found.mass.unwrap().is_symmetric());
}

#[test]
fn contact_and_auxiliary_equations_are_regular_in_the_academic_example() {
    let found = look(&Academic, &academic_start(), 1.0);
    assert!(found.is_possible(), "{:?}", found.findings);
    assert!(found.contact.as_ref().unwrap().is_regular());
    assert!(found.auxiliary.as_ref().unwrap().rank.condition().unwrap() < 10.0);
    assert_eq!(freedom(&found), (1, 1));
    // position, velocity, and two dynamic force elements
    assert_eq!(found.time_scales.unwrap().dimension, 4);
    assert!(found.consistency.residuals.iter().all(Residual::is_satisfied), "{:?}", found.consistency.residuals);
    // ds/dt of c₁ vanishes where p₃ = 0, and the model has no value there
    let nowhere = Initial::motion(0.0, &[0.0, 1.0, 0.0], &[0.0; 3]).dynamic(&[0.0, 0.0]).contact(&[0.0, 0.0]);
    let found = look(&Academic, &nowhere, 1.0);
    assert!(!found.is_possible());
}

#[test]
fn residuals_of_given_values_are_told_by_level_and_movements_by_variable() {
    let initial = Initial::motion(0.0, &[1.1, 0.0], &[0.5, 2.0]).multipliers(&[3.0], &[]);
    let found = look(&PENDULUM, &initial, 1.0);
    let residual = |level: Level, part: &str| {
        let found = found.consistency.residuals.iter();
        found.filter(|r| r.level == Some(level) && r.equation.contains(part)).map(|r| r.value).next().unwrap()
    };
    assert!((residual(Level::Position, "holonomic") - 0.21).abs() < 1e-14);
    assert!((residual(Level::Velocity, "holonomic") - 1.1).abs() < 1e-14);
    // gII = 2(|v|² + p·a), a = (0, −g) − 2 p λ
    let exact = 2.0 * (4.25 + 1.1 * (-2.0 * 1.1 * 3.0));
    assert!((residual(Level::Acceleration, "holonomic") - exact).abs() < 1e-12);
    assert!(residual(Level::Acceleration, "dynamics").abs() < 1e-13);
    let moved: Vec<(&str, f64)> =
        found.consistency.movements.iter().map(|m| (m.variable.as_str(), m.start - m.given)).collect();
    assert_eq!(moved.iter().map(|m| m.0).collect::<Vec<_>>(), ["p1", "p2", "v1", "v2", "lambda1"]);
    assert!((moved[0].1 + 0.1).abs() < 1e-14 && moved[1].1 == 0.0 && (moved[2].1 + 0.5).abs() < 1e-14);
    assert!(found.consistency.filled.is_empty());
    // the multiplier is not given: it is filled in
    let found = look(&PENDULUM, &Initial::motion(0.0, &[1.0, 0.0], &[0.0, 2.0]), 1.0);
    assert_eq!(found.consistency.filled, ["lambda1"]);
}

/// A pendulum with what its author takes for invariants.
struct Invariants {
    damping: f64,
}

impl EquationsOfMotion for Invariants {
    fn sizes(&self) -> Sizes {
        Sizes { invariants: 3, ..EquationsOfMotion::sizes(&PENDULUM) }
    }
    fn names(&self) -> Names {
        Names::numbered(&EquationsOfMotion::sizes(self)).invariants(&["energy", "momentum", "rod"])
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        PENDULUM.mass(at, M);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        PENDULUM.force(at, f);
        for i in 0..2 {
            f[i] -= at.v[i] * self.damping;
        }
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        PENDULUM.holonomic(at, g);
    }
    fn invariant<S: Scalar>(&self, at: &Velocity<S>, e: &mut [S]) {
        e[0] = (at.v[0].square() + at.v[1].square()) * 0.5 + at.p[1] * PENDULUM.g;
        e[1] = at.v[0];
        e[2] = at.p[0].square() + at.p[1].square();
    }
}

#[test]
fn a_wrong_invariant_is_told_from_a_right_one() {
    use Verdict::{Invariant, NotInvariant};
    let initial = Initial::motion(0.0, &[0.6, -0.8], &[0.0, 0.0]);
    let verdicts = |damping: f64| -> Vec<Verdict> {
        let found = look(&Invariants { damping }, &initial, 10.0);
        assert!(found.is_possible());
        for test in &found.invariants {
            assert!(test.points > 20 && test.until > 0.1, "{test:?}");
        }
        found.invariants.iter().map(|test| test.verdict).collect()
    };
    assert_eq!(verdicts(0.0), [Invariant, NotInvariant, Invariant]);
    assert_eq!(verdicts(0.01), [NotInvariant, NotInvariant, Invariant]);
    let found = look(&Invariants { damping: 0.0 }, &initial, 10.0);
    assert!(matches!(&found.findings[..], [Finding::WrongInvariant { name, .. }] if name == "momentum"));
    assert_eq!(found.findings[0].severity(), Severity::Warning);
    // nothing moves: nothing can be said
    let found = look(&Invariants { damping: 0.0 }, &Initial::motion(0.0, &[0.0, -1.0], &[0.0, 0.0]), 10.0);
    assert_eq!(found.invariants[0].verdict, Verdict::Undecided);
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let released = Initial::motion(0.0, &[1.0, 0.0], &[0.0, 0.0]);
    assert!(matches!(analyse(&PENDULUM, &released, -1.0), Err(AnalysisError::Interval(_))));
    assert!(matches!(analyse(&PENDULUM, &released, f64::NAN), Err(AnalysisError::Interval(_))));
    let short = Initial::motion(0.0, &[1.0], &[0.0, 0.0]);
    assert!(matches!(analyse(&PENDULUM, &short, 1.0), Err(AnalysisError::Initial(_))));
    let nan = Initial::motion(0.0, &[f64::NAN, 0.0], &[0.0, 0.0]);
    let error = analyse(&PENDULUM, &nan, 1.0).unwrap_err();
    says(&error.to_string(), &["p1", "NaN"]);
}

/// Entry (i, k) of a lower triangle with ones on the diagonal.
fn unit_triangle(i: usize, k: usize, entries: &[f64]) -> f64 {
    match i.cmp(&k) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => entries[7 * i + k],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A = L R with factors of known rank; b from a point, so that all constraints agree, or with one of the redundant ones shifted.
    #[test]
    fn random_linear_constraints_have_the_rank_they_were_made_with(
        n in 2_usize..7, m in 1_usize..6, r in 1_usize..5,
        entries in prop::collection::vec(-1.0_f64..1.0, 98),
        point in prop::collection::vec(-2.0_f64..2.0, 7),
        shift in 0.5_f64..2.0,
    ) {
        let r = r.min(m).min(n - 1);
        let left = |i: usize, k: usize| unit_triangle(i, k, &entries);
        let right = |k: usize, j: usize| unit_triangle(j, k, &entries[49..]);
        let A: Vec<Vec<f64>> =
            (0..m).map(|i| (0..n).map(|j| (0..r).map(|k| left(i, k) * right(k, j)).sum()).collect()).collect();
        let b: Vec<f64> = A.iter().map(|row| row.iter().zip(&point).map(|(a, p)| a * p).sum()).collect();
        let mut model = Linear::free(&vec![1.0; n], &vec![1.0; n], &vec![0.0; n]);
        (model.A, model.b) = (A, b);
        let initial = Initial::motion(0.0, &point[..n], &vec![0.0; n]);
        let found = look(&model, &initial, 1.0);
        prop_assert!(found.is_possible(), "{:?}", found.findings);
        prop_assert_eq!(freedom(&found), (n - r, n - r));
        let constraints = found.constraints.as_ref().unwrap();
        prop_assert_eq!(constraints.redundancies.len(), m - r);
        prop_assert!(constraints.nearby.is_none_or(|nearby| nearby.rank == r));
        prop_assert_eq!(found.mass.as_ref().unwrap().undetermined_multipliers.len(), m - r);
        prop_assert_eq!(found.time_scales.as_ref().unwrap().dimension, 2 * (n - r));
        if m > r {
            // the last constraint depends on the others: shifted, it contradicts them
            model.b[m - 1] += shift;
            let found = look(&model, &initial, 1.0);
            prop_assert!(!found.is_possible());
            let error = found.consistency.error.clone();
            let named = matches!(&error, Some(InitialisationError::Contradictory { equations, .. })
                if equations.iter().any(|(name, _)| *name == format!("holonomic constraint c{}", m - 1)));
            prop_assert!(named, "{:?}", error);
            prop_assert!(found.findings.iter().any(|f| f.code() == "contradictory_constraints"));
        }
    }
}
