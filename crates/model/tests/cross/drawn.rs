//! What was drawn at random: a model file whose solution is known, and how to make it smaller.

use crate::random::Random;
use std::fmt::Write as _;

/// A model with its solution.
pub trait Drawn: Clone {
    /// What it is called.
    const FAMILY: &'static str;
    /// The way that is taken by default, and the part of the models that it solves at least.
    const DEFAULT: (&'static str, f64);
    /// Draw one.
    fn draw(random: &mut Random) -> Self;
    /// The file.
    fn text(&self) -> String;
    /// End of the interval, which begins at 0.
    fn tend(&self) -> f64;
    /// What the equations determine: names and values at a time.
    fn exact(&self, t: f64) -> Vec<(String, f64)>;
    /// Smaller models: something left out, or the interval halved.
    fn simpler(&self) -> Vec<Self>;
}

/// The smallest model that is still wrong, found by taking away as long as that is possible.
pub fn shrink<D: Drawn>(mut model: D, wrong: impl Fn(&D) -> bool) -> D {
    // what is taken away is finite, but a limit costs nothing
    for _ in 0..200 {
        match model.simpler().into_iter().find(&wrong) {
            Some(smaller) => model = smaller,
            None => break,
        }
    }
    model
}

/// Head of a file.
pub fn head(name: &str, tend: f64) -> String {
    format!("[model]\nname = \"{name}\"\ntime = [0, {tend}]\n")
}

/// `[initial]` with guesses, in full precision.
pub fn guesses(values: &[(String, f64)]) -> String {
    let mut text = "\n[initial.guess]\n".to_string();
    for (name, value) in values {
        let _ = writeln!(text, "{name:?} = {value:?}");
    }
    text
}
