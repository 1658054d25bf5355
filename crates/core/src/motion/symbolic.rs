//! Hidden constraints and the reduced derivative array as formulas.
//!
//! Along t' = 1, p' = Zv, v' = a, s' = s₁, s₁' = s₂ the hidden constraints are gI = dg/dt, gII = dgI/dt, hI = d(HZv + h)/dt. The rates of the
//! contact variables and the multipliers η of c = 0 are further unknowns y = (s₁, s₂, η) with linear equations of their own,
//!
//! ```text
//! 0 = c_s s₁ + c_p Zv + c_t,   0 = c_s s₂ + …,   0 = c_sᵀ η − g_sᵀ λ,
//! ```
//! so that no formula contains c_s⁻¹: with G = g_p − g_s c_s⁻¹ c_p the constraint force is (GZ)ᵀλ = (g_p Z)ᵀλ − (c_p Z)ᵀη.

use super::solved::{PivotOrder, Solved};
use super::{ClosedForms, Form, Formulas, Kinematics, Layout, MassStructure, Structure, Variables};
use crate::graph::{Expr, Graph, Jacobian};

/// The hidden constraints of a system.
#[derive(Clone, Debug)]
pub struct HiddenConstraints {
    /// The graph of the formulas; it has further inputs for s₁, s₂ and η.
    pub graph: Graph,
    /// gI; zero for constraints that the kinematics imply.
    pub holonomic_velocity: Vec<Expr>,
    /// gII.
    pub holonomic_acceleration: Vec<Expr>,
    /// hI.
    pub nonholonomic_acceleration: Vec<Expr>,
    /// dc/dt and d²c/dt², which define the rates of the contact variables.
    pub contact_rates: [Vec<Expr>; 2],
    /// s₁, s₂ and η.
    pub(super) y: [Vec<Expr>; 3],
}

/// Entries of a sparse matrix.
pub(super) type ArrayEntries = Vec<(usize, usize, Expr)>;

/// The rows of the reduced derivative array and what belongs to them.
pub(super) struct SymbolicArray {
    pub graph: Graph,
    /// In the order of the layout.
    pub rows: Vec<Expr>,
    /// ∂rows/∂x and ∂rows/∂y.
    pub by_x: Jacobian,
    pub by_y: Jacobian,
    /// g_p Z and H Z.
    pub GZ: ArrayEntries,
    pub HZ: ArrayEntries,
    pub mass: ArrayEntries,
    /// Where there are contact variables.
    pub contact: Option<SymbolicContact>,
}

/// The equations of y = (s₁, s₂, η).
pub(super) struct SymbolicContact {
    /// c_s, c_p Z, g_s.
    pub c_s: ArrayEntries,
    pub c_pZ: ArrayEntries,
    pub g_s: ArrayEntries,
    /// dc/dt, d²c/dt², c_sᵀη − g_sᵀλ.
    pub equations: [Vec<Expr>; 3],
    /// Their derivatives with respect to x and y.
    pub by_x: [Jacobian; 3],
    pub by_y: [Jacobian; 3],
}

/// M, G, f and the constraints one by one, for a system without contact variables.
pub(super) struct SymbolicParts {
    pub graph: Graph,
    pub GZ: ArrayEntries,
    pub HZ: ArrayEntries,
    /// g, then g_t, then H Z v + h for v = 0.
    pub at_rest: Vec<Expr>,
    /// f, then b, then Z v.
    pub forces: Vec<Expr>,
    /// gII and hI for v' = 0.
    pub hidden: Vec<Expr>,
    /// gI and H Z v + h.
    pub velocity: Vec<Expr>,
    pub invariant: Vec<Expr>,
    pub mass: ArrayEntries,
    pub at: Variables,
}

impl SymbolicParts {
    /// Entries of `[M Kᵀ; K 0]`.
    pub fn saddle(&self) -> ArrayEntries {
        let (n, m) = (self.at.v().len(), self.at.lambda().len());
        let rows = self.GZ.iter().copied().chain(self.HZ.iter().map(|&(k, j, e)| (m + k, j, e)));
        let constraints = rows.flat_map(|(k, j, e)| [(n + k, j, e), (j, n + k, e)]);
        self.mass.iter().copied().chain(constraints).collect()
    }

    /// Outputs of a solution with these pivots: x, A x − b and |A| |x| + |b|, then b and Z v, or how positions move; of several solutions all x first.
    pub fn solved(&self, what: Solved, pivots: &PivotOrder) -> (Graph, Vec<Expr>) {
        let mut graph = self.graph.clone();
        if what == Solved::Invariants {
            let outputs = self.directions(&mut graph, pivots);
            return (graph, outputs);
        }
        let (n, m) = (self.at.v().len(), self.at.lambda().len());
        let (forces, others) = self.forces.split_at(n);
        let zero = graph.with(|| Expr::from(0.0));
        let (upper, lower) = match what {
            Solved::Acceleration => (forces.to_vec(), self.hidden.clone()),
            Solved::Position => (vec![zero; n], [&self.at_rest[..m], &vec![zero; self.at.mu().len()]].concat()),
            Solved::Velocity | Solved::Invariants => (vec![zero; n], self.velocity.clone()),
        };
        let lower = graph.with(|| lower.into_iter().map(|e| -e).collect::<Vec<_>>());
        let mut outputs = pivots.solve(&mut graph, &self.saddle(), &[upper, lower].concat());
        match what {
            Solved::Acceleration => outputs.extend(others),
            Solved::Position => {
                // Z δ
                let along: Vec<(Expr, Expr)> = self.at.v().iter().copied().zip(outputs.iter().copied()).collect();
                let kinematics = &others[others.len() - self.at.p().len()..];
                let moved = graph.substitute(kinematics, &along);
                outputs.extend(moved);
            }
            Solved::Velocity | Solved::Invariants => {}
        }
        (graph, outputs)
    }

    /// Solutions for (e_p Z)ᵀ of all invariants, then for e_vᵀ; behind them e, Z u of all, e_p Z u, and e_v w. Where p' = v does not hold velocities may move
    /// positions in no direction that changes an invariant, as the norm of a quaternion: e_pᵀ stands for Z u there.
    fn directions(&self, graph: &mut Graph, pivots: &PivotOrder) -> Vec<Expr> {
        let (n, size) = (self.at.v().len(), self.at.v().len() + self.at.lambda().len() + self.at.mu().len());
        let kinematics = self.forces[self.forces.len() - self.at.p().len()..].to_vec();
        let Z = graph.jacobian(&kinematics, self.at.v());
        let plain = Kinematics::of(graph, &kinematics, self.at.p(), self.at.v()).is_plain();
        let of_positions = graph.jacobian(&self.invariant, self.at.p());
        let by_p = product(graph, &of_positions, &Z);
        let of_positions: ArrayEntries = of_positions.iter().collect();
        let by_v: ArrayEntries = graph.jacobian(&self.invariant, self.at.v()).iter().collect();
        let zero = graph.with(|| Expr::from(0.0));
        let mut parts = [Vec::new(), Vec::new(), Vec::new()];
        for (slopes, i) in
            [&by_p, &by_v].into_iter().flat_map(|slopes| (0..self.invariant.len()).map(move |i| (slopes, i)))
        {
            let mut b = vec![zero; size];
            slopes.iter().filter(|(row, _, _)| *row == i).for_each(|&(_, j, e)| b[j] = e);
            let solution = pivots.solve(graph, &self.saddle(), &b);
            parts.iter_mut().zip(solution.chunks_exact(size)).for_each(|(part, own)| part.extend(own));
        }
        let mut outputs = parts.concat();
        let directions: Vec<Vec<Expr>> = parts[0].chunks_exact(size.max(1)).map(|x| x[..n].to_vec()).collect();
        let (of_p, of_v) = directions.split_at(self.invariant.len());
        outputs.extend(&self.invariant);
        let ways: Vec<Vec<Expr>> = if plain {
            of_p.to_vec()
        } else {
            let way = |i: usize| {
                let mut way = vec![zero; self.at.p().len()];
                of_positions.iter().filter(|(row, _, _)| *row == i).for_each(|&(_, j, e)| way[j] = e);
                way
            };
            (0..self.invariant.len()).map(way).collect()
        };
        outputs.extend(ways.iter().flatten());
        let slopes_of_p = if plain { &by_p } else { &of_positions };
        for (slopes, directions) in [(slopes_of_p, &ways[..]), (&by_v, of_v)] {
            for i in 0..self.invariant.len() {
                for direction in directions {
                    let own = slopes.iter().filter(|(row, _, _)| *row == i);
                    outputs.push(graph.with(|| own.fold(zero, |sum, &(_, j, e)| sum + e * direction[j])));
                }
            }
        }
        outputs
    }
}

impl Formulas {
    /// The parts of the equations of motion; the parameters are bound.
    pub(super) fn parts(&self) -> SymbolicParts {
        let at = self.variables();
        let hidden = self.hidden();
        let mut graph = hidden.graph.clone();
        let (GZ, HZ) = match &self.closed {
            Some(closed) => (closed.GZ.clone(), closed.HZ.clone()),
            None => {
                let Z = graph.jacobian(&self.kinematics, at.v());
                let G = graph.jacobian(&self.holonomic, at.p());
                let GZ = without(product(&mut graph, &G, &Z), &self.implied());
                (GZ, graph.jacobian(&self.nonholonomic, at.v()).iter().collect())
            }
        };
        let zero = |variables: &[Expr]| variables.iter().map(|&e| (e, 0.0)).collect::<Vec<_>>();
        let g_t = match &self.closed {
            Some(closed) => closed.holonomic_rest.clone(),
            None => {
                let mut g_t = vec![graph.with(|| Expr::from(0.0)); self.holonomic.len()];
                graph.jacobian(&self.holonomic, &[at.t()]).iter().for_each(|(i, _, e)| g_t[i] = e);
                g_t
            }
        };
        let mut at_rest = [&self.holonomic[..], &g_t].concat();
        at_rest.extend(graph.bind(&self.nonholonomic, &zero(at.v())));
        let levels = match &self.closed {
            Some(closed) => [&closed.holonomic_gamma[..], &closed.nonholonomic_gamma].concat(),
            None => {
                let levels = [&hidden.holonomic_acceleration[..], &hidden.nonholonomic_acceleration].concat();
                graph.bind(&levels, &zero(at.a()))
            }
        };
        let forces = [&self.force[..], &self.dynamic, &self.kinematics].concat();
        let velocity = [&hidden.holonomic_velocity[..], &self.nonholonomic].concat();
        SymbolicParts {
            graph,
            GZ,
            HZ,
            at_rest,
            forces,
            hidden: levels,
            velocity,
            invariant: self.invariant.clone(),
            mass: self.mass.clone(),
            at,
        }
    }

    /// The hidden constraints, derived or in closed form.
    pub fn hidden(&self) -> HiddenConstraints {
        let mut graph = self.graph.clone();
        let at = self.variables();
        if let Some(closed) = &self.closed {
            return graph.with(|| closed.hidden(&at)).with_graph(graph);
        }
        let contact = &self.names.contact;
        let mut inputs = |mark: &str| contact.iter().map(|s| graph.input(format!("{s}{mark}"))).collect::<Vec<_>>();
        let y = [inputs("'"), inputs("''"), inputs("*")];
        let one = graph.with(|| Expr::from(1.0));
        let mut flow = vec![(at.t(), one)];
        flow.extend(at.p().iter().copied().zip(self.kinematics.iter().copied()));
        flow.extend(at.v().iter().copied().zip(at.a().iter().copied()));
        flow.extend(at.s().iter().copied().zip(y[0].iter().copied()));
        flow.extend(y[0].iter().copied().zip(y[1].iter().copied()));
        let mut holonomic_velocity = graph.total_derivative(&self.holonomic, &flow);
        let zero = graph.with(|| Expr::from(0.0));
        self.implied().into_iter().for_each(|k| holonomic_velocity[k] = zero);
        let holonomic_acceleration = graph.total_derivative(&holonomic_velocity, &flow);
        let nonholonomic_acceleration = graph.total_derivative(&self.nonholonomic, &flow);
        let first = graph.total_derivative(&self.contact, &flow);
        let second = graph.total_derivative(&first, &flow);
        HiddenConstraints {
            graph,
            holonomic_velocity,
            holonomic_acceleration,
            nonholonomic_acceleration,
            contact_rates: [first, second],
            y,
        }
    }

    /// What is constant, diagonal or absent; the parameters are bound.
    pub(super) fn structure(&self) -> Structure {
        let at = self.variables();
        let constant = self.mass.iter().all(|(_, _, m)| self.graph.constant(*m).is_some());
        let diagonal = self.mass.iter().all(|(i, j, _)| i == j);
        let needs = |outputs: &[Expr]| self.graph.needed(outputs);
        let forces: Vec<Expr> = [&self.force, &self.dynamic, &self.auxiliary].into_iter().flatten().copied().collect();
        let multipliers = at.lambda().iter().chain(at.mu());
        let in_forces = needs(&forces);
        let mut all = forces;
        all.extend(
            [&self.kinematics, &self.holonomic, &self.nonholonomic, &self.contact, &self.invariant]
                .into_iter()
                .flatten(),
        );
        all.extend(self.mass.iter().map(|(_, _, m)| m));
        Structure {
            mass: match (constant, diagonal) {
                (true, true) => MassStructure::ConstantDiagonal,
                (true, false) => MassStructure::ConstantFull,
                (false, true) => MassStructure::Diagonal,
                (false, false) => MassStructure::Full,
            },
            kinematics: Kinematics::of(&self.graph, &self.kinematics, at.p(), at.v()),
            autonomous: needs(&all).binary_search(&at.t()).is_err(),
            multipliers_in_forces: multipliers.into_iter().any(|m| in_forces.binary_search(m).is_ok()),
            constraint_force_by_hand: false,
            acceleration_level_by_hand: false,
            black_box: false,
        }
    }

    /// The reduced derivative array; the parameters are bound.
    pub(super) fn array(&self, layout: &Layout) -> SymbolicArray {
        let at = self.variables();
        let hidden = self.hidden();
        let mut graph = hidden.graph.clone();
        let x = unknowns(&at);
        let y: Vec<Expr> = hidden.y.iter().flatten().copied().collect();

        // g_p Z, c_p Z, HZ
        let Z = graph.jacobian(&self.kinematics, at.v());
        let along = |graph: &mut Graph, rows: &[Expr]| {
            let by_p = graph.jacobian(rows, at.p());
            product(graph, &by_p, &Z)
        };
        let (GZ, HZ) = match &self.closed {
            Some(closed) => (closed.GZ.clone(), closed.HZ.clone()),
            None => {
                let GZ = without(along(&mut graph, &self.holonomic), &self.implied());
                (GZ, graph.jacobian(&self.nonholonomic, at.v()).iter().collect())
            }
        };

        // the equations of s₁, s₂ and η
        let contact = (!self.contact.is_empty()).then(|| {
            let c_pZ = along(&mut graph, &self.contact);
            let c_s: ArrayEntries = graph.jacobian(&self.contact, at.s()).iter().collect();
            let g_s: ArrayEntries = graph.jacobian(&self.holonomic, at.s()).iter().collect();
            let adjoint = graph.with(|| {
                let mut sums = vec![Expr::from(0.0); self.contact.len()];
                for &(i, j, c) in &c_s {
                    sums[j] += c * hidden.y[2][i];
                }
                for &(k, j, g) in &g_s {
                    sums[j] -= g * at.lambda()[k];
                }
                sums
            });
            let [first, second] = hidden.contact_rates.clone();
            let equations = [first, second, adjoint];
            let by_x = [0, 1, 2].map(|k| graph.jacobian(&equations[k], &x));
            let by_y = [0, 1, 2].map(|k| graph.jacobian(&equations[k], &y));
            SymbolicContact { c_s, c_pZ, g_s, equations, by_x, by_y }
        });

        // M a − f + (GZ)ᵀλ + (HZ)ᵀμ, in the order in which the sums are written
        let dynamics = graph.with(|| {
            let mut rows = vec![Expr::from(0.0); self.sizes.velocities];
            self.mass.iter().for_each(|&(i, j, m)| rows[i] += m * at.a()[j]);
            rows.iter_mut().zip(&self.force).for_each(|(row, &f)| *row -= f);
            by_row(&GZ).for_each(|&(k, j, g)| rows[j] += g * at.lambda()[k]);
            if let Some(contact) = &contact {
                contact.c_pZ.iter().for_each(|&(i, j, c)| rows[j] -= c * hidden.y[2][i]);
            }
            by_row(&HZ).for_each(|&(k, j, h)| rows[j] += h * at.mu()[k]);
            rows
        });

        let mut rows = dynamics;
        rows.extend(&self.auxiliary);
        if layout.form == Form::StrangenessFree {
            rows.extend(&hidden.holonomic_acceleration);
            rows.extend(&hidden.nonholonomic_acceleration);
        }
        rows.extend(&hidden.holonomic_velocity);
        rows.extend(&self.nonholonomic);
        if layout.with_invariants {
            rows.extend(&self.invariant);
        }
        rows.extend(&self.contact);
        rows.extend(&self.holonomic);
        rows.extend(&self.dynamic);
        rows.extend(at.a());
        rows.extend(&self.kinematics);
        let by_x = graph.jacobian(&rows, &x);
        let by_y = graph.jacobian(&rows, &y);
        SymbolicArray { graph, rows, by_x, by_y, GZ, HZ, mass: self.mass.clone(), contact }
    }
}

impl ClosedForms {
    /// gI, gII and hI, inside of the graph.
    fn hidden(&self, at: &Variables) -> HiddenConstraints {
        let sums = |entries: &ArrayEntries, x: &[Expr], rest: &[Expr]| {
            let mut sums = rest.to_vec();
            for &(i, j, K) in entries {
                sums[i] += K * x[j];
            }
            sums
        };
        HiddenConstraints {
            graph: Graph::new(),
            holonomic_velocity: sums(&self.GZ, at.v(), &self.holonomic_rest),
            holonomic_acceleration: sums(&self.GZ, at.a(), &self.holonomic_gamma),
            nonholonomic_acceleration: sums(&self.HZ, at.a(), &self.nonholonomic_gamma),
            contact_rates: [Vec::new(), Vec::new()],
            y: [Vec::new(), Vec::new(), Vec::new()],
        }
    }
}

impl HiddenConstraints {
    fn with_graph(self, graph: Graph) -> Self {
        HiddenConstraints { graph, ..self }
    }
}

/// The unknowns in the order of x: a, w, λ, μ, r, v, s, p.
fn unknowns(at: &Variables) -> Vec<Expr> {
    [at.a(), at.w(), at.lambda(), at.mu(), at.r(), at.v(), at.s(), at.p()].concat()
}

/// A B, row by row.
fn product(graph: &mut Graph, A: &Jacobian, B: &Jacobian) -> ArrayEntries {
    let mut rows: Vec<Vec<(usize, Expr)>> = vec![Vec::new(); A.columns.len() - 1];
    B.iter().for_each(|(i, j, b)| rows[i].push((j, b)));
    let mut sums: std::collections::BTreeMap<(usize, usize), Expr> = std::collections::BTreeMap::new();
    graph.with(|| {
        for (k, i, a) in A.iter() {
            for &(j, b) in &rows[i] {
                sums.entry((k, j)).and_modify(|sum| *sum += a * b).or_insert_with(|| a * b);
            }
        }
    });
    sums.into_iter().map(|((k, j), e)| (k, j, e)).collect()
}

/// Entries but those of some rows.
fn without(mut entries: ArrayEntries, rows: &[usize]) -> ArrayEntries {
    entries.retain(|(k, _, _)| !rows.contains(k));
    entries
}

/// Entries sorted by row.
fn by_row(entries: &ArrayEntries) -> impl Iterator<Item = &(usize, usize, Expr)> {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by_key(|(i, j, _)| (*i, *j));
    sorted.into_iter()
}
