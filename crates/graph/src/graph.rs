//! A graph owns its nodes and stores each of them once.

use crate::{Binary, Expr, Node, Unary};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Nodes in the order they were made; arguments come before the nodes that use them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    known: FxHashMap<Key, Expr>,
    inputs: Vec<(String, Expr)>,
}

/// A node with its numbers as bits, so that equal nodes are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Constant(u64),
    Input(usize),
    Unary(crate::Unary, Expr),
    Binary(Binary, Expr, Expr),
    Powi(Expr, i32),
    Powf(Expr, u64),
    Select(Expr, Expr, Expr),
}

thread_local! {
    /// The graph that arithmetic on this thread goes to.
    static CURRENT: RefCell<Option<Graph>> = const { RefCell::new(None) };
}

impl Graph {
    /// A graph without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new input of that name; inputs are numbered in the order they are made.
    pub fn input(&mut self, name: impl Into<String>) -> Expr {
        let number = self.inputs.len();
        let input = self.node_of(Node::Input(number));
        self.inputs.push((name.into(), input));
        input
    }

    /// The inputs with their names.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = (&str, Expr)> {
        self.inputs.iter().map(|(name, input)| (name.as_str(), *input))
    }

    /// Name of input number i.
    pub fn input_name(&self, i: usize) -> &str {
        &self.inputs[i].0
    }

    /// Number of nodes, constants and inputs among them.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Is there no node yet?
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What a handle of this graph stands for.
    pub fn node(&self, e: Expr) -> Node {
        self.nodes[e.index()]
    }

    /// The value of a constant.
    pub fn constant(&self, e: Expr) -> Option<f64> {
        if let Node::Constant(value) = self.node(e) { Some(value) } else { None }
    }

    /// Let arithmetic on handles of this graph work inside of `build`, on this thread.
    pub fn with<R>(&mut self, build: impl FnOnce() -> R) -> R {
        // what was current comes back at the end, also after a panic
        struct GraphGuard<'g> {
            home: &'g mut Graph,
            before: Option<Graph>,
        }
        impl Drop for GraphGuard<'_> {
            fn drop(&mut self) {
                let before = self.before.take();
                CURRENT.with_borrow_mut(|current| *self.home = std::mem::replace(current, before).unwrap_or_default());
            }
        }
        let graph = std::mem::take(self);
        let before = CURRENT.with_borrow_mut(|current| current.replace(graph));
        let _guard = GraphGuard { home: self, before };
        build()
    }

    /// May formulas be one analytic function in some region and another one elsewhere? Values at points tell nothing about other regions then.
    pub fn has_branches(&self, formulas: &[Expr]) -> bool {
        let branches = |e: &Expr| matches!(self.node(*e), Node::Select(..) | Node::Unary(Unary::Abs, _));
        self.needed(formulas).iter().any(branches)
    }

    /// The nodes that the outputs need, arguments first.
    pub fn needed(&self, outputs: &[Expr]) -> Vec<Expr> {
        let mut marked = vec![false; self.nodes.len()];
        let mut open: Vec<Expr> = outputs.to_vec();
        while let Some(e) = open.pop() {
            if !std::mem::replace(&mut marked[e.index()], true) {
                open.extend(self.node(e).arguments().filter(|x| !marked[x.index()]));
            }
        }
        marked.iter().enumerate().filter(|(_, m)| **m).map(|(i, _)| Expr::at(i)).collect()
    }

    /// A copy of what these outputs need, with all inputs, and the outputs in it.
    pub fn reduced_to(&self, outputs: &[Expr]) -> (Graph, Vec<Expr>) {
        let mut graph = Graph::new();
        let mut place = vec![Expr::at(0); self.nodes.len()];
        for (name, e) in &self.inputs {
            place[e.index()] = graph.input(name.clone());
        }
        for e in self.needed(outputs) {
            let at = |x: Expr| place[x.index()];
            place[e.index()] = match self.node(e) {
                Node::Input(_) => continue,
                node @ Node::Constant(_) => graph.node_of(node),
                Node::Unary(f, x) => graph.node_of(Node::Unary(f, at(x))),
                Node::Binary(f, x, y) => graph.node_of(Node::Binary(f, at(x), at(y))),
                Node::Powi(x, n) => graph.node_of(Node::Powi(at(x), n)),
                Node::Powf(x, a) => graph.node_of(Node::Powf(at(x), a)),
                Node::Select(c, x, y) => graph.node_of(Node::Select(at(c), at(x), at(y))),
            };
        }
        let outputs = outputs.iter().map(|e| place[e.index()]).collect();
        (graph, outputs)
    }

    /// Numbers of the inputs that enter, in rising order.
    pub fn depends_on(&self, e: Expr) -> Vec<usize> {
        let mut inputs: Vec<usize> = self
            .needed(&[e])
            .into_iter()
            .filter_map(|e| if let Node::Input(i) = self.node(e) { Some(i) } else { None })
            .collect();
        inputs.sort_unstable();
        inputs
    }

    /// The same of several formulas, each by itself: costs what the formulas are long.
    pub fn dependencies(&self, formulas: &[Expr]) -> Vec<Vec<usize>> {
        let mut seen = vec![usize::MAX; self.nodes.len()];
        let mut open: Vec<Expr> = Vec::new();
        let mut of = |(k, e): (usize, &Expr)| {
            let mut inputs = Vec::new();
            open.push(*e);
            while let Some(e) = open.pop() {
                if std::mem::replace(&mut seen[e.index()], k) != k {
                    match self.node(e) {
                        Node::Input(i) => inputs.push(i),
                        node => open.extend(node.arguments().filter(|x| seen[x.index()] != k)),
                    }
                }
            }
            inputs.sort_unstable();
            inputs
        };
        formulas.iter().enumerate().map(&mut of).collect()
    }

    /// The one handle of a node as it stands, without simplification.
    pub(crate) fn node_of(&mut self, node: Node) -> Expr {
        let key = match node {
            Node::Constant(value) => Key::Constant(value.to_bits()),
            Node::Input(i) => Key::Input(i),
            Node::Unary(f, x) => Key::Unary(f, x),
            // x + y and y + x are one node, which keeps the order in which it was written first
            Node::Binary(f @ (Binary::Add | Binary::Mul), x, y) if y < x => Key::Binary(f, y, x),
            Node::Binary(f, x, y) => Key::Binary(f, x, y),
            Node::Powi(x, n) => Key::Powi(x, n),
            Node::Powf(x, a) => Key::Powf(x, a.to_bits()),
            Node::Select(c, x, y) => Key::Select(c, x, y),
        };
        *self.known.entry(key).or_insert_with(|| {
            self.nodes.push(node);
            Expr::at(self.nodes.len() - 1)
        })
    }
}

/// Work on the current graph of this thread.
pub(crate) fn current<R>(f: impl FnOnce(&mut Graph) -> R) -> R {
    CURRENT.with_borrow_mut(|current| f(current.as_mut().expect("arithmetic on Expr works only inside of Graph::with")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use daedal_scalar::Scalar;

    #[test]
    fn equal_formulas_are_one_node() {
        let mut graph = Graph::new();
        let (x, y) = (graph.input("x"), graph.input("y"));
        let (a, b) = graph.with(|| ((x * y + 1.0).sin(), (y * x + 1.0).sin()));
        assert_eq!(a, b);
        assert_eq!(graph.depends_on(a), [0, 1]);
        let c = graph.with(|| y.exp());
        assert_eq!(graph.dependencies(&[c, a, x]), [vec![1], vec![0, 1], vec![0]]);
    }

    #[test]
    fn a_reduced_graph_has_what_its_outputs_need() {
        let mut graph = Graph::new();
        let (x, y) = (graph.input("x"), graph.input("y"));
        let [_, sum, x1] = graph.with(|| [x.exp(), (y + 2.0).sin() * y, x]);
        let (reduced, outputs) = graph.reduced_to(&[sum, x1]);
        assert!(reduced.len() < graph.len());
        assert_eq!(reduced.inputs().map(|(name, _)| name).collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!([reduced.formula(outputs[0]), reduced.formula(outputs[1])], [graph.formula(sum), graph.formula(x1)]);
    }

    #[test]
    fn graphs_nest_and_come_back_after_a_panic() {
        let (mut outer, mut inner) = (Graph::new(), Graph::new());
        let (x, y) = (outer.input("x"), inner.input("y"));
        let sum = outer.with(|| {
            let square = inner.with(|| y * y);
            assert_eq!(inner.formula(square), "y^2");
            x + 1.0
        });
        assert_eq!(outer.formula(sum), "x + 1");
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| outer.with(|| panic!("on purpose"))));
        assert!(panicked.is_err());
        assert_eq!(outer.formula(sum), "x + 1");
    }
}
