//! The numbers of RODAS, of order 4(3) with six stages. Hairer & Wanner, Solving ODEs II, IV.7, (7.25) and VI.4.
//!
//! In the unknowns U = (Γ ⊗ I) k no product of the Jacobian with a vector is left: a = α Γ⁻¹, c = diag(1/γ) − Γ⁻¹, and weights b Γ⁻¹. The last
//! two stages of the method are its embedded formula of order 3 and its end: weights are the sums of what stands in front of them.

/// Stages.
pub const STAGES: usize = 6;
/// γ.
pub const GAMMA: f64 = 0.25;
/// αᵢ = Σⱼ αᵢⱼ: times of the stages.
pub const ALPHA: [f64; STAGES] = [0.0, 0.386, 0.21, 0.63, 1.0, 1.0];
/// Σⱼ γᵢⱼ: weights of ∂f/∂t.
pub const GAMMA_SUMS: [f64; STAGES] = [0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0];
/// aᵢⱼ of the first five stages; the sixth begins where the fifth ends.
pub const A: [&[f64]; STAGES - 1] = [
    &[],
    &[1.544],
    &[0.9466785280815826, 0.2557011698983284],
    &[3.314825187068521, 2.896124015972201, 0.9986419139977817],
    &[1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895],
];
/// cᵢⱼ.
pub const C: [&[f64]; STAGES] = [
    &[],
    &[-5.6688],
    &[-2.430093356833875, -0.2063599157091915],
    &[-0.1073529058151375, -9.594562251023355, -20.47028614809616],
    &[7.496443313967647, -10.24680431464352, -33.99990352819905, 11.7089089320616],
    &[8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054],
];
/// Weights of the dense output x₀ + θ (x₁ − x₀ + (1 − θ)(d₁ + θ d₂)), of order 3.
pub const DENSE: [[f64; STAGES - 1]; 2] = [
    [10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662],
    [-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872],
];

#[cfg(test)]
mod tests {
    use super::*;

    type Square = [[f64; STAGES]; STAGES];
    type Row = [f64; STAGES];

    /// What rounding of sixteen digits leaves in sums of products.
    const ROUNDING: f64 = 2e-14;

    fn lower(rows: &[&[f64]]) -> Square {
        std::array::from_fn(|i| std::array::from_fn(|j| rows[i].get(j).copied().unwrap_or(0.0)))
    }

    fn times(M: &Square, v: &Row) -> Row {
        std::array::from_fn(|i| dot(&M[i], v))
    }

    fn row_times(v: &Row, M: &Square) -> Row {
        std::array::from_fn(|j| (0..STAGES).map(|i| v[i] * M[i][j]).sum())
    }

    fn dot(a: &Row, b: &Row) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    fn each(a: &Row, b: &Row) -> Row {
        std::array::from_fn(|i| a[i] * b[i])
    }

    /// Of a lower triangular matrix, by forward substitution.
    fn inverse(L: &Square) -> Square {
        let mut X = [[0.0; STAGES]; STAGES];
        for j in 0..STAGES {
            for i in j..STAGES {
                let known: f64 = (j..i).map(|k| L[i][k] * X[k][j]).sum();
                X[i][j] = (f64::from(u8::from(i == j)) - known) / L[i][i];
            }
        }
        X
    }

    /// The method in the letters of the theory.
    struct Theory {
        alpha: Square,
        beta: Square,
        omega: Square,
        gamma: Square,
        b: Row,
        embedded: Row,
        a: Square,
    }

    fn theory() -> Theory {
        let mut a = lower(&[A[0], A[1], A[2], A[3], A[4], A[4]]);
        a[5][4] = 1.0;
        let c = lower(&C);
        let of_gamma: Square =
            std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 1.0 / GAMMA } else { -c[i][j] }));
        let gamma = inverse(&of_gamma);
        let alpha: Square = std::array::from_fn(|i| row_times(&a[i], &gamma));
        let beta: Square = std::array::from_fn(|i| std::array::from_fn(|j| alpha[i][j] + gamma[i][j]));
        let mut weights = a[5];
        let embedded = row_times(&weights, &gamma);
        weights[5] = 1.0;
        Theory { omega: inverse(&beta), b: row_times(&weights, &gamma), alpha, beta, gamma, embedded, a }
    }

    fn close(value: f64, expected: f64, what: &str) {
        assert!((value - expected).abs() < ROUNDING, "{what}: {value} {expected}");
    }

    #[test]
    fn sums_are_the_times_of_the_stages_and_the_weights_of_the_slope_in_time() {
        let Theory { alpha, gamma, .. } = theory();
        for i in 0..STAGES {
            close(times(&alpha, &[1.0; STAGES])[i], ALPHA[i], "α");
            close(times(&gamma, &[1.0; STAGES])[i], GAMMA_SUMS[i], "γ");
        }
    }

    /// Table 7.1 of IV.7, with β that has its diagonal.
    #[test]
    fn order_four_and_three_of_the_embedded_formula_on_ordinary_equations() {
        let Theory { alpha, beta, b, embedded, .. } = theory();
        let one = [1.0; STAGES];
        let of = |b: &Row| {
            let (beta_sums, square) = (times(&beta, &one), each(&ALPHA, &ALPHA));
            [
                (dot(b, &one), 1.0),
                (dot(b, &beta_sums), 1.0 / 2.0),
                (dot(b, &square), 1.0 / 3.0),
                (dot(b, &times(&beta, &beta_sums)), 1.0 / 6.0),
                (dot(b, &each(&square, &ALPHA)), 1.0 / 4.0),
                (dot(b, &each(&ALPHA, &times(&alpha, &beta_sums))), 1.0 / 8.0),
                (dot(b, &times(&beta, &square)), 1.0 / 12.0),
                (dot(b, &times(&beta, &times(&beta, &beta_sums))), 1.0 / 24.0),
            ]
        };
        for (value, expected) in of(&b) {
            close(value, expected, "b");
        }
        for (value, expected) in &of(&embedded)[..4] {
            close(*value, *expected, "embedded");
        }
        assert!((of(&embedded)[4].0 - 0.25).abs() > 0.1, "an embedded formula of order four would see no error");
    }

    /// VI.4: the conditions of index one that are not those of ordinary equations, for both kinds of unknowns, and b ω = (0, …, 0, 1), by which the
    /// end lies on the constraints as well as the last stage does.
    #[test]
    fn order_four_on_systems_of_index_one() {
        let Theory { alpha, beta, omega, b, embedded, .. } = theory();
        let square = each(&ALPHA, &ALPHA);
        let beta_sums = times(&beta, &[1.0; STAGES]);
        let of_constraints = times(&omega, &square);
        close(dot(&b, &each(&ALPHA, &times(&alpha, &of_constraints))), 1.0 / 4.0, "differential");
        let b_omega = row_times(&b, &omega);
        close(dot(&b_omega, &square), 1.0, "algebraic, order 2");
        close(dot(&b_omega, &each(&square, &ALPHA)), 1.0, "algebraic, order 3");
        close(dot(&b_omega, &each(&ALPHA, &times(&alpha, &beta_sums))), 1.0 / 2.0, "algebraic, order 3");
        close(dot(&b_omega, &each(&ALPHA, &times(&alpha, &of_constraints))), 1.0, "algebraic, order 3");
        for (j, value) in b_omega.iter().enumerate() {
            close(*value, f64::from(u8::from(j + 1 == STAGES)), "stiffly accurate");
        }
        close(dot(&row_times(&embedded, &omega), &square), 1.0, "embedded");
    }

    #[test]
    fn dense_output_of_order_three_on_both_kinds_of_unknowns() {
        let Theory { gamma, beta, omega, a, .. } = theory();
        let (square, beta_sums) = (each(&ALPHA, &ALPHA), times(&beta, &[1.0; STAGES]));
        for theta in [0.1, 0.37, 0.5, 0.92] {
            let weight = |j: usize| {
                let d = |k: usize| DENSE[k].get(j).copied().unwrap_or(0.0);
                let end = if j + 1 == STAGES { 1.0 } else { a[5][j] };
                theta * (end + (1.0 - theta) * (d(0) + theta * d(1)))
            };
            let b = row_times(&std::array::from_fn(weight), &gamma);
            close(b.iter().sum(), theta, "1");
            close(dot(&b, &beta_sums), theta.powi(2) / 2.0, "2");
            close(dot(&b, &square), theta.powi(3) / 3.0, "3");
            close(dot(&b, &times(&beta, &beta_sums)), theta.powi(3) / 6.0, "3");
            close(dot(&row_times(&b, &omega), &square), theta.powi(2), "algebraic");
        }
    }

    /// det(I − zβ) grows with the sixth power of z, and b β⁻¹ 1 = 1 leaves R(∞) = 0.
    #[test]
    fn nothing_is_left_of_infinitely_stiff_parts() {
        let Theory { omega, b, .. } = theory();
        close(1.0 - dot(&row_times(&b, &omega), &[1.0; STAGES]), 0.0, "R(∞)");
    }
}
