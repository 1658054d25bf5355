//! In which order nodes are computed, and where the code is cut into parts.
//!
//! Register allocation of one function takes time that grows with the square of its length: 94 s for 79 000 nodes, but 0.2 s in parts of 500.
//! So every part is a function of its own, and values that a later part needs go through a scratch array.
//!
//! The order is that in which nodes were made; depth first from the outputs gave neither faster nor shorter code.

use daedal_graph::{Expr, Graph, Node, Unary};
use std::collections::HashMap;

/// One thing to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// The value of a node that is neither a constant nor an input.
    Node(Expr),
    /// Sine and cosine of one argument.
    SineAndCosine { sin: Expr, cos: Expr, of: Expr },
}

impl Task {
    /// The nodes whose values it gives.
    pub(crate) fn results(self) -> impl Iterator<Item = Expr> {
        let (first, second) = match self {
            Task::Node(e) => (e, None),
            Task::SineAndCosine { sin, cos, .. } => (sin, Some(cos)),
        };
        std::iter::once(first).chain(second)
    }

    /// The node whose arguments it needs.
    fn reader(self) -> Expr {
        match self {
            Task::Node(e) | Task::SineAndCosine { sin: e, .. } => e,
        }
    }
}

/// Steps in order, cut into parts.
#[derive(Clone, Debug)]
pub(crate) struct TaskPlan {
    pub(crate) steps: Vec<Task>,
    /// Steps of a part; the last may be shorter.
    pub(crate) part: usize,
    /// Place in the scratch array of values that a later part needs.
    pub(crate) place: HashMap<Expr, usize>,
    /// Length of the scratch array.
    pub(crate) scratch: usize,
}

impl TaskPlan {
    /// The plan for these outputs with parts of `part` steps.
    pub(crate) fn new(graph: &Graph, outputs: &[Expr], part: usize) -> Self {
        let steps = steps(graph, outputs);
        // the part that computes a value and the last one that reads it
        let mut made = vec![usize::MAX; graph.len()];
        let mut last = vec![0; graph.len()];
        for (k, step) in steps.iter().enumerate() {
            step.results().for_each(|e| made[e.index()] = k / part);
            graph.node(step.reader()).arguments().for_each(|x| last[x.index()] = k / part);
        }
        let (mut place, mut free, mut scratch) = (HashMap::new(), Vec::new(), 0);
        // places become free after a part
        let mut ends: HashMap<usize, Vec<usize>> = HashMap::new();
        for (number, steps) in steps.chunks(part).enumerate() {
            for e in steps.iter().flat_map(|step| step.results()).filter(|e| last[e.index()] > number) {
                let at = free.pop().unwrap_or_else(|| {
                    scratch += 1;
                    scratch - 1
                });
                place.insert(e, at);
                ends.entry(last[e.index()]).or_default().push(at);
            }
            free.extend(ends.remove(&number).into_iter().flatten());
        }
        TaskPlan { steps, part, place, scratch }
    }
}

/// What is to be computed, arguments first; sine and cosine of one argument in one step.
fn steps(graph: &Graph, outputs: &[Expr]) -> Vec<Task> {
    let order = graph.needed(outputs);
    let mut sines: HashMap<Expr, [Option<Expr>; 2]> = HashMap::new();
    for &e in &order {
        match graph.node(e) {
            Node::Unary(Unary::Sin, x) => sines.entry(x).or_default()[0] = Some(e),
            Node::Unary(Unary::Cos, x) => sines.entry(x).or_default()[1] = Some(e),
            _ => {}
        }
    }
    let mut steps = Vec::with_capacity(order.len());
    for &e in &order {
        match graph.node(e) {
            Node::Constant(_) | Node::Input(_) => {}
            Node::Unary(Unary::Sin | Unary::Cos, x) => match sines.remove(&x) {
                Some([Some(sin), Some(cos)]) => steps.push(Task::SineAndCosine { sin, cos, of: x }),
                Some(_) => steps.push(Task::Node(e)),
                // the other one of a pair
                None => {}
            },
            _ => steps.push(Task::Node(e)),
        }
    }
    steps
}
