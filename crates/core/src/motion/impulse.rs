//! stub
use super::{Formulas, Undefined};
pub struct Closing;
pub struct Impact {
    pub v: Vec<f64>,
    pub impulses: Vec<f64>,
}
impl Closing {
    pub fn new(_: &Formulas) -> Self {
        Closing
    }
    pub fn close(&mut self, _: f64, _: &[f64], _: &[f64], _: &[f64]) -> Result<Impact, Undefined> {
        Err(Undefined)
    }
}
