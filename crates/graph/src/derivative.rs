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
        let mut gradients = Gradients::new(self, &order, outputs);
        self.with(|| {
            let none: Gradient = Rc::new([]);
            for e in order {
                let node = e.node();
                if gradients.grow(e, node) {
                    continue;
                }
                node.arguments().for_each(|x| gradients.finish(x));
                let gradient = match node {
                    Node::Input(_) => match column.get(&e) {
                        Some(&j) => Rc::new([(j, Expr::from(1.0))]),
                        None => none.clone(),
                    },
                    node => gradient(e, node, &gradients.known).unwrap_or_else(|| none.clone()),
                };
                gradients.put(e, node, gradient);
            }
        });
        for &e in outputs {
            gradients.finish(e);
        }
        let gradients = gradients.known;
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

/// Gradients from this length on grow in place. Chosen: below, a list is as cheap.
const LONG: usize = 32;

/// Gradients of nodes that others still read. That of a sum which nothing but the next sum reads grows in place, term by term: a sum of n terms costs
/// O(n), and not O(n²) as partial sums with gradients of their own.
struct Gradients {
    known: FxHashMap<Expr, Gradient>,
    growing: FxHashMap<Expr, FxHashMap<usize, Expr>>,
    /// how often a node will still be read
    left: FxHashMap<Expr, usize>,
}

impl Gradients {
    fn new(graph: &Graph, order: &[Expr], outputs: &[Expr]) -> Self {
        let mut left: FxHashMap<Expr, usize> = FxHashMap::with_capacity_and_hasher(order.len(), FxBuildHasher);
        let read = order.iter().flat_map(|&e| graph.node(e).arguments()).chain(outputs.iter().copied());
        read.for_each(|x| *left.entry(x).or_default() += 1);
        Gradients { known: FxHashMap::default(), growing: FxHashMap::default(), left }
    }

    /// Add the gradient of the second term to the long one of the first, which nobody else reads; false where it is not like that.
    fn grow(&mut self, e: Expr, node: Node) -> bool {
        let Node::Binary(Binary::Add | Binary::Sub, x, y) = node else { return false };
        if x == y || self.left.get(&x) != Some(&1) {
            return false;
        }
        self.finish(y);
        let is_long = |gradient: &&Gradient| gradient.len() >= LONG;
        let short = || self.known.get(&x).filter(is_long).map(|long| long.iter().copied().collect());
        let Some(mut sum) = self.growing.remove(&x).or_else(short) else { return false };
        let zero = Expr::from(0.0);
        for &(j, dy) in &*self.known[&y] {
            let dx = sum.get(&j).copied().unwrap_or(zero);
            sum.insert(j, derivative(e, node, zero, |term| if term == x { dx } else { dy }));
        }
        self.growing.insert(e, sum);
        self.read(node);
        true
    }

    /// A gradient that grew is read as a list.
    fn finish(&mut self, e: Expr) {
        if let Some(sum) = self.growing.remove(&e) {
            let mut list: Vec<(usize, Expr)> = sum.into_iter().collect();
            list.sort_unstable_by_key(|entry| entry.0);
            self.known.insert(e, list.into());
        }
    }

    fn put(&mut self, e: Expr, node: Node, gradient: Gradient) {
        self.known.insert(e, gradient);
        self.read(node);
    }

    /// The arguments of a node have been read.
    fn read(&mut self, node: Node) {
        for x in node.arguments() {
            if let Some(left) = self.left.get_mut(&x) {
                *left -= 1;
                if *left == 0 {
                    self.known.remove(&x);
                }
            }
        }
    }
}

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
    fn gradients_of_long_sums_grow_with_their_terms() {
        let n = 200;
        let mut graph = Graph::new();
        let x: Vec<Expr> = (0..n).map(|i| graph.input(format!("x{i}"))).collect();
        // neighbours share a term; the sum goes on as part of two others
        let [sum, twice, rest] = graph.with(|| {
            let term = |i: usize| x[i] * x[(i + 1) % n];
            let sum =
                (0..n).fold(Expr::from(0.0), |sum, i| if i.is_multiple_of(3) { sum - term(i) } else { sum + term(i) });
            [sum, sum * 2.0, sum - x[0]]
        });
        let jacobian = graph.jacobian(&[sum, twice, rest], &x);
        assert_eq!(jacobian.entries.len(), 3 * n);
        let point: Vec<f64> = (0..n).map(|i| (0.7 * i as f64).sin()).collect();
        let values = crate::Tape::new(&graph, &jacobian.entries).evaluate(&point);
        for ((row, j, _), value) in jacobian.iter().zip(values) {
            let sign = |i: usize| if i.is_multiple_of(3) { -1.0 } else { 1.0 };
            let before = (j + n - 1) % n;
            let slope = sign(j) * point[(j + 1) % n] + sign(before) * point[before];
            let expected = [slope, 2.0 * slope, if j == 0 { slope - 1.0 } else { slope }][row];
            assert!((value - expected).abs() < 1e-14, "{row} {j}: {value} {expected}");
        }
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
