//! What the kinematics p' = Z(p) v are, from their formulas.
//!
//! Degrees bound how often positions and velocities are multiplied in a formula: that of a sum is the larger one, that of a product the sum.
//! A formula whose degree in p is at most one is affine in p, everywhere, not only at points that were looked at. The converse does not
//! hold: what cancels is not seen, so that `General` means that nothing is known. A `select` is as much as its condition: none of its
//! branches tells what the other does.

use super::{EquationsOfMotion, Velocity};
use crate::graph::{Binary, Expr, Graph, Node, Tape, Unary};

/// What is known about p' = Z(p) v.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinematics {
    /// p' = v.
    Plain,
    /// Z is affine in p, as for unit quaternions.
    Affine,
    /// Any Z(p).
    General,
}

impl Kinematics {
    /// Is p' = v?
    pub fn is_plain(self) -> bool {
        self == Kinematics::Plain
    }

    /// Of formulas of p' in p and v; other inputs of the graph are not constant.
    pub(super) fn of(graph: &Graph, rates: &[Expr], p: &[Expr], v: &[Expr]) -> Self {
        if rates == v {
            return Kinematics::Plain;
        }
        let most = degrees(graph, rates, p, v).into_iter().try_fold(Degree::default(), |m, d| Some(m.larger(d?)));
        match most {
            Some(Degree { p: 0, v: 0 | 1 }) if is_identity(graph, rates, v) => Kinematics::Plain,
            Some(Degree { p: 0 | 1, v: 0 | 1 }) => Kinematics::Affine,
            _ => Kinematics::General,
        }
    }

    /// Of a model, by tracing its kinematics.
    pub(super) fn trace<E: EquationsOfMotion>(equations: &E) -> Self {
        let n = equations.sizes();
        let mut graph = Graph::new();
        let mut block = |length: usize| (0..length).map(|_| graph.input("x")).collect::<Vec<Expr>>();
        let (t, p, v, s) = (block(1), block(n.positions), block(n.velocities), block(n.contact));
        let rates = graph.with(|| {
            let mut rates = vec![Expr::from(0.0); n.positions];
            equations.kinematics(&Velocity { t: t[0], p: &p, v: &v, s: &s }, &mut rates);
            rates
        });
        Kinematics::of(&graph, &rates, &p, &v)
    }
}

/// How often variables are multiplied at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Degree {
    p: u32,
    v: u32,
}

impl Degree {
    fn larger(self, other: Self) -> Self {
        Degree { p: self.p.max(other.p), v: self.v.max(other.v) }
    }

    fn plus(self, other: Self) -> Self {
        Degree { p: self.p.saturating_add(other.p), v: self.v.saturating_add(other.v) }
    }

    fn times(self, n: u32) -> Self {
        Degree { p: self.p.saturating_mul(n), v: self.v.saturating_mul(n) }
    }
}

/// Degrees of formulas in p and v; `None` for what is no polynomial, or depends on other inputs.
fn degrees(graph: &Graph, formulas: &[Expr], p: &[Expr], v: &[Expr]) -> Vec<Option<Degree>> {
    let constant = Some(Degree::default());
    let mut of: Vec<Option<Degree>> = vec![None; graph.len()];
    for e in graph.needed(formulas) {
        let d = |x: Expr| of[x.index()];
        of[e.index()] = match graph.node(e) {
            Node::Constant(_) => constant,
            Node::Input(_) if p.contains(&e) => Some(Degree { p: 1, v: 0 }),
            Node::Input(_) if v.contains(&e) => Some(Degree { p: 0, v: 1 }),
            Node::Input(_) => None,
            Node::Unary(Unary::Neg, x) => d(x),
            Node::Binary(Binary::Add | Binary::Sub, x, y) => d(x).zip(d(y)).map(|(x, y)| x.larger(y)),
            Node::Binary(Binary::Mul, x, y) => d(x).zip(d(y)).map(|(x, y)| x.plus(y)),
            Node::Binary(Binary::Div, x, y) if d(y) == constant => d(x),
            Node::Powi(x, n) if n >= 0 => d(x).map(|x| x.times(n.unsigned_abs())),
            node => constant.filter(|_| node.arguments().all(|x| d(x) == constant)),
        };
    }
    formulas.iter().map(|e| of[e.index()]).collect()
}

/// Is Z = I, where p does not enter?
fn is_identity(graph: &Graph, rates: &[Expr], v: &[Expr]) -> bool {
    if rates.len() != v.len() {
        return false;
    }
    let tape = Tape::new(graph, rates);
    (0..v.len()).all(|j| {
        let mut inputs = vec![0.0; graph.inputs().len()];
        if let Node::Input(place) = graph.node(v[j]) {
            inputs[place] = 1.0;
        }
        tape.evaluate(&inputs).into_iter().enumerate().all(|(i, rate)| rate == if i == j { 1.0 } else { 0.0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Scalar;

    fn kinematics(rates: impl Fn(&[Expr], &[Expr]) -> Vec<Expr>) -> Kinematics {
        let mut graph = Graph::new();
        let p = ["x", "y"].map(|name| graph.input(name));
        let v = ["u", "w"].map(|name| graph.input(name));
        let rates = graph.with(|| rates(&p, &v));
        Kinematics::of(&graph, &rates, &p, &v)
    }

    #[test]
    fn what_holds_for_all_positions_is_read_from_formulas() {
        assert_eq!(kinematics(|_, v| v.to_vec()), Kinematics::Plain);
        assert_eq!(kinematics(|_, v| vec![v[0] * 4.0 / 4.0, v[1]]), Kinematics::Plain);
        assert_eq!(kinematics(|_, v| vec![v[0] + v[1], v[1]]), Kinematics::Affine);
        assert_eq!(kinematics(|p, v| vec![p[1] * v[0] / 2.0 - (p[0] - 3.0) * v[1], v[1]]), Kinematics::Affine);
        assert_eq!(kinematics(|p, v| vec![p[0] * p[1] * v[0], v[1]]), Kinematics::General);
        assert_eq!(kinematics(|p, v| vec![p[0].cos() * v[0], v[1]]), Kinematics::General);
    }

    #[test]
    fn a_branch_that_is_far_away_counts() {
        let late = |p: &[Expr], v: &[Expr]| vec![(p[0] - 5.0).select(v[0] * 2.0, v[0]), v[1]];
        assert_eq!(kinematics(late), Kinematics::General);
    }
}
