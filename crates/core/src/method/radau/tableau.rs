//! Three-stage Radau IIa, order 5, and the transformation that splits its stage equations. \[HW\] IV.8.
//!
//! A⁻¹ has the eigenvalues γ and α ± iβ, roots of z³ − 9z² + 36z − 60, and T⁻¹A⁻¹T = [γ 0 0; 0 α −β; 0 β α].

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

    fn product(a: &[[f64; 3]; 3], b: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
        std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
    }

    fn distance(a: &[[f64; 3]; 3], b: &[[f64; 3]; 3]) -> f64 {
        (0..9).map(|k| (a[k / 3][k % 3] - b[k / 3][k % 3]).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn the_transformation_block_diagonalises_the_inverse_of_a() {
        let sigma = [[GAMMA, 0.0, 0.0], [0.0, ALPHA, -BETA], [0.0, BETA, ALPHA]];
        assert!(distance(&product(&T_INVERSE, &product(&A_INVERSE, &T)), &sigma) < 1e-14);
        assert!(distance(&product(&T, &T_INVERSE), &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]) < 1e-15);
    }

    #[test]
    fn eigenvalues_are_roots_of_the_characteristic_polynomial() {
        let z = faer::c64::new(ALPHA, BETA);
        let p = z * z * z - z * z * 9.0 + z * 36.0 - 60.0;
        assert!(p.norm() < 1e-12);
        assert!((GAMMA.powi(3) - 9.0 * GAMMA.powi(2) + 36.0 * GAMMA - 60.0).abs() < 1e-12);
    }

    #[test]
    fn the_embedded_quadrature_has_order_three() {
        // with Y = Σ hf A the estimate hf₀ + Σ εᵢ Yᵢ vanishes for solutions of degree up to 3 and not for degree 4
        for degree in 1..5 {
            let f0 = if degree == 1 { 1.0 } else { 0.0 };
            let sum: f64 = f0 + (0..3).map(|i| E[i] * C[i].powi(degree)).sum::<f64>();
            assert_eq!(sum.abs() < 1e-13, degree < 4, "degree {degree}: {sum}");
        }
    }
}
