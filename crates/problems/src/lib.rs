//! Reference problems of constrained mechanics, with published reference values.
//!
//! One file per problem: the equations, consistent initial values, reference or exact values, and where they come from.
//!
//! ```
//! use daedal_problems::find;
//!
//! let lolly = find("lolly").ok_or("no such problem")?;
//! assert_eq!(lolly.case().tend, 10.0);
//! let sharp = lolly.case_with(&[("beta".to_string(), 140.0)])?;
//! assert!(sharp.references.is_empty()); // they hold for the default parameters
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod academic;
pub mod andrews;
pub mod car_axis;
pub mod circle;
pub mod double_four_bar;
pub mod flexible_slider_crank;
pub mod hybrid;
pub mod knife_edge;
pub mod lolly;
pub mod pendulum;
pub mod skateboard;
pub mod slider_crank;
pub mod truck;
pub mod wheelset;

#[cfg(test)]
mod bench;
#[cfg(test)]
mod check;
mod parameter;

pub use parameter::{ParameterError, UnknownParameter};

use daedal::Initial;
use daedal::motion::Mechanism;

/// A reference problem with parameters that can be changed by name.
pub struct ReferenceProblem {
    /// Its name, in lower case with dashes.
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Names and default values of the parameters.
    pub parameters: &'static [(&'static str, f64)],
    /// Values in the order of `parameters`.
    build: fn(&[f64]) -> Case,
}

/// A problem with its parameters set.
pub struct Case {
    /// The equations of motion.
    pub mechanism: Box<dyn Mechanism + Send + Sync>,
    /// What is known at the start.
    pub initial: Initial,
    /// End of the interval.
    pub tend: f64,
    /// First step size, where the source prescribes it.
    pub h0: Option<f64>,
    /// What is known about the solution up to `tend`, in the order of time; empty unless all parameters have their defaults.
    pub references: Vec<ReferenceValues>,
}

/// Values the solution has at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceValues {
    /// Time.
    pub t: f64,
    /// Values by the names of [`Layout::variable_names`](daedal::motion::Layout::variable_names).
    pub values: Vec<(String, f64)>,
    /// Each value x is trusted to accuracy · max(1, |x|).
    pub accuracy: f64,
    /// Where the values come from.
    pub source: &'static str,
}

/// All problems.
pub fn all() -> &'static [ReferenceProblem] {
    &PROBLEMS
}

/// The problem of that name.
pub fn find(name: &str) -> Option<&'static ReferenceProblem> {
    PROBLEMS.iter().find(|problem| problem.name == name)
}

static PROBLEMS: [ReferenceProblem; 19] = [
    pendulum::BELOW_45_DEGREES,
    pendulum::ABOVE_45_DEGREES,
    pendulum::LONG_RUN,
    pendulum::IFTOMM,
    lolly::PROBLEM,
    circle::PROBLEM,
    slider_crank::REGULAR,
    slider_crank::EQUAL_ARMS,
    slider_crank::REDUNDANT,
    double_four_bar::PROBLEM,
    skateboard::SET_1,
    skateboard::SET_2,
    knife_edge::PROBLEM,
    academic::PROBLEM,
    truck::PROBLEM,
    andrews::PROBLEM,
    car_axis::PROBLEM,
    flexible_slider_crank::PROBLEM,
    wheelset::PROBLEM,
];

impl ReferenceProblem {
    /// The problem with its default parameters.
    pub fn case(&self) -> Case {
        let defaults: Vec<f64> = self.parameters.iter().map(|&(_, value)| value).collect();
        (self.build)(&defaults)
    }

    /// The problem with some parameters changed.
    pub fn case_with(&self, values: &[(String, f64)]) -> Result<Case, ParameterError> {
        let set = parameter::set(self.parameters, values)?;
        let mut case = (self.build)(&set);
        if self.parameters.iter().zip(&set).any(|((_, default), value)| default != value) {
            case.references.clear();
        }
        Ok(case)
    }
}

impl ReferenceValues {
    fn new(t: f64, names: &[&str], values: &[f64], accuracy: f64, source: &'static str) -> Self {
        let values = names.iter().map(ToString::to_string).zip(values.iter().copied()).collect();
        ReferenceValues { t, values, accuracy, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use daedal::motion::{Form, Layout};
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_found() {
        let names: HashSet<_> = all().iter().map(|problem| problem.name).collect();
        assert_eq!(names.len(), all().len());
        assert!(all().iter().all(|problem| find(problem.name).is_some_and(|found| found.name == problem.name)));
        assert!(find("perpetuum-mobile").is_none());
    }

    #[test]
    fn references_name_variables_and_lie_in_the_interval() {
        for problem in all() {
            let case = problem.case();
            let layout = Layout::new(case.mechanism.sizes(), Form::StrangenessFree, false);
            let names: HashSet<_> = layout.variable_names(&case.mechanism.names()).into_iter().collect();
            assert_eq!(names.len(), layout.dim(), "{}: names are not unique", problem.name);
            assert!(case.references.windows(2).all(|pair| pair[0].t <= pair[1].t), "{}", problem.name);
            for reference in &case.references {
                assert!(reference.t > case.initial.t && reference.t <= case.tend, "{}", problem.name);
                for (name, _) in &reference.values {
                    assert!(names.contains(name), "{}: {name} is no variable", problem.name);
                }
            }
        }
    }

    #[test]
    fn changed_parameters_drop_the_references() {
        for problem in all() {
            for &(name, value) in problem.parameters {
                let same = problem.case_with(&[(name.to_string(), value)]).map(|case| case.references);
                assert_eq!(same, Ok(problem.case().references));
                let other = problem.case_with(&[(name.to_string(), value + 0.125)]).map(|case| case.references);
                assert_eq!(other, Ok(vec![]));
            }
        }
    }
}
