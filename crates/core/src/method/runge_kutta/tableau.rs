//! Coefficients of implicit Runge–Kutta methods from their nodes and simplifying assumptions. \[HW\] IV.5.
//!
//! ```text
//! B(s): Σ bⱼ cⱼᵏ⁻¹ = 1/k,   C(q): Σⱼ aᵢⱼ cⱼᵏ⁻¹ = cᵢᵏ/k,   D(q): Σᵢ bᵢ cᵢᵏ⁻¹ aᵢⱼ = bⱼ (1 − cⱼᵏ)/k
//! ```
//!
//! Gauss has C(s), Radau IA has D(s), Lobatto IIIC has aᵢ₁ = b₁ and C(s − 1).

use crate::linalg::{Lu, Matrix, Singular};

/// c, A and b.
#[derive(Clone, Debug)]
pub(super) struct ButcherTableau {
    pub c: Vec<f64>,
    pub A: Matrix,
    pub b: Vec<f64>,
}

impl ButcherTableau {
    /// Gauss with one, two or three stages, of order 2s.
    pub fn gauss(stages: usize) -> Result<Self, Singular> {
        let half = |d: f64| vec![0.5 - d, 0.5 + d];
        let c = match stages {
            1 => vec![0.5],
            2 => half(3.0_f64.sqrt() / 6.0),
            _ => vec![0.5 - 15.0_f64.sqrt() / 10.0, 0.5, 0.5 + 15.0_f64.sqrt() / 10.0],
        };
        let b = quadrature(&c)?;
        let mut A = Matrix::zeros(stages, stages);
        for (i, &ci) in c.iter().enumerate() {
            A.row_mut(i).copy_from_slice(&with_moments(&c, |k| ci.powi(k) / f64::from(k))?);
        }
        Ok(ButcherTableau { c, A, b })
    }

    /// Radau IA with one, two or three stages, of order 2s − 1.
    pub fn radau_ia(stages: usize) -> Result<Self, Singular> {
        let c = match stages {
            1 => vec![0.0],
            2 => vec![0.0, 2.0 / 3.0],
            _ => vec![0.0, (6.0 - 6.0_f64.sqrt()) / 10.0, (6.0 + 6.0_f64.sqrt()) / 10.0],
        };
        let b = quadrature(&c)?;
        let mut A = Matrix::zeros(stages, stages);
        for (j, (&bj, &cj)) in b.iter().zip(&c).enumerate() {
            // bᵢ aᵢⱼ
            let column = with_moments(&c, |k| bj * (1.0 - cj.powi(k)) / f64::from(k))?;
            column.iter().enumerate().for_each(|(i, x)| A[(i, j)] = x / b[i]);
        }
        Ok(ButcherTableau { c, A, b })
    }

    /// Lobatto IIIC with two, three or four stages, of order 2s − 2.
    pub fn lobatto_iiic(stages: usize) -> Result<Self, Singular> {
        let c = match stages {
            2 => vec![0.0, 1.0],
            3 => vec![0.0, 0.5, 1.0],
            _ => vec![0.0, (5.0 - 5.0_f64.sqrt()) / 10.0, (5.0 + 5.0_f64.sqrt()) / 10.0, 1.0],
        };
        let b = quadrature(&c)?;
        let mut A = Matrix::zeros(stages, stages);
        for (i, &ci) in c.iter().enumerate() {
            // c₁ = 0 contributes to the first moment alone
            let others = with_moments(&c[1..], |k| ci.powi(k) / f64::from(k) - if k == 1 { b[0] } else { 0.0 })?;
            A[(i, 0)] = b[0];
            A.row_mut(i)[1..].copy_from_slice(&others);
        }
        Ok(ButcherTableau { c, A, b })
    }

    /// A⁻¹.
    pub fn inverse(&self) -> Result<Matrix, Singular> {
        let s = self.c.len();
        let mut lu = Lu::new(s);
        lu.A.data_mut().copy_from_slice(self.A.data());
        lu.factor()?;
        let mut inverse = Matrix::zeros(s, s);
        for j in 0..s {
            let mut column = vec![0.0; s];
            column[j] = 1.0;
            lu.solve(&mut column);
            column.iter().enumerate().for_each(|(i, x)| inverse[(i, j)] = *x);
        }
        Ok(inverse)
    }
}

/// Weights of the quadrature with these nodes.
fn quadrature(c: &[f64]) -> Result<Vec<f64>, Singular> {
    with_moments(c, |k| 1.0 / f64::from(k))
}

/// The solution of Σ wⱼ cⱼᵏ⁻¹ = m(k), k = 1, …, s; there is one, since nodes are distinct.
fn with_moments(c: &[f64], moment: impl Fn(i32) -> f64) -> Result<Vec<f64>, Singular> {
    let mut lu = Lu::new(c.len());
    for k in 0..c.len() {
        lu.A.row_mut(k).iter_mut().zip(c).for_each(|(power, c)| *power = c.powi(k as i32));
    }
    lu.factor()?;
    let mut w: Vec<f64> = (1..=c.len() as i32).map(moment).collect();
    lu.solve(&mut w);
    Ok(w)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_close(found: &[f64], expected: &[f64]) {
        assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-14), "{found:?} for {expected:?}");
    }

    #[test]
    fn published_coefficients_follow_from_the_assumptions() {
        // [HW] IV.5, tables 5.2, 5.3 and 5.10
        let (r3, r6) = (3.0_f64.sqrt(), 6.0_f64.sqrt());
        is_close(ButcherTableau::gauss(2).unwrap().A.data(), &[0.25, 0.25 - r3 / 6.0, 0.25 + r3 / 6.0, 0.25]);
        let radau = ButcherTableau::radau_ia(3).unwrap();
        let ninth = 1.0 / 9.0;
        is_close(&radau.A.data()[..3], &[ninth, (-1.0 - r6) / 18.0, (-1.0 + r6) / 18.0]);
        is_close(&radau.A.data()[3..6], &[ninth, 11.0 / 45.0 + 7.0 * r6 / 360.0, 11.0 / 45.0 - 43.0 * r6 / 360.0]);
        is_close(ButcherTableau::lobatto_iiic(2).unwrap().A.data(), &[0.5, -0.5, 0.5, 0.5]);
        let sixths = [1.0, -2.0, 1.0, 1.0, 2.5, -0.5, 1.0, 4.0, 1.0].map(|x| x / 6.0);
        is_close(ButcherTableau::lobatto_iiic(3).unwrap().A.data(), &sixths);
    }
}
