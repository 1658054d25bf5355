//! Null vectors as people read them: reduced to echelon form, in the units before scaling, with the names of their entries.

/// Entries of a null vector below this part of its largest one are rounding.
const NEGLIGIBLE: f64 = 1e-8;

/// Things with their factors: Σ factor · name.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// Names and factors; the largest factor is one.
    pub terms: Vec<(String, f64)>,
}

impl Combination {
    /// Names of the things.
    pub fn names(&self) -> Vec<&str> {
        self.terms.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The entries of a vector that are not zero, with their names.
    pub fn of(vector: &[f64], names: &[String]) -> Self {
        let terms = vector.iter().zip(names).filter(|(factor, _)| **factor != 0.0);
        Combination { terms: terms.map(|(factor, name)| (name.clone(), *factor)).collect() }
    }
}

impl std::fmt::Display for Combination {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        for (k, (name, factor)) in self.terms.iter().enumerate() {
            let sign = match (k, *factor < 0.0) {
                (0, false) => "",
                (0, true) => "−",
                (_, false) => " + ",
                (_, true) => " − ",
            };
            f.write_str(sign)?;
            if factor.abs() != 1.0 {
                write!(f, "{:.4}·", factor.abs())?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

/// Reduced echelon form of the span of some vectors: each leads with an entry that the others do not have. Late entries lead where
/// they can, so that what was said last is told by what was said before. Vectors that depend on others are left out.
pub fn echelon(mut vectors: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let top = vectors.iter().flatten().fold(0.0_f64, |top, x| top.max(x.abs()));
    let mut found: Vec<Vec<f64>> = Vec::new();
    loop {
        let size = |v: &Vec<f64>| v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let Some((k, largest)) =
            vectors.iter().map(size).enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, s)| *s > 1e-6 * top)
        else {
            break;
        };
        let mut leader = vectors.swap_remove(k);
        let lead = leader.iter().rposition(|x| x.abs() >= 0.5 * largest).unwrap_or(0);
        let factor = 1.0 / leader[lead];
        for x in &mut leader {
            *x *= factor;
        }
        for other in vectors.iter_mut().chain(&mut found) {
            let factor = other[lead];
            other.iter_mut().zip(&leader).for_each(|(x, y)| *x -= factor * y);
            other[lead] = 0.0;
        }
        found.push(leader);
    }
    found
}

/// Vectors in the units before scaling, the largest entry of each being one, rounding removed.
pub fn rescaled(vectors: Vec<Vec<f64>>, scale: &[f64]) -> Vec<Vec<f64>> {
    let mut found: Vec<Vec<f64>> = Vec::new();
    for mut vector in vectors {
        let small = NEGLIGIBLE * vector.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        vector.iter_mut().filter(|x| x.abs() < small).for_each(|x| *x = 0.0);
        vector.iter_mut().zip(scale).for_each(|(x, s)| *x *= s);
        found.push(normalised(vector));
    }
    found.sort_by_key(|vector| vector.iter().rposition(|x| *x != 0.0));
    found
}

/// Divided by the largest entry.
pub fn normalised(mut vector: Vec<f64>) -> Vec<f64> {
    let top = vector.iter().copied().fold(0.0_f64, |m, x| if x.abs() > m.abs() * (1.0 + 1e-12) { x } else { m });
    if top != 0.0 {
        for x in &mut vector {
            *x /= top;
        }
    }
    // ones that are only rounded
    vector.iter_mut().filter(|x| (x.abs() - 1.0).abs() < 1e-10).for_each(|x| *x = x.signum());
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_combination_reads_like_a_sum() {
        let told = Combination { terms: vec![("a".into(), 1.0), ("b".into(), -1.0), ("c".into(), 0.25)] };
        assert_eq!(told.to_string(), "a − b + 0.2500·c");
    }
}
