//! Radau IIa with s = 1, 3, 5, 7 stages, order 2s − 1, and the transformation that splits the stage equations. \[HW\] IV.8; Hairer &
//! Wanner, J. Comput. Appl. Math. 111 (1999).
//!
//! A⁻¹ has the eigenvalues γ and αₖ ± iβₖ, and T⁻¹A⁻¹T = diag(γ, [α₁ −β₁; β₁ α₁], …) with β₁ > β₂ > …. The constants of three stages are
//! written out: γ and α ± iβ are roots of z³ − 9z² + 36z − 60.

mod five;
mod seven;

/// A Radau IIa method; matrices row by row.
#[derive(Debug)]
pub struct Tableau {
    /// Nodes, the last of them 1.
    pub C: &'static [f64],
    /// A⁻¹.
    pub A_INVERSE: &'static [f64],
    /// T: columns y(γ)/‖y(γ)‖, Re y(α₁+iβ₁), −Im y(α₁+iβ₁), …, where the last component of y(α+iβ) is 1.
    pub T: &'static [f64],
    /// T⁻¹.
    pub T_INVERSE: &'static [f64],
    /// γ.
    pub GAMMA: f64,
    /// αₖ and βₖ.
    pub PAIRS: &'static [(f64, f64)],
    /// Error estimate: h ẋ₀ + Σ εᵢZᵢ vanishes for solutions of degree up to s.
    pub E: &'static [f64],
}

impl Tableau {
    /// The method with 1, 3, 5 or 7 stages.
    pub fn of(stages: usize) -> &'static Tableau {
        match stages {
            1 => &ONE,
            5 => &five::TABLEAU,
            7 => &seven::TABLEAU,
            _ => &THREE,
        }
    }

    /// Number of stages.
    pub fn stages(&self) -> usize {
        self.C.len()
    }

    /// Row of A⁻¹.
    pub fn a_inverse(&self, row: usize) -> &'static [f64] {
        &self.A_INVERSE[row * self.stages()..][..self.stages()]
    }
}

/// The implicit Euler method.
static ONE: Tableau =
    Tableau { C: &[1.0], A_INVERSE: &[1.0], T: &[1.0], T_INVERSE: &[1.0], GAMMA: 1.0, PAIRS: &[], E: &[-1.0] };

/// RADAU5.
static THREE: Tableau = Tableau {
    C: &C,
    A_INVERSE: A_INVERSE.as_flattened(),
    T: T.as_flattened(),
    T_INVERSE: T_INVERSE.as_flattened(),
    GAMMA,
    PAIRS: &[(ALPHA, BETA)],
    E: &E,
};

const SQRT6: f64 = 2.449489742783178098197284;

/// Nodes (4 ∓ √6)/10 and 1.
pub const C: [f64; 3] = [(4.0 - SQRT6) / 10.0, (4.0 + SQRT6) / 10.0, 1.0];

/// A⁻¹ in closed form.
pub const A_INVERSE: [[f64; 3]; 3] = [
    [2.0 + SQRT6 / 2.0, -1.2 + 29.0 * SQRT6 / 30.0, 0.4 - 4.0 * SQRT6 / 15.0],
    [-1.2 - 29.0 * SQRT6 / 30.0, 2.0 - SQRT6 / 2.0, 0.4 + 4.0 * SQRT6 / 15.0],
    [-1.0 + 8.0 * SQRT6 / 3.0, -1.0 - 8.0 * SQRT6 / 3.0, 5.0],
];

/// γ = 3 − ∛3 + ∛9.
pub const GAMMA: f64 = 3.637834252744495732208418513577776;
/// α = 3 + (∛3 − ∛9)/2.
pub const ALPHA: f64 = 2.681082873627752133895790743211112;
/// β = (3^(5/6) + 3^(7/6))/2.
pub const BETA: f64 = 3.050430199247410569426377624787568;

/// T: columns y(γ)/‖y(γ)‖, Re y(α+iβ), −Im y(α+iβ).
pub const T: [[f64; 3]; 3] = [
    [0.091232394870892942792, -0.14125529502095420843, -0.030029194105147424492],
    [0.24171793270710701896, 0.20412935229379993199, 0.38294211275726193779],
    [0.96604818261509293619, 1.0, 0.0],
];

/// T⁻¹.
pub const T_INVERSE: [[f64; 3]; 3] = [
    [4.3255798900631553510, 0.33919925181580986954, 0.54177053993587487119],
    [-4.1787185915519047273, -0.32768282076106238708, 0.47662355450055045196],
    [-0.50287263494578687595, 2.5719269498556054292, -0.59603920482822492497],
];

/// Error estimate: ε = (−(13+7√6)/3, (−13+7√6)/3, −1/3).
pub const E: [f64; 3] = [-(13.0 + 7.0 * SQRT6) / 3.0, (-13.0 + 7.0 * SQRT6) / 3.0, -1.0 / 3.0];

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: [usize; 4] = [1, 3, 5, 7];

    /// Σ aₖbₖ with the rounding errors of all operations collected: as good as twice the digits.
    fn dot(a: impl Iterator<Item = f64>, b: impl Iterator<Item = f64>) -> f64 {
        let (mut sum, mut lost) = (0.0_f64, 0.0);
        for (a, b) in a.zip(b) {
            let p = a * b;
            let s = sum + p;
            let kept = s - sum;
            lost += (sum - (s - kept)) + (p - kept) + a.mul_add(b, -p);
            sum = s;
        }
        sum + lost
    }

    fn product(a: &[f64], b: &[f64], s: usize) -> Vec<f64> {
        (0..s * s).map(|k| dot((0..s).map(|j| a[k / s * s + j]), (0..s).map(|j| b[j * s + k % s]))).collect()
    }

    fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn the_transformation_block_diagonalises_the_inverse_of_a() {
        // M12: T⁻¹ (A⁻¹ T) = diag(γ, [α −β; β α], …) and T⁻¹ T = I
        for s in NUMBERS {
            let tableau = Tableau::of(s);
            let mut sigma = vec![0.0; s * s];
            sigma[0] = tableau.GAMMA;
            for (k, (alpha, beta)) in tableau.PAIRS.iter().enumerate() {
                let (i, j) = (2 * k + 1, 2 * k + 2);
                (sigma[i * s + i], sigma[j * s + j]) = (*alpha, *alpha);
                (sigma[i * s + j], sigma[j * s + i]) = (-beta, *beta);
            }
            let identity: Vec<f64> = (0..s * s).map(|k| if k / s == k % s { 1.0 } else { 0.0 }).collect();
            let left = product(tableau.A_INVERSE, tableau.T, s);
            let right = product(tableau.T, &sigma, s);
            assert!(largest_difference(&left, &right) < 1e-14, "A⁻¹T = TΛ, {s} stages");
            assert!(largest_difference(&product(tableau.T_INVERSE, tableau.T, s), &identity) < 1e-14, "{s} stages");
        }
    }

    #[test]
    fn stages_are_exact_for_powers_up_to_their_number() {
        // collocation: Σⱼ (A⁻¹)ᵢⱼ cⱼᵏ = k cᵢᵏ⁻¹ for k = 1, …, s
        for s in NUMBERS {
            let tableau = Tableau::of(s);
            for k in 1..=s as i32 {
                for i in 0..s {
                    let sum = dot(tableau.a_inverse(i).iter().copied(), tableau.C.iter().map(|c| c.powi(k)));
                    let exact = f64::from(k) * tableau.C[i].powi(k - 1);
                    assert!((sum - exact).abs() < 2e-14, "{s} stages, power {k}, row {i}: {:e}", sum - exact);
                }
            }
        }
    }

    #[test]
    fn nodes_are_those_of_radau_quadrature() {
        // Π (x − cᵢ) is orthogonal to powers below s − 1 on [0, 1]: quadrature is exact up to degree 2s − 2
        for s in NUMBERS {
            let mut p = vec![1.0];
            for c in Tableau::of(s).C {
                let mut next = vec![0.0; p.len() + 1];
                for (k, a) in p.iter().enumerate() {
                    next[k + 1] += a;
                    next[k] -= c * a;
                }
                p = next;
            }
            for power in 0..s - 1 {
                let integral = dot(p.iter().copied(), (0..=s).map(|k| 1.0 / (k + power + 1) as f64));
                assert!(integral.abs() < 1e-14, "{s} stages: {integral:e}");
            }
        }
    }

    #[test]
    fn published_digits_of_eigenvalues_and_error_weights() {
        // Hairer & Wanner (1999)
        let seven = Tableau::of(7);
        assert!((seven.GAMMA - 8.936832788405216).abs() < 1e-14);
        assert!((seven.PAIRS[0].1 - 10.169693283795012).abs() < 1e-14);
        assert!((seven.E[0] + 54.3744368941286145).abs() < 1e-13);
        let five = Tableau::of(5);
        assert!((five.GAMMA - 6.286704751729277).abs() < 1e-14);
        assert!((five.E[0] + 27.7809339440646373).abs() < 1e-14);
    }

    #[test]
    fn eigenvalues_are_roots_of_the_characteristic_polynomial() {
        let z = faer::c64::new(ALPHA, BETA);
        let p = z * z * z - z * z * 9.0 + z * 36.0 - 60.0;
        assert!(p.norm() < 1e-12);
        assert!((GAMMA.powi(3) - 9.0 * GAMMA.powi(2) + 36.0 * GAMMA - 60.0).abs() < 1e-12);
    }

    #[test]
    fn the_embedded_quadrature_has_the_order_of_the_stages() {
        // the estimate h ẋ₀ + Σ εᵢ Zᵢ vanishes for solutions of degree up to s and not for degree s + 1
        for s in NUMBERS {
            let tableau = Tableau::of(s);
            for degree in 1..=s as i32 + 1 {
                let f0 = if degree == 1 { 1.0 } else { 0.0 };
                let sum = f0 + dot(tableau.E.iter().copied(), tableau.C.iter().map(|c| c.powi(degree)));
                assert_eq!(sum.abs() < 1e-14, degree <= s as i32, "degree {degree}: {sum:e}");
            }
        }
    }
}
