//! What moves joints: those that follow others, and actuators.

use super::draw::{Called, Draftsman};
use super::tree::{Coupling, MovementId};
use super::write::{WrittenTable, WrittenValue, number};
use crate::source::Span;
use daedal_multibody::Coordinate;

impl Draftsman<'_> {
    /// A movement with a coordinate in the model file.
    fn coordinate(&mut self, id: MovementId, place: Span) -> Option<(Called, Coordinate)> {
        // a joint that was refused has none
        let called = self.called.get(&id)?.clone();
        if let Some(coordinate) = called.coordinate {
            return Some((called, coordinate));
        }
        self.log.refuse(
            place,
            format!("the joint `{}` has no coordinate of its own in the model file", called.joint),
            "here",
            "hinges and slides have one, unless several joints of a body are one joint of the model file; give the parts between them as bodies",
        );
        None
    }

    /// Joints that follow others.
    pub fn couplings(&mut self) {
        for k in 0..self.tree.couplings.len() {
            let coupling = &self.tree.couplings[k];
            let second = self.coordinate(coupling.second, coupling.place);
            let first = coupling.first.map(|first| self.coordinate(first, coupling.place));
            let Some(second) = second else { continue };
            let called = match &coupling.name {
                Some(name) => self.names.take(self.log, name, "coupling"),
                None => self.names.free(&format!("{}_follows", second.0.joint), "coupling"),
            };
            let table = WrittenTable::new(self.comment("coupling", coupling.name.as_deref(), coupling.place))
                .text("name", called);
            let word = |coordinate| if coordinate == Coordinate::Angle { "angle" } else { "travel" };
            let table = match first {
                // the other joint was refused
                Some(None) => continue,
                None => table.text("kind", "drive").text("joint", second.0.joint).text(word(second.1), "0"),
                Some(Some(first)) => {
                    let shift = coupling.first.map_or(0.0, |first| self.tree.movement(first).drawn);
                    let c = shifted(coupling, shift);
                    let linear = c[2..].iter().all(|c| *c == 0.0);
                    let joints = WrittenValue::Words(vec![first.0.joint, second.0.joint]);
                    if linear && [first.1, second.1] == [Coordinate::Angle; 2] {
                        table.text("kind", "gear").with("joints", joints).with("ratio", WrittenValue::Number(c[1]))
                    } else {
                        let coordinates = [first.1, second.1].map(|c| word(c).to_string()).to_vec();
                        let table = table.text("kind", "coupler").with("joints", joints);
                        table.with("coordinates", WrittenValue::Words(coordinates)).text("function", polynomial(&c))
                    }
                }
            };
            self.drawing.joints.push(table);
        }
    }

    /// Motors and servos, with their controls as parameters.
    pub fn actuators(&mut self) {
        for k in 0..self.tree.actuators.len() {
            let actuator = &self.tree.actuators[k];
            let Some((called, coordinate)) = self.coordinate(actuator.on, actuator.place) else { continue };
            let name = match &actuator.name {
                Some(name) => self.names.take(self.log, name, "actuator"),
                None => self.names.free(&format!("{}_actuator", called.joint), "actuator"),
            };
            let control = self.names.free(&format!("{name}_control"), "parameter");
            let movement = self.tree.movement(actuator.on);
            let (key, position, rate) = match coordinate {
                Coordinate::Angle => ("torque", "angle", "rate"),
                Coordinate::Travel => ("force", "travel", "speed"),
            };
            // gear (gain u + b₀ + b₁ gear q + b₂ gear q'), q = angle + its value where the joint is drawn
            let (gear, [b0, b1, b2]) = (actuator.gear, actuator.bias);
            let square = gear * gear;
            let drawn = movement.zero + movement.drawn;
            let terms = [
                (gear * actuator.gain, control.as_str()),
                (gear * b0 + square * b1 * drawn, ""),
                (square * b1, position),
                (square * b2, rate),
            ];
            let comment = self.comment(&format!("actuator {}", actuator.tag), actuator.name.as_deref(), actuator.place);
            self.drawing.parameters.push((control.clone(), 0.0, format!("control of {name}")));
            let table =
                WrittenTable::new(comment).text("name", name).text("kind", "actuator").text("joint", called.joint);
            self.drawing.forces.push(table.text(key, sum(&terms)));
        }
    }
}

/// Coefficients of P(x + shift) − P(shift), with two at least.
fn shifted(coupling: &Coupling, shift: f64) -> Vec<f64> {
    let mut c = coupling.polynomial.clone();
    c.resize(c.len().max(2), 0.0);
    // synthetic division by x − shift, again and again
    let n = c.len();
    for i in 0..n {
        for k in (i..n - 1).rev() {
            c[k] += shift * c[k + 1];
        }
    }
    c[0] = 0.0;
    c
}

/// c₁ x + c₂ x² + …
fn polynomial(c: &[f64]) -> String {
    let powers: Vec<String> = (0..c.len()).map(|k| if k == 1 { "x".into() } else { format!("x^{k}") }).collect();
    let terms: Vec<(f64, &str)> = (1..c.len()).map(|k| (c[k], powers[k].as_str())).collect();
    sum(&terms)
}

/// A sum of numbers times words, without those that vanish.
fn sum(terms: &[(f64, &str)]) -> String {
    let mut text = String::new();
    for (factor, word) in terms.iter().filter(|(factor, _)| *factor != 0.0) {
        let sign = match (factor < &0.0, text.is_empty()) {
            (true, true) => "-",
            (false, true) => "",
            (true, false) => " - ",
            (false, false) => " + ",
        };
        text.push_str(sign);
        let size = number(factor.abs(), 0.0);
        match (size.as_str(), *word) {
            (_, "") => text.push_str(&size),
            ("1", word) => text.push_str(word),
            (size, word) => text.extend([size, "*", word]),
        }
    }
    if text.is_empty() { "0".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_written_as_people_write_them() {
        assert_eq!(sum(&[(2.0, "u"), (0.0, ""), (-1.0, "angle"), (-0.5, "rate")]), "2*u - angle - 0.5*rate");
        assert_eq!(sum(&[(0.0, "u")]), "0");
        assert_eq!(polynomial(&[0.0, -1.0, 0.0, 3.0]), "-x + 3*x^3");
    }

    #[test]
    fn a_shifted_polynomial_has_the_same_differences() {
        let coupling = Coupling {
            name: None,
            place: Span::default(),
            first: None,
            second: (0, 0),
            polynomial: vec![0.3, -1.0, 0.5, 2.0, -0.25],
        };
        let c = shifted(&coupling, 0.7);
        for x in [-1.1, 0.0, 0.4, 2.0] {
            let value: f64 = c.iter().rev().fold(0.0, |sum, c| sum * x + c);
            assert!((value - (coupling.at(x + 0.7) - coupling.at(0.7))).abs() < 1e-13);
        }
    }
}
