//! Solution of regular systems with constant coefficients. Wunderlich, thesis (2008), 3.4, with corrected signs.
//!
//! After the index reduction and the LQ decomposition of the trimmed form, x = Q x̂, C_ij = ĈᵢQⱼ, K_ij = K̂ᵢQⱼ and
//!
//! ```text
//! Č₁ⱼ = C₁ⱼ − C₁₃K₃₃⁻¹K₃ⱼ,   Yᵢⱼ = Kᵢⱼ − Kᵢ₃K₃₃⁻¹K₃ⱼ,   f̌₁ = f̂₁ − C₁₃K₃₃⁻¹f̂₃′
//! M₁₁v′ = (Č₁₂C₂₂⁻¹C₂₁ − Č₁₁) v + (Č₁₂C₂₂⁻¹Y₂₁ − Y₁₁) x̂₁ + (Č₁₂C₂₂⁻¹Y₂₂ − Y₁₂) x̂₂
//!         + f̌₁ − Č₁₂C₂₂⁻¹f̂₂ + (Č₁₂C₂₂⁻¹K₂₃ − K₁₃)K₃₃⁻¹f̂₃
//! x̂₁′ = v,   C₂₂x̂₂′ = −C₂₁v − Y₂₁x̂₁ − Y₂₂x̂₂ + f̂₂ − K₂₃K₃₃⁻¹f̂₃,   x̂₃ = K₃₃⁻¹(f̂₃ − K₃₁x̂₁ − K₃₂x̂₂)
//! ```
//! a small ODE y′ = S y + φ(t), solved with matrix exponentials and Gauss quadrature of e^{S(t−s)}φ(s).

use super::{
    Constant, SecondOrderError, SecondOrderValues, StrangenessFreeTriple, TripleCoefficients, strangeness_free,
};
use crate::blocks::{below, beside, put};
use crate::exponential;
use daedal::linalg::RankRule;
use faer::linalg::solvers::Solve;
use faer::{Col, Mat, Scale};

/// Nodes and weights of Gauss's formula with five points on [0, 1].
const GAUSS: [(f64, f64); 5] = [
    (0.046910077030668004, 0.11846344252809454),
    (0.23076534494715845, 0.23931433524968324),
    (0.5, 0.28444444444444444),
    (0.7692346550528415, 0.23931433524968324),
    (0.953089922969332, 0.11846344252809454),
];
/// Steps between two times at most.
const MOST_STEPS: usize = 1 << 14;

/// A regular system M x″ + C x′ + K x = f(t) with constant coefficients, ready to be solved for any f and start.
#[derive(Clone, Debug)]
pub struct ExplicitSolution {
    reduced: StrangenessFreeTriple,
    /// Z₀ᵀ, (Z₂Z₁)ᵀ, Z₃ᵀ over the rows of the array of level μ, the factors of the rows included
    combinations: Mat<f64>,
    Q: Mat<f64>,
    blocks: Blocks,
    S: Mat<f64>,
}

/// Matrices of the small ODE.
#[derive(Clone, Debug)]
struct Blocks {
    /// inverses of the diagonal blocks
    M11: Mat<f64>,
    C22: Mat<f64>,
    K33: Mat<f64>,
    C21: Mat<f64>,
    K31: Mat<f64>,
    K32: Mat<f64>,
    K13: Mat<f64>,
    K23: Mat<f64>,
    C13: Mat<f64>,
    /// Č₁₁, Č₁₂ and Y
    C11: Mat<f64>,
    C12: Mat<f64>,
    Y: [[Mat<f64>; 2]; 2],
}

/// A solution at some times.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplicitMotion {
    /// x at the times.
    pub x: Vec<Vec<f64>>,
    /// By how much x₀ missed the algebraic equations; its algebraic part was replaced.
    pub start_defect: f64,
    /// Change of the last refinement of the quadrature, relative to the solution.
    pub quadrature_change: f64,
}

impl ExplicitSolution {
    /// Reduce the index; M, C, K square. `max_index` bounds the levels tried.
    pub fn new(
        M: &Mat<f64>,
        C: &Mat<f64>,
        K: &Mat<f64>,
        max_index: usize,
        rule: RankRule,
    ) -> Result<Self, SecondOrderError> {
        let rows = M.nrows();
        let f = |_: f64, l: usize| vec![vec![0.0; rows]; l + 1];
        let system = Constant { M: M.clone(), C: C.clone(), K: K.clone(), f };
        let reduced = strangeness_free(&system.expand(0.0, max_index)?, rule)?;
        if !reduced.values.regular() {
            return Err(SecondOrderError::NotRegular(reduced.values));
        }
        let SecondOrderValues { mu, .. } = reduced.values;
        let above = below(&[&reduced.Z0, &Mat::zeros(mu * rows, reduced.Z0.ncols())]);
        let all = beside(&[&above, &(&reduced.Z2 * &reduced.Z1), &reduced.Z3]);
        let combinations =
            Mat::from_fn(all.ncols(), all.nrows(), |i, j| all[(j, i)] * reduced.row_factors[j % rows.max(1)]);
        let Q = reduced.frame();
        let blocks = Blocks::of(&reduced, &Q);
        let S = blocks.small_matrix();
        Ok(ExplicitSolution { reduced, combinations, Q, blocks, S })
    }

    /// The strangeness-free system behind it.
    pub fn reduced(&self) -> &StrangenessFreeTriple {
        &self.reduced
    }

    /// Q of x = Q x̂.
    pub fn frame(&self) -> &Mat<f64> {
        &self.Q
    }

    /// Matrix of the ODE for (v, x̂₁, x̂₂), of size 2 d₂ + d₁: its eigenvalues are those of λ²M + λC + K.
    pub fn ode_matrix(&self) -> &Mat<f64> {
        &self.S
    }

    /// The pair of first order for (v, x) with v = Q₁ᵀx′, from which C₁₃ is eliminated: E = \[0 Q₁ᵀ; M̂Q₁ ČQᵀ\], A = \[I 0; 0 −K̂\].
    pub fn pair(&self) -> (Mat<f64>, Mat<f64>) {
        let (d2, n) = (self.reduced.values.d2, self.Q.nrows());
        let b = &self.blocks;
        let Q1 = self.columns(0);
        let first = beside(&[&b.C11, &b.C12, &Mat::zeros(d2, self.reduced.values.a)]);
        let rest = &self.reduced.C * &self.Q;
        let rest = rest.get(d2.., ..).to_owned();
        let C = below(&[&first, &rest]) * self.Q.transpose();
        let E = below(&[
            &beside(&[&Mat::zeros(d2, d2), &Q1.transpose().to_owned()]),
            &beside(&[&(&self.reduced.M * &Q1), &C]),
        ]);
        let A = below(&[
            &beside(&[&Mat::identity(d2, d2), &Mat::zeros(d2, n)]),
            &beside(&[&Mat::zeros(n, d2), &(&self.reduced.K * Scale(-1.0))]),
        ]);
        (E, A)
    }

    /// S = ÊᴰÂ and H = ÊᴰÊ of the pair for (v, x): e^{S(t−t₀)} H moves the solution of the homogeneous system, H projects onto
    /// consistent values.
    pub fn drazin_products(&self) -> (Mat<f64>, Mat<f64>) {
        let (d2, n) = (self.reduced.values.d2, self.Q.nrows());
        let b = &self.blocks;
        let (Q1, Q2, Q3) = (self.columns(0), self.columns(1), self.columns(2));
        // x = Q₁x̂₁ + Q₂x̂₂ + Q₃x̂₃ with the homogeneous x̂₃
        let along1 = &Q1 - &Q3 * &b.K33 * &b.K31;
        let along2 = &Q2 - &Q3 * &b.K33 * &b.K32;
        let size1 = d2 + Q1.ncols();
        let rates = &self.S;
        let of_v = rates.get(.., ..d2).to_owned();
        let of_x = rates.get(.., d2..size1) * Q1.transpose() + rates.get(.., size1..) * Q2.transpose();
        let rates = beside(&[&of_v, &of_x]);
        let lower = &along1 * rates.get(d2..size1, ..) + &along2 * rates.get(size1.., ..);
        let S = below(&[&rates.get(..d2, ..).to_owned(), &lower]);
        let mut H = Mat::identity(d2 + n, d2 + n);
        let projector = Mat::<f64>::identity(n, n) - &Q3 * &b.K33 * self.reduced.K3();
        put(&mut H, d2, d2, &projector);
        (S, H)
    }

    /// Solution at rising times ≥ t₀ for the right-hand side whose derivatives f, …, f^(l) at t are `f(t, l)`. The quadrature is
    /// refined until it changes the solution by less than `tolerance`, relatively.
    pub fn solve(
        &self,
        f: impl Fn(f64, usize) -> Vec<Vec<f64>>,
        t0: f64,
        x0: &[f64],
        xdot0: &[f64],
        times: &[f64],
        tolerance: f64,
    ) -> Result<ExplicitMotion, SecondOrderError> {
        let n = self.Q.nrows();
        for (what, given) in [("x₀", x0), ("x₀′", xdot0)] {
            if given.len() != n {
                return Err(SecondOrderError::Size { what, expected: (n, 1), found: (given.len(), 1) });
            }
            if given.iter().any(|x| !x.is_finite()) {
                return Err(SecondOrderError::NotFinite { what });
            }
        }
        if !(tolerance > 0.0) {
            return Err(SecondOrderError::Impossible { what: "the tolerance", value: tolerance });
        }
        let column = |x: &[f64]| Col::from_fn(x.len(), |i| x[i]);
        let (Q1, Q2) = (self.columns(0), self.columns(1));
        let (v, first, second) =
            (Q1.transpose() * column(xdot0), Q1.transpose() * column(x0), Q2.transpose() * column(x0));
        let mut y: Col<f64> = v.iter().chain(first.iter()).chain(second.iter()).copied().collect();
        let start = self.position(&f, t0, &y)?;
        let start_defect = (&start - column(x0)).norm_max();

        let (mut x, mut quadrature_change, mut t) = (Vec::new(), 0.0_f64, t0);
        for &time in times {
            if !(time >= t) || !time.is_finite() {
                return Err(SecondOrderError::Impossible { what: "a time that is not rising", value: time });
            }
            if time > t {
                let (next, change) = self.refine(&f, t, time, &y, tolerance)?;
                quadrature_change = quadrature_change.max(change);
                (y, t) = (next, time);
            }
            x.push(self.position(&f, t, &y)?.iter().copied().collect());
        }
        Ok(ExplicitMotion { x, start_defect, quadrature_change })
    }

    /// y at `end` with twice as many steps as suffice, and the last change.
    fn refine(
        &self,
        f: &impl Fn(f64, usize) -> Vec<Vec<f64>>,
        t: f64,
        end: f64,
        y: &Col<f64>,
        tolerance: f64,
    ) -> Result<(Col<f64>, f64), SecondOrderError> {
        let mut steps = ((self.S.norm_l2() * (end - t)).ceil() as usize).clamp(1, MOST_STEPS / 4);
        let mut before = self.advance(f, t, end, y, steps)?;
        let mut change = f64::INFINITY;
        while steps < MOST_STEPS {
            steps *= 2;
            let now = self.advance(f, t, end, y, steps)?;
            change = (&now - &before).norm_max() / now.norm_max().max(1.0);
            if change <= tolerance {
                return Ok((now, change));
            }
            before = now;
        }
        Err(SecondOrderError::NotConverged { what: "the quadrature of the right-hand side", change })
    }

    fn advance(
        &self,
        f: &impl Fn(f64, usize) -> Vec<Vec<f64>>,
        t: f64,
        end: f64,
        y: &Col<f64>,
        steps: usize,
    ) -> Result<Col<f64>, SecondOrderError> {
        let h = (end - t) / steps as f64;
        let whole = exponential(&(&self.S * Scale(h)))?;
        let mut parts = Vec::with_capacity(GAUSS.len());
        for (node, weight) in GAUSS {
            parts.push((node, exponential(&(&self.S * Scale(h * (1.0 - node))))? * Scale(h * weight)));
        }
        let mut y = y.clone();
        for i in 0..steps {
            let from = t + i as f64 * h;
            y = &whole * &y;
            for (node, part) in &parts {
                y += part * self.forcing(f, from + node * h)?;
            }
        }
        Ok(y)
    }

    /// f̂₁, f̂₂, f̂₃ and f̂₃′ at t.
    fn right_hand_side(
        &self,
        f: &impl Fn(f64, usize) -> Vec<Vec<f64>>,
        t: f64,
    ) -> Result<[Col<f64>; 4], SecondOrderError> {
        let SecondOrderValues { mu, d2, d1, .. } = self.reduced.values;
        let n = self.Q.nrows();
        let derivatives = f(t, mu + 1);
        if derivatives.len() < mu + 2 {
            return Err(SecondOrderError::TooFewDerivatives { asked: mu + 1, given: derivatives.len().max(1) - 1 });
        }
        if let Some(wrong) = derivatives.iter().find(|f| f.len() != n) {
            return Err(SecondOrderError::Size { what: "f", expected: (n, 1), found: (wrong.len(), 1) });
        }
        if derivatives.iter().flatten().any(|x| !x.is_finite()) {
            return Err(SecondOrderError::NotFinite { what: "f" });
        }
        // g and g′ of the array in Taylor form: f^(i)/i! and f^(i+1)/i!
        let stack = |shift: usize| {
            let mut factorial = 1.0;
            let mut g = Vec::with_capacity((mu + 1) * n);
            for i in 0..=mu {
                factorial *= i.max(1) as f64;
                g.extend(derivatives[i + shift].iter().map(|x| x / factorial));
            }
            &self.combinations * Col::from_iter(g)
        };
        let (value, rate) = (stack(0), stack(1));
        let part = |x: &Col<f64>, from: usize, to: usize| x.get(from..to).to_owned();
        Ok([part(&value, 0, d2), part(&value, d2, d2 + d1), part(&value, d2 + d1, n), part(&rate, d2 + d1, n)])
    }

    /// φ(t).
    fn forcing(&self, f: &impl Fn(f64, usize) -> Vec<Vec<f64>>, t: f64) -> Result<Col<f64>, SecondOrderError> {
        let b = &self.blocks;
        let [f1, f2, f3, f3_rate] = self.right_hand_side(f, t)?;
        let x3 = &b.K33 * &f3;
        let first_order = &b.C22 * (&f2 - &b.K23 * &x3);
        let second_order = &b.M11 * (f1 - &b.C13 * (&b.K33 * &f3_rate) - &b.C12 * &first_order - &b.K13 * &x3);
        let zeros = Col::<f64>::zeros(self.reduced.values.d2);
        Ok(second_order.iter().chain(zeros.iter()).chain(first_order.iter()).copied().collect())
    }

    /// x from y = (v, x̂₁, x̂₂).
    fn position(
        &self,
        f: &impl Fn(f64, usize) -> Vec<Vec<f64>>,
        t: f64,
        y: &Col<f64>,
    ) -> Result<Col<f64>, SecondOrderError> {
        let b = &self.blocks;
        let d2 = self.reduced.values.d2;
        let [_, _, f3, _] = self.right_hand_side(f, t)?;
        let (first, second) = (y.get(d2..2 * d2), y.get(2 * d2..));
        let third = &b.K33 * (f3 - &b.K31 * first - &b.K32 * second);
        Ok(self.columns(0) * first + self.columns(1) * second + self.columns(2) * third)
    }

    /// Q₁, Q₂, Q₃.
    fn columns(&self, block: usize) -> Mat<f64> {
        let SecondOrderValues { d2, d1, .. } = self.reduced.values;
        let n = self.Q.nrows();
        let bounds = [0, d2, d2 + d1, n];
        self.Q.get(.., bounds[block]..bounds[block + 1]).to_owned()
    }
}

impl Blocks {
    fn of(reduced: &StrangenessFreeTriple, Q: &Mat<f64>) -> Self {
        let SecondOrderValues { d2, d1, .. } = reduced.values;
        let n = Q.nrows();
        let bounds = [0, d2, d2 + d1, n];
        let (M, C, K) = (&reduced.M * Q, &reduced.C * Q, &reduced.K * Q);
        let block =
            |X: &Mat<f64>, i: usize, j: usize| X.get(bounds[i - 1]..bounds[i], bounds[j - 1]..bounds[j]).to_owned();
        let (M11, C22, K33) = (inverse(&block(&M, 1, 1)), inverse(&block(&C, 2, 2)), inverse(&block(&K, 3, 3)));
        let (C13, K13, K23) = (block(&C, 1, 3), block(&K, 1, 3), block(&K, 2, 3));
        let (K31, K32) = (block(&K, 3, 1), block(&K, 3, 2));
        let (third1, third2) = (&K33 * &K31, &K33 * &K32);
        Blocks {
            C11: block(&C, 1, 1) - &C13 * &third1,
            C12: block(&C, 1, 2) - &C13 * &third2,
            Y: [
                [block(&K, 1, 1) - &K13 * &third1, block(&K, 1, 2) - &K13 * &third2],
                [block(&K, 2, 1) - &K23 * &third1, block(&K, 2, 2) - &K23 * &third2],
            ],
            C21: block(&C, 2, 1),
            M11,
            C22,
            K33,
            K31,
            K32,
            K13,
            K23,
            C13,
        }
    }

    /// S of (v, x̂₁, x̂₂).
    fn small_matrix(&self) -> Mat<f64> {
        let (d2, d1) = (self.M11.nrows(), self.C22.nrows());
        let eliminated = &self.C12 * &self.C22;
        let [[Y11, Y12], [Y21, Y22]] = &self.Y;
        let acceleration = beside(&[
            &(&self.M11 * (&eliminated * &self.C21 - &self.C11)),
            &(&self.M11 * (&eliminated * Y21 - Y11)),
            &(&self.M11 * (&eliminated * Y22 - Y12)),
        ]);
        let velocity = beside(&[&Mat::identity(d2, d2), &Mat::zeros(d2, d2 + d1)]);
        let negative = &self.C22 * Scale(-1.0);
        let first_order = beside(&[&(&negative * &self.C21), &(&negative * Y21), &(&negative * Y22)]);
        below(&[&acceleration, &velocity, &first_order])
    }
}

/// Inverse of a triangular diagonal block, which the decomposition made regular.
fn inverse(X: &Mat<f64>) -> Mat<f64> {
    let n = X.nrows();
    if n == 0 { Mat::zeros(0, 0) } else { X.partial_piv_lu().solve(Mat::<f64>::identity(n, n)) }
}
