//! Derivatives of formulas: along a flow, and with respect to inputs.
//!
//! Both run forward through the graph. A sparse gradient holds only the inputs that enter, and partial derivatives that are equal are
//! one node, so that common subexpressions of a Jacobian are shared. Forward also keeps [`select`](Scalar::select) outermost: what is not selected
//! may be undefined without harm.

use crate::{Binary, Expr, Graph, Node, Unary};
use daedal_scalar::Scalar;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::rc::Rc;

/// A sparse matrix of partial derivatives in compressed columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jacobian {
    /// Number of rows.
    pub rows: usize,
    /// Entries of column j are those from `columns[j]` to `columns[j + 1]`.
    pub columns: Vec<usize>,
    /// Row of each entry; rises within a column.
    pub row: Vec<usize>,
    /// The entries that are not structurally zero.
    pub entries: Vec<Expr>,
}

impl Jacobian {
    /// All entries as (row, column, entry), column by column.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, Expr)> {
        let column = |j: usize| self.columns[j]..self.columns[j + 1];
        (0..self.columns.len() - 1).flat_map(move |j| column(j).map(move |k| (self.row[k], j, self.entries[k])))
    }
}

impl Graph {
    /// d/dt of the outputs along input' = rate; inputs that are not in the flow stand still.
    pub fn total_derivative(&mut self, outputs: &[Expr], flow: &[(Expr, Expr)]) -> Vec<Expr> {
        let order = self.needed(outputs);
        let flow: FxHashMap<Expr, Expr> = flow.iter().copied().collect();
        self.with(|| {
            let zero = Expr::from(0.0);
            let mut rates: FxHashMap<Expr, Expr> = FxHashMap::with_capacity_and_hasher(order.len(), FxBuildHasher);
            for e in order {
                let rate = match e.node() {
                    Node::Input(_) => flow.get(&e).copied().unwrap_or(zero),
                    node => derivative(e, node, zero, |x| rates[&x]),
                };
                rates.insert(e, rate);
            }
            outputs.iter().map(|e| rates[e]).collect()
        })
    }

    /// ∂outputs/∂inputs. The inputs are handles of inputs of this graph.
    pub fn jacobian(&mut self, outputs: &[Expr], inputs: &[Expr]) -> Jacobian {
        let column: FxHashMap<Expr, usize> = inputs.iter().enumerate().map(|(j, &x)| (x, j)).collect();
        let order = self.needed(outputs);
        let mut gradients: FxHashMap<Expr, Gradient> = FxHashMap::with_capacity_and_hasher(order.len(), FxBuildHasher);
        self.with(|| {
            let none: Gradient = Rc::new([]);
            for e in order {
                let gradient = match e.node() {
                    Node::Input(_) => match column.get(&e) {
                        Some(&j) => Rc::new([(j, Expr::from(1.0))]),
                        None => none.clone(),
                    },
                    node => gradient(e, node, &gradients).unwrap_or_else(|| none.clone()),
                };
                gradients.insert(e, gradient);
            }
        });
        let mut entries: Vec<Vec<(usize, Expr)>> = vec![Vec::new(); inputs.len()];
        for (i, e) in outputs.iter().enumerate() {
            for &(j, entry) in &*gradients[e] {
                if self.constant(entry) != Some(0.0) {
                    entries[j].push((i, entry));
                }
            }
        }
        let mut jacobian = Jacobian { rows: outputs.len(), columns: vec![0], ..Jacobian::default() };
        for column in entries {
            jacobian.row.extend(column.iter().map(|(i, _)| i));
            jacobian.entries.extend(column.iter().map(|(_, e)| e));
            jacobian.columns.push(jacobian.row.len());
        }
        jacobian
    }
}

/// Partial derivatives by rising column.
type Gradient = Rc<[(usize, Expr)]>;

/// The gradient of a node from those of its arguments; `None` if it is empty.
fn gradient(e: Expr, node: Node, known: &FxHashMap<Expr, Gradient>) -> Option<Gradient> {
    // which columns occur
    let mut columns: Vec<usize> = Vec::new();
    let mut sources = 0;
    for x in node.arguments() {
        let gradient = &known[&x];
        if !gradient.is_empty() {
            sources += 1;
            columns.extend(gradient.iter().map(|(j, _)| *j));
        }
    }
    if columns.is_empty() {
        return None;
    }
    if sources > 1 {
        columns.sort_unstable();
        columns.dedup();
    }
    let zero = Expr::from(0.0);
    let partial = |j: usize| {
        move |x: Expr| {
            let gradient = &known[&x];
            gradient.binary_search_by_key(&j, |entry| entry.0).map_or(zero, |k| gradient[k].1)
        }
    };
    Some(columns.into_iter().map(|j| (j, derivative(e, node, zero, partial(j)))).collect())
}

/// The derivative of a node y from the derivatives of its arguments.
fn derivative(y: Expr, node: Node, zero: Expr, of: impl Fn(Expr) -> Expr) -> Expr {
    match node {
        Node::Constant(_) | Node::Input(_) => zero,
        Node::Unary(f, x) => {
            let dx = of(x);
            if dx == zero {
                return zero;
            }
            match f {
                Unary::Neg => -dx,
                Unary::Sqrt => dx / (y * 2.0),
                Unary::Exp => y * dx,
                Unary::Ln => dx / x,
                Unary::Sin => x.cos() * dx,
                Unary::Cos => -(x.sin() * dx),
                Unary::Tan => (y.square() + 1.0) * dx,
                Unary::Sinh => x.cosh() * dx,
                Unary::Cosh => x.sinh() * dx,
                Unary::Tanh => (-y.square() + 1.0) * dx,
                Unary::Asin => dx / (-x.square() + 1.0).sqrt(),
                Unary::Acos => -(dx / (-x.square() + 1.0).sqrt()),
                Unary::Atan => dx / (x.square() + 1.0),
                Unary::Abs => x.select(dx, -dx),
            }
        }
        Node::Binary(f, a, b) => {
            let (da, db) = (of(a), of(b));
            match f {
                Binary::Add => da + db,
                Binary::Sub => da - db,
                Binary::Mul => b * da + a * db,
                Binary::Div if db == zero => da / b,
                Binary::Div => (da - y * db) / b,
                Binary::Atan2 if da == zero && db == zero => zero,
                Binary::Atan2 => (da * b - a * db) / (a.square() + b.square()),
                Binary::Pow if da == zero && db == zero => zero,
                Binary::Pow => b * a.pow(b - 1.0) * da + y * a.ln() * db,
            }
        }
        Node::Powi(x, n) => x.powi(n - 1) * f64::from(n) * of(x),
        Node::Powf(x, a) => x.powf(a - 1.0) * a * of(x),
        Node::Select(c, yes, no) => c.select(of(yes), of(no)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_constraints_of_a_rod() {
        let mut graph = Graph::new();
        let [x, y, vx, vy, ax, ay] = ["x", "y", "vx", "vy", "ax", "ay"].map(|name| graph.input(name));
        let flow = [(x, vx), (y, vy), (vx, ax), (vy, ay)];
        let g = graph.with(|| x.square() + y.square() - 1.0);
        let g1 = graph.total_derivative(&[g], &flow);
        let g2 = graph.total_derivative(&g1, &flow);
        assert_eq!(graph.formula(g2[0]), "2*(vx^2 + x*ax) + 2*(vy^2 + y*ay)");
    }

    #[test]
    fn jacobians_are_sparse_and_shared() {
        let mut graph = Graph::new();
        let x: Vec<Expr> = (1..=4).map(|i| graph.input(format!("x{i}"))).collect();
        let outputs = graph.with(|| vec![(x[0] + x[2]).sin(), x[1] * x[1], x[3] * 0.0 + 5.0]);
        let jacobian = graph.jacobian(&outputs, &x);
        assert_eq!(jacobian.columns, [0, 1, 2, 3, 3]);
        assert_eq!(jacobian.row, [0, 1, 0]);
        assert_eq!(jacobian.entries[0], jacobian.entries[2]);
        assert_eq!(graph.formula(jacobian.entries[1]), "2*x2");
    }

    #[test]
    fn what_is_not_selected_may_be_undefined() {
        let mut graph = Graph::new();
        let x = graph.input("x");
        let y = graph.with(|| x.select(x.sqrt(), Expr::from(0.0)));
        let jacobian = graph.jacobian(&[y], &[x]);
        assert_eq!(graph.formula(jacobian.entries[0]), "if(x >= 0, 1/(2*sqrt(x)), 0)");
    }
}
