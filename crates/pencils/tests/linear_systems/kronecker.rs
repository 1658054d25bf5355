//! Kronecker's canonical form: blocks that are put in behind random transformations come out again.

use crate::linear::matrix as rows;
use crate::random::Random;
use daedal::linalg::{Mat, Matrix, RankRule};
use daedal_pencils::{Kronecker, RegularPencil};

/// Blocks along a diagonal.
#[derive(Default)]
struct Blocks {
    E: Vec<(usize, usize, f64)>,
    A: Vec<(usize, usize, f64)>,
    rows: usize,
    cols: usize,
}

impl Blocks {
    /// L_ε: λ[I 0] − [0 I].
    fn right(&mut self, index: usize) {
        for i in 0..index {
            self.E.push((self.rows + i, self.cols + i, 1.0));
            self.A.push((self.rows + i, self.cols + i + 1, 1.0));
        }
        (self.rows, self.cols) = (self.rows + index, self.cols + index + 1);
    }

    /// L_ηᵀ.
    fn left(&mut self, index: usize) {
        for i in 0..index {
            self.E.push((self.rows + i, self.cols + i, 1.0));
            self.A.push((self.rows + i + 1, self.cols + i, 1.0));
        }
        (self.rows, self.cols) = (self.rows + index + 1, self.cols + index);
    }

    /// λN − I.
    fn nilpotent(&mut self, size: usize) {
        for i in 0..size {
            self.A.push((self.rows + i, self.cols + i, 1.0));
            if i > 0 {
                self.E.push((self.rows + i - 1, self.cols + i, 1.0));
            }
        }
        (self.rows, self.cols) = (self.rows + size, self.cols + size);
    }

    /// λ − value.
    fn finite(&mut self, value: f64) {
        self.E.push((self.rows, self.cols, 1.0));
        self.A.push((self.rows, self.cols, value));
        (self.rows, self.cols) = (self.rows + 1, self.cols + 1);
    }

    fn behind(&self, random: &mut Random) -> (Mat<f64>, Mat<f64>) {
        let mut well_conditioned = |n: usize| {
            let (X, Y) = (random.orthogonal(n), random.orthogonal(n));
            let D = Mat::from_fn(n, n, |i, j| if i == j { 1.0 + random.below(8) as f64 / 8.0 } else { 0.0 });
            X * D * Y
        };
        let (P, Q) = (well_conditioned(self.rows), well_conditioned(self.cols));
        let dense = |entries: &[(usize, usize, f64)]| {
            let mut X = Mat::zeros(self.rows, self.cols);
            for &(i, j, x) in entries {
                X[(i, j)] = x;
            }
            &P * X * &Q
        };
        (dense(&self.E), dense(&self.A))
    }
}

#[test]
fn blocks_of_300_random_pencils_are_found() {
    let mut random = Random(77);
    let mut singular = 0;
    for case in 0..300 {
        let mut sizes = |most: usize, largest: usize| {
            let mut all: Vec<usize> = (0..random.below(most)).map(|_| random.below(largest)).collect();
            all.sort_unstable();
            all
        };
        let (right, left) = if case % 3 == 0 { (vec![], vec![]) } else { (sizes(3, 4), sizes(3, 4)) };
        let mut nilpotent: Vec<usize> = sizes(4, 4).iter().map(|k| k + 1).collect();
        nilpotent.reverse();
        let values: Vec<f64> = (0..random.below(4)).map(|k| 1.0 + k as f64 * 0.75).collect();
        let mut blocks = Blocks::default();
        for &k in &right {
            blocks.right(k);
        }
        for &k in &left {
            blocks.left(k);
        }
        for &k in &nilpotent {
            blocks.nilpotent(k);
        }
        for &x in &values {
            blocks.finite(x);
        }
        if blocks.rows == 0 || blocks.cols == 0 {
            continue;
        }
        let (E, A) = blocks.behind(&mut random);
        let found = Kronecker::new(&E, &A, RankRule::default()).unwrap();
        assert_eq!((&found.right, &found.left, &found.nilpotent), (&right, &left, &nilpotent), "case {case}");
        let mut real: Vec<f64> = found.finite.iter().map(|z| z.0).collect();
        real.reverse();
        assert_eq!(real.len(), values.len(), "case {case}");
        assert!(real.iter().zip(&values).all(|(x, y)| (x - y).abs() < 1e-8), "case {case}: {real:?} {values:?}");
        assert!(found.finite.iter().all(|z| z.1.abs() < 1e-8), "case {case}");
        singular += usize::from(!found.is_regular());
        // the splitting of regular pencils agrees
        let dense = |X: &Mat<f64>| {
            let mut Y = Matrix::zeros(X.nrows(), X.ncols());
            (0..X.nrows()).for_each(|i| (0..X.ncols()).for_each(|j| Y[(i, j)] = X[(i, j)]));
            Y
        };
        match RegularPencil::new(&dense(&E), &dense(&A), 1e-11) {
            Ok(pencil) => {
                assert!(found.is_regular(), "case {case}");
                assert_eq!((pencil.index(), pencil.finite_dimension()), (found.index(), values.len()), "case {case}");
            }
            Err(_) => assert!(!found.is_regular(), "case {case}"),
        }
    }
    assert!(singular > 100, "{singular}");
}

#[test]
fn small_pencils_by_hand() {
    let found = |E: &[&[f64]], A: &[&[f64]]| {
        let convert = |X: &[&[f64]]| {
            let X = rows(X);
            Mat::from_fn(X.rows(), X.cols(), |i, j| X[(i, j)])
        };
        Kronecker::new(&convert(E), &convert(A), RankRule::default()).unwrap()
    };
    // T1.3: x' = …, 0 = x: L₁ᵀ
    let one = found(&[&[1.0], &[0.0]], &[&[0.0], &[1.0]]);
    assert_eq!((one.right, one.left, one.nilpotent, one.finite), (vec![], vec![1], vec![], vec![]));
    // 3.4: E = [0 1 0; 1 0 0; 0 0 0], A = [0 0 1; 0 0 0; 1 0 0]: L₁ and L₁ᵀ
    let two = found(
        &[&[0.0, 1.0, 0.0], &[1.0, 0.0, 0.0], &[0.0, 0.0, 0.0]],
        &[&[0.0, 0.0, 1.0], &[0.0, 0.0, 0.0], &[1.0, 0.0, 0.0]],
    );
    assert_eq!((two.right, two.left, two.nilpotent, two.finite), (vec![1], vec![1], vec![], vec![]));
    // an equation and an unknown that say nothing
    let three = found(&[&[0.0, 0.0], &[0.0, 1.0]], &[&[0.0, 0.0], &[0.0, -2.0]]);
    assert_eq!((three.right, three.left, three.finite), (vec![0], vec![0], vec![(-2.0, 0.0)]));
}
