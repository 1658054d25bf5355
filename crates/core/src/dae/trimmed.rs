//! Fewer derivatives as unknowns: where the highest derivatives of some states enter only through combinations W x⁽ᵏ⁾ with constant W of
//! lower rank, W x⁽ᵏ⁻¹⁾ are the unknowns that order reduction needs, and not x⁽ᵏ⁻¹⁾.
//!
//! Taking all of x⁽ᵏ⁻¹⁾ adds derivatives of unknowns that may be algebraic, and may raise the index; without them it is never higher, because
//! what is left away only followed. W is read from the formulas: every entry of ∂F/∂x⁽ᵏ⁾ is a sum of numbers times formulas, and the rows
//! of numbers span the rows of W. Wunderlich, thesis (2008), 3.3.

use super::linear_terms::linear_terms;
use super::{Formulas, highest_orders};
use crate::graph::{Expr, Graph, Node, Tape};
use crate::linalg::rank::{REGULAR, echelon};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The same equations with fewer derivatives as unknowns.
#[derive(Clone, Debug)]
pub struct TrimmedFormulas {
    /// The states of the original, then one for each combination.
    pub formulas: Formulas,
    /// Names of the new states, which say what they are.
    pub combinations: Vec<String>,
    /// States whose derivatives are no unknowns any more.
    pub relieved: Vec<String>,
}

impl Formulas {
    /// The equations with combinations of derivatives as states, where the highest derivatives enter through fewer combinations than there
    /// are of them. `None` where nothing is gained, or where something else asks for the single derivatives.
    pub fn trimmed(&self) -> Option<TrimmedFormulas> {
        let n = self.states.len();
        let order = self.orders.iter().copied().max().filter(|order| *order >= 2)?;
        let highest: Vec<usize> = (0..n).filter(|&j| self.orders[j] == order).collect();
        let top: Vec<Expr> = highest.iter().filter_map(|&j| self.input(j, order)).collect();
        if self.ask_for(&top) {
            return None;
        }
        let rows: Vec<Vec<f64>> =
            self.combinations(&top).into_iter().filter(|row| row.iter().any(|x| *x != 0.0)).collect();
        let W: Vec<Vec<f64>> = echelon(rows).into_iter().map(|row| row.into_iter().map(rounded).collect()).collect();
        // rows of one entry are derivatives of a state, as ever
        let several: Vec<&Vec<f64>> = W.iter().filter(|row| row.iter().filter(|x| **x != 0.0).count() > 1).collect();
        let touched = |k: usize| several.iter().any(|row| row[k] != 0.0);
        let relieved: Vec<usize> = (0..highest.len()).filter(|&k| touched(k)).collect();
        if W.len() == highest.len() || several.is_empty() || several.len() >= relieved.len() {
            return None;
        }
        // echelon form: the last entry of size one that no other row has leads
        let leads: Option<Vec<usize>> = several.iter().map(|row| leading(row, &W)).collect();
        Some(self.with_combinations(order, &highest, &several, &leads?, &relieved))
    }

    /// Do outputs, invariants or conditions in the equations contain one of these inputs?
    fn ask_for(&self, inputs: &[Expr]) -> bool {
        let mut others: Vec<Expr> = self.outputs.iter().chain(&self.invariants).map(|(_, e)| *e).collect();
        let equations: Vec<Expr> = self.equations.iter().map(|(_, e)| *e).collect();
        let condition = |e| if let Node::Select(condition, ..) = self.graph.node(e) { Some(condition) } else { None };
        others.extend(self.graph.needed(&equations).into_iter().filter_map(condition));
        let needed = self.graph.needed(&others);
        inputs.iter().any(|input| needed.binary_search(input).is_ok())
    }

    /// Numbers with which the inputs enter: one row for every formula they are factors of, in every equation.
    fn combinations(&self, inputs: &[Expr]) -> Vec<Vec<f64>> {
        let mut graph = self.graph.clone();
        let first_parameter = 1 + self.states.len() * (self.levels as usize + 1);
        let parameters: Vec<Expr> = graph.inputs().skip(first_parameter).map(|(_, e)| e).collect();
        let numbers: Vec<(Expr, f64)> = parameters.into_iter().zip(self.parameters.iter().map(|(_, x)| *x)).collect();
        let equations: Vec<Expr> = self.equations.iter().map(|(_, e)| *e).collect();
        let equations = graph.bind(&equations, &numbers);
        let jacobian = graph.jacobian(&equations, inputs);
        let mut rows: BTreeMap<(usize, Option<Expr>), Vec<f64>> = BTreeMap::new();
        for (i, j, e) in jacobian.iter() {
            for (base, factor) in linear_terms(&graph, e) {
                rows.entry((i, base)).or_insert_with(|| vec![0.0; inputs.len()])[j] += factor;
            }
        }
        rows.into_values().collect()
    }

    /// With a state for every row of `several`, which takes the place of the derivatives of the relieved states.
    fn with_combinations(
        &self,
        order: u32,
        highest: &[usize],
        several: &[&Vec<f64>],
        leads: &[usize],
        relieved: &[usize],
    ) -> TrimmedFormulas {
        let n = self.states.len();
        let names: Vec<String> = several.iter().map(|row| named(row, highest, &self.states, order - 1)).collect();
        let states: Vec<String> = self.states.iter().chain(&names).cloned().collect();
        let mut graph = Graph::new();
        let t = graph.input("t");
        let block = |graph: &mut Graph, q: u32| -> Vec<Expr> {
            states.iter().map(|name| graph.input(format!("{name}{}", "'".repeat(q as usize)))).collect()
        };
        let blocks: Vec<Vec<Expr>> = (0..=self.levels).map(|q| block(&mut graph, q)).collect();
        let parameters: Vec<Expr> = self.parameters.iter().map(|(name, _)| graph.input(&**name)).collect();
        let all: Vec<Expr> =
            self.equations.iter().chain(&self.outputs).chain(&self.invariants).map(|(_, e)| *e).collect();
        let tape = Tape::new(&self.graph, &all);
        let (images, definitions) = graph.with(|| {
            let mut inputs = vec![t];
            for (q, block) in blocks.iter().enumerate() {
                for (j, &input) in block[..n].iter().enumerate() {
                    let place = highest.iter().position(|&other| other == j).filter(|_| q as u32 == order);
                    inputs.push(match place {
                        // F depends on W x⁽ᵏ⁾ alone: the leading entries carry it
                        Some(k) if leads.contains(&k) => {
                            blocks[1][n + leads.iter().position(|&lead| lead == k).unwrap_or(0)]
                        }
                        Some(k) if relieved.contains(&k) => Expr::from(0.0),
                        _ => input,
                    });
                }
            }
            inputs.extend(&parameters);
            let definitions: Vec<Expr> = several
                .iter()
                .enumerate()
                .map(|(i, row)| {
                    let terms = row.iter().zip(highest).filter(|(factor, _)| **factor != 0.0);
                    let sum = terms.fold(Expr::from(0.0), |sum, (&factor, &j)| {
                        let derivative = blocks[order as usize - 1][j];
                        sum + if factor == 1.0 { derivative } else { derivative * factor }
                    });
                    sum - blocks[0][n + i]
                })
                .collect();
            (tape.evaluate(&inputs), definitions)
        });
        let mut images = images.into_iter();
        let mut take = |old: &[(String, Expr)]| -> Vec<(String, Expr)> {
            old.iter().map(|(name, _)| name.clone()).zip(images.by_ref()).collect()
        };
        let (mut equations, outputs, invariants) = (take(&self.equations), take(&self.outputs), take(&self.invariants));
        let definitions = names.iter().zip(definitions).map(|(name, e)| (format!("definition of {name}"), e));
        equations.extend(definitions);
        let residuals: Vec<Expr> = equations.iter().map(|(_, e)| *e).collect();
        TrimmedFormulas {
            formulas: Formulas {
                orders: highest_orders(&graph, &residuals, states.len(), self.levels),
                graph,
                states,
                levels: self.levels,
                equations,
                parameters: self.parameters.clone(),
                outputs,
                invariants,
                free: self.free.clone(),
                tables: self.tables.clone(),
                // for an analysis of the equations as written
                hidden: Vec::new(),
            },
            combinations: names,
            relieved: relieved.iter().map(|&k| self.states[highest[k]].clone()).collect(),
        }
    }
}

/// Numbers that are zero or one but for rounding.
fn rounded(x: f64) -> f64 {
    if x.abs() < REGULAR {
        0.0
    } else if (x.abs() - 1.0).abs() < REGULAR {
        x.signum()
    } else {
        x
    }
}

/// The entry of a row that is one and that no other row has.
fn leading(row: &[f64], all: &[Vec<f64>]) -> Option<usize> {
    (0..row.len()).rev().find(|&k| row[k] == 1.0 && all.iter().filter(|other| other[k] != 0.0).count() == 1)
}

/// der(x2 + x3), der(x1 - 0.5*x2, 2).
fn named(row: &[f64], highest: &[usize], states: &[String], order: u32) -> String {
    let mut sum = String::new();
    for (&factor, &j) in row.iter().zip(highest).filter(|(factor, _)| **factor != 0.0) {
        sum += match (sum.is_empty(), factor < 0.0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        if factor.abs() != 1.0 {
            let _ = write!(sum, "{:?}*", factor.abs());
        }
        sum += &states[j];
    }
    if order == 1 { format!("der({sum})") } else { format!("der({sum}, {order})") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Scalar;

    /// Example 3.23: t x₁″ + x₁′ + x₁, x₂″ + x₃″ + x₂, t (x₂″ + x₃″) + (1 + t) x₂ + x₃, and c times x₂″ + x₃″ squared.
    fn example(outputs: bool) -> Formulas {
        let mut graph = Graph::new();
        let names = ["t", "x1", "x2", "x3", "x1'", "x2'", "x3'", "x1''", "x2''", "x3''", "c"];
        let [t, x1, x2, x3, v1, v2, _, a1, a2, a3, c] = names.map(|name| graph.input(name));
        let all = graph.with(|| {
            [t * a1 + v1 + x1, a2 + a3 + x2, t * a2 + t * a3 + (t + 1.0) * x2 + x3, (c * (a2 + a3)).square() + v2]
        });
        let output = outputs.then(|| ("a2".to_string(), a2));
        Formulas {
            orders: highest_orders(&graph, &all, 3, 2),
            graph,
            states: ["x1", "x2", "x3"].map(String::from).to_vec(),
            levels: 2,
            equations: all.iter().enumerate().map(|(i, e)| (i.to_string(), *e)).collect(),
            parameters: vec![("c".into(), 2.0)],
            outputs: output.into_iter().collect(),
            ..Formulas::default()
        }
    }

    #[test]
    fn what_enters_together_is_one_unknown() {
        let found = example(false).trimmed().unwrap();
        assert_eq!(
            (&found.combinations[..], &found.relieved[..]),
            (&["der(x2 + x3)".into()][..], &["x2".into(), "x3".into()][..])
        );
        let formulas = &found.formulas;
        assert_eq!(formulas.states, ["x1", "x2", "x3", "der(x2 + x3)"]);
        assert_eq!(formulas.orders, [2, 1, 1, 1]);
        let text = |i: usize| formulas.graph.formula(formulas.equations[i].1);
        assert_eq!(text(1), "der(x2 + x3)' + x2");
        assert_eq!(text(4), "x2' + x3' - der(x2 + x3)");
        // the same values on a curve
        let old = example(false);
        let evaluate = |formulas: &Formulas, inputs: &[f64]| {
            let all: Vec<Expr> = formulas.equations.iter().map(|(_, e)| *e).collect();
            Tape::new(&formulas.graph, &all).evaluate(inputs)
        };
        let before = evaluate(&old, &[0.7, 1.0, 2.0, 3.0, 0.1, 0.2, 0.3, -1.0, 0.5, 0.25, 2.0]);
        let after = evaluate(formulas, &[0.7, 1.0, 2.0, 3.0, 0.5, 0.1, 0.2, 0.3, 0.75, -1.0, 9.0, 9.0, 9.0, 2.0]);
        assert!(before.iter().zip(&after).all(|(x, y)| (x - y).abs() < 1e-14), "{before:?} {after:?}");
        assert_eq!(after[4], 0.0);
    }

    #[test]
    fn single_derivatives_that_somebody_wants_stay() {
        assert!(example(true).trimmed().is_none());
        let mut full = example(false);
        let a3 = full.input(2, 2).unwrap();
        full.equations.push(("5".into(), a3));
        assert!(full.trimmed().is_none());
        // a condition asks, although both sides have the same derivatives
        let mut asked = example(false);
        let jump = asked.graph.with(|| a3.select(Expr::from(1.0), Expr::from(2.0)));
        asked.equations.push(("5".into(), jump));
        assert!(asked.trimmed().is_none());
    }
}
