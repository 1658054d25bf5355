//! A formula of one variable as a function with two derivatives.

use crate::formula::ast::Tree;
use crate::index::Bindings;
use crate::lower::{Lowering, Symbolic};
use crate::names::{Classes, Context, Quantity};
use crate::reader::Reader;
use crate::shape::Shape;
use daedal::graph::Graph;
use daedal_multibody::Function;
use std::collections::HashMap;

/// The function, with numbers for the parameters in it.
pub(super) fn lower(
    reader: &mut Reader,
    tree: &Tree,
    context: Context,
    variable: &'static str,
    bindings: &Bindings,
) -> Option<Function> {
    let mut graph = Graph::new();
    let x = graph.input(variable);
    let parameters: Vec<_> = reader.parameters.iter().map(|parameter| graph.input(&parameter.name)).collect();
    let mut numbers = Vec::new();
    for k in 0..parameters.len() {
        let value = reader.parameter(k);
        numbers.push((parameters[k], reader.ok(value)?));
    }
    let value = graph.with(|| {
        let variables = HashMap::from([(Quantity::Time, vec![x]), (Quantity::Parameter, parameters)]);
        let mut to = Lowering::new(reader, variables);
        if variable != "t" {
            let local = Symbolic { expr: x, number: None, uses: Classes::NONE, shape: Shape::Free, table: None };
            to.locals.insert(variable, local);
        }
        let value = to.formula(tree, context, bindings);
        to.differentiated(value, 2, tree.span)
    })?;
    let bound = graph.bind(&[value.expr], &numbers);
    Some(Function::of(graph, x, bound[0]))
}
