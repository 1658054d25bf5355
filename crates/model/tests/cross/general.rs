//! Random general systems: blocks whose solution is prescribed, hidden behind transformations of unknowns and combinations of rows.
//!
//! In the unknowns y every block is solved by courses Y(t): relaxation towards one, algebraic equations, chains of index ν, products whose factors vanish at
//! the start, constraints of index 2 and 3. The file has the unknowns x with y_i = x_i − c φ(y_j), j < i, and rows that are combined with
//! each other by factors of time and state; some rows stand there twice.

use crate::course::Course;
use crate::drawn::{Drawn, guesses, head};
use crate::random::Random;
use std::fmt::Write as _;

/// Some unknowns with their equations. Courses are those of its unknowns, in order.
#[derive(Clone, Debug)]
pub struct Block {
    kind: Kind,
    courses: Vec<Course>,
    /// A coefficient that may change late.
    coefficient: Coefficient,
    nonlinear: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
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
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Coefficient {
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

/// y_i = x_i − c φ(y_j)
#[derive(Clone, Copy, Debug)]
struct Bend {
    i: usize,
    j: usize,
    c: f64,
    linear: bool,
}

/// How rows are combined.
#[derive(Clone, Copy, Debug)]
enum Mix {
    /// a + c b instead of a
    Add { a: usize, b: usize, c: f64 },
    /// A rotation of both rows by w t + p
    Turn { a: usize, b: usize, w: f64, p: f64 },
    /// a + sin(y₁) b instead of a
    State { a: usize, b: usize },
    /// One row more: a + c b
    Twice { a: usize, b: usize, c: f64 },
}

/// A general system.
#[derive(Clone, Debug)]
pub struct General {
    tend: f64,
    blocks: Vec<Block>,
    bends: Vec<Bend>,
    mixes: Vec<Mix>,
}

impl General {
    /// Draw one.
    pub fn draw(random: &mut Random) -> General {
        let tend = [1.0, 3.0, 10.0][random.below(3)];
        // every third is linear, so that all forms take it
        let linear = random.once_in(3);
        let blocks: Vec<Block> = (0..1 + random.below(3)).map(|_| Block::draw(random, tend, linear)).collect();
        let n: usize = blocks.iter().map(|block| block.courses.len()).sum();
        let mut bends = Vec::new();
        for i in 1..n {
            if random.once_in(4) {
                let linear = linear || random.once_in(2);
                bends.push(Bend { i, j: random.below(i), c: random.signed(0.2, 0.6), linear });
            }
        }
        let mut mixes = Vec::new();
        if n > 1 {
            for _ in 0..random.below(3) {
                let a = random.below(n);
                let b = (a + 1 + random.below(n - 1)) % n;
                mixes.push(match random.below(4) {
                    0 => Mix::Add { a, b, c: random.signed(0.3, 2.0) },
                    1 => Mix::Turn { a, b, w: random.between(0.2, 2.0), p: random.between(0.0, 3.0) },
                    2 if !linear => Mix::State { a, b },
                    _ => Mix::Twice { a, b, c: random.signed(0.3, 2.0) },
                });
            }
        }
        General { tend, blocks, bends, mixes }
    }

    fn courses(&self) -> Vec<&Course> {
        self.blocks.iter().flat_map(|block| &block.courses).collect()
    }

    fn bend(&self, i: usize) -> Option<&Bend> {
        self.bends.iter().find(|bend| bend.i == i)
    }

    /// y_i in the unknowns of the file, numbered from 1 there.
    fn y(&self, i: usize) -> String {
        match self.bend(i) {
            Some(&Bend { j, c, linear: true, .. }) => format!("(x{} - ({c})*{})", i + 1, self.y(j)),
            Some(&Bend { j, c, .. }) => format!("(x{} - ({c})*sin({}))", i + 1, self.y(j)),
            None => format!("x{}", i + 1),
        }
    }

    /// Its derivative.
    fn rate(&self, i: usize) -> String {
        match self.bend(i) {
            Some(&Bend { j, c, linear: true, .. }) => format!("(der(x{}) - ({c})*{})", i + 1, self.rate(j)),
            Some(&Bend { j, c, .. }) => format!("(der(x{}) - ({c})*cos({})*{})", i + 1, self.y(j), self.rate(j)),
            None => format!("der(x{})", i + 1),
        }
    }

    /// Residuals in the unknowns of the file.
    fn rows(&self) -> Vec<String> {
        let mut rows = Vec::new();
        let mut first = 0;
        for block in &self.blocks {
            let (y, d) = (|k: usize| self.y(first + k), |k: usize| self.rate(first + k));
            rows.extend(block.rows(first + 1, &y, &d));
            first += block.courses.len();
        }
        let square = rows.len();
        for mix in &self.mixes {
            match *mix {
                Mix::Add { a, b, c } if a.max(b) < square => rows[a] = format!("{} + ({c})*({})", rows[a], rows[b]),
                Mix::Turn { a, b, w, p } if a.max(b) < square => {
                    let (first, second) = (rows[a].clone(), rows[b].clone());
                    rows[a] = format!("cos({w}*t + {p})*({first}) + sin({w}*t + {p})*({second})");
                    rows[b] = format!("-sin({w}*t + {p})*({first}) + cos({w}*t + {p})*({second})");
                }
                Mix::State { a, b } if a.max(b) < square => {
                    rows[a] = format!("{} + sin({})*({})", rows[a], self.y(0), rows[b])
                }
                Mix::Twice { a, b, c } if a.max(b) < square => rows.push(format!("{} + ({c})*({})", rows[a], rows[b])),
                _ => {}
            }
        }
        rows
    }
}

impl Block {
    fn draw(random: &mut Random, tend: f64, linear: bool) -> Block {
        let kinds = [Kind::Relaxation, Kind::Algebraic, Kind::Chain, Kind::Index2, Kind::Product, Kind::Index3];
        let kind = kinds[random.below(if linear { 4 } else { 6 })];
        let count = match kind {
            Kind::Relaxation | Kind::Algebraic => 1,
            Kind::Chain => 2 + random.below(3),
            Kind::Product | Kind::Index3 => 5,
            Kind::Index2 => 3,
        };
        let zeros = random.once_in(3);
        let mut courses: Vec<Course> = (0..count)
            .map(|_| if zeros { Course::starts_at_zero(random) } else { Course::any(random, tend) })
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
            }
            _ => {}
        }
        let s = random.between(0.3 * tend, 0.8 * tend);
        let coefficient = match random.below(4) {
            0 => Coefficient::Constant(random.between(0.5, 3.0)),
            1 => Coefficient::Late(s),
            2 => Coefficient::Step(s),
            _ => Coefficient::Pulse(s),
        };
        Block { kind, courses, coefficient, nonlinear: !linear && random.once_in(2) }
    }

    /// Residuals; the courses of this block are called C{first}, … and their rates D{first}, … in the file.
    fn rows(&self, first: usize, y: &dyn Fn(usize) -> String, d: &dyn Fn(usize) -> String) -> Vec<String> {
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
            // y₁ = cos C₁, y₂ = sin C₁ with the velocities y₃, y₄ and the force y₅ = C₅
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
                        "{} + 2*{}*{} - ({turn}*cos({angle}) - {rate}^2*sin({angle}) + 2*sin({angle})*{}) + ({} - {rate}*cos({angle}))",
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
    fn exact(&self, t: f64) -> Vec<f64> {
        let mut y: Vec<f64> = self.courses.iter().map(|course| course.at(t)).collect();
        if let (Kind::Index3, Course::Sine { b, a, w, p }) = (self.kind, &self.courses[0]) {
            let (angle, rate) = (b + a * (w * t + p).sin(), a * w * (w * t + p).cos());
            y[..4].copy_from_slice(&[angle.cos(), angle.sin(), -rate * angle.sin(), rate * angle.cos()]);
        }
        y
    }

    fn simpler(&self) -> Vec<Block> {
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

impl Drawn for General {
    fn text(&self) -> String {
        let mut text = head("random general system", self.tend);
        text.push_str("\n[definitions]\n");
        let mut first = 1;
        for block in &self.blocks {
            for (k, course) in block.courses.iter().enumerate() {
                let _ = writeln!(text, "C{0} = \"{1}\"\nD{0} = \"{2}\"", first + k, course.text(), course.rate());
            }
            if let (Kind::Index3, Course::Sine { a, w, p, .. }) = (block.kind, &block.courses[0]) {
                let _ = writeln!(text, "A{first} = \"-({a})*{w}^2*sin({w}*t + {p})\"");
            }
            first += block.courses.len();
        }
        let names: Vec<String> = (1..first).map(|i| format!("\"x{i}\"")).collect();
        let _ = writeln!(text, "\n[dae]\nstates = [{}]\nequations = [", names.join(", "));
        for row in self.rows() {
            let _ = writeln!(text, "  \"0 = {row}\",");
        }
        text + "]\n" + &guesses(&self.exact(0.0))
    }

    fn tend(&self) -> f64 {
        self.tend
    }

    fn exact(&self, t: f64) -> Vec<(String, f64)> {
        let y: Vec<f64> = self.blocks.iter().flat_map(|block| block.exact(t)).collect();
        let x = |i: usize| match self.bend(i) {
            Some(&Bend { j, c, linear, .. }) => y[i] + c * if linear { y[j] } else { y[j].sin() },
            None => y[i],
        };
        (0..y.len()).map(|i| (format!("x{}", i + 1), x(i))).collect()
    }

    fn simpler(&self) -> Vec<General> {
        let mut list = Vec::new();
        let n = self.courses().len();
        let mut first = 0;
        for (k, block) in self.blocks.iter().enumerate() {
            let size = block.courses.len();
            if self.blocks.len() > 1 {
                // unknowns and rows behind the block move up
                let moved = |i: usize| if i < first { Some(i) } else { i.checked_sub(first + size).map(|i| i + first) };
                let mut model = self.clone();
                model.blocks.remove(k);
                let bend = |bend: &Bend| Some(Bend { i: moved(bend.i)?, j: moved(bend.j)?, ..*bend });
                model.bends = self.bends.iter().filter_map(bend).collect();
                let mix = |mix: &Mix| {
                    Some(match *mix {
                        Mix::Add { a, b, c } => Mix::Add { a: moved(a)?, b: moved(b)?, c },
                        Mix::Turn { a, b, w, p } => Mix::Turn { a: moved(a)?, b: moved(b)?, w, p },
                        Mix::State { a, b } => Mix::State { a: moved(a)?, b: moved(b)? },
                        Mix::Twice { a, b, c } => Mix::Twice { a: moved(a)?, b: moved(b)?, c },
                    })
                };
                model.mixes = self.mixes.iter().filter_map(mix).collect();
                list.push(model);
            }
            first += size;
        }
        for k in 0..self.mixes.len() {
            let mut model = self.clone();
            model.mixes.remove(k);
            list.push(model);
        }
        for k in 0..self.bends.len() {
            let mut model = self.clone();
            model.bends.remove(k);
            list.push(model);
        }
        if self.tend > 0.2 {
            list.push(General { tend: self.tend / 2.0, ..self.clone() });
        }
        for (k, block) in self.blocks.iter().enumerate() {
            for simpler in block.simpler() {
                // shorter chains would move what stands behind them
                let last = k + 1 == self.blocks.len();
                let same = simpler.courses.len() == block.courses.len();
                let reached = self.bends.iter().any(|bend| bend.i + 1 == n);
                if same || (last && !reached) {
                    let mut model = self.clone();
                    model.blocks[k] = simpler;
                    list.push(model);
                }
            }
        }
        list
    }
}
