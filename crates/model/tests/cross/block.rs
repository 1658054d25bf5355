//! Blocks of general systems with their solution: some unknowns y, equations, and courses Y(t) that solve them.

use crate::course::Course;
use crate::random::Random;

/// Some unknowns with their equations. Courses are those of its unknowns, in order.
#[derive(Clone, Debug)]
pub struct Block {
    pub kind: Kind,
    pub courses: Vec<Course>,
    /// A coefficient that may change late.
    coefficient: Coefficient,
    nonlinear: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// y' = Y' + a (Y − y)
    Relaxation,
    /// 0 = a (y − Y)
    Algebraic,
    /// y₁ = Y₁, y₁' = y₂ + …, …: index ν with ν unknowns
    Chain,
    /// z = Z, z' = F, x = X, x' = F p, p' = u: p may vanish at the start
    Product,
    /// y' = … + G λ, 0 = Gᵀ(y − Y)
    Index2,
    /// A point on a circle, with its force
    Index3,
    /// y₁ = Y₁, y₁' = Y₁' + y₂ + y₃ − …: y₃ is free and keeps its value
    Control,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coefficient {
    Constant(f64),
    Late(f64),
    Step(f64),
    Pulse(f64),
}

impl Coefficient {
    fn text(self) -> String {
        match self {
            Coefficient::Constant(a) => format!("{a}"),
            Coefficient::Late(s) => format!("(1 + max(0, t - {s})^3)"),
            Coefficient::Step(s) => format!("if(t < {s}, 1, 3)"),
            Coefficient::Pulse(s) => format!("(1 + 4*exp(-((t - {s})/0.1)^2))"),
        }
    }
}

/// Unknowns that are free, counted from 0.
pub fn free(blocks: &[Block]) -> Vec<usize> {
    let mut first = 0;
    let mut list = Vec::new();
    for block in blocks {
        if block.kind == Kind::Control {
            list.push(first + 2);
        }
        first += block.courses.len();
    }
    list
}

impl Block {
    /// Draw one; a linear one if that is wanted.
    pub fn draw(random: &mut Random, tend: f64, linear: bool) -> Block {
        use Kind::{Algebraic, Chain, Control, Index2, Index3, Product, Relaxation};
        let kinds = [Relaxation, Algebraic, Chain, Index2, Relaxation, Chain, Control, Product, Index3];
        let kind = kinds[random.below(if linear { 7 } else { 9 })];
        let count = match kind {
            Kind::Relaxation | Kind::Algebraic => 1,
            Kind::Chain => 2 + random.below(3),
            Kind::Product | Kind::Index3 => 5,
            Kind::Index2 | Kind::Control => 3,
        };
        let zeros = random.once_in(3);
        let mut courses: Vec<Course> = (0..count)
            .map(|_| if zeros { Course::starts_at_zero(random, tend) } else { Course::any(random, tend) })
            .collect();
        match kind {
            // the factor stays away from zero
            Kind::Product => courses[1] = Course::positive(random, tend),
            // an angle, its rate is no course of its own
            Kind::Index3 => {
                courses[0] = Course::Sine {
                    b: random.between(-1.0, 1.0),
                    a: 0.7,
                    w: random.between(0.5, 3.0),
                    p: random.between(0.0, 3.0),
                };
                // a rod that pushes is unstable: errors grow like exp(∫√(−2 Y₅))
                courses[4] = Course::pulls(random, tend);
            }
            Kind::Control => courses[2] = Course::Constant(random.signed(0.2, 1.0)),
            _ => {}
        }
        let s = random.between(0.3 * tend, 0.8 * tend);
        let coefficient = match random.below(4) {
            0 => Coefficient::Constant(random.between(0.5, 3.0)),
            // the force is as inaccurate as velocities times damping
            1 if kind != Kind::Index3 => Coefficient::Late(s),
            1 | 2 => Coefficient::Step(s),
            _ => Coefficient::Pulse(s),
        };
        Block { kind, courses, coefficient, nonlinear: !linear && random.once_in(2) }
    }

    /// Residuals; the courses of this block are called C{first}, … and their rates D{first}, … in the file.
    pub fn rows(&self, first: usize, y: &dyn Fn(usize) -> String, d: &dyn Fn(usize) -> String) -> Vec<String> {
        let c = |k: usize| format!("C{}", first + k);
        let e = |k: usize| format!("D{}", first + k);
        let a = self.coefficient.text();
        // zero on the solution, with a slope of at least one
        let gap = |k: usize| {
            let (y, c) = (y(k), c(k));
            if self.nonlinear { format!("({y} - {c} + {y}^3 - {c}^3)") } else { format!("({y} - {c})") }
        };
        match self.kind {
            Kind::Relaxation => vec![format!("{} - {} + {a}*{}", d(0), e(0), gap(0))],
            Kind::Algebraic => vec![format!("{a}*{}", gap(0))],
            Kind::Chain => {
                let mut rows = vec![format!("{} - {}", y(0), c(0))];
                for k in 1..self.courses.len() {
                    let further = if self.nonlinear {
                        format!(" + sin({}) - sin({})", y(k - 1), c(k - 1))
                    } else {
                        String::new()
                    };
                    rows.push(format!("{} - {} - {a}*({} - {}){further}", d(k - 1), e(k - 1), y(k), c(k)));
                }
                rows
            }
            Kind::Product => vec![
                format!("{} - {}", y(0), c(0)),
                format!("{} - {} - ({} - {})", d(0), e(0), y(1), c(1)),
                format!("{} - {}", y(2), c(2)),
                format!("{} - {} - ({}*{} - {}*{})", d(2), e(2), y(1), y(3), c(1), c(3)),
                format!("{} - {} - ({} - {})", d(3), e(3), y(4), c(4)),
            ],
            Kind::Index2 => vec![
                format!("{} - {} + {a}*{} - ({} - {})", d(0), e(0), gap(0), y(2), c(2)),
                format!("{} - {} + {} - 0.5*({} - {})", d(1), e(1), gap(1), y(2), c(2)),
                format!("{} + 0.7*{}", gap(0), gap(1)),
            ],
            Kind::Control => vec![
                format!("{} - {}", y(0), c(0)),
                format!("{} - {} - {a}*({} - {}) - ({} - {})", d(0), e(0), y(1), c(1), y(2), c(2)),
            ],
            // y₁ = cos C₁, y₂ = sin C₁ with the velocities y₃, y₄ and the force y₅ = C₅; damped alike in all directions, since strong
            // damping of one direction is unstable where the circle is perpendicular to it
            Kind::Index3 => {
                let (angle, rate, turn) = (c(0), e(0), format!("A{first}"));
                vec![
                    format!("{} - {}", d(0), y(2)),
                    format!("{} - {}", d(1), y(3)),
                    format!(
                        "{} + 2*{}*{} - (-{turn}*sin({angle}) - {rate}^2*cos({angle}) + 2*cos({angle})*{}) + {a}*({} + {rate}*sin({angle}))",
                        d(2),
                        y(0),
                        y(4),
                        c(4),
                        y(2)
                    ),
                    format!(
                        "{} + 2*{}*{} - ({turn}*cos({angle}) - {rate}^2*sin({angle}) + 2*sin({angle})*{}) + {a}*({} - {rate}*cos({angle}))",
                        d(3),
                        y(1),
                        y(4),
                        c(4),
                        y(3)
                    ),
                    format!("{}^2 + {}^2 - 1", y(0), y(1)),
                ]
            }
        }
    }

    /// y at a time.
    pub fn exact(&self, t: f64) -> Vec<f64> {
        let mut y: Vec<f64> = self.courses.iter().map(|course| course.at(t)).collect();
        if let (Kind::Index3, Course::Sine { b, a, w, p }) = (self.kind, &self.courses[0]) {
            let (angle, rate) = (b + a * (w * t + p).sin(), a * w * (w * t + p).cos());
            y[..4].copy_from_slice(&[angle.cos(), angle.sin(), -rate * angle.sin(), rate * angle.cos()]);
        }
        y
    }

    /// Something left out.
    pub fn simpler(&self) -> Vec<Block> {
        let mut list = Vec::new();
        if self.kind == Kind::Chain && self.courses.len() > 2 {
            let mut block = self.clone();
            block.courses.pop();
            list.push(block);
        }
        if self.nonlinear {
            list.push(Block { nonlinear: false, ..self.clone() });
        }
        if self.coefficient != Coefficient::Constant(1.0) {
            list.push(Block { coefficient: Coefficient::Constant(1.0), ..self.clone() });
        }
        for (k, course) in self.courses.iter().enumerate() {
            let angle = self.kind == Kind::Index3 && k == 0;
            if let Some(simpler) = course.simpler().filter(|_| !angle) {
                let mut block = self.clone();
                block.courses[k] = simpler;
                list.push(block);
            }
        }
        list
    }
}
