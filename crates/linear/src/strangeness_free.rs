//! Characteristic values and the strangeness-free system of E ẋ = A x + b at one time, from the derivative array
//! M z' = N x + g of level ℓ = 0, 1, …:
//!
//! Z = basis of corange M, ZᵀN = U Σ Wᵀ, a = rank ZᵀN, [Z₂ Z₃] = Z U, T₂ = basis of kernel Z₂ᵀN, d = rank E T₂,
//! v = increment of dim Z₃; μ is the first ℓ with a + d + v = m. Then
//!
//! E₁ ẋ = A₁ x + b₁ (d rows), 0 = A₂ x + b₂ (a rows), 0 = Z₃ᵀ g
//!
//! with E₁ = Z₁ᵀE, A₁ = Z₁ᵀA, b₁ = Z₁ᵀb, A₂ = Z₂ᵀN, b₂ = Z₂ᵀg and Z₁ᵀ E T₂ regular.
//! Kunkel & Mehrmann (2006), Theorem 3.52; Wunderlich, thesis (2008), Theorem 2.41, with (μ+1)m rows.

use super::array::DerivativeArray;
use super::coefficients::{CoefficientError, Coefficients, TaylorData};
use super::equilibrate::{equation_factors, equilibrate};
use super::level::{Level, kernel};
use crate::CharacteristicValues;
use crate::linalg::product::{copy, norm, resize, transposed_product, transposed_times};
use crate::linalg::rank::Scales;
use crate::linalg::{Matrix, NoConvergence, RankGap, RankRule};

/// How far to look, and how ranks are decided.
#[derive(Clone, Debug, PartialEq)]
pub struct RankOptions {
    /// Highest strangeness index that is looked for. Derivatives of E, A and b up to this order must exist.
    pub max_index: usize,
    /// Singular values are judged relative to the norm of the factors.
    pub rule: RankRule,
}

impl Default for RankOptions {
    fn default() -> Self {
        RankOptions { max_index: 5, rule: RankRule::default() }
    }
}

/// Which matrix a rank belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankPlace {
    /// M of the derivative array.
    DerivativeArray,
    /// ZᵀN: the constraints.
    Constraints,
    /// E T₂: the differential part.
    Differential,
}

/// The least clear rank decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeastClear {
    /// Its numbers, relative to the norm of the factors.
    pub gap: RankGap,
    /// Which matrix.
    pub place: RankPlace,
    /// Of which level.
    pub level: usize,
}

impl Default for LeastClear {
    fn default() -> Self {
        LeastClear { gap: RankGap::default(), place: RankPlace::DerivativeArray, level: 0 }
    }
}

impl LeastClear {
    /// Remember a decision if it is less clear than those before.
    pub fn note(&mut self, gap: RankGap, place: RankPlace, level: usize) {
        let clearness = |gap: &RankGap| gap.kept / gap.dropped.max(f64::EPSILON);
        if clearness(&gap) < clearness(&self.gap) {
            *self = LeastClear { gap, place, level };
        }
    }
}

/// Why there is no strangeness-free system.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReductionError {
    /// The coefficients cannot be had.
    #[error(transparent)]
    Coefficients(#[from] CoefficientError),
    /// No level passes the test a + d + v = m.
    #[error(
        "at t = {t}: no strangeness index up to {max_index} ({last} at this level): it is higher, or ranks are not constant near this time; raise max_index, or set rank_tolerance"
    )]
    IndexNotFound {
        /// Time.
        t: f64,
        /// Highest level looked at.
        max_index: usize,
        /// What was found there; a + d + v is not m.
        last: CharacteristicValues,
    },
    /// The singular value decomposition did not converge.
    #[error(
        "at t = {t}: the singular value decomposition of the derivative array did not converge; check the coefficients here"
    )]
    SvdFailed {
        /// Time.
        t: f64,
    },
}

/// E₁ ẋ = A₁ x + b₁, 0 = A₂ x + b₂ at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct ReducedSystem {
    /// Time.
    pub t: f64,
    /// Z₁ᵀE, d × n.
    pub E1: Matrix,
    /// Z₁ᵀA, d × n.
    pub A1: Matrix,
    /// Z₁ᵀb.
    pub b1: Vec<f64>,
    /// Z₂ᵀN, a × n.
    pub A2: Matrix,
    /// Z₂ᵀg.
    pub b2: Vec<f64>,
    /// are the matrices those of a reference that does not change?
    pub matrices_stay: bool,
}

impl ReducedSystem {
    /// Room for d differential and a algebraic equations in n unknowns.
    pub fn new(d: usize, a: usize, n: usize) -> Self {
        ReducedSystem {
            matrices_stay: false,
            t: f64::NAN,
            E1: Matrix::zeros(d, n),
            A1: Matrix::zeros(d, n),
            b1: vec![0.0; d],
            A2: Matrix::zeros(a, n),
            b2: vec![0.0; a],
        }
    }

    /// Project the equations and their derivative array.
    pub fn project(&mut self, t: f64, data: &TaylorData, array: &DerivativeArray, Z1: &Matrix, Z2: &Matrix) {
        let n = data.E[0].cols();
        resize(&mut self.E1, Z1.cols(), n);
        resize(&mut self.A1, Z1.cols(), n);
        resize(&mut self.A2, Z2.cols(), n);
        transposed_product(Z1, &data.E[0], &mut self.E1);
        transposed_product(Z1, &data.A[0], &mut self.A1);
        transposed_product(Z2, &array.N, &mut self.A2);
        self.project_inhomogeneity(t, array, Z1, Z2);
    }

    /// Project b and g only.
    pub fn project_inhomogeneity(&mut self, t: f64, array: &DerivativeArray, Z1: &Matrix, Z2: &Matrix) {
        self.t = t;
        self.b1.resize(Z1.cols(), 0.0);
        self.b2.resize(Z2.cols(), 0.0);
        transposed_times(Z1, &array.g[..Z1.rows()], &mut self.b1);
        transposed_times(Z2, &array.g, &mut self.b2);
    }
}

/// The strangeness-free system at one time, with the projections that lead to it.
#[derive(Clone, Debug, PartialEq)]
pub struct StrangenessFree {
    /// μ, d, a, v, u.
    pub values: CharacteristicValues,
    /// The reduced coefficients.
    pub system: ReducedSystem,
    /// m × d, with Z₁ᵀ E T₂ regular.
    pub Z1: Matrix,
    /// (μ+1)m × a, with Z₂ᵀ M = 0 and Z₂ᵀ N of full rank; rows belong to the array in Taylor form.
    pub Z2: Matrix,
    /// (μ+1)m × ṽ, with Z₃ᵀ [M N] = 0: all redundant equations of all levels.
    pub Z3: Matrix,
    /// n × (n − a), orthonormal basis of kernel A₂.
    pub T2: Matrix,
    /// Z₃ᵀ g, which vanishes where the problem is solvable. Rows are scaled.
    pub consistency: Vec<f64>,
    /// ‖Z₃ᵀ g‖ relative to ‖g‖, rows scaled; 0 for g = 0.
    pub inconsistency: f64,
    /// The least clear rank decision.
    pub least_clear: LeastClear,
    /// Scales of the array by which ranks were decided.
    pub scales: Scales,
}

/// The strangeness-free system at time t.
pub fn strangeness_free<C: Coefficients + ?Sized>(
    coefficients: &mut C,
    t: f64,
    options: &RankOptions,
) -> Result<StrangenessFree, ReductionError> {
    let mut reducer = Reducer::new(coefficients.rows(), coefficients.dim(), options.clone());
    let mut out = StrangenessFree::empty();
    reducer.reduce(coefficients, t, &mut out)?;
    Ok(out)
}

impl StrangenessFree {
    /// Before the first reduction.
    pub fn empty() -> Self {
        StrangenessFree {
            values: CharacteristicValues { mu: 0, d: 0, a: 0, v: 0, u: 0 },
            system: ReducedSystem::new(0, 0, 0),
            Z1: Matrix::zeros(0, 0),
            Z2: Matrix::zeros(0, 0),
            Z3: Matrix::zeros(0, 0),
            T2: Matrix::zeros(0, 0),
            consistency: Vec::new(),
            inconsistency: 0.0,
            least_clear: LeastClear::default(),
            scales: Scales::default(),
        }
    }

    /// Take over another one, without allocation when sizes agree.
    pub fn copy_from(&mut self, other: &Self) {
        self.values = other.values;
        copy(&mut self.system.E1, &other.system.E1);
        copy(&mut self.system.A1, &other.system.A1);
        copy(&mut self.system.A2, &other.system.A2);
        self.system.t = other.system.t;
        self.system.b1.clone_from(&other.system.b1);
        self.system.b2.clone_from(&other.system.b2);
        copy(&mut self.Z1, &other.Z1);
        copy(&mut self.Z2, &other.Z2);
        copy(&mut self.Z3, &other.Z3);
        copy(&mut self.T2, &other.T2);
        self.consistency.clone_from(&other.consistency);
        self.inconsistency = other.inconsistency;
        self.least_clear = other.least_clear;
        self.scales.rows.clone_from(&other.scales.rows);
        self.scales.columns.clone_from(&other.scales.columns);
    }

    /// Z₃ᵀ g and its size, from an array whose g is new.
    pub fn measure_consistency(&mut self, array: &DerivativeArray) {
        self.consistency.resize(self.Z3.cols(), 0.0);
        transposed_times(&self.Z3, &array.g, &mut self.consistency);
        let size = array.g.iter().zip(&self.scales.rows).map(|(g, r)| (g * r).powi(2)).sum::<f64>().sqrt();
        self.inconsistency = if size > 0.0 { norm(&self.consistency) / size } else { 0.0 };
    }
}

/// Makes strangeness-free systems at many times, with the same scales of the original equations and in the same buffers.
pub struct Reducer {
    m: usize,
    n: usize,
    options: RankOptions,
    factors: Option<Vec<f64>>,
    /// index found last: derivatives up to it are asked for at once
    expected: usize,
    /// Taylor coefficients at the last time.
    pub data: TaylorData,
    levels: Vec<Level>,
}

impl Reducer {
    /// For m equations in n unknowns.
    pub fn new(m: usize, n: usize, options: RankOptions) -> Self {
        Reducer { m, n, options, factors: None, expected: 0, data: TaylorData::new(m, n, 0), levels: Vec::new() }
    }

    /// Scales of the original equations, chosen at the first time and kept.
    pub fn factors(&self) -> &[f64] {
        self.factors.as_deref().unwrap_or(&[])
    }

    /// b₁, b₂ and Z₃ᵀg at t, where E and A are those of the last reduction.
    pub fn renew_inhomogeneity<C: Coefficients + ?Sized>(
        &mut self,
        coefficients: &mut C,
        t: f64,
        out: &mut StrangenessFree,
    ) -> Result<(), CoefficientError> {
        let mu = out.values.mu;
        coefficients.inhomogeneity(t, mu, &mut self.data)?;
        let array = &mut self.levels[mu].array;
        array.build_inhomogeneity(&self.data);
        out.system.project_inhomogeneity(t, array, &out.Z1, &out.Z2);
        out.measure_consistency(array);
        Ok(())
    }

    /// Characteristic values, projections and reduced coefficients at t.
    pub fn reduce<C: Coefficients + ?Sized>(
        &mut self,
        coefficients: &mut C,
        t: f64,
        out: &mut StrangenessFree,
    ) -> Result<(), ReductionError> {
        let (m, n, rule) = (self.m, self.n, self.options.rule);
        let failed = |_: NoConvergence| ReductionError::SvdFailed { t };
        out.least_clear = LeastClear::default();
        let mut redundant_before = 0;
        let mut known = None;
        let mut last = CharacteristicValues { mu: 0, d: 0, a: 0, v: 0, u: 0 };
        for level in 0..=self.options.max_index {
            // coefficients, array, scales
            if known.is_none_or(|order| order < level) {
                let order = self.expected.max(level);
                self.data.extend(order);
                coefficients.taylor(t, order, &mut self.data)?;
                known = Some(order);
            }
            if self.factors.is_none() {
                self.factors = Some(equation_factors(&self.data, known.unwrap_or(0)));
            }
            if self.levels.len() == level {
                self.levels.push(Level::new(m, n, level));
            }
            let work = &mut self.levels[level];
            work.array.build(&self.data);
            equilibrate(&work.array, self.factors.as_deref().unwrap_or(&[]), &mut work.scales);

            // Z, Z₂, Z₃
            let (rank, scale) = work.corange(rule, &mut out.least_clear).map_err(failed)?;
            let a = work.split(rank, scale, rule, &mut out.least_clear).map_err(failed)?;
            let redundant = work.array.M.rows() - rank - a;

            // T₂ in the scale of ẋ, d = rank E T₂
            let d = work.differential(a, &self.data.E[0], scale, rule, &mut out.least_clear).map_err(failed)?;

            let v = redundant as isize - redundant_before as isize;
            redundant_before = redundant;
            last = CharacteristicValues {
                mu: level,
                d,
                a,
                v: usize::try_from(v).unwrap_or(0),
                u: n.saturating_sub(a + d),
            };
            if (a + d) as isize + v == m as isize {
                self.expected = level;
                out.values = last;
                return self.finish(t, out).map_err(failed);
            }
        }
        Err(ReductionError::IndexNotFound { t, max_index: self.options.max_index, last })
    }

    /// Fill the result from the buffers of the level μ.
    fn finish(&mut self, t: f64, out: &mut StrangenessFree) -> Result<(), NoConvergence> {
        let CharacteristicValues { mu, d, a, .. } = out.values;
        let work = &mut self.levels[mu];
        resize(&mut out.Z1, self.m, d);
        for i in 0..self.m {
            for j in 0..d {
                out.Z1[(i, j)] = work.scales.rows[i] * work.svd_E.U[(i, j)];
            }
        }
        copy(&mut out.Z2, &work.Z2);
        copy(&mut out.Z3, &work.Z3);
        out.scales.rows.clone_from(&work.scales.rows);
        out.scales.columns.clone_from(&work.scales.columns);
        out.system.project(t, &self.data, &work.array, &out.Z1, &out.Z2);
        out.measure_consistency(&work.array);

        // T₂ = kernel A₂
        kernel(&mut work.svd_A, &out.system.A2, &[])?;
        resize(&mut out.T2, self.n, self.n - a);
        for i in 0..self.n {
            for j in 0..self.n - a {
                out.T2[(i, j)] = work.svd_A.V[(i, a + j)];
            }
        }
        Ok(())
    }
}
