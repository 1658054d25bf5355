//! Equations of motion as formulas: what a model file says, or what a Rust model is when it is traced.

use super::{EquationsOfMotion, Motion, Names, Position, Sizes, Velocity};
use crate::graph::{Expr, Graph};
use crate::linalg::Matrix;

/// Formulas of all blocks of [`EquationsOfMotion`], in one graph.
///
/// The inputs of the graph are, in this order: t, p, v, r, w, s, λ, μ, the accelerations a (for outputs), the parameters. Parameters stay
/// symbolic, so that formulas are printed with their names; [`Formulas::bound`] puts in their numbers.
#[derive(Clone, Debug, Default)]
pub struct Formulas {
    /// The graph of all formulas.
    pub graph: Graph,
    /// How many variables of each kind.
    pub sizes: Sizes,
    /// Names of variables and constraints.
    pub names: Names,
    /// Names and numbers of the parameters that are inputs of the graph.
    pub parameters: Vec<(String, f64)>,
    /// Z v.
    pub kinematics: Vec<Expr>,
    /// The entries (i, j, Mᵢⱼ) of the mass matrix that are not zero.
    pub mass: Vec<(usize, usize, Expr)>,
    /// f.
    pub force: Vec<Expr>,
    /// g.
    pub holonomic: Vec<Expr>,
    /// H Z v + h.
    pub nonholonomic: Vec<Expr>,
    /// b.
    pub dynamic: Vec<Expr>,
    /// d.
    pub auxiliary: Vec<Expr>,
    /// c.
    pub contact: Vec<Expr>,
    /// e.
    pub invariant: Vec<Expr>,
    /// Further quantities that are wanted along the motion.
    pub outputs: Vec<(String, Expr)>,
    /// Constraints that are said to follow from the equations: an analysis compares them, no run uses them.
    pub hidden: Vec<(String, Expr)>,
    /// Derivatives of the constraints, where the model has them in closed form; otherwise they are derived.
    pub closed: Option<ClosedForms>,
}

/// GZ, HZ and the rest of the hidden constraints in closed form: gI = GZ v + k₀, gII = GZ v' + Γ, hI = HZ v' + Γ. There are no contact variables.
///
/// Who gives them answers for them: no run compares them with the derivatives of g and of HZv + h. They spare the differentiation of long formulas,
/// whose results are longer than what is known of joints between bodies.
#[derive(Clone, Debug, Default)]
pub struct ClosedForms {
    /// The entries (row, velocity, value) of GZ.
    pub GZ: Vec<(usize, usize, Expr)>,
    /// Those of HZ.
    pub HZ: Vec<(usize, usize, Expr)>,
    /// k₀ = ∂g/∂t.
    pub holonomic_rest: Vec<Expr>,
    /// Γ of the holonomic constraints.
    pub holonomic_gamma: Vec<Expr>,
    /// Γ of the nonholonomic constraints.
    pub nonholonomic_gamma: Vec<Expr>,
}

/// Handles of the inputs.
#[derive(Clone, Debug)]
pub struct Variables {
    all: Vec<Expr>,
    ends: [usize; 10],
}

impl Variables {
    /// Make the inputs of a system in a new graph.
    pub fn new(graph: &mut Graph, sizes: &Sizes, names: &Names, parameters: &[(String, f64)]) -> Self {
        let layout = super::Layout::new(*sizes, super::Form::StrangenessFree, false);
        let variables = layout.variable_names(names);
        let mut all = vec![graph.input("t")];
        let mut ends = [1; 10];
        let blocks =
            [layout.p(), layout.v(), layout.r(), layout.w(), layout.s(), layout.lambda(), layout.mu(), layout.a()];
        for (k, block) in blocks.into_iter().enumerate() {
            all.extend(variables[block].iter().map(|name| graph.input(name)));
            ends[k + 1] = all.len();
        }
        all.extend(parameters.iter().map(|(name, _)| graph.input(name)));
        ends[9] = all.len();
        Variables { all, ends }
    }

    /// The inputs that a graph has already, for a system of these sizes.
    fn of(formulas: &Formulas) -> Self {
        let n = formulas.sizes;
        let lengths = [
            n.positions,
            n.velocities,
            n.dynamic,
            n.auxiliary,
            n.contact,
            n.holonomic,
            n.nonholonomic,
            n.velocities,
            formulas.parameters.len(),
        ];
        let mut ends = [1; 10];
        for (k, length) in lengths.into_iter().enumerate() {
            ends[k + 1] = ends[k] + length;
        }
        Variables { all: formulas.graph.inputs().map(|(_, input)| input).collect(), ends }
    }

    fn block(&self, k: usize) -> &[Expr] {
        &self.all[self.ends[k]..self.ends[k + 1]]
    }
    /// Time.
    pub fn t(&self) -> Expr {
        self.all[0]
    }
    /// Positions.
    pub fn p(&self) -> &[Expr] {
        self.block(0)
    }
    /// Velocities.
    pub fn v(&self) -> &[Expr] {
        self.block(1)
    }
    /// Dynamic force elements.
    pub fn r(&self) -> &[Expr] {
        self.block(2)
    }
    /// Auxiliary variables.
    pub fn w(&self) -> &[Expr] {
        self.block(3)
    }
    /// Contact variables.
    pub fn s(&self) -> &[Expr] {
        self.block(4)
    }
    /// Multipliers of holonomic constraints.
    pub fn lambda(&self) -> &[Expr] {
        self.block(5)
    }
    /// Multipliers of nonholonomic constraints.
    pub fn mu(&self) -> &[Expr] {
        self.block(6)
    }
    /// Accelerations.
    pub fn a(&self) -> &[Expr] {
        self.block(7)
    }
    /// Parameters.
    pub fn parameters(&self) -> &[Expr] {
        self.block(8)
    }
    /// Everything a force may depend on.
    pub fn motion(&self) -> Motion<'_, Expr> {
        Motion {
            t: self.t(),
            p: self.p(),
            v: self.v(),
            r: self.r(),
            w: self.w(),
            s: self.s(),
            lambda: self.lambda(),
            mu: self.mu(),
        }
    }
}

impl Formulas {
    /// With an output `force.v` for every velocity v: the force of all constraints in its equation, M v' − f = −(GZ)ᵀλ − (HZ)ᵀμ. Where
    /// constraints are redundant this is unique, while multipliers are not, unless f depends on them. Steinbrecher (2006), 4.2.30.
    #[must_use]
    pub fn with_constraint_forces(mut self) -> Self {
        let a = self.variables().a().to_vec();
        let Formulas { graph, mass, force, .. } = &mut self;
        let forces = graph.with(|| {
            let mut forces: Vec<Expr> = force.iter().map(|f| -*f).collect();
            for &(i, j, M) in mass.iter() {
                forces[i] += M * a[j];
            }
            forces
        });
        let named = self.names.velocities.iter().zip(forces).map(|(name, force)| (format!("force.{name}"), force));
        self.outputs.extend(named);
        self
    }

    /// The formulas of a model, found by evaluating it with expressions. What the model derives by hand is not looked at.
    pub fn trace<E: EquationsOfMotion>(equations: &E) -> Self {
        let (n, names) = (equations.sizes(), equations.names());
        let mut graph = Graph::new();
        let variables = Variables::new(&mut graph, &n, &names, &[]);
        let mut formulas = graph.with(|| {
            let at = variables.motion();
            let (t, p, v, s) = (at.t, at.p, at.v, at.s);
            let (position, velocity) = (Position { t, p, s }, Velocity { t, p, v, s });
            let zeros = |n: usize| vec![Expr::from(0.0); n];
            let mut M = Matrix::<Expr>::zeros(n.velocities, n.velocities);
            equations.mass(&position, &mut M);
            let entries = (0..n.velocities).flat_map(|i| (0..n.velocities).map(move |j| (i, j)));
            let mut formulas = Formulas {
                mass: entries.map(|(i, j)| (i, j, M[(i, j)])).collect(),
                kinematics: zeros(n.positions),
                force: zeros(n.velocities),
                holonomic: zeros(n.holonomic),
                nonholonomic: zeros(n.nonholonomic),
                dynamic: zeros(n.dynamic),
                auxiliary: zeros(n.auxiliary),
                contact: zeros(n.contact),
                invariant: zeros(n.invariants),
                ..Formulas::default()
            };
            equations.kinematics(&velocity, &mut formulas.kinematics);
            equations.force(&at, &mut formulas.force);
            equations.holonomic(&position, &mut formulas.holonomic);
            equations.nonholonomic(&velocity, &mut formulas.nonholonomic);
            equations.dynamic(&at, &mut formulas.dynamic);
            equations.auxiliary(&at, &mut formulas.auxiliary);
            equations.contact(&position, &mut formulas.contact);
            equations.invariant(&velocity, &mut formulas.invariant);
            formulas
        });
        formulas.mass.retain(|(_, _, m)| graph.constant(*m) != Some(0.0));
        Formulas { graph, sizes: n, names, ..formulas }
    }

    /// Handles of the inputs.
    pub fn variables(&self) -> Variables {
        Variables::of(self)
    }

    /// The same with numbers for the parameters; inputs stay where they are.
    #[must_use]
    pub fn bound(&self) -> Self {
        let mut bound = self.clone();
        let inputs = bound.variables();
        let values: Vec<(Expr, f64)> =
            inputs.parameters().iter().copied().zip(bound.parameters.iter().map(|(_, value)| *value)).collect();
        let mut all: Vec<Expr> = Vec::new();
        bound.each(|e| all.push(*e));
        let mut images = bound.graph.bind(&all, &values).into_iter();
        bound.each(|e| *e = images.next().unwrap_or(*e));
        let graph = &bound.graph;
        bound.mass.retain(|(_, _, m)| graph.constant(*m) != Some(0.0));
        bound
    }

    /// Every formula in turn.
    pub(crate) fn each(&mut self, mut f: impl FnMut(&mut Expr)) {
        self.mass.iter_mut().for_each(|(_, _, m)| f(m));
        self.outputs.iter_mut().chain(&mut self.hidden).for_each(|(_, e)| f(e));
        if let Some(closed) = &mut self.closed {
            closed.GZ.iter_mut().chain(&mut closed.HZ).for_each(|(_, _, e)| f(e));
            let rest = [&mut closed.holonomic_rest, &mut closed.holonomic_gamma, &mut closed.nonholonomic_gamma];
            rest.into_iter().flatten().for_each(&mut f);
        }
        let blocks = [
            &mut self.kinematics,
            &mut self.force,
            &mut self.holonomic,
            &mut self.nonholonomic,
            &mut self.dynamic,
            &mut self.auxiliary,
            &mut self.contact,
            &mut self.invariant,
        ];
        blocks.into_iter().flatten().for_each(f);
    }
}
