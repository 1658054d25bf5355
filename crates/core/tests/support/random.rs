//! Random numbers from a fixed seed (splitmix64), and matrices and polynomials of them.

use daedal::linalg::Mat;

/// A generator that gives the same numbers in every run.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// One of 0, …, count − 1.
    pub fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    /// Uniform in (−1, 1).
    pub fn real(&mut self) -> f64 {
        2.0 * ((self.next() >> 11) as f64 / (1_u64 << 53) as f64) - 1.0
    }

    /// A matrix of such numbers.
    pub fn matrix(&mut self, rows: usize, cols: usize) -> Mat<f64> {
        Mat::from_fn(rows, cols, |_, _| self.real())
    }

    /// An orthogonal matrix.
    pub fn orthogonal(&mut self, n: usize) -> Mat<f64> {
        if n == 0 { Mat::zeros(0, 0) } else { self.matrix(n, n).qr().compute_Q() }
    }

    /// Matrix coefficients of a polynomial of this degree.
    pub fn polynomial(&mut self, rows: usize, cols: usize, degree: usize) -> Vec<Mat<f64>> {
        (0..=degree).map(|_| self.matrix(rows, cols)).collect()
    }
}
