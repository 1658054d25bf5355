//! Local state space forms: each step integrates as many coordinates as the motion has degrees of freedom.
//!
//! ```text
//! (p, v) = ψ(η, ν),   0 = g(p),   0 = K v + k₀,          (η', ν') from v and v', of which v' solves [M Kᵀ; K 0] (v'; λ, μ) = (f; −Γ)
//! ```
//! The coordinates (η, ν) are a chart of the manifold of the constraints near a point. At every stage of the explicit pair of Dormand and
//! Prince the dependent positions follow from g = 0 by Newton's method and the dependent velocities from a linear system, so all
//! constraints hold to rounding and nothing is projected. Charts may change after any step without loss of order, as long as ψ' and its
//! pseudoinverse stay bounded. For motions that are not stiff, with p' = v. Hairer & Wanner, Solving ODEs II, VII.2, (2.20) and theorem 2.2.

mod partition;
mod tangent;

use super::bdf::Steps;
use super::dormand_prince::OF_A_STEP;
use super::explicit::Pair;
use super::structural::{
    Attempt, OneStep, ProjectedOnto, Saddle, Scheme, Step, StepSize, StructuralEquations, Trouble,
};
use super::weights::Weights;
use super::{Method, StartFailure, State, Stepper};
use crate::motion::Mechanism;
use crate::options::Options;
use partition::Partition;
use tangent::Tangent;

/// Most iterations onto the position constraints.
const MOST: u32 = 10;
/// Corrections below this part of the positions are the last ones: Newton's method would make the next one as small as their square.
const ENOUGH: f64 = 1e-9;
/// So are corrections that are rounding, of terms of the size of one.
const ROUNDING: f64 = 1e-15;

/// Charts that change the branch of the constraints are noticed by p and v that do not follow from p' = v and v' = a: differences of this many
/// tolerances, where a step is accepted with an error of one, or of this part of v + h a where steps have a given size.
const OTHER_BRANCH: f64 = 100.0;
const OTHER_BRANCH_FIXED: f64 = 0.3;

/// Which coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chart {
    /// Some of the positions and velocities themselves: generalised coordinate partitioning. Wehage & Haug (1982).
    Partition,
    /// Coordinates of the tangent space at the beginning of the step. Potra & Rheinboldt (1991).
    #[default]
    Tangent,
}

impl Chart {
    /// Its name as a method, in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Chart::Partition => "partition",
            Chart::Tangent => "tangent",
        }
    }
}

/// A local state space form with its options.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalStateSpace {
    /// Which coordinates.
    pub chart: Chart,
    /// How step sizes are chosen.
    pub steps: Steps,
    /// Safety factor of the step sizes.
    pub safety: f64,
}

impl Default for LocalStateSpace {
    fn default() -> Self {
        LocalStateSpace { chart: Chart::default(), steps: Steps::Variable, safety: 0.9 }
    }
}

impl<'m> Method<dyn Mechanism + 'm> for LocalStateSpace {
    fn start<'p>(
        &self,
        system: &'p (dyn Mechanism + 'm),
        at: State,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        let name = self.chart.name();
        let control = StepSize::new(self.steps, self.safety, 5, options)?;
        let check = |equations: &mut StructuralEquations<'p>| {
            if equations.kinematics_structure().is_plain() {
                Ok(())
            } else {
                let why = "its velocities are not the derivatives of its positions, p' = Z(p) v with Z ≠ I".to_string();
                Err(StartFailure::OutOfClass { method: name, why, instead: "geoms" })
            }
        };
        match self.chart {
            Chart::Partition => {
                let stepper = OneStep::start(name, system, at, options, |equations| {
                    check(equations)?;
                    Ok(Local::new(Partition::new(equations), control, equations))
                })?;
                Ok(Box::new(stepper))
            }
            Chart::Tangent => {
                let stepper = OneStep::start(name, system, at, options, |equations| {
                    check(equations)?;
                    Ok(Local::new(Tangent::new(equations), control, equations))
                })?;
                Ok(Box::new(stepper))
            }
        }
    }
}

/// Coordinates (η, ν) of positions and velocities on the constraints, near a point.
trait Coordinates {
    /// How many (η, ν) there are.
    fn degrees(&self) -> [usize; 2];

    /// Choose the chart at a point, where M and K of the equations stand.
    fn choose(&mut self, equations: &StructuralEquations, x: &[f64]) -> Result<(), Trouble>;

    /// Is another chart better for going on from the point where M and K of the equations stand?
    fn worn(&mut self, equations: &StructuralEquations) -> bool;

    /// Is the point of the last [`Coordinates::lift`] at the border of the chart, where small changes of (η, ν) become large ones of p and v?
    fn steep(&mut self, equations: &StructuralEquations) -> bool;

    /// (η, ν) of the point x.
    fn coordinates(&self, equations: &StructuralEquations, x: &[f64], y: &mut [f64]);

    /// p and v on the constraints from (η, ν); p is near on entry. M, K and k₀ of the equations stand there afterwards.
    fn lift(&mut self, equations: &mut StructuralEquations, t: f64, y: &[f64], x: &mut [f64]) -> Result<(), Trouble>;

    /// (η', ν') from v and v' of x.
    fn slope(&self, equations: &StructuralEquations, x: &[f64], ydot: &mut [f64]);
}

/// The size of some corrections of positions: in parts of 1 + |p|, or of the largest position where none is of the size of one.
fn size_of(corrections: impl Iterator<Item = (f64, f64)>, largest: f64) -> f64 {
    let unit = if largest > 0.0 && largest < 1.0 { largest } else { f64::INFINITY };
    let size = |(d, p): (f64, f64)| d.abs() / unit.min(1.0 + p.abs());
    corrections.filter(|(d, _)| d.abs() > ROUNDING).map(size).fold(0.0, f64::max)
}

/// The largest of some positions.
fn largest(p: &[f64]) -> f64 {
    p.iter().fold(0.0, |most, p| most.max(p.abs()))
}

/// The pair of Dormand and Prince in local coordinates.
struct Local<C> {
    chart: C,
    /// does the chart hold at the point where the next step begins?
    chosen: bool,
    charts: u64,
    /// (η, ν, r) at the beginning, and of a stage
    y: [Vec<f64>; 2],
    /// (η', ν', r') of the stages
    F: [Vec<f64>; 7],
    /// the stage
    x: Vec<f64>,
    error: Vec<f64>,
    /// p and v by the formula of the stages, without a chart
    quadrature: Vec<f64>,
    saddle: Saddle,
    control: StepSize,
}

impl<C: Coordinates> Local<C> {
    fn new(chart: C, control: StepSize, equations: &StructuralEquations) -> Self {
        let l = equations.layout();
        let n = chart.degrees().iter().sum::<usize>() + l.r().len();
        Local {
            chart,
            chosen: false,
            charts: 0,
            y: [vec![0.0; n], vec![0.0; n]],
            F: std::array::from_fn(|_| vec![0.0; n]),
            x: vec![0.0; l.dim()],
            error: vec![0.0; l.dim()],
            quadrature: vec![0.0; l.dim()],
            saddle: Saddle::of(equations),
            control,
        }
    }

    /// Add a stage, whose v and v' stand in `self.x`, to p and v.
    fn integrate(&mut self, equations: &StructuralEquations, weight: f64) {
        let l = equations.layout();
        for (to, from) in [(l.p(), l.v()), (l.v(), l.a())] {
            self.quadrature[to].iter_mut().zip(&self.x[from]).for_each(|(q, rate)| *q += weight * rate);
        }
    }

    /// How p and v of a chart differ from those of the formula.
    fn compare(&mut self, equations: &StructuralEquations, x1: &[f64]) {
        let l = equations.layout();
        self.error.fill(0.0);
        for j in l.p().chain(l.v()) {
            self.error[j] = x1[j] - self.quadrature[j];
        }
    }

    /// Where r begins in (η, ν, r).
    fn moving(&self) -> usize {
        self.chart.degrees().iter().sum()
    }

    /// (η', ν', r') of the stage, where M and K of the equations stand.
    fn rates(&mut self, equations: &mut StructuralEquations, t: f64, i: usize) -> Result<(), Trouble> {
        let r = self.moving();
        equations.statistics.decompositions += 1;
        self.saddle.factor_at(equations).map_err(|_| Trouble::Singular)?;
        equations.accelerations(t, &mut self.x, &mut self.saddle)?;
        self.F[i][r..].copy_from_slice(equations.dynamic());
        self.chart.slope(equations, &self.x, &mut self.F[i][..r]);
        Ok(())
    }
}

impl<C: Coordinates> Scheme for Local<C> {
    fn attempt(
        &mut self,
        equations: &mut StructuralEquations,
        weights: &Weights,
        step: Step,
        x1: &mut [f64],
    ) -> Result<Attempt, Trouble> {
        let r = self.moving();
        let dynamic = equations.layout().r();
        let fresh = !self.chosen;
        if fresh {
            equations.at_position(step.t, step.x)?;
            self.chart.choose(equations, step.x)?;
            self.chosen = true;
            self.charts += 1;
            equations.statistics.selectors += 1;
        }
        self.chart.coordinates(equations, step.x, &mut self.y[0][..r]);
        self.y[0][r..].copy_from_slice(&step.x[dynamic.clone()]);
        self.x.copy_from_slice(step.x);
        self.chart.slope(equations, step.x, &mut self.F[0][..r]);
        self.F[0][r..].copy_from_slice(&step.xdot[dynamic.clone()]);
        self.quadrature.copy_from_slice(step.x);
        let tableau = Pair::Order5.tableau();
        let (s, A) = (tableau.stages, tableau.A);
        self.integrate(equations, step.h * A[s][0]);
        for i in 1..=s {
            let [start, y] = &mut self.y;
            y.copy_from_slice(start);
            for (a, F) in A[i].iter().zip(&self.F).filter(|(a, _)| **a != 0.0) {
                y.iter_mut().zip(F).for_each(|(y, f)| *y += step.h * a * f);
            }
            let t = tableau.time(i, step.t, step.t1);
            self.x[dynamic.clone()].copy_from_slice(&y[r..]);
            self.chart.lift(equations, t, &y[..r], &mut self.x)?;
            if i < s || !self.control.fixed() {
                self.rates(equations, t, i)?;
            }
            if i < s {
                self.integrate(equations, step.h * A[s][i]);
            }
        }
        let moving = dynamic.start..equations.layout().p().end;
        x1[moving.clone()].copy_from_slice(&self.x[moving]);
        self.compare(equations, x1);
        if self.control.fixed() {
            let v = equations.layout().v();
            let size = |x: &[f64]| x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let usual = size(&step.x[v.clone()]) + step.h * size(&step.x[equations.layout().a()]);
            if size(&self.error[v]) > OTHER_BRANCH_FIXED * usual {
                return Err(Trouble::Diverged);
            }
            return Ok(self.control.judge(&step, 0.0));
        }
        let other_branch = weights.norm(&self.error) / OTHER_BRANCH;
        if self.chart.steep(equations) {
            // another chart may serve the whole step, a chart that is new serves a part of it
            self.chosen = false;
            return Ok(Attempt { accepted: false, next: if fresh { 0.5 * step.h } else { step.h } });
        }
        // the formula of order 4, on the constraints as well: what the chart amplifies counts
        let y = &mut self.y[1];
        for (d, F) in tableau.error[0].iter().zip(&self.F) {
            y.iter_mut().zip(F).for_each(|(y, f)| *y -= step.h * d * f);
        }
        self.x[dynamic].copy_from_slice(&y[r..]);
        self.chart.lift(equations, step.t1, &y[..r], &mut self.x)?;
        self.error.iter_mut().zip(x1.iter().zip(&self.x)).for_each(|(e, (x, y))| *e = x - y);
        let error = weights.norm(&self.error) / OF_A_STEP;
        Ok(self.control.judge(&step, if other_branch > 1.0 { error.max(other_branch) } else { error }))
    }

    fn projects(&self) -> ProjectedOnto {
        ProjectedOnto::Nothing
    }

    fn fixed(&self) -> bool {
        self.control.fixed()
    }

    /// By the coordinates of the polynomial: it knows nothing of how the dependent ones go where the others rest.
    fn settle(&mut self, equations: &mut StructuralEquations, t: f64, x: &mut [f64]) -> Result<bool, Trouble> {
        let r = self.moving();
        let y = &mut self.y[1][..r];
        self.chart.coordinates(equations, x, y);
        self.chart.lift(equations, t, y, x)?;
        Ok(true)
    }

    fn accepted(&mut self, equations: &StructuralEquations, _x: &[f64]) {
        self.chosen = !self.chart.worn(equations);
    }

    fn forget(&mut self) {
        self.chosen = false;
    }

    fn decisions(&self) -> String {
        format!("{} charts", self.charts)
    }
}
