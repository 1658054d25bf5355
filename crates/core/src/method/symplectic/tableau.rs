//! Coefficients of the pairs Lobatto IIIA-IIIB: cᵢ, bᵢ and A of Lobatto IIIA; Â follows from âᵢⱼ = bⱼ − bⱼ aⱼᵢ / bᵢ.
//!
//! Hairer, Lubich & Wanner, Geometric Numerical Integration, II.1.4.

/// Most stages.
pub(super) const MOST: usize = 4;
const R: f64 = 2.236067977499789696409; // √5

/// A pair; only the first s entries and rows count.
#[derive(Debug)]
pub(super) struct LobattoTableau {
    pub s: usize,
    pub c: [f64; MOST],
    pub b: [f64; MOST],
    pub A: [[f64; MOST]; MOST],
}

impl LobattoTableau {
    /// Order 2.
    pub const TWO: LobattoTableau = LobattoTableau {
        s: 2,
        c: [0.0, 1.0, 0.0, 0.0],
        b: [0.5, 0.5, 0.0, 0.0],
        A: [[0.0; 4], [0.5, 0.5, 0.0, 0.0], [0.0; 4], [0.0; 4]],
    };
    /// Order 4.
    pub const THREE: LobattoTableau = LobattoTableau {
        s: 3,
        c: [0.0, 0.5, 1.0, 0.0],
        b: [1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0, 0.0],
        A: [[0.0; 4], [5.0 / 24.0, 1.0 / 3.0, -1.0 / 24.0, 0.0], [1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0, 0.0], [0.0; 4]],
    };
    /// Order 6.
    pub const FOUR: LobattoTableau = LobattoTableau {
        s: 4,
        c: [0.0, (5.0 - R) / 10.0, (5.0 + R) / 10.0, 1.0],
        b: [1.0 / 12.0, 5.0 / 12.0, 5.0 / 12.0, 1.0 / 12.0],
        A: [
            [0.0; 4],
            [(11.0 + R) / 120.0, (25.0 - R) / 120.0, (25.0 - 13.0 * R) / 120.0, (-1.0 + R) / 120.0],
            [(11.0 - R) / 120.0, (25.0 + 13.0 * R) / 120.0, (25.0 + R) / 120.0, (-1.0 - R) / 120.0],
            [1.0 / 12.0, 5.0 / 12.0, 5.0 / 12.0, 1.0 / 12.0],
        ],
    };

    /// The pair with this number of stages.
    pub fn of(stages: usize) -> Option<&'static LobattoTableau> {
        const ALL: [&LobattoTableau; 3] = [&LobattoTableau::TWO, &LobattoTableau::THREE, &LobattoTableau::FOUR];
        ALL.into_iter().find(|tableau| tableau.s == stages)
    }

    /// âᵢⱼ; zero in the last column.
    pub fn hat(&self, i: usize, j: usize) -> f64 {
        self.b[j] - self.b[j] * self.A[j][i] / self.b[i]
    }

    /// (A Â)ᵢⱼ.
    pub fn product(&self, i: usize, j: usize) -> f64 {
        (0..self.s).map(|k| self.A[i][k] * self.hat(k, j)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_method_of_each_pair_is_lobatto_iiib() {
        let known: [&[f64]; 3] = [
            &[0.5, 0.0, 0.5, 0.0],
            &[1.0 / 6.0, -1.0 / 6.0, 0.0, 1.0 / 6.0, 1.0 / 3.0, 0.0, 1.0 / 6.0, 5.0 / 6.0, 0.0],
            &[
                1.0 / 12.0,
                (-1.0 - R) / 24.0,
                (-1.0 + R) / 24.0,
                0.0,
                1.0 / 12.0,
                (25.0 + R) / 120.0,
                (25.0 - 13.0 * R) / 120.0,
                0.0,
                1.0 / 12.0,
                (25.0 + 13.0 * R) / 120.0,
                (25.0 - R) / 120.0,
                0.0,
                1.0 / 12.0,
                (11.0 - R) / 24.0,
                (11.0 + R) / 24.0,
                0.0,
            ],
        ];
        for (tableau, known) in [LobattoTableau::TWO, LobattoTableau::THREE, LobattoTableau::FOUR].iter().zip(known) {
            let s = tableau.s;
            for (k, hat) in known.iter().enumerate() {
                assert!((tableau.hat(k / s, k % s) - hat).abs() < 1e-15, "{s} {k}");
            }
            // collocation: Σⱼ aᵢⱼ cⱼᵏ⁻¹ = cᵢᵏ/k, and bᵢ integrates up to degree 2s − 3
            for i in 0..s {
                for k in 1..=s {
                    let sum: f64 = (0..s).map(|j| tableau.A[i][j] * tableau.c[j].powi(k as i32 - 1)).sum();
                    assert!((sum - tableau.c[i].powi(k as i32) / k as f64).abs() < 1e-15);
                }
            }
            for k in 1..=2 * s - 2 {
                let sum: f64 = (0..s).map(|j| tableau.b[j] * tableau.c[j].powi(k as i32 - 1)).sum();
                assert!((sum - 1.0 / k as f64).abs() < 1e-15);
            }
        }
    }
}
