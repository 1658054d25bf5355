//! Compiled formulas against the same model evaluated with dual numbers and Taylor series: random systems with every kind of variable.

use daedal::graph::Interpreted;
use daedal::linalg::Matrix;
use daedal::motion::{
    Compiled, EquationsOfMotion, Form, Formulas, Layout, Mechanism, Motion, Position, Sizes, Taped, Velocity,
};
use daedal::scalar::Scalar;
use proptest::prelude::*;

/// A system whose coefficients are random: three positions, two velocities, and two or one of everything else.
#[derive(Clone, Debug)]
struct Random {
    k: Vec<f64>,
    constant_mass: bool,
    with_contact: bool,
}

impl Random {
    fn k(&self, i: usize) -> f64 {
        self.k[i % self.k.len()]
    }
    /// The contact variables, where there are any, mixed into one number.
    fn touch<S: Scalar>(&self, s: &[S]) -> S {
        s.iter().enumerate().fold(S::from(0.0), |sum, (i, &s)| sum + s * self.k(i + 3))
    }
}

impl EquationsOfMotion for Random {
    fn sizes(&self) -> Sizes {
        Sizes {
            positions: 3,
            velocities: 2,
            dynamic: 1,
            auxiliary: 1,
            contact: if self.with_contact { 2 } else { 0 },
            holonomic: 1,
            nonholonomic: 1,
            invariants: 1,
        }
    }
    fn kinematics<S: Scalar>(&self, at: &Velocity<S>, pdot: &mut [S]) {
        pdot[0] = at.v[0];
        pdot[1] = at.v[1] * at.p[2].cos() + at.v[0] * self.k(0);
        pdot[2] = at.v[1] * at.p[0];
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        let bend = if self.constant_mass { S::from(0.3) } else { at.p[0].sin() * self.k(1) + at.t * 0.1 };
        M[(0, 0)] = S::from(2.0);
        M[(0, 1)] = bend;
        M[(1, 0)] = bend * 0.5;
        M[(1, 1)] = S::from(3.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = at.v[0] * at.r[0] - at.w[0].tanh() + at.lambda[0] * self.k(2) + self.touch(at.s);
        f[1] = (at.p[1] * self.k(3)).exp() / (at.v[1].square() + 1.0) + at.mu[0] * at.p[0] + at.t.sin();
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0] * at.p[1] * self.k(4) + at.p[2].square() - (at.t * self.k(5)).cos() + self.touch(at.s) * at.p[1];
    }
    fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) {
        h[0] = at.v[0] * at.p[2].sin() + at.v[1] * (at.p[0] + 2.0) + at.t * self.k(6) + self.touch(at.s);
    }
    fn dynamic<S: Scalar>(&self, at: &Motion<S>, b: &mut [S]) {
        b[0] = (at.r[0] * at.p[0]).atan() + at.v[1];
    }
    fn auxiliary<S: Scalar>(&self, at: &Motion<S>, d: &mut [S]) {
        d[0] = at.w[0] * 2.0 + at.p[1] * at.v[0] - at.lambda[0] * self.k(7);
    }
    fn contact<S: Scalar>(&self, at: &Position<S>, c: &mut [S]) {
        if self.with_contact {
            c[0] = at.s[0] * 2.0 + at.s[1] * at.p[0] - at.p[1].sin();
            c[1] = at.s[1] * (at.p[2].square() + 1.5) + at.s[0].square() * 0.2 - at.t * at.p[0];
        }
    }
    fn invariant<S: Scalar>(&self, at: &Velocity<S>, e: &mut [S]) {
        e[0] = at.v[0].square() + at.v[1] * at.p[0] + self.touch(at.s);
    }
}

/// Rows and Jacobian at a point.
fn evaluate(mechanism: &dyn Mechanism, form: Form, invariants: bool, t: f64, x: &[f64]) -> (Vec<f64>, Matrix) {
    let mut array = mechanism.array(form, invariants);
    let layout = array.layout().clone();
    let mut rows = vec![0.0; layout.rows()];
    let mut F = Matrix::zeros(layout.rows(), layout.dim());
    array.evaluate(t, x, &mut rows).unwrap();
    array.dense_jacobian(t, x, &rows, &mut F).unwrap();
    (rows, F)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_and_jacobians_agree(
        k in prop::collection::vec(-1.0..1.0_f64, 8),
        x in prop::collection::vec(-1.0..1.0_f64, 32),
        t in -2.0..2.0_f64,
        constant_mass: bool, with_contact: bool, index_one: bool, invariants: bool,
    ) {
        let model = Random { k, constant_mass, with_contact };
        let form = if index_one { Form::IndexOne } else { Form::StrangenessFree };
        let compiled = Compiled::new(&Formulas::trace(&model), Interpreted);
        let taped = Taped::new(&Formulas::trace(&model));
        let x = &x[..Layout::new(EquationsOfMotion::sizes(&model), form, invariants).dim()];
        prop_assert_eq!(compiled.structure(), Mechanism::structure(&model));
        let (rows, F) = evaluate(&model, form, invariants, t, x);
        for other in [&compiled as &dyn Mechanism, &taped] {
            let (others, G) = evaluate(other, form, invariants, t, x);
            for i in 0..rows.len() {
                prop_assert!((rows[i] - others[i]).abs() <= 1e-13 * (10.0 + rows[i].abs()), "row {}: {} and {}", i, rows[i], others[i]);
                for j in 0..x.len() {
                    let (f, g) = (F[(i, j)], G[(i, j)]);
                    prop_assert!((f - g).abs() <= 1e-12 * (10.0 + f.abs()), "entry ({}, {}): {} and {}", i, j, f, g);
                }
            }
        }
    }
}

#[test]
fn hidden_constraints_are_written_with_the_names_of_the_model() {
    let model = Random { k: vec![1.0], constant_mass: true, with_contact: true };
    let hidden = Formulas::trace(&model).hidden();
    let text = |e| hidden.graph.formula(e);
    assert_eq!(text(hidden.contact_rates[0][0]), "2*s1' + p1*s2' + s2*v1 - cos(p2)*(v2*cos(p3) + v1)");
    let rate = "p2*v1 + p1*(v2*cos(p3) + v1) + 2*p3*v2*p1 + sin(t) + p2*(s1' + s2') + (s1 + s2)*(v2*cos(p3) + v1)";
    assert_eq!(text(hidden.holonomic_velocity[0]), rate);
}
