//! E ẋ = A x + B u + b, y = C x from the formulas of a general system: as it is where it is linear with constant coefficients, else linearised at
//! an equilibrium that the file gives.

use daedal::Initial;
use daedal::Start;
use daedal::dae::{FirstOrder, Formulas};
use daedal::graph::{Expr, Graph, Jacobian, Node, Tape};
use daedal::linalg::Mat;
use daedal_model::{ControlFormula, InputPlace, ModelControl};
use daedal_pencils::control::DescriptorSystem;

/// A point is an equilibrium if the residuals are below this part of their terms. That of values written with eight digits.
const EQUILIBRIUM: f64 = 1e-8;

/// A system with inputs and outputs, in matrices.
pub(crate) struct ControlMatrices {
    /// Names of the states beside the inputs, derivatives that are unknowns among them.
    pub states: Vec<String>,
    pub inputs: Vec<String>,
    /// With C of the outputs.
    pub system: DescriptorSystem,
    /// What was linearised about, if anything: values of the states and of the inputs.
    pub point: Option<(Vec<f64>, Vec<f64>)>,
    /// b: numbers, or formulas of time.
    pub drive: DrivingTerm,
    /// C of the surfaces, and their values at x = 0 or at the point.
    pub surfaces: Mat<f64>,
    pub cost: Option<Result<Quadratic, String>>,
    pub final_cost: Option<Result<Quadratic, String>>,
    pub graph: Graph,
    pub t: Expr,
    /// All unknowns of the form of first order: place among the states.
    pub places: Vec<Option<usize>>,
    x: Vec<Expr>,
    numbers: Vec<(Expr, f64)>,
}

/// b of E ẋ = A x + B u + b.
pub(crate) enum DrivingTerm {
    Constant(Vec<f64>),
    OfTime(Vec<Expr>),
}

/// ½zᵀWz + cᵀz + constant in z = (x, u).
pub(crate) struct Quadratic {
    pub W: Mat<f64>,
    pub c: Vec<f64>,
    pub constant: f64,
}

impl ControlMatrices {
    #[allow(clippy::too_many_lines)] // derivatives, whether they are numbers, and what is made of them
    pub fn new(formulas: &Formulas, control: &ModelControl, initial: &Initial) -> Result<Self, String> {
        let first = FirstOrder::new(formulas);
        let mut graph = first.graph.clone();
        let mut of_inputs = Vec::new();
        for (name, place) in &control.inputs {
            match *place {
                InputPlace::State(k) if formulas.orders[k] > 0 => {
                    return Err(format!(
                        "the derivative of the input {name} enters the equations: make it a state with an input of its own"
                    ));
                }
                InputPlace::State(k) => of_inputs.push((first.x[k], initial.start(k, 0))),
                InputPlace::Parameter(k) => {
                    of_inputs.push((first.parameters[k].0, Start::Fixed(first.parameters[k].1)));
                }
            }
        }
        let u: Vec<Expr> = of_inputs.iter().map(|(e, _)| *e).collect();
        let kept: Vec<usize> = (0..first.x.len()).filter(|&j| !u.contains(&first.x[j])).collect();
        let (x, xdot): (Vec<Expr>, Vec<Expr>) = kept.iter().map(|&j| (first.x[j], first.xdot[j])).unzip();
        let numbers: Vec<(Expr, f64)> = first.parameters.iter().copied().filter(|(e, _)| !u.contains(e)).collect();
        let of = |list: &[ControlFormula]| list.iter().map(|one| one.formula).collect::<Vec<Expr>>();
        let equations = graph.bind(&first.equations, &numbers);
        let (outputs, surfaces) =
            (graph.bind(&of(&control.outputs), &numbers), graph.bind(&of(&control.surfaces), &numbers));
        let jacobians = [
            graph.jacobian(&equations, &xdot),
            graph.jacobian(&equations, &x),
            graph.jacobian(&equations, &u),
            graph.jacobian(&outputs, &x),
            graph.jacobian(&surfaces, &x),
        ];
        for (list, formulas, what) in
            [(&control.outputs, &outputs, "output"), (&control.surfaces, &surfaces, "surface")]
        {
            if let Some(k) = formulas.iter().position(|&e| contains(&graph, &[e], &u)) {
                return Err(format!("the {what} `{}` contains inputs: it may contain states only", list[k].text));
            }
        }
        let conditions: Vec<Expr> = graph.needed(&[&equations[..], &outputs, &surfaces].concat());
        let conditions = conditions.into_iter().filter_map(|e| match graph.node(e) {
            Node::Select(condition, ..) => Some(condition),
            _ => None,
        });
        let mut coefficients: Vec<Expr> = conditions.collect();
        coefficients.extend(jacobians.iter().flat_map(|J| J.entries.iter().copied()));
        let varying = [&x[..], &xdot, &u].concat();
        let linear = !contains(&graph, &coefficients, &varying);
        let names: Vec<String> = kept.iter().map(|&j| first.names[j].clone()).collect();
        let t = first.t;
        if linear && contains(&graph, &coefficients, &[t]) {
            return Err("coefficients depend on time: what is told of control holds for constant ones".into());
        }
        let mut at = PointValues { of: vec![0.0; graph.inputs().len()] };
        for &(e, value) in &numbers {
            at.set(&graph, e, value);
        }
        let mut point = None;
        if !linear {
            let (at_x, at_u) = equilibrium(&first, &kept, &of_inputs, initial, &control.inputs)?;
            x.iter().zip(&at_x).chain(u.iter().zip(&at_u)).for_each(|(&e, &value)| at.set(&graph, e, value));
            at.set(&graph, t, initial.t);
            if contains(&graph, &equations, &[t]) {
                return Err(
                    "the system is nonlinear and contains time: it has no equilibrium to be linearised about".into()
                );
            }
            rests(&graph, &equations, &first.row_names, &jacobians[1], &at)?;
            point = Some((at_x, at_u));
        }
        let dense = |J: &Jacobian, columns: usize, sign: f64| at.dense(&graph, J, columns, sign);
        let (n, k) = (x.len(), u.len());
        let E = dense(&jacobians[0], n, 1.0);
        let (A, B) = (dense(&jacobians[1], n, -1.0), dense(&jacobians[2], k, -1.0));
        let (C, of_surfaces) = (dense(&jacobians[3], n, 1.0), dense(&jacobians[4], n, 1.0));
        let system = DescriptorSystem::new(E, A, B, C).map_err(|error| error.to_string())?;
        let drive = if linear {
            let zeros: Vec<(Expr, f64)> = varying.iter().map(|&e| (e, 0.0)).collect();
            let rest = graph.bind(&equations, &zeros);
            let b: Vec<Expr> = rest.into_iter().map(|e| graph.negative(e)).collect();
            let constant: Option<Vec<f64>> = b.iter().map(|&e| graph.constant(e)).collect();
            constant.map_or(DrivingTerm::OfTime(b), DrivingTerm::Constant)
        } else {
            DrivingTerm::Constant(vec![0.0; n])
        };
        let z = [&x[..], &u].concat();
        let mut quadratic = |cost: &Option<ControlFormula>| {
            let cost = cost.as_ref()?;
            let formula = graph.bind(&[cost.formula], &numbers)[0];
            Some(quadratic(&mut graph, formula, &z, &cost.text))
        };
        let (cost, final_cost) = (quadratic(&control.cost), quadratic(&control.final_cost));
        let mut places = vec![None; first.x.len()];
        kept.iter().enumerate().for_each(|(place, &j)| places[j] = Some(place));
        Ok(ControlMatrices {
            states: names,
            inputs: control.inputs.iter().map(|(name, _)| name.clone()).collect(),
            system,
            point,
            drive,
            surfaces: of_surfaces,
            cost,
            final_cost,
            graph,
            t,
            places,
            x,
            numbers,
        })
    }

    /// Constant gradient with respect to the states, value at x = 0 and rate in time of a formula in the graph of the equations; `None` unless it is
    /// affine in states and time.
    pub fn affine(&mut self, formula: Expr) -> Option<(Vec<f64>, f64, f64)> {
        let formula = self.graph.bind(&[formula], &self.numbers)[0];
        if self.graph.has_branches(&[formula]) {
            return None;
        }
        let mut inputs = self.x.clone();
        inputs.push(self.t);
        let J = self.graph.jacobian(&[formula], &inputs);
        let mut gradient = vec![0.0; inputs.len()];
        for (_, j, e) in J.iter() {
            gradient[j] = self.graph.constant(e)?;
        }
        let rate = gradient.pop()?;
        let zeros: Vec<(Expr, f64)> = inputs.iter().map(|&e| (e, 0.0)).collect();
        let rest = self.graph.bind(&[formula], &zeros)[0];
        Some((gradient, self.graph.constant(rest)?, rate))
    }
}

/// Numbers for the inputs of a graph.
struct PointValues {
    of: Vec<f64>,
}

impl PointValues {
    fn set(&mut self, graph: &Graph, e: Expr, value: f64) {
        if let Node::Input(i) = graph.node(e) {
            self.of[i] = value;
        }
    }

    fn dense(&self, graph: &Graph, J: &Jacobian, columns: usize, sign: f64) -> Mat<f64> {
        let values = Tape::new(graph, &J.entries).evaluate(&self.of);
        let mut M = Mat::zeros(J.rows, columns);
        for ((i, j, _), value) in J.iter().zip(values) {
            M[(i, j)] = sign * value;
        }
        M
    }
}

fn contains(graph: &Graph, formulas: &[Expr], inputs: &[Expr]) -> bool {
    let needed = graph.needed(formulas);
    inputs.iter().any(|input| needed.binary_search(input).is_ok())
}

/// The values of states and inputs that the file gives.
fn equilibrium(
    first: &FirstOrder,
    kept: &[usize],
    of_inputs: &[(Expr, Start)],
    initial: &Initial,
    inputs: &[(String, InputPlace)],
) -> Result<(Vec<f64>, Vec<f64>), String> {
    let value = |start: Start, name: &str| match start {
        Start::Fixed(x) | Start::Guess(x) => Ok(x),
        Start::Unknown => Err(format!(
            "the system is nonlinear, and is linearised about the equilibrium that [initial] gives: nothing is given for {name}"
        )),
    };
    let x = kept.iter().map(|&j| {
        let (state, order) = first.origin[j];
        value(initial.start(state, order), &first.names[j])
    });
    let u = of_inputs.iter().zip(inputs).map(|((_, start), (name, _))| value(*start, name));
    Ok((x.collect::<Result<_, _>>()?, u.collect::<Result<_, _>>()?))
}

/// F(x, 0, u) = 0?
fn rests(
    graph: &Graph,
    equations: &[Expr],
    names: &[String],
    slope: &Jacobian,
    at: &PointValues,
) -> Result<(), String> {
    let residuals = Tape::new(graph, equations).evaluate(&at.of);
    let slopes = Tape::new(graph, &slope.entries).evaluate(&at.of);
    let mut size = vec![1.0_f64; equations.len()];
    slope.iter().zip(&slopes).for_each(|((i, _, _), slope)| size[i] = size[i].max(slope.abs()));
    for (i, residual) in residuals.iter().enumerate() {
        if !residual.is_finite() || residual.abs() > EQUILIBRIUM * size[i] {
            return Err(format!(
                "the system is nonlinear, and the values of [initial] are no equilibrium: equation {} has the residual {residual:.1e} without derivatives",
                names[i]
            ));
        }
    }
    Ok(())
}

fn quadratic(graph: &mut Graph, cost: Expr, z: &[Expr], text: &str) -> Result<Quadratic, String> {
    let wrong = || format!("the cost `{text}` is not quadratic in states and inputs");
    if graph.has_branches(&[cost]) {
        return Err(wrong());
    }
    let slope = graph.jacobian(&[cost], z);
    let mut gradient = vec![None; z.len()];
    for (_, j, e) in slope.iter() {
        gradient[j] = Some(e);
    }
    let zeros: Vec<(Expr, f64)> = z.iter().map(|&e| (e, 0.0)).collect();
    let mut c = vec![0.0; z.len()];
    let mut W = Mat::zeros(z.len(), z.len());
    for (i, entry) in gradient.iter().enumerate() {
        let Some(entry) = *entry else { continue };
        let at_zero = graph.bind(&[entry], &zeros)[0];
        c[i] = graph.constant(at_zero).ok_or_else(wrong)?;
        for (_, j, e) in graph.jacobian(&[entry], z).iter() {
            W[(i, j)] = graph.constant(e).ok_or_else(wrong)?;
        }
    }
    let at_zero = graph.bind(&[cost], &zeros)[0];
    Ok(Quadratic { W, c, constant: graph.constant(at_zero).ok_or_else(wrong)? })
}
