//! Random systems that switch: the times of all switches and the solution between them are known.
//!
//! y = t + a sin(t) grows and tells the times: mode k is left where y passes a level, or at a time. z relaxes to
//! another value in each mode, so it is made of exponentials, and may jump at a switch. u = c z + sin y is algebraic.
//! w = sin y follows from a differential equation in some modes and is stated in others, where its rate r then has
//! index 2.

use crate::drawn::{Drawn, guesses, head};
use crate::random::Random;
use std::fmt::Write as _;

#[derive(Clone, Copy, Debug)]
struct Mode {
    /// z' = a (target − z)
    target: f64,
    a: f64,
    /// u = c z + sin y
    c: f64,
    /// Is w stated?
    stated: bool,
    /// Level of y or time at which it is left.
    leave: f64,
    by_time: bool,
    /// z becomes `jump` times z at the end.
    jump: Option<f64>,
}

/// A system that switches.
#[derive(Clone, Debug)]
pub struct Switched {
    tend: f64,
    /// a in y = t + a sin t
    a: f64,
    z0: f64,
    modes: Vec<Mode>,
}

impl Switched {
    fn any(random: &mut Random) -> Switched {
        let a = random.between(0.0, 0.7);
        let count = 1 + random.below(4);
        let mut leave = 0.0;
        let modes = (0..count)
            .map(|_| {
                leave += random.between(0.3, 1.5);
                Mode {
                    target: random.signed(0.2, 2.0),
                    a: random.between(0.3, 4.0),
                    c: random.signed(0.3, 1.5),
                    stated: random.once_in(2),
                    leave,
                    by_time: random.once_in(3),
                    jump: random.once_in(3).then(|| random.between(-0.8, 0.8)),
                }
            })
            .collect();
        Switched { tend: leave + random.between(0.5, 2.0), a, z0: random.between(-1.0, 1.0), modes }
    }

    fn y(&self, t: f64) -> f64 {
        t + self.a * t.sin()
    }

    /// When y passes a level: it grows.
    fn passes(&self, level: f64) -> f64 {
        let (mut low, mut high) = (0.0, level + 2.0);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if self.y(middle) < level { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    /// Ends of the modes but the last one, in order; times and levels mixed may change places, then the later mode is
    /// left at once.
    pub fn times(&self) -> Vec<f64> {
        let mut last = 0.0_f64;
        let mut times = Vec::new();
        for mode in &self.modes[..self.modes.len() - 1] {
            let t = if mode.by_time { mode.leave } else { self.passes(mode.leave) };
            last = last.max(t);
            times.push(last);
        }
        times
    }

    /// Do all switches have times of their own, that are clearly apart?
    pub fn is_clear(&self) -> bool {
        let times = self.times();
        let own = self.modes.iter().zip(&times).all(|(mode, t)| {
            let t0 = if mode.by_time { mode.leave } else { self.passes(mode.leave) };
            t0 == *t
        });
        let apart = times.windows(2).all(|pair| pair[1] - pair[0] > 0.05);
        own && apart && times.iter().all(|t| self.tend - t > 0.05)
    }

    /// Mode and z at a time.
    fn state(&self, t: f64) -> (&Mode, f64) {
        let (mut start, mut z) = (0.0, self.z0);
        let times = self.times();
        for (k, mode) in self.modes.iter().enumerate() {
            let along = |t: f64| mode.target + (z - mode.target) * (-mode.a * (t - start)).exp();
            match times.get(k) {
                Some(&end) if end < t => {
                    z = along(end) * mode.jump.unwrap_or(1.0);
                    start = end;
                }
                _ => return (mode, along(t)),
            }
        }
        unreachable!("the last mode has no end")
    }
}

impl Drawn for Switched {
    const FAMILY: &'static str = "switched system";
    const DEFAULT: (&'static str, f64) = ("modes radau", 0.99);

    fn draw(random: &mut Random) -> Switched {
        let mut model = Switched::any(random);
        while !model.is_clear() {
            model = Switched::any(random);
        }
        model
    }

    fn text(&self) -> String {
        let mut text = head("random switched system", self.tend);
        let a = self.a;
        let _ = writeln!(text, "\n[dae]\nstates = [\"y\", \"z\", \"u\", \"w\", \"r\"]\n[dae.equations]");
        let _ = writeln!(text, "clock = \"der(y) = 1 + {a}*cos(t)\"\nrate = \"r = der(w)\"");
        for (k, mode) in self.modes.iter().enumerate() {
            let _ = writeln!(text, "\n[modes.m{k}]\n[modes.m{k}.dae.equations]");
            let _ = writeln!(text, "relax = \"der(z) = {}*({} - z)\"", mode.a, mode.target);
            let _ = writeln!(text, "algebraic = \"u = ({})*z + sin(y)\"", mode.c);
            let w = if mode.stated { "w = sin(y)".to_string() } else { format!("der(w) = cos(y)*(1 + {a}*cos(t))") };
            let _ = writeln!(text, "follows = \"{w}\"");
        }
        for (k, mode) in self.modes[..self.modes.len() - 1].iter().enumerate() {
            let _ = writeln!(text, "\n[[transitions]]\nfrom = \"m{k}\"\nto = \"m{}\"", k + 1);
            let _ = if mode.by_time {
                writeln!(text, "at = {}", mode.leave)
            } else {
                writeln!(text, "when = \"y > {}\"", mode.leave)
            };
            if let Some(jump) = mode.jump {
                let _ = writeln!(text, "set = {{ z = \"{jump}*z\" }}");
            }
        }
        text + "\n[initial]\nmode = \"m0\"\n" + &guesses(&self.exact(0.0))
    }

    fn tend(&self) -> f64 {
        self.tend
    }

    fn exact(&self, t: f64) -> Vec<(String, f64)> {
        let (mode, z) = self.state(t);
        let y = self.y(t);
        let rate = y.cos() * (1.0 + self.a * t.cos());
        let values = [("y", y), ("z", z), ("u", mode.c * z + y.sin()), ("w", y.sin()), ("r", rate)];
        values.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
    }

    fn simpler(&self) -> Vec<Switched> {
        let mut list = Vec::new();
        for k in 0..self.modes.len() {
            if self.modes.len() > 1 {
                let mut model = self.clone();
                model.modes.remove(k);
                list.push(model);
            }
            let mode = self.modes[k];
            let variants = [
                mode.jump.is_some().then_some(Mode { jump: None, ..mode }),
                mode.stated.then_some(Mode { stated: false, ..mode }),
                mode.by_time.then_some(Mode { by_time: false, ..mode }),
            ];
            for variant in variants.into_iter().flatten() {
                let mut model = self.clone();
                model.modes[k] = variant;
                list.push(model);
            }
        }
        if self.a != 0.0 {
            list.push(Switched { a: 0.0, ..self.clone() });
        }
        list.retain(Switched::is_clear);
        list
    }
}
