//! Polynomials through values and derivatives at several points, by divided differences with repeated nodes.
//! Stoer & Bulirsch, Introduction to Numerical Analysis, 2.1.5.

/// Coefficients of the polynomials with three points and three values each.
pub(super) const MOST: usize = 9;

/// Powers of σ in the polynomial with the values (f, f', f''/2) of `taylor` at the nodes, of which the first EACH count; and the last of its divided differences.
pub(super) fn through<const EACH: usize>(nodes: &[f64; 3], taylor: &[[f64; 3]; 3]) -> ([f64; MOST], f64) {
    let count = 3 * EACH;
    let mut c = [0.0; MOST];
    for i in 0..count {
        c[i] = taylor[i / EACH][0];
    }
    for level in 1..count {
        for i in (level..count).rev() {
            let (node, first) = (i / EACH, (i - level) / EACH);
            c[i] = if node == first { taylor[node][level] } else { (c[i] - c[i - 1]) / (nodes[node] - nodes[first]) };
        }
    }
    let last = c[count - 1];
    to_powers(|i| nodes[i / EACH], &mut c[..count]);
    (c, last)
}

/// Horner's scheme turns coefficients of the Newton form into powers.
fn to_powers(node: impl Fn(usize) -> f64, c: &mut [f64]) {
    let count = c.len();
    for i in (0..count - 1).rev() {
        for j in i..count - 1 {
            c[j] -= node(i) * c[j + 1];
        }
    }
}

/// Values at different nodes become the powers of σ in the polynomial through them.
pub(super) fn through_values(nodes: &[f64], values: &mut [f64]) {
    let count = nodes.len();
    for level in 1..count {
        for i in (level..count).rev() {
            values[i] = (values[i] - values[i - 1]) / (nodes[i] - nodes[i - level]);
        }
    }
    to_powers(|i| nodes[i], values);
}

/// Largest value and largest slope on [−1, 0], at some points, of the product that belongs to the last divided difference:
/// σⁿ (σ + 1)ⁿ (σ − σ₂)ⁿ⁻¹ with n values at each of 0, −1, σ₂.
pub(super) fn last_product(oldest: f64, each: usize) -> [f64; 2] {
    let n = each as i32;
    [-0.2, -0.4, -0.6, -0.8].into_iter().fold([0.0, 0.0], |[value, slope]: [f64; 2], sigma: f64| {
        let product = (sigma * (sigma + 1.0)).powi(n) * (sigma - oldest).powi(n - 1);
        let logarithmic = f64::from(n) * (1.0 / sigma + 1.0 / (sigma + 1.0)) + f64::from(n - 1) / (sigma - oldest);
        [value.max(product.abs()), slope.max((product * logarithmic).abs())]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_found_from_their_values_and_derivatives() {
        let nodes = [0.0, -1.0, -2.7];
        for each in [2, 3] {
            let coefficients: Vec<f64> = (0..3 * each).map(|k| (1.0 + k as f64).sin()).collect();
            let value = |x: f64| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
            // (f, f', f''/2) by Horner's scheme, three times
            let taylor = nodes.map(|x| {
                let mut rest = coefficients.clone();
                [0, 1, 2].map(|k| {
                    for j in (k..rest.len() - 1).rev() {
                        rest[j] += x * rest[j + 1];
                    }
                    rest[k]
                })
            });
            assert!((taylor[1][0] - value(-1.0)).abs() < 1e-14);
            let (powers, last) = if each == 2 { through::<2>(&nodes, &taylor) } else { through::<3>(&nodes, &taylor) };
            for (found, exact) in powers.iter().zip(&coefficients) {
                assert!((found - exact).abs() < 1e-12, "{each}: {powers:?} {coefficients:?}");
            }
            assert!((last - coefficients[3 * each - 1]).abs() < 1e-13);
        }
    }

    #[test]
    fn a_polynomial_is_found_from_its_values() {
        let coefficients = [0.3, -1.0, 2.5, 0.7];
        let nodes = [0.0, -0.4, -1.0, -2.5];
        let mut values = nodes.map(|x: f64| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c));
        through_values(&nodes, &mut values);
        for (found, exact) in values.iter().zip(coefficients) {
            assert!((found - exact).abs() < 1e-14, "{values:?}");
        }
    }

    #[test]
    fn the_last_product_is_measured_with_its_slope() {
        let [value, slope] = last_product(-2.0, 2);
        let product = |s: f64| (s * (s + 1.0)).powi(2) * (s + 2.0);
        let at = [-0.2, -0.4, -0.6, -0.8];
        assert_eq!(value, at.map(product).into_iter().fold(0.0, f64::max));
        let difference = |s: f64| ((product(s + 1e-6) - product(s - 1e-6)) / 2e-6).abs();
        assert!((slope - at.map(difference).into_iter().fold(0.0, f64::max)).abs() < 1e-8);
    }
}
