//! Equations of motion backward in time.
//!
//! With τ = −t and w = −v: p' = Z w, M w' = f(−τ, p, −w, r, …) − (GZ)ᵀλ − (HZ)ᵀμ, r' = −b, 0 = g(−τ, p), 0 = −(H Z v + h). Accelerations and
//! multipliers are the same. The rows of the reduced derivative array are those of the system itself at (−τ, p, −w, …), those that
//! are derivatives of odd order with the other sign; so programs, compiled formulas and black boxes are reversed alike, with the kernels that
//! they have.

use super::mirror::{Looking, Mirror, called};
use crate::error::SolveError;
use crate::graph::{Expr, Graph, Tape};
use crate::linalg::{Jacobian, JacobianRef, Matrices};
use crate::method::{Method, State};
use crate::motion::{
    Form, Formulas, InvariantSlopes, Layout, Mechanism, Names, ReducedArray, Sizes, Solved, Structure, Undefined,
};
use crate::observer::Observer;
use crate::options::Options;
use crate::problem::Problem;
use crate::solution::Solution;
use crate::solve::forward;

/// Solve a problem whose end lies before its consistent start.
pub fn motion<M: for<'a> Method<dyn Mechanism + 'a> + ?Sized>(
    problem: &Problem<dyn Mechanism + '_>,
    start: &State,
    method: &M,
    options: &Options,
    observers: &mut [&mut dyn Observer],
) -> Result<Solution, SolveError> {
    let layout = Layout::new(problem.system.sizes(), Form::StrangenessFree, false);
    let mirror = Mirror::new(signs(&layout));
    let reversed = Reversed(problem.system);
    let events = mirror.events(&problem.events);
    let mut looking: Vec<Looking<_>> =
        observers.iter_mut().map(|observer| Looking { mirror: &mirror, observer: &mut **observer }).collect();
    let mut looking: Vec<&mut dyn Observer> = looking.iter_mut().map(|one| one as &mut dyn Observer).collect();
    let interval = (-problem.tend, &events[..]);
    let outcome = forward(&reversed, &mirror.state(start), interval, method, &Mirror::options(options), &mut looking);
    outcome.map(|solution| mirror.solution(solution)).map_err(|error| mirror.error(error))
}

/// −1 for velocities.
fn signs(layout: &Layout) -> Vec<f64> {
    let mut signs = vec![1.0; layout.dim()];
    signs[layout.v()].fill(-1.0);
    signs
}

/// A system whose time runs the other way.
struct Reversed<'m>(&'m dyn Mechanism);

impl Mechanism for Reversed<'_> {
    fn sizes(&self) -> Sizes {
        self.0.sizes()
    }
    fn names(&self) -> Names {
        self.0.names()
    }
    fn structure(&self) -> Structure {
        self.0.structure()
    }
    fn matrices(&self) -> Matrices {
        self.0.matrices()
    }
    fn formulas(&self) -> Option<Formulas> {
        self.0.formulas().map(|formulas| reversed(&formulas))
    }
    fn array<'a>(&'a self, form: Form, with_invariants: bool) -> Box<dyn ReducedArray + 'a> {
        Box::new(ReversedArray::new(self.0.array(form, with_invariants)))
    }
    fn sparse_array<'a>(&'a self, form: Form) -> Option<Box<dyn ReducedArray + 'a>> {
        let array = self.0.sparse_array(form)?;
        Some(Box::new(ReversedArray::new(array)))
    }
}

struct ReversedArray<'a> {
    array: Box<dyn ReducedArray + 'a>,
    mirror: Mirror,
    /// signs of the unknowns and of the rows
    columns: Vec<f64>,
    rows: Vec<f64>,
    x: Vec<f64>,
    own: Vec<f64>,
}

impl<'a> ReversedArray<'a> {
    fn new(array: Box<dyn ReducedArray + 'a>) -> Self {
        let layout = array.layout();
        let mut rows = vec![1.0; layout.rows()];
        for block in [layout.row_g1(), layout.row_h(), layout.row_dynamic(), layout.row_kinematics()] {
            rows[block].fill(-1.0);
        }
        let signs = signs(layout);
        let (x, own) = (vec![0.0; signs.len()], vec![0.0; rows.len()]);
        ReversedArray { columns: signs.clone(), mirror: Mirror::new(signs), rows, x, own, array }
    }

    /// The point of the system itself.
    fn look_at(&mut self, x: &[f64]) {
        self.x.copy_from_slice(x);
        self.mirror.turn(&mut self.x);
    }

    fn turn_rows(&self, rows: &mut [f64]) {
        rows.iter_mut().zip(&self.rows).for_each(|(row, sign)| *row *= sign);
    }
}

impl ReducedArray for ReversedArray<'_> {
    fn layout(&self) -> &Layout {
        self.array.layout()
    }
    fn evaluate(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined> {
        self.look_at(x);
        self.array.evaluate(-t, &self.x, rows)?;
        self.turn_rows(rows);
        Ok(())
    }
    fn jacobian(&mut self, t: f64, x: &[f64], rows: &[f64], F: &mut Jacobian) -> Result<(), Undefined> {
        self.look_at(x);
        for (own, (row, sign)) in self.own.iter_mut().zip(rows.iter().zip(&self.rows)) {
            *own = row * sign;
        }
        self.array.jacobian(-t, &self.x, &self.own, F)?;
        F.scale(&self.rows, &self.columns);
        Ok(())
    }
    fn new_jacobian(&self) -> Jacobian {
        self.array.new_jacobian()
    }
    fn new_matrices(&self) -> [Jacobian; 3] {
        self.array.new_matrices()
    }
    fn matrices(&mut self, t: f64, x: &[f64]) -> Result<[JacobianRef<'_>; 3], Undefined> {
        self.look_at(x);
        self.array.matrices(-t, &self.x)
    }
    fn at_rest(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<[JacobianRef<'_>; 3], Undefined> {
        self.look_at(x);
        let matrices = self.array.at_rest(-t, &self.x, rows)?;
        rows.iter_mut().zip(&self.rows).for_each(|(row, sign)| *row *= sign);
        Ok(matrices)
    }
    fn forces(&mut self, t: f64, x: &[f64], hidden: bool, rows: &mut [f64]) -> Result<(), Undefined> {
        self.look_at(x);
        self.array.forces(-t, &self.x, hidden, rows)?;
        self.turn_rows(rows);
        Ok(())
    }
    fn know_solutions(&mut self, t: f64, x: &[f64], what: &[Solved]) -> Result<bool, Undefined> {
        self.look_at(x);
        self.array.know_solutions(-t, &self.x, what)
    }
    fn accelerations(&mut self, t: f64, x: &mut [f64], rows: &mut [f64]) -> bool {
        self.look_at(x);
        let solved = self.array.accelerations(-t, &mut self.x, rows);
        if solved {
            self.mirror.turn(&mut self.x);
            x.copy_from_slice(&self.x);
            self.turn_rows(rows);
        }
        solved
    }
    fn correction(&mut self, what: Solved, t: f64, x: &[f64], correction: &mut [f64]) -> bool {
        self.look_at(x);
        let solved = self.array.correction(what, -t, &self.x, correction);
        if solved {
            self.mirror.turn(correction);
        }
        solved
    }
    fn invariant_slopes(&mut self, t: f64, x: &[f64], at: &mut InvariantSlopes) -> bool {
        self.look_at(x);
        let known = self.array.invariant_slopes(-t, &self.x, at);
        // velocities are turned, and the slopes of both kinds are products of two that are
        at.along[1].iter_mut().for_each(|w| *w = -*w);
        known
    }
    fn set_invariants(&mut self, at: &[f64]) {
        self.array.set_invariants(at);
    }
    fn mass_evaluations(&self) -> u64 {
        self.array.mass_evaluations()
    }
    fn difference_evaluations(&self) -> u64 {
        self.array.difference_evaluations()
    }
}

/// The formulas of the reversed system; their inputs say what they are: `(-t)`, `(-vx)`.
fn reversed(formulas: &Formulas) -> Formulas {
    let mut all: Vec<Expr> = Vec::new();
    let mut image = formulas.clone();
    image.each(|e| all.push(*e));
    let tape = Tape::new(&formulas.graph, &all);
    let n = formulas.sizes;
    let velocities = 1 + n.positions..1 + n.positions + n.velocities;
    let mut graph = Graph::new();
    let turned: Vec<bool> = (0..formulas.graph.inputs().len()).map(|i| i == 0 || velocities.contains(&i)).collect();
    let names = formulas.graph.inputs().map(|(name, _)| name.to_string());
    let inputs: Vec<Expr> =
        names.zip(&turned).map(|(name, turned)| graph.input(if *turned { called(&name) } else { name })).collect();
    let mut values = graph.with(|| {
        let seen: Vec<Expr> = inputs.iter().zip(&turned).map(|(&x, turned)| if *turned { -x } else { x }).collect();
        tape.evaluate(&seen).into_iter()
    });
    image.each(|e| *e = values.next().unwrap_or(*e));
    graph.with(|| {
        for e in image.kinematics.iter_mut().chain(&mut image.nonholonomic).chain(&mut image.dynamic) {
            *e = -*e;
        }
    });
    // of other rows and another flow
    Formulas { graph, closed: None, ..image }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::motion::{EquationsOfMotion, Motion, Position, Taped, Velocity};
    use crate::scalar::Scalar;

    /// A mechanism with variables of all kinds, in which everything depends on time.
    struct Everything;

    impl EquationsOfMotion for Everything {
        fn sizes(&self) -> Sizes {
            let (positions, velocities, holonomic, nonholonomic) = (4, 4, 1, 1);
            let (dynamic, auxiliary, contact, invariants) = (1, 1, 1, 1);
            Sizes { positions, velocities, dynamic, auxiliary, contact, holonomic, nonholonomic, invariants }
        }
        fn kinematics<S: Scalar>(&self, at: &Velocity<S>, pdot: &mut [S]) {
            pdot.copy_from_slice(at.v);
            pdot[2] = at.v[2] * (at.p[3].sin() + 2.0) + at.v[3] * 0.1;
        }
        fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
            for i in 0..4 {
                M[(i, i)] = at.p[i].square() + 2.0 + at.t.sin() * 0.1;
            }
            M[(0, 1)] = at.p[0] * 0.1;
            M[(1, 0)] = M[(0, 1)];
        }
        fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
            f[0] = at.v[0] * -0.3 + at.r[0] + at.t;
            f[1] = at.w[0] * at.v[1] - at.lambda[0] * 0.1;
            f[2] = at.s[0] * at.p[1] + at.v[3] * at.v[2];
            f[3] = (at.t * 2.0).cos();
        }
        fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
            g[0] = at.p[0].square() + at.p[1] * at.s[0] - at.t.sin();
        }
        fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) {
            h[0] = at.p[3].sin() * at.v[1] - at.p[3].cos() * at.v[2] + at.t * at.s[0];
        }
        fn dynamic<S: Scalar>(&self, at: &Motion<S>, b: &mut [S]) {
            b[0] = at.v[0] - at.r[0] * at.t;
        }
        fn auxiliary<S: Scalar>(&self, at: &Motion<S>, d: &mut [S]) {
            d[0] = at.w[0] - at.v[1].square() - at.t - at.v[2];
        }
        fn contact<S: Scalar>(&self, at: &Position<S>, c: &mut [S]) {
            c[0] = at.s[0] * 2.0 + at.s[0].square() * 0.1 - at.p[2] * at.t;
        }
        fn invariant<S: Scalar>(&self, at: &Velocity<S>, e: &mut [S]) {
            e[0] = at.v[0].square() + at.v[1] * at.t + at.p[0];
        }
    }

    #[test]
    fn rows_of_the_reversed_system_are_those_of_its_formulas() {
        let formulas = reversed(&Formulas::trace(&Everything));
        let taped = Taped::new(&formulas);
        let image = Reversed(&Everything);
        for form in [Form::StrangenessFree, Form::IndexOne] {
            let (mut one, mut other) = (image.array(form, true), taped.array(form, true));
            let (n, m) = (one.layout().dim(), one.layout().rows());
            let x: Vec<f64> = (0..n).map(|j| (1.3 * j as f64 + 0.2).sin() + 0.1).collect();
            let close = |a: &[f64], b: &[f64], what: &str| {
                for (i, (a, b)) in a.iter().zip(b).enumerate() {
                    assert!((a - b).abs() < 1e-11 * (1.0 + a.abs()), "{form:?}: {what} {i}: {a} and {b}");
                }
            };
            let (mut a, mut b) = (vec![0.0; m], vec![0.0; m]);
            one.evaluate(0.7, &x, &mut a).unwrap();
            other.evaluate(0.7, &x, &mut b).unwrap();
            close(&a, &b, "row");
            let (mut F, mut K) = (one.new_jacobian(), other.new_jacobian());
            one.jacobian(0.7, &x, &a, &mut F).unwrap();
            other.jacobian(0.7, &x, &b, &mut K).unwrap();
            for i in 0..m {
                for j in 0..n {
                    assert!(
                        (F[(i, j)] - K[(i, j)]).abs() < 1e-11,
                        "{form:?}: {i}, {j}: {} and {}",
                        F[(i, j)],
                        K[(i, j)]
                    );
                }
            }
            let layout = one.layout().clone();
            let mut resting = x.clone();
            for block in [layout.v(), layout.a(), layout.lambda(), layout.mu()] {
                resting[block].fill(0.0);
            }
            a.fill(0.0);
            b.fill(0.0);
            one.at_rest(0.7, &resting, &mut a).unwrap();
            other.at_rest(0.7, &resting, &mut b).unwrap();
            for block in [layout.row_g(), layout.row_g1(), layout.row_h()] {
                close(&a[block.clone()], &b[block], "row at rest");
            }
        }
    }
}
