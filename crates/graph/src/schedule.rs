//! In which order a tape computes its values: equal operations together.
//!
//! Of the operations whose arguments are known, those that occur most often come next, all of them, with what they make possible on the way.

use crate::tape::{Operation, operands, operation};
use crate::{Expr, Graph};
use rustc_hash::FxHashMap;

/// The nodes that must stand in registers, arguments first.
pub(crate) fn schedule(graph: &Graph, outputs: &[Expr]) -> Vec<Expr> {
    let needed = in_registers(graph, outputs);
    // how many arguments of a node are missing, and who waits for it
    let mut missing = vec![0_u32; graph.len()];
    let mut waiting: Vec<Vec<Expr>> = vec![Vec::new(); graph.len()];
    let mut ready: Vec<Vec<Expr>> = Vec::new();
    let mut queue: FxHashMap<Operation, usize> = FxHashMap::default();
    let mut queue_of = vec![0; graph.len()];
    for &e in &needed {
        let node = graph.node(e);
        for x in operands(graph, node) {
            missing[e.index()] += 1;
            waiting[x.index()].push(e);
        }
        let next = queue.len();
        let number = *queue.entry(operation(graph, node)).or_insert(next);
        queue_of[e.index()] = number;
        if number == ready.len() {
            ready.push(Vec::new());
        }
        if missing[e.index()] == 0 {
            ready[number].push(e);
        }
    }
    let mut order = Vec::with_capacity(needed.len());
    // the longest queue; the first of equals
    while let Some(longest) = (0..ready.len()).rev().max_by_key(|&k| ready[k].len()).filter(|&k| !ready[k].is_empty()) {
        let mut next = 0;
        while let Some(&e) = ready[longest].get(next) {
            next += 1;
            order.push(e);
            for &user in &waiting[e.index()] {
                missing[user.index()] -= 1;
                if missing[user.index()] == 0 {
                    ready[queue_of[user.index()]].push(user);
                }
            }
        }
        ready[longest].clear();
    }
    order
}

/// The nodes whose values must stand in registers, in the order they were made.
fn in_registers(graph: &Graph, outputs: &[Expr]) -> Vec<Expr> {
    let mut wanted = vec![false; graph.len()];
    for e in outputs {
        wanted[e.index()] = true;
    }
    let mut order = graph.needed(outputs);
    for &e in order.iter().rev() {
        if wanted[e.index()] {
            operands(graph, graph.node(e)).for_each(|x| wanted[x.index()] = true);
        }
    }
    order.retain(|e| wanted[e.index()]);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use daedal_scalar::Scalar;

    #[test]
    fn equal_operations_stand_together() {
        let mut graph = Graph::new();
        let x: Vec<Expr> = (0..10).map(|i| graph.input(format!("x{i}"))).collect();
        let y: Vec<Expr> = graph.with(|| x.iter().map(|&x| (x * x + 1.0).sin()).collect());
        let operations: Vec<Operation> =
            schedule(&graph, &y).into_iter().map(|e| operation(&graph, graph.node(e))).collect();
        let changes = operations.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert_eq!((operations.len(), changes), (40, 3));
    }

    #[test]
    fn arguments_come_first() {
        let mut graph = Graph::new();
        let (x, y) = (graph.input("x"), graph.input("y"));
        let outputs = graph.with(|| {
            let mut z = vec![x, y];
            for k in 0..50 {
                z.push(if k % 3 == 0 { z[k] * z[k + 1] } else { (z[k] - z[k + 1] * z[k / 2]).sin() });
            }
            z
        });
        let mut known = vec![false; graph.len()];
        for e in schedule(&graph, &outputs) {
            assert!(operands(&graph, graph.node(e)).all(|x| known[x.index()]));
            known[e.index()] = true;
        }
        assert!(outputs.iter().all(|e| known[e.index()]));
    }
}
