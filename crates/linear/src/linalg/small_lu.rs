//! P A = L U of small matrices, real or complex, with row pivoting: the iteration matrices of systems with a few unknowns.
//!
//! Up to eight unknowns the size is known to the compiler, so that loops are straight. Rows without an entry below the pivot are not touched: they
//! are many in sparse systems, and subtracting zeros changes no bit. Larger matrices remember between which columns the rows of their factors have entries.

use super::{Matrix, Shift, Singular};

/// A matrix and its factors.
#[derive(Clone, Debug)]
pub struct SmallLu<T> {
    /// The matrix before, its factors after [`SmallLu::factor`].
    pub A: Matrix<T>,
    pivots: Vec<usize>,
    /// rows of L and U have no entries before the first and from the second of these columns on; not used by sizes that the compiler knows
    reach: Vec<(usize, usize)>,
}

/// Call a function for the size n as a constant, or another one for any size.
macro_rules! for_size {
    ($n:expr, $of_size:ident($($argument:expr),*), $any:expr) => {
        match $n {
            1 => $of_size::<T, 1>($($argument),*),
            2 => $of_size::<T, 2>($($argument),*),
            3 => $of_size::<T, 3>($($argument),*),
            4 => $of_size::<T, 4>($($argument),*),
            5 => $of_size::<T, 5>($($argument),*),
            6 => $of_size::<T, 6>($($argument),*),
            7 => $of_size::<T, 7>($($argument),*),
            8 => $of_size::<T, 8>($($argument),*),
            _ => $any,
        }
    };
}

impl<T: Shift> SmallLu<T> {
    /// Room for an n × n matrix.
    pub fn new(n: usize) -> Self {
        SmallLu { A: Matrix::zeros(n, n), pivots: vec![0; n], reach: vec![(0, 0); n] }
    }

    /// Decompose [`SmallLu::A`] in place.
    pub fn factor(&mut self) -> Result<(), Singular> {
        let (A, pivots) = (self.A.data_mut(), &mut self.pivots[..]);
        for_size!(pivots.len(), factor_of_size(A, pivots), factor_any(A, pivots, &mut self.reach))
    }

    /// b ← A⁻¹ b.
    pub fn solve(&self, b: &mut [T]) {
        let (A, pivots) = (self.A.data(), &self.pivots[..]);
        for_size!(pivots.len(), solve_of_size(A, pivots, b), solve_any(A, pivots, &self.reach, b));
    }
}

/// A block for k = 0, 1, …, as far as k < N: every copy of it knows k, so that its loops have known lengths, too.
macro_rules! each_below {
    ($N:ident, $k:ident => $block:block) => {
        each_below!(@ $N, $k => $block; 0 1 2 3 4 5 6 7)
    };
    ($N:ident, $k:ident backwards => $block:block) => {
        each_below!(@ $N, $k => $block; 7 6 5 4 3 2 1 0)
    };
    (@ $N:ident, $k:ident => $block:block; $($number:literal)*) => {
        $(if $number < $N {
            let $k: usize = $number;
            $block
        })*
    };
}

fn factor_of_size<T: Shift, const N: usize>(A: &mut [T], pivots: &mut [usize]) -> Result<(), Singular> {
    let (rows, pivots) = (A.as_chunks_mut::<N>().0.first_chunk_mut::<N>(), pivots.first_chunk_mut::<N>());
    let (Some(rows), Some(pivots)) = (rows, pivots) else { return Err(Singular { column: 0 }) };
    each_below!(N, k => {
        let (mut pivot, mut size) = (k, rows[k][k].magnitude());
        for i in k + 1..N {
            let other = rows[i][k].magnitude();
            if other > size {
                (pivot, size) = (i, other);
            }
        }
        if size == 0.0 || !size.is_finite() {
            return Err(Singular { column: k });
        }
        pivots[k] = pivot;
        if pivot != k {
            rows.swap(k, pivot);
        }
        let p = rows[k];
        for row in &mut rows[k + 1..] {
            if row[k].magnitude() != 0.0 {
                let l = row[k] / p[k];
                row[k] = l;
                for j in k + 1..N {
                    row[j] = row[j] - l * p[j];
                }
            }
        }
    });
    Ok(())
}

fn solve_of_size<T: Shift, const N: usize>(A: &[T], pivots: &[usize], b: &mut [T]) {
    let (rows, pivots) = (A.as_chunks::<N>().0.first_chunk::<N>(), pivots.first_chunk::<N>());
    let (Some(rows), Some(pivots), Some(b)) = (rows, pivots, b.first_chunk_mut::<N>()) else { return };
    for k in 0..N {
        b.swap(k, pivots[k]);
    }
    let mut x = *b;
    each_below!(N, i => {
        let mut sum = x[i];
        for j in 0..i {
            sum = sum - rows[i][j] * x[j];
        }
        x[i] = sum;
    });
    each_below!(N, i backwards => {
        let mut sum = x[i];
        for j in i + 1..N {
            sum = sum - rows[i][j] * x[j];
        }
        x[i] = sum / rows[i][i];
    });
    *b = x;
}

fn factor_any<T: Shift>(A: &mut [T], pivots: &mut [usize], reach: &mut [(usize, usize)]) -> Result<(), Singular> {
    let n = pivots.len();
    for (k, pivot) in pivots.iter_mut().enumerate() {
        let rows = &mut A[k * n..];
        let (mut best, mut size) = (0, 0.0);
        for (i, row) in rows.chunks_exact(n).enumerate() {
            let other = row[k].magnitude();
            // a NaN must not be hidden by what follows it
            if other > size || i == 0 {
                (best, size) = (i, other);
            }
        }
        if size == 0.0 || !size.is_finite() {
            return Err(Singular { column: k });
        }
        *pivot = k + best;
        let (p, lower) = rows.split_at_mut(n);
        if best > 0 {
            p.swap_with_slice(&mut lower[(best - 1) * n..best * n]);
        }
        let end = end_of(p);
        let p = &p[k..end];
        for row in lower.chunks_exact_mut(n) {
            let row = &mut row[k..end];
            if row[0].magnitude() != 0.0 {
                let l = row[0] / p[0];
                row[0] = l;
                for (x, &p) in row[1..].iter_mut().zip(&p[1..]) {
                    *x = *x - l * p;
                }
            }
        }
    }
    for (row, reach) in A.chunks_exact(n.max(1)).zip(reach) {
        let first = row.iter().position(|x| x.magnitude() != 0.0).unwrap_or(0);
        *reach = (first, end_of(row));
    }
    Ok(())
}

/// Behind the last entry of a row.
fn end_of<T: Shift>(row: &[T]) -> usize {
    row.iter().rposition(|x| x.magnitude() != 0.0).map_or(0, |last| last + 1)
}

fn solve_any<T: Shift>(A: &[T], pivots: &[usize], reach: &[(usize, usize)], b: &mut [T]) {
    let n = pivots.len();
    for (k, &pivot) in pivots.iter().enumerate() {
        b.swap(k, pivot);
    }
    let rows = || A.chunks_exact(n.max(1)).zip(reach).enumerate();
    for (i, (row, &(first, _))) in rows() {
        let first = first.min(i);
        let mut sum = b[i];
        for (&l, &b) in row[first..i].iter().zip(&b[first..i]) {
            sum = sum - l * b;
        }
        b[i] = sum;
    }
    for (i, (row, &(_, end))) in rows().rev() {
        let mut sum = b[i];
        for (&u, &b) in row[i + 1..end].iter().zip(&b[i + 1..end]) {
            sum = sum - u * b;
        }
        b[i] = sum / row[i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Lu;
    use faer::c64;

    /// A matrix with many zeros whose pivots are not on its diagonal.
    fn entry(n: usize, i: usize, j: usize) -> f64 {
        let moved = (i + 3) % n;
        match (moved + 2 * j) % 3 {
            _ if moved == j => 4.0 + i as f64,
            0 => ((i * n + j) as f64).sin(),
            _ => 0.0,
        }
    }

    #[test]
    fn small_matrices_of_all_sizes_have_the_bits_of_large_ones() {
        for n in 1..=20 {
            let (mut small, mut all) = (SmallLu::<f64>::new(n), Lu::<f64>::new(n));
            let (mut complex, mut every) = (SmallLu::<c64>::new(n), Lu::<c64>::new(n));
            for i in 0..n {
                for j in 0..n {
                    let e = entry(n, i, j);
                    let z = if e == 0.0 { c64::new(0.0, 0.0) } else { c64::new(e, e.cos()) };
                    (small.A[(i, j)], all.A[(i, j)]) = (e, e);
                    (complex.A[(i, j)], every.A[(i, j)]) = (z, z);
                }
            }
            small.factor().unwrap();
            all.factor().unwrap();
            complex.factor().unwrap();
            every.factor_complex().unwrap();
            let b: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5).cos()).collect();
            let (mut x, mut y) = (b.clone(), b.clone());
            small.solve(&mut x);
            all.solve(&mut y);
            assert_eq!(x, y, "{n} unknowns");
            let mut x: Vec<c64> = b.iter().map(|b| c64::new(*b, 1.0)).collect();
            let mut y = x.clone();
            complex.solve(&mut x);
            every.solve(&mut y);
            assert_eq!(x, y, "{n} complex unknowns");
        }
    }

    #[test]
    fn a_column_without_a_pivot_is_named() {
        for n in [3, 12] {
            let mut lu = SmallLu::<f64>::new(n);
            lu.A[(0, 0)] = 1.0;
            lu.A[(1, 0)] = 2.0;
            assert_eq!(lu.factor(), Err(Singular { column: 1 }));
            lu.A[(0, 0)] = f64::NAN;
            assert!(lu.factor().is_err());
        }
        let mut nothing = SmallLu::<f64>::new(0);
        assert_eq!(nothing.factor(), Ok(()));
        nothing.solve(&mut []);
    }
}
