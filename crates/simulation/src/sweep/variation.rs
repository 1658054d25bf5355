//! Which values parameters have in which run.

use crate::error::Error;
use crate::model::Model;

/// Values of parameters, a row for each run.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    /// Names of the parameters.
    pub(crate) names: Vec<String>,
    /// Their values, run by run.
    pub(crate) rows: Vec<Vec<f64>>,
    /// The values of each parameter, where every combination is a run.
    pub(crate) grid: Option<Vec<Vec<f64>>>,
}

impl Variation {
    /// Every combination of these values; the last parameter runs fastest.
    pub fn grid(axes: Vec<(String, Vec<f64>)>) -> Result<Self, Error> {
        let mut rows = vec![Vec::new()];
        for (_, values) in &axes {
            let longer =
                |row: Vec<f64>| values.iter().map(move |&value| [&row[..], &[value]].concat()).collect::<Vec<_>>();
            rows = rows.into_iter().flat_map(longer).collect();
        }
        let (names, values): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
        Variation { names, rows, grid: Some(values) }.checked()
    }

    /// A row of values for each run.
    pub fn rows(names: Vec<String>, rows: Vec<Vec<f64>>) -> Result<Self, Error> {
        Variation { names, rows, grid: None }.checked()
    }

    /// How many runs there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Is there no run? Then it could not be made.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn checked(mut self) -> Result<Self, Error> {
        for name in &mut self.names {
            name.retain(|c| c != ' ');
        }
        if self.names.is_empty() || self.rows.is_empty() {
            return Err(Error::NothingVaries);
        }
        if let Some(k) = (0..self.names.len()).find(|&k| self.names[..k].contains(&self.names[k])) {
            return Err(Error::SetTwice { name: self.names[k].clone() });
        }
        for (run, row) in self.rows.iter().enumerate() {
            if row.len() != self.names.len() {
                return Err(Error::SweepRow { run, found: row.len(), expected: self.names.len() });
            }
            if let Some((name, &value)) = self.names.iter().zip(row).find(|(_, value)| !value.is_finite()) {
                return Err(Error::SweepValue { name: name.clone(), value, run });
            }
        }
        Ok(self)
    }

    /// Has the model all of these parameters?
    pub(crate) fn check(&self, model: &Model) -> Result<(), Error> {
        let known: Vec<String> = model.parameters().iter().map(|(name, _)| name.clone()).collect();
        match self.names.iter().find(|name| !known.contains(name)) {
            Some(name) => Err(Error::UnknownName { kind: "parameter", name: name.clone(), known }),
            None => Ok(()),
        }
    }

    /// The parameters of a run with their values.
    pub(crate) fn row(&self, number: usize) -> Vec<(String, f64)> {
        self.names.iter().cloned().zip(self.rows[number].iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_parameter_of_a_grid_runs_fastest() {
        let grid =
            Variation::grid(vec![("a".into(), vec![1.0, 2.0]), ("b".into(), vec![3.0, 4.0, 5.0])]).expect("a grid");
        assert_eq!(grid.len(), 6);
        assert_eq!(grid.row(1), [("a".to_string(), 1.0), ("b".to_string(), 4.0)]);
        assert_eq!(grid.row(3), [("a".to_string(), 2.0), ("b".to_string(), 3.0)]);
    }

    #[test]
    fn what_cannot_be_varied_is_refused() {
        assert!(matches!(Variation::grid(vec![]), Err(Error::NothingVaries)));
        assert!(matches!(Variation::grid(vec![("a".into(), vec![])]), Err(Error::NothingVaries)));
        let twice = vec![("k[1]".into(), vec![1.0]), ("k[ 1]".into(), vec![1.0])];
        assert!(matches!(Variation::grid(twice), Err(Error::SetTwice { .. })));
        let rows = |rows| Variation::rows(vec!["a".into()], rows);
        assert!(matches!(rows(vec![vec![1.0], vec![]]), Err(Error::SweepRow { run: 1, found: 0, expected: 1 })));
        assert!(matches!(rows(vec![vec![f64::NAN]]), Err(Error::SweepValue { .. })));
    }
}
