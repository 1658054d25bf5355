//! Random mechanisms: chains of links whose motion and forces are prescribed.
//!
//! Link k has the angle θ_k(t) and the length L_k; its multiplier is Λ_k(t). The forces of the file are those that
//! this motion takes, m X'' + Gᵀ(X) Λ as functions of time, and a pull k (X − x) + d (X' − v) towards it, which is
//! zero along it. So positions, velocities and multipliers are known. A chain may have its last constraint twice, a
//! prescribed end, or a mass beside it that rests until a pulse.

use crate::course::Course;
use crate::drawn::{Drawn, guesses, head};
use crate::random::Random;
use std::fmt::Write as _;

#[derive(Clone, Debug)]
struct Link {
    m: f64,
    length: f64,
    /// θ = b + a sin(w t + p), from the vertical
    angle: [f64; 4],
    multiplier: Course,
}

/// A chain.
#[derive(Clone, Debug)]
pub struct Chain {
    tend: f64,
    links: Vec<Link>,
    stiffness: f64,
    damping: f64,
    /// The last constraint stands there twice.
    twice: bool,
    /// x of the last mass is prescribed as well.
    driven: bool,
    /// A mass of its own that is at rest until a pulse.
    pulse: Option<(f64, f64)>,
}

impl Chain {
    /// Are the multipliers those that were prescribed?
    fn multipliers_are_known(&self) -> bool {
        !self.twice
    }
}

/// Sum of a formula over the links up to k.
fn sum(k: usize, formula: impl Fn(usize) -> String) -> String {
    (1..=k).map(formula).collect::<Vec<_>>().join(" + ")
}

impl Drawn for Chain {
    const FAMILY: &'static str = "mechanism";
    const DEFAULT: (&'static str, f64) = ("auto", 0.99);

    fn draw(random: &mut Random) -> Chain {
        let tend = [0.5, 2.0, 5.0][random.below(3)];
        let links = (0..=random.below(3))
            .map(|_| Link {
                m: random.between(0.5, 2.0),
                length: random.between(0.5, 1.5),
                angle: [
                    random.between(-0.6, 0.6),
                    if random.once_in(4) { 0.0 } else { random.signed(0.2, 0.6) },
                    random.between(0.5, 3.0),
                    random.between(0.0, 3.0),
                ],
                // links that push are unstable
                multiplier: Course::pulls(random, tend),
            })
            .collect();
        Chain {
            tend,
            links,
            stiffness: random.between(0.0, 5.0),
            damping: random.between(0.0, 2.0),
            twice: random.once_in(5),
            driven: random.once_in(5),
            pulse: random.once_in(3).then(|| (random.between(0.3 * tend, 0.8 * tend), random.between(0.03, 0.2))),
        }
    }

    fn text(&self) -> String {
        let n = self.links.len();
        let mut text = head("random chain", self.tend);
        text.push_str("\n[definitions]\n");
        for (k, link) in self.links.iter().enumerate() {
            let (k, [b, a, w, p], l) = (k + 1, link.angle, link.length);
            let _ = writeln!(text, "T{k} = \"{b} + ({a})*sin({w}*t + {p})\"");
            let _ = writeln!(text, "W{k} = \"({a})*{w}*cos({w}*t + {p})\"");
            let _ = writeln!(text, "A{k} = \"-({a})*{w}^2*sin({w}*t + {p})\"");
            let _ = writeln!(text, "M{k} = \"{}\"", link.multiplier.text());
            // the link itself and its rates
            let _ = writeln!(text, "SX{k} = \"{l}*sin(T{k})\"\nSY{k} = \"-{l}*cos(T{k})\"");
            let _ = writeln!(text, "UX{k} = \"{l}*cos(T{k})*W{k}\"\nUY{k} = \"{l}*sin(T{k})*W{k}\"");
            let _ = writeln!(text, "BX{k} = \"{l}*(cos(T{k})*A{k} - sin(T{k})*W{k}^2)\"");
            let _ = writeln!(text, "BY{k} = \"{l}*(sin(T{k})*A{k} + cos(T{k})*W{k}^2)\"");
            for c in ["X", "Y"] {
                let _ = writeln!(text, "P{c}{k} = \"{}\"", sum(k, |j| format!("S{c}{j}")));
                let _ = writeln!(text, "V{c}{k} = \"{}\"", sum(k, |j| format!("U{c}{j}")));
                // the multiplier of link k + 1 pulls at mass k, too
                let next = if k < n { format!(" - 2*S{c}{0}*M{0}", k + 1) } else { String::new() };
                let driver = if self.driven && k == n && c == "X" { " + 0.5" } else { "" };
                let acceleration = sum(k, |j| format!("B{c}{j}"));
                let _ = writeln!(text, "F{c}{k} = \"{}*({acceleration}) + 2*S{c}{k}*M{k}{next}{driver}\"", link.m);
            }
        }
        if let Some((s, w)) = self.pulse {
            let _ = writeln!(text, "Z = \"exp(-((t - {s})/{w})^2)\"");
            let _ = writeln!(text, "ZR = \"-2*(t - {s})/{w}^2*Z\"");
            let _ = writeln!(text, "ZA = \"(4*(t - {s})^2/{w}^4 - 2/{w}^2)*Z\"");
        }
        let extra = self.pulse.is_some();
        let list = |formula: &dyn Fn(usize) -> String, more: &str| {
            let mut parts: Vec<String> = (1..=n).map(formula).collect();
            if extra {
                parts.push(more.to_string());
            }
            parts.join(", ")
        };
        let (stiffness, damping) = (self.stiffness, self.damping);
        let pull = |p: &str, v: &str, P: &str, V: &str| format!("{stiffness}*({P} - {p}) + {damping}*({V} - {v})");
        let _ = writeln!(text, "\n[motion]");
        let _ = writeln!(text, "positions = [{}]", list(&|k| format!("\"x{k}\", \"y{k}\""), "\"z\""));
        let _ = writeln!(text, "velocities = [{}]", list(&|k| format!("\"vx{k}\", \"vy{k}\""), "\"vz\""));
        let _ = writeln!(text, "mass = [{}]", list(&|k| format!("{0}, {0}", self.links[k - 1].m), "1"));
        let force = |k: usize| {
            let along = |c: &str, C: &str| {
                format!(
                    "\"F{C}{k} + {}\"",
                    pull(&format!("{c}{k}"), &format!("v{c}{k}"), &format!("P{C}{k}"), &format!("V{C}{k}"))
                )
            };
            format!("\n  {}, {}", along("x", "X"), along("y", "Y"))
        };
        let _ =
            writeln!(text, "forces = [{}\n]", list(&force, &format!("\n  \"ZA + {}\"", pull("z", "vz", "Z", "ZR"))));
        text.push_str("[motion.holonomic]\n");
        for (k, link) in self.links.iter().enumerate() {
            let (dx, dy) = if k == 0 {
                ("x1".to_string(), "y1".to_string())
            } else {
                (format!("(x{} - x{k})", k + 1), format!("(y{} - y{k})", k + 1))
            };
            let _ = writeln!(text, "link{} = \"{dx}^2 + {dy}^2 - {}^2\"", k + 1, link.length);
            if self.twice && k + 1 == n {
                let _ = writeln!(text, "again = \"2*({dx}^2 + {dy}^2) - 2*{}^2\"", link.length);
            }
        }
        if self.driven {
            let _ = writeln!(text, "driver = \"x{n} - PX{n}\"");
        }
        let mut start = self.exact(0.0);
        start.retain(|(name, _)| !name.starts_with("lambda"));
        text + &guesses(&start)
    }

    fn tend(&self) -> f64 {
        self.tend
    }

    fn exact(&self, t: f64) -> Vec<(String, f64)> {
        let mut list = Vec::new();
        let (mut x, mut y, mut vx, mut vy) = (0.0, 0.0, 0.0, 0.0);
        for (k, link) in self.links.iter().enumerate() {
            let [b, a, w, p] = link.angle;
            let (angle, rate, l) = (b + a * (w * t + p).sin(), a * w * (w * t + p).cos(), link.length);
            x += l * angle.sin();
            y -= l * angle.cos();
            vx += l * angle.cos() * rate;
            vy += l * angle.sin() * rate;
            let k = k + 1;
            list.extend([(format!("x{k}"), x), (format!("y{k}"), y), (format!("vx{k}"), vx), (format!("vy{k}"), vy)]);
            if self.multipliers_are_known() {
                list.push((format!("lambda.link{k}"), link.multiplier.at(t)));
            }
        }
        if self.driven && self.multipliers_are_known() {
            list.push(("lambda.driver".to_string(), 0.5));
        }
        if let Some((s, w)) = self.pulse {
            let z = (-((t - s) / w).powi(2)).exp();
            list.extend([("z".to_string(), z), ("vz".to_string(), -2.0 * (t - s) / (w * w) * z)]);
        }
        list
    }

    fn simpler(&self) -> Vec<Chain> {
        let mut list = Vec::new();
        if self.links.len() > 1 {
            let mut model = self.clone();
            model.links.pop();
            list.push(model);
        }
        if self.twice {
            list.push(Chain { twice: false, ..self.clone() });
        }
        if self.driven {
            list.push(Chain { driven: false, ..self.clone() });
        }
        if self.pulse.is_some() {
            list.push(Chain { pulse: None, ..self.clone() });
        }
        if self.stiffness != 0.0 {
            list.push(Chain { stiffness: 0.0, ..self.clone() });
        }
        if self.damping != 0.0 {
            list.push(Chain { damping: 0.0, ..self.clone() });
        }
        if self.tend > 0.2 {
            list.push(Chain { tend: self.tend / 2.0, ..self.clone() });
        }
        for k in 0..self.links.len() {
            let link = &self.links[k];
            if let Some(multiplier) = link.multiplier.simpler() {
                let mut model = self.clone();
                model.links[k].multiplier = multiplier;
                list.push(model);
            }
            if link.angle[1] != 0.0 {
                let mut model = self.clone();
                model.links[k].angle[1] = 0.0;
                list.push(model);
            }
        }
        list
    }
}
