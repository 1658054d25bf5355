//! The matrix that implicit methods iterate with: σ E − h A in rows with derivatives, −A in algebraic rows.
//!
//! It is (σ/h) E − A with the rows that contain derivatives multiplied by h, so that it tends to (σ E₁; −A₂), which is regular for
//! systems of index one, as h → 0. σ is real or complex.

use super::large_lu::LargeLu;
use super::small_lu::SmallLu;
use super::sparse_lu::SparseLu;
use super::{Field, Jacobian, Pencil, Singular};
use faer::c64;
use faer::traits::ComplexField;

/// Numbers of which iteration matrices are made.
pub trait Shift: Field + ComplexField {
    /// Dense matrices of at least this size are decomposed by faer. Measured in µs for one decomposition and four solves, written-out
    /// loops and faer: real n = 24: 4.8, 5.6; 32: 8.4, 8.4; 40: 13.5, 12.1; 64: 40, 26; 128: 257, 113. Complex n = 16: 4.2, 4.3;
    /// 20: 6.7, 6.0; 32: 19, 13; 64: 110, 48; 128: 740, 250.
    const LARGE: usize;

    /// The size by which pivots are chosen.
    fn magnitude(self) -> f64;

    /// σ e − h a.
    fn shifted(self, e: f64, h: f64, a: f64) -> Self;
}

impl Shift for f64 {
    const LARGE: usize = 32;

    #[inline]
    fn magnitude(self) -> f64 {
        self.abs()
    }

    #[inline]
    fn shifted(self, e: f64, h: f64, a: f64) -> f64 {
        self * e - h * a
    }
}

impl Shift for c64 {
    const LARGE: usize = 20;

    #[inline]
    fn magnitude(self) -> f64 {
        self.re.abs() + self.im.abs()
    }

    #[inline]
    fn shifted(self, e: f64, h: f64, a: f64) -> c64 {
        c64::new(self.re * e - h * a, self.im * e)
    }
}

/// σ E − h A, or −A in algebraic rows, decomposed.
pub struct IterationMatrix<T> {
    algebraic: Vec<bool>,
    /// the algebraic rows
    constraints: Vec<usize>,
    factors: Factors<T>,
}

enum Factors<T> {
    Small(SmallLu<T>),
    Large(LargeLu<T>),
    Sparse(Box<Sparse<T>>),
    /// the pattern leaves no regular matrix
    NoPattern(Singular),
}

struct Sparse<T> {
    lu: SparseLu<T>,
    /// a pencil with the pattern of the matrix, and where its entries stand in the columns of that
    pattern: Pencil,
    of_E: RowPositions,
    of_A: RowPositions,
}

/// Positions of the entries of every row.
type RowPositions = Vec<Vec<u32>>;

impl<T: Shift> Sparse<T> {
    fn new(pencil: &Pencil) -> Result<Self, Singular> {
        let mut by_column = Vec::new();
        pencil.each(|i, j, _, _| by_column.push((j, i)));
        by_column.sort_unstable();
        let position = |i: usize, j: usize| by_column.partition_point(|&place| place < (j, i)) as u32;
        let row = |F: &Jacobian, i: usize| F.row(i).map(|(j, _)| position(i, j)).collect();
        let [of_E, of_A] = [&pencil.E, &pencil.A].map(|F| (0..F.rows()).map(|i| row(F, i)).collect());
        let places: Vec<_> = by_column.iter().map(|&(j, i)| (i, j)).collect();
        Ok(Sparse { lu: SparseLu::new(pencil.E.rows(), &places)?, pattern: pencil.clone(), of_E, of_A })
    }

    /// Has a pencil the pattern of this matrix?
    fn serves(&self, pencil: &Pencil) -> bool {
        pencil.E.has_pattern_of(&self.pattern.E) && pencil.A.has_pattern_of(&self.pattern.A)
    }

    /// σ E − h A, or −A in algebraic rows, of a pencil with this pattern.
    fn take(&mut self, pencil: &Pencil, algebraic: &[bool], sigma: T, h: f64) {
        let matrix = &mut self.lu.values[..];
        matrix.fill(T::from(0.0));
        let (mut E, mut A) = (pencil.E.values(), pencil.A.values());
        for ((&algebraic, of_E), of_A) in algebraic.iter().zip(&self.of_E).zip(&self.of_A) {
            let (row, below) = E.split_at(of_E.len());
            E = below;
            if !algebraic {
                of_E.iter().zip(row).for_each(|(&k, &e)| matrix[k as usize] = sigma.shifted(e, 0.0, 0.0));
            }
            let (row, below) = A.split_at(of_A.len());
            A = below;
            let factor = if algebraic { 1.0 } else { h };
            for (&k, &a) in of_A.iter().zip(row) {
                matrix[k as usize] -= T::from(factor * a);
            }
        }
    }
}

impl<T: Shift> IterationMatrix<T> {
    /// Room for matrices of the kind of a pencil; `algebraic` tells which rows contain no derivatives.
    pub fn new(pencil: &Pencil, algebraic: Vec<bool>) -> Self {
        let n = algebraic.len();
        let factors = if pencil.is_sparse() {
            Sparse::new(pencil).map_or_else(Factors::NoPattern, |sparse| Factors::Sparse(Box::new(sparse)))
        } else if n < T::LARGE {
            Factors::Small(SmallLu::new(n))
        } else {
            Factors::Large(LargeLu::new(n))
        };
        let constraints = (0..n).filter(|&i| algebraic[i]).collect();
        IterationMatrix { algebraic, constraints, factors }
    }

    /// Put together and decompose.
    pub fn decompose(&mut self, pencil: &Pencil, sigma: T, h: f64) -> Result<(), Singular> {
        let entry = |algebraic: bool, e: f64, a: f64| if algebraic { T::from(-a) } else { sigma.shifted(e, h, a) };
        match (&mut self.factors, &pencil.E, &pencil.A) {
            (Factors::Small(lu), Jacobian::Dense(E), Jacobian::Dense(A)) => {
                let entries = lu.A.data_mut().iter_mut().zip(E.data()).zip(A.data());
                entries.for_each(|((m, &e), &a)| *m = sigma.shifted(e, h, a));
                for i in self.constraints.iter().copied() {
                    lu.A.row_mut(i).iter_mut().zip(A.row(i)).for_each(|(m, &a)| *m = T::from(-a));
                }
                lu.factor()
            }
            (Factors::Large(lu), Jacobian::Dense(E), Jacobian::Dense(A)) => {
                for j in 0..self.algebraic.len() {
                    for (i, &algebraic) in self.algebraic.iter().enumerate() {
                        lu.A[(i, j)] = entry(algebraic, E[(i, j)], A[(i, j)]);
                    }
                }
                lu.factor()
            }
            // of two kinds
            (Factors::Small(lu), ..) => {
                lu.A.fill(T::from(0.0));
                pencil.each(|i, j, e, a| lu.A[(i, j)] = entry(self.algebraic[i], e, a));
                lu.factor()
            }
            (Factors::Large(lu), ..) => {
                lu.A.fill(T::from(0.0));
                pencil.each(|i, j, e, a| lu.A[(i, j)] = entry(self.algebraic[i], e, a));
                lu.factor()
            }
            (Factors::Sparse(sparse), ..) => {
                // a system that chooses its equations has other patterns on the way
                if !sparse.serves(pencil) {
                    **sparse = Sparse::new(pencil)?;
                }
                sparse.take(pencil, &self.algebraic, sigma, h);
                sparse.lu.factor()
            }
            (Factors::NoPattern(singular), ..) => Err(*singular),
        }
    }

    /// b ← M⁻¹ b.
    pub fn solve(&mut self, b: &mut [T]) {
        match &mut self.factors {
            Factors::Small(lu) => lu.solve(b),
            Factors::Large(lu) => lu.solve(b),
            Factors::Sparse(sparse) => sparse.lu.solve(b),
            Factors::NoPattern(_) => b.fill(T::from(f64::NAN)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pencil with `n` rows of which the last is algebraic, dense and sparse.
    fn pencils(n: usize) -> (Pencil, Pencil, Vec<bool>) {
        let mut places = Vec::new();
        let mut dense = Pencil::dense(n, n);
        for j in 0..n {
            for i in 0..n {
                if (i + 2 * j) % 3 == 0 || i == j {
                    if i + 1 < n {
                        dense.E.put((i, j), if i == j { 3.0 } else { 0.1 });
                    }
                    dense.A.put((i, j), 1.0 / (1.0 + (i + j) as f64));
                    places.push((i, j));
                }
            }
        }
        let of_E: Vec<_> = places.iter().copied().filter(|&(i, _)| i + 1 < n).collect();
        let mut sparse = Pencil::sparse(n, of_E, places);
        (0..n).for_each(|i| {
            sparse.E.add_row(i, 1.0, &dense.E, i);
            sparse.A.add_row(i, 1.0, &dense.A, i);
        });
        (dense, sparse, (0..n).map(|i| i + 1 == n).collect())
    }

    #[test]
    fn a_pencil_may_come_with_another_pattern() {
        let mut matrix = IterationMatrix::<f64>::new(&Pencil::sparse(2, vec![(0, 0)], vec![(1, 1)]), vec![false, true]);
        let mut other = Pencil::sparse(2, vec![(0, 1)], vec![(1, 0), (1, 1)]);
        other.E.put((0, 1), 2.0);
        other.A.put((1, 0), -4.0);
        matrix.decompose(&other, 1.0, 0.1).unwrap();
        let mut b = [6.0, 8.0];
        matrix.solve(&mut b);
        assert_eq!(b, [2.0, 3.0]);
    }

    #[test]
    fn small_large_and_sparse_matrices_solve_the_same_system() {
        for n in [4, f64::LARGE + 5] {
            let (dense, sparse, algebraic) = pencils(n);
            let (Pencil { E, A }, h) = (&dense, 1e-3);
            let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let z: Vec<c64> = x.iter().map(|x| c64::new(*x, 1.0 - x)).collect();
            let sigma = c64::new(2.0, 3.0);
            let (mut b, mut d) = (vec![0.0; n], vec![c64::new(0.0, 0.0); n]);
            for i in 0..n {
                for j in 0..n {
                    if algebraic[i] {
                        b[i] -= A[(i, j)] * x[j];
                        d[i] -= z[j] * A[(i, j)];
                    } else {
                        b[i] += (2.0 * E[(i, j)] - h * A[(i, j)]) * x[j];
                        d[i] += (sigma * E[(i, j)] - c64::new(h * A[(i, j)], 0.0)) * z[j];
                    }
                }
            }
            for pencil in [&dense, &sparse] {
                let mut real = IterationMatrix::<f64>::new(pencil, algebraic.clone());
                real.decompose(pencil, 2.0, h).unwrap();
                let mut found = b.clone();
                real.solve(&mut found);
                assert!(found.iter().zip(&x).all(|(f, x)| (f - x).abs() < 1e-11));
                let mut complex = IterationMatrix::<c64>::new(pencil, algebraic.clone());
                complex.decompose(pencil, sigma, h).unwrap();
                let mut found = d.clone();
                complex.solve(&mut found);
                assert!(found.iter().zip(&z).all(|(f, z)| (f - z).norm() < 1e-11));
            }
        }
    }
}
