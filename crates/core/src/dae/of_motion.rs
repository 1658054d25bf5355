//! Equations of motion as a general first-order system,
//!
//! ```text
//! 0 = p' − Z v,    0 = M v' − f + (GZ)ᵀλ + (HZ)ᵀμ,    0 = r' − b,    0 = d,    0 = c,    0 = H Z v + h,    0 = g.
//! ```
//! Where constraints contain contact variables, G = g_p − g_s c_s⁻¹ c_p; no formula contains c_s⁻¹, because the multipliers η of c = 0 are
//! further unknowns: (GZ)ᵀλ = (g_p Z)ᵀλ − (c_p Z)ᵀη with 0 = c_sᵀη − g_sᵀλ. Steinbrecher, thesis (2006), section 3.5.

use super::Formulas;
use super::arrangement::{ArrangedState, Arrangement};
use crate::graph::Expr;
use crate::motion::{self, Layout};

impl Formulas {
    /// The unknowns are p, v, r, w, s, λ, μ with the names that [`Layout::variable_names`] gives them, followed by η, called `s*`, where
    /// constraints contain contact variables s. Parameters stay symbolic. Hidden constraints and invariants are not among the equations.
    pub fn of_motion(motion: &motion::Formulas) -> Self {
        let at = motion.variables();
        let (names, mut graph) = (&motion.names, motion.graph.clone());
        let mut derivatives = |of: &[String]| of.iter().map(|x| graph.input(format!("{x}'"))).collect::<Vec<_>>();
        let (pdot, rdot) = (derivatives(&names.positions), derivatives(&names.dynamic));

        // along p' = Zv: ∂(dg/dt)/∂v = g_p Z, and c_p Z below it
        let constraints = [&motion.holonomic[..], &motion.contact].concat();
        let flow: Vec<(Expr, Expr)> = at.p().iter().copied().zip(motion.kinematics.iter().copied()).collect();
        let rates = graph.total_derivative(&constraints, &flow);
        let by_v = graph.jacobian(&rates, at.v());
        let by_s = graph.jacobian(&constraints, at.s());
        let HZ = graph.jacobian(&motion.nonholonomic, at.v());

        let holonomic = motion.holonomic.len();
        let in_constraints = by_s.row.iter().any(|&k| k < holonomic);
        let eta: Vec<(String, Expr)> = names
            .contact
            .iter()
            .filter(|_| in_constraints)
            .map(|s| format!("{s}*"))
            .map(|name| (name.clone(), graph.input(name)))
            .collect();
        // multipliers of the rows of `constraints`, with the sign of their force
        let force = |k: usize, entry: Expr| match k.checked_sub(holonomic) {
            None => entry * at.lambda()[k],
            Some(i) => -(entry * eta[i].1),
        };

        let equations = graph.with(|| {
            let mut dynamics = vec![Expr::from(0.0); at.v().len()];
            motion.mass.iter().for_each(|&(i, j, m)| dynamics[i] += m * at.a()[j]);
            dynamics.iter_mut().zip(&motion.force).for_each(|(row, &f)| *row -= f);
            by_v.iter()
                .filter(|&(k, _, _)| k < holonomic || in_constraints)
                .for_each(|(k, j, entry)| dynamics[j] += force(k, entry));
            HZ.iter().for_each(|(k, j, h)| dynamics[j] += h * at.mu()[k]);
            let mut adjoint = vec![Expr::from(0.0); eta.len()];
            if in_constraints {
                by_s.iter().for_each(|(k, j, entry)| adjoint[j] -= force(k, entry));
            }
            let minus = |rates: &[Expr], right: &[Expr]| rates.iter().zip(right).map(|(&x, &f)| x - f).collect();
            let blocks: [(&str, &[String], Vec<Expr>); 8] = [
                ("kinematics of", &names.positions, minus(&pdot, &motion.kinematics)),
                ("dynamics of", &names.velocities, dynamics),
                ("equation of dynamic variable", &names.dynamic, minus(&rdot, &motion.dynamic)),
                ("equation of auxiliary variable", &names.auxiliary, motion.auxiliary.clone()),
                ("equation of contact variable", &names.contact, motion.contact.clone()),
                ("nonholonomic constraint", &names.nonholonomic, motion.nonholonomic.clone()),
                ("holonomic constraint", &names.holonomic, motion.holonomic.clone()),
                ("multiplier of contact variable", &names.contact, adjoint),
            ];
            let named = |(what, names, rows): (&str, &[String], Vec<Expr>)| {
                names.iter().map(|name| format!("{what} {name}")).zip(rows).collect::<Vec<_>>()
            };
            blocks.into_iter().flat_map(named).collect()
        });

        let layout = Layout::new(motion.sizes, motion::Form::StrangenessFree, false);
        let (all, shown) = (layout.variable_names(names), layout.shown());
        let x = [at.p(), at.v(), at.r(), at.w(), at.s(), at.lambda(), at.mu()].concat();
        // the derivatives of p, v and r are inputs; the others enter no equation
        let algebraic = x.len() - pdot.len() - at.a().len() - rdot.len();
        let xdot = pdot.iter().chain(at.a()).chain(&rdot).map(|e| Some(*e)).chain(vec![None; algebraic]);
        let mut states: Vec<ArrangedState> = shown
            .iter()
            .zip(x)
            .zip(xdot)
            .map(|((&place, x), xdot)| ArrangedState { name: all[place].clone(), x, xdot })
            .collect();
        states.extend(eta.into_iter().map(|(name, x)| ArrangedState { name, x, xdot: None }));
        let parameters = motion
            .parameters
            .iter()
            .zip(at.parameters())
            .map(|((name, value), &e)| (name.clone(), *value, e))
            .collect();
        let (outputs, hidden) = (motion.outputs.clone(), motion.hidden.clone());
        Arrangement { graph, t: at.t(), states, parameters, equations, outputs, hidden }.formulas()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::motion::{EquationsOfMotion, Motion, Names, Position, Sizes};
    use crate::scalar::Scalar;

    /// A mass on a line; the constraint is written with a contact variable s = 2p.
    struct Contact;

    impl EquationsOfMotion for Contact {
        fn sizes(&self) -> Sizes {
            Sizes { positions: 1, velocities: 1, contact: 1, holonomic: 1, ..Sizes::default() }
        }
        fn names(&self) -> Names {
            Names::numbered(&self.sizes()).motion(&["x"], &["v"]).constraints(&["stop"], &[])
        }
        fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
            M[(0, 0)] = S::from(3.0);
        }
        fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
            f[0] = at.v[0] * -5.0;
        }
        fn contact<S: Scalar>(&self, at: &Position<S>, c: &mut [S]) {
            c[0] = at.s[0] - at.p[0] * 2.0;
        }
        fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
            g[0] = at.s[0] - at.p[0] * at.t;
        }
    }

    #[test]
    fn multipliers_of_contact_equations_are_unknowns() {
        let formulas = Formulas::of_motion(&motion::Formulas::trace(&Contact));
        assert_eq!(formulas.states, ["x", "v", "s1", "lambda.stop", "s1*"]);
        assert_eq!(formulas.orders, [1, 1, 0, 0, 0]);
        let text: Vec<String> =
            formulas.equations.iter().map(|(name, e)| format!("{name}: {}", formulas.graph.formula(*e))).collect();
        assert_eq!(
            text,
            [
                "kinematics of x: x' - v",
                "dynamics of v: 3*v' + 5*v - t*lambda.stop + 2*s1*",
                "equation of contact variable s1: s1 - 2*x",
                "holonomic constraint stop: s1 - x*t",
                "multiplier of contact variable s1: s1* - lambda.stop",
            ]
        );
    }
}
