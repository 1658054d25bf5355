//! One interval, linearised: how its points follow those at its left end and the length of the whole interval.
//!
//! 0 = c(t, y) at the Lobatto points σ₁, …, σ_K and 0 = Σ L_l'(γ) y_l − h rate(t, y) for the chosen unknowns at the Gauß points γ. With A, A₀ and a for
//! the derivatives by (y₁, …, y_K), y₀ and the length, and r for the residuals, δY = −A⁻¹ (r + A₀ δy₀ + a δlength).

use super::curve::Curve;
use super::scheme::{K, SymmetricScheme};
use crate::dae::{EquationChoice, RegularisedSystem};
use crate::linalg::{LargeLu, Lu, Matrix, Shift};
use crate::motion::Undefined;

enum IntervalFactors {
    Small(Lu<f64>),
    Large(Box<LargeLu<f64>>),
}

pub(super) struct CollocatedInterval {
    constraints: usize,
    factors: IntervalFactors,
    /// A₀ and a
    A0: Matrix,
    by_length: Vec<f64>,
    /// −A⁻¹ A₀ T for the basis T at the left end, and −A⁻¹ a
    pub by_start: Matrix,
    pub response: Vec<f64>,
}

/// Why an interval could not be linearised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LinearisationFailure {
    Undefined { t: f64 },
    Singular { t: f64 },
}

impl CollocatedInterval {
    /// Choose equations for an interval.
    pub fn choose(of: &mut RegularisedSystem, curve: &Curve, i: usize) -> Result<EquationChoice, LinearisationFailure> {
        let t = curve.time(curve.mesh[i]);
        let choice = of.choose(t, curve.point(i, 0)).map_err(|_| LinearisationFailure::Undefined { t })?;
        let full = choice.constraints.len() == of.constraints();
        if full && choice.differential.len() == of.values.d {
            Ok(choice)
        } else {
            Err(LinearisationFailure::Singular { t })
        }
    }

    /// Residuals: constraints point by point, then differential equations point by point.
    pub fn residuals(
        of: &mut RegularisedSystem,
        scheme: &SymmetricScheme,
        curve: &Curve,
        i: usize,
        choice: &EquationChoice,
    ) -> Result<Vec<f64>, LinearisationFailure> {
        let constraints: Vec<usize> = of.constraint_rows().collect();
        let mut r = Vec::with_capacity(K * curve.n);
        for l in 1..=K {
            let t = curve.time(curve.tau(i, scheme.lobatto[l]));
            of.evaluate(t, curve.point(i, l)).map_err(|_| LinearisationFailure::Undefined { t })?;
            r.extend(constraints.iter().map(|&row| of.outputs[row]));
        }
        let h = curve.length * (curve.mesh[i + 1] - curve.mesh[i]);
        let (mut y, mut slope) = (vec![0.0; curve.n], vec![0.0; curve.n]);
        for m in 0..K {
            let t = curve.time(curve.tau(i, scheme.gauss[m]));
            curve.combination(i, &scheme.values[m], &mut y);
            curve.combination(i, &scheme.slopes[m], &mut slope);
            of.evaluate(t, &y).map_err(|_| LinearisationFailure::Undefined { t })?;
            r.extend(choice.differential.iter().map(|&(j, row)| slope[j] - h * of.outputs[row]));
        }
        Ok(r)
    }

    /// Linearise at a curve; `basis` are the directions in which the left end may move.
    pub fn linearise(
        of: &mut RegularisedSystem,
        scheme: &SymmetricScheme,
        curve: &Curve,
        i: usize,
        choice: &EquationChoice,
        basis: &Matrix,
    ) -> Result<Self, LinearisationFailure> {
        let n = curve.n;
        let constraints: Vec<usize> = of.constraint_rows().collect();
        let mut A = Matrix::zeros(K * n, K * n);
        let mut A0 = Matrix::zeros(K * n, n);
        let mut by_length = vec![0.0; K * n];
        let undefined = |t: f64| move |_: Undefined| LinearisationFailure::Undefined { t };
        let mut row = 0;
        for l in 1..=K {
            let tau = curve.tau(i, scheme.lobatto[l]);
            let t = curve.time(tau);
            of.differentiate(t, curve.point(i, l)).map_err(undefined(t))?;
            for &c in &constraints {
                let slopes = of.slopes.row(c);
                A.row_mut(row)[(l - 1) * n..l * n].copy_from_slice(&slopes[..n]);
                by_length[row] = slopes[n] * tau;
                row += 1;
            }
        }
        let step = curve.mesh[i + 1] - curve.mesh[i];
        let h = curve.length * step;
        let mut y = vec![0.0; n];
        for m in 0..K {
            let tau = curve.tau(i, scheme.gauss[m]);
            let t = curve.time(tau);
            curve.combination(i, &scheme.values[m], &mut y);
            of.evaluate(t, &y).map_err(undefined(t))?;
            of.differentiate(t, &y).map_err(undefined(t))?;
            for &(j, rate) in &choice.differential {
                let slopes = of.slopes.row(rate);
                for l in 0..=K {
                    let factor = -h * scheme.values[m][l];
                    let place = match l.checked_sub(1) {
                        None => A0.row_mut(row),
                        Some(l) => &mut A.row_mut(row)[l * n..(l + 1) * n],
                    };
                    place.iter_mut().zip(slopes).for_each(|(a, s)| *a += factor * s);
                    place[j] += scheme.slopes[m][l];
                }
                by_length[row] = -step * of.outputs[rate] - h * slopes[n] * tau;
                row += 1;
            }
        }
        let factors = factor(A).ok_or(LinearisationFailure::Singular { t: curve.time(curve.mesh[i]) })?;
        let mut interval = CollocatedInterval {
            constraints: constraints.len(),
            factors,
            A0,
            by_length,
            by_start: Matrix::zeros(K * n, basis.cols()),
            response: Vec::new(),
        };
        let mut column = vec![0.0; K * n];
        for k in 0..basis.cols() {
            for (row, c) in column.iter_mut().enumerate() {
                *c = -(0..n).map(|j| interval.A0[(row, j)] * basis[(j, k)]).sum::<f64>();
            }
            interval.solve(&mut column);
            column.iter().enumerate().for_each(|(row, &c)| interval.by_start[(row, k)] = c);
        }
        let mut response: Vec<f64> = interval.by_length.iter().map(|a| -a).collect();
        interval.solve(&mut response);
        interval.response = response;
        Ok(interval)
    }

    fn solve(&mut self, b: &mut [f64]) {
        match &mut self.factors {
            IntervalFactors::Small(lu) => lu.solve(b),
            IntervalFactors::Large(lu) => lu.solve(b),
        }
    }

    /// −A⁻¹ (r + A₀ p).
    pub fn particular(&mut self, residuals: &[f64], start: &[f64]) -> Vec<f64> {
        let mut b: Vec<f64> = residuals
            .iter()
            .enumerate()
            .map(|(row, r)| -r - self.A0.row(row).iter().zip(start).map(|(a, p)| a * p).sum::<f64>())
            .collect();
        self.solve(&mut b);
        b
    }

    /// The residuals of the constraints at the right end, among all of them.
    pub fn at_right_end<'r>(&self, residuals: &'r [f64]) -> &'r [f64] {
        let a = self.constraints;
        &residuals[(K - 1) * a..K * a]
    }
}

fn factor(A: Matrix) -> Option<IntervalFactors> {
    let n = A.rows();
    if n < f64::LARGE {
        let mut lu = Lu::new(n);
        lu.A = A;
        lu.factor().ok()?;
        return Some(IntervalFactors::Small(lu));
    }
    let mut lu = LargeLu::new(n);
    for i in 0..n {
        A.row(i).iter().enumerate().for_each(|(j, &a)| lu.A[(i, j)] = a);
    }
    lu.factor().ok()?;
    Some(IntervalFactors::Large(Box::new(lu)))
}
