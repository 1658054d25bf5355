//! A step of the methods of Brasey and Hairer.

use super::stages::ExplicitStages;
use super::tableau::{Estimate, HEM3, HEM4, HEM5, HalfExplicitTableau};
use super::{HalfExplicit, HalfExplicitFormula};
use crate::method::StartFailure;
use crate::method::structural::{Attempt, ProjectedOnto, Scheme, Step, StepSize, StructuralEquations, Trouble};
use crate::method::weights::Weights;
use crate::options::Options;

/// A formula at work.
pub(super) struct BraseyHairer {
    tableau: HalfExplicitTableau,
    stages: ExplicitStages,
    control: StepSize,
    project: ProjectedOnto,
    error: Vec<f64>,
}

impl BraseyHairer {
    pub fn new(
        method: &HalfExplicit,
        equations: &StructuralEquations,
        options: &Options,
    ) -> Result<Self, StartFailure> {
        let tableau = match method.formula {
            HalfExplicitFormula::Hem3 => HEM3,
            HalfExplicitFormula::Hem4 => HEM4,
            HalfExplicitFormula::Hem5 => HEM5,
        };
        Self::with(tableau, method, equations, options)
    }

    fn with(
        tableau: HalfExplicitTableau,
        method: &HalfExplicit,
        equations: &StructuralEquations,
        options: &Options,
    ) -> Result<Self, StartFailure> {
        Ok(BraseyHairer {
            tableau,
            stages: ExplicitStages::new(equations, tableau.a.len() + 1),
            control: StepSize::new(method.steps, method.safety, tableau.q, options)?,
            project: method.project,
            error: vec![0.0; equations.layout().dim()],
        })
    }

    /// The size of the error in the norm of the tolerance.
    fn error(&mut self, step: &Step, weights: &Weights) -> f64 {
        let s = self.tableau.a.len();
        let moving = self.stages.moving();
        match self.tableau.estimate {
            Estimate::Embedded(d0, d) => {
                self.stages.weighted(step.h, d, &mut self.error);
                for j in moving {
                    self.error[j] += step.h * d0 * step.xdot[j];
                }
                weights.norm(&self.error)
            }
            Estimate::Quotient(d0, d) => {
                let (Y, new) = (&self.stages.Y[s - 1], &self.stages.Y[s]);
                for j in moving.clone() {
                    self.error[j] = new[j] - Y[j];
                }
                let first = weights.norm(&self.error);
                self.stages.weighted(step.h, d, &mut self.error);
                let new = &self.stages.Y[s];
                for j in moving {
                    self.error[j] = new[j] - (step.x[j] + self.error[j] + step.h * d0 * step.xdot[j]);
                }
                let second = weights.norm(&self.error);
                if first == 0.0 { 0.0 } else { first * first / (first + 0.01 * second) }
            }
            #[cfg(test)]
            Estimate::None => 0.0,
        }
    }
}

impl Scheme for BraseyHairer {
    const CHOOSES_CONSTRAINTS: bool = true;

    fn attempt(
        &mut self,
        equations: &mut StructuralEquations,
        weights: &Weights,
        step: Step,
        x1: &mut [f64],
    ) -> Result<Attempt, Trouble> {
        self.stages.begin(&step);
        equations.at_position(step.t, step.x)?;
        let mut t = step.t;
        for (i, (a, c)) in self.tableau.a.iter().zip(self.tableau.c).enumerate() {
            t = self.stages.next(equations, &step, i, (a, *c), t)?;
        }
        self.stages.write(self.tableau.a.len(), x1);
        let error = if self.control.fixed() { 0.0 } else { self.error(&step, weights) };
        Ok(self.control.judge(&step, error))
    }

    fn projects(&self) -> ProjectedOnto {
        self.project
    }

    fn fixed(&self) -> bool {
        self.control.fixed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::initial::Initial;
    use crate::linalg::Matrix;
    use crate::method::bdf::Steps;
    use crate::method::structural::OneStep;
    use crate::method::{State, Stepper};
    use crate::motion::{EquationsOfMotion, Form, Motion, Position, Sizes, consistent};
    use crate::scalar::Scalar;

    /// P2: a two-link arm whose end is driven.
    struct Arm;
    impl EquationsOfMotion for Arm {
        fn sizes(&self) -> Sizes {
            Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
        }
        fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
            let c = at.p[1].cos();
            M[(0, 0)] = c * 2.0 + 3.0;
            M[(0, 1)] = c + 1.0;
            M[(1, 0)] = c + 1.0;
            M[(1, 1)] = S::from(1.0);
        }
        fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
            let ([a, b], [c, d]) = ([at.p[0], at.p[1]], [at.v[0], at.v[1]]);
            let end = (a + b).cos();
            f[0] = b.sin() * (c * d * 2.0 + d.square()) - a.cos() * 2.0 - end - c * 0.2;
            f[1] = -(b.sin() * c.square()) - end - d * 0.2;
        }
        fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
            g[0] = at.p[0].sin() + (at.p[0] + at.p[1]).sin() - 0.5 - at.t.sin() * 0.2;
        }
    }

    fn state() -> State {
        let (p, v) =
            ([0.171_547_811_521_935_4, 0.164_006_222_404_617_4], [0.455_220_615_967_777_8, -0.718_439_624_597_966_7]);
        consistent::initialise(&Arm, &Initial::motion(0.0, &p, &v), Form::StrangenessFree).unwrap().state
    }

    /// The velocity a at t = 1 after so many steps, without projection.
    fn end(tableau: HalfExplicitTableau, steps: u32) -> f64 {
        let method = HalfExplicit { steps: Steps::Fixed, project: ProjectedOnto::Nothing, ..HalfExplicit::default() };
        let options = Options { h0: Some(1.0 / f64::from(steps)), ..Options::default() };
        let mut stepper = OneStep::start("rk4", &Arm, state(), &options, |equations| {
            BraseyHairer::with(tableau, &method, equations, &options)
        })
        .unwrap();
        while stepper.state().t < 1.0 {
            stepper.advance(1.0).unwrap();
        }
        let x = &stepper.state().x;
        x[3 + 1]
    }

    #[test]
    fn the_classical_method_of_order_four_drops_to_order_three() {
        // M1; index two asks for more conditions than the classical ones
        let classical = HalfExplicitTableau {
            c: &[0.5, 0.5, 1.0, 1.0],
            a: &[&[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0], &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0]],
            estimate: Estimate::None,
            q: 4,
        };
        let exact = 0.888_495_944_883_372_4;
        let order = |tableau: HalfExplicitTableau, steps: u32| {
            let errors = [steps, 2 * steps].map(|n| (end(tableau, n) - exact).abs());
            (errors[0] / errors[1]).log2()
        };
        assert!((order(classical, 160) - 3.0).abs() < 0.15, "{}", order(classical, 160));
        assert!((order(HEM4, 20) - 4.0).abs() < 0.15, "{}", order(HEM4, 20));
    }

    #[test]
    fn estimates_have_the_sizes_that_the_control_assumes() {
        for (formula, q) in
            [(HalfExplicitFormula::Hem3, 3.0), (HalfExplicitFormula::Hem4, 4.0), (HalfExplicitFormula::Hem5, 5.0)]
        {
            let error = |h: f64| {
                let options = Options::default();
                let method = HalfExplicit { formula, ..HalfExplicit::default() };
                let mut equations = StructuralEquations::new("test", &Arm).unwrap();
                let mut weights = Weights::of_motion(equations.layout(), &options.tolerance).unwrap();
                let x = state().x;
                weights.at(&x);
                let mut xdot = x.clone();
                let l = equations.layout().clone();
                xdot[l.p()].copy_from_slice(&x[l.v()]);
                xdot[l.v()].copy_from_slice(&x[l.a()]);
                let mut scheme = BraseyHairer::new(&method, &equations, &options).unwrap();
                let mut x1 = x.clone();
                let step =
                    Step { t: 0.0, t1: h, x: &x, h, xdot: &xdot, after_rejection: false, first: false, last: false };
                scheme.attempt(&mut equations, &weights, step, &mut x1).unwrap();
                scheme.error(&step, &weights)
            };
            let observed = (error(1e-3) / error(5e-4)).log2();
            assert!((observed - q).abs() < 0.2, "{formula:?}: {observed}");
        }
    }
}
