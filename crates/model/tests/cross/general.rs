//! Random general systems: blocks whose solution is prescribed, hidden behind transformations of unknowns and
//! combinations of rows.
//!
//! In the unknowns y every block is solved by courses Y(t): relaxation towards one, algebraic equations, chains of
//! index ν, products whose factors vanish at the start, constraints of index 2 and 3. The file has the unknowns x
//! with y_i = x_i − c φ(y_j), j < i, and rows that are combined with each other by factors of time and state; some
//! rows stand there twice.

use crate::block::{Block, Kind, free};
use crate::course::Course;
use crate::drawn::{Drawn, guesses, head};
use crate::random::Random;
use std::fmt::Write as _;

/// Derivative arrays of larger systems of high index take a minute each.
const MOST_UNKNOWNS: usize = 8;

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
    fn any(random: &mut Random) -> General {
        let tend = [1.0, 3.0, 10.0][random.below(3)];
        // every third is linear, so that all forms take it
        let linear = random.once_in(3);
        let blocks: Vec<Block> = (0..=random.below(3)).map(|_| Block::draw(random, tend, linear)).collect();
        let n: usize = blocks.iter().map(|block| block.courses.len()).sum();
        let free = free(&blocks);
        let mut bends = Vec::new();
        for i in 1..n {
            if random.once_in(4) && !free.contains(&i) {
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
                    rows[a] = format!("{} + sin({})*({})", rows[a], self.y(0), rows[b]);
                }
                Mix::Twice { a, b, c } if a.max(b) < square => rows.push(format!("{} + ({c})*({})", rows[a], rows[b])),
                _ => {}
            }
        }
        rows
    }
}

impl Drawn for General {
    const FAMILY: &'static str = "general system";
    const DEFAULT: (&'static str, f64) = ("auto radau", 0.95);

    fn draw(random: &mut Random) -> General {
        let mut model = General::any(random);
        while model.courses().len() > MOST_UNKNOWNS {
            model = General::any(random);
        }
        model
    }

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
        let _ = writeln!(text, "\n[dae]\nstates = [{}]", names.join(", "));
        let free: Vec<&str> = free(&self.blocks).into_iter().map(|i| names[i].as_str()).collect();
        if !free.is_empty() {
            let _ = writeln!(text, "free = [{}]", free.join(", "));
        }
        text.push_str("equations = [\n");
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
