//! Sums of names with factors, as formulas that a model file understands.

/// Factors below this part of the largest are rounding.
const ROUNDING: f64 = 1e-12;

/// Factors with rounding left out: what is small against the largest, and digits behind the twelfth.
pub(super) fn cleaned(factors: Vec<f64>) -> Vec<f64> {
    let largest = factors.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
    let short = |x: f64| format!("{x:.12e}").parse().unwrap_or(x);
    factors.into_iter().map(|x| if x.abs() <= ROUNDING * largest { 0.0 } else { short(x) }).collect()
}

/// Σ factor · name + constant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LinearSum {
    pub terms: Vec<(f64, String)>,
    pub constant: f64,
}

impl LinearSum {
    /// Of names of unknowns; those with primes are derivatives.
    pub fn of(factors: &[f64], names: &[String]) -> Self {
        let terms = factors.iter().zip(names).filter(|(x, _)| **x != 0.0).map(|(x, name)| (*x, written(name, 0)));
        LinearSum { terms: terms.collect(), constant: 0.0 }
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.constant == 0.0
    }

    /// As a formula.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let constant = (self.constant != 0.0).then(|| (self.constant, String::new()));
        for (factor, name) in self.terms.iter().cloned().chain(constant) {
            let sign = match (text.is_empty(), factor < 0.0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            let size = factor.abs();
            let term = match (size == 1.0, name.is_empty()) {
                (_, true) => size.to_string(),
                (true, false) => name,
                (false, false) => format!("{size}*{name}"),
            };
            text.extend([sign, &term]);
        }
        if text.is_empty() { "0".into() } else { text }
    }
}

/// x′ as der(x), and its further derivatives.
pub(super) fn written(name: &str, more: usize) -> String {
    let base = name.trim_end_matches('\'');
    match name.len() - base.len() + more {
        0 => base.to_string(),
        1 => format!("der({base})"),
        order => format!("der({base}, {order})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_read_as_formulas() {
        let names = ["x", "y'", "z"].map(String::from);
        let mut sum = LinearSum::of(&cleaned(vec![-1.0, 2.0 + 1e-15, 1e-17]), &names);
        assert_eq!(sum.text(), "-x + 2*der(y)");
        sum.constant = -0.5;
        assert_eq!(sum.text(), "-x + 2*der(y) - 0.5");
        assert_eq!((LinearSum::default().text(), written("x'", 1)), ("0".into(), "der(x, 2)".into()));
    }
}
