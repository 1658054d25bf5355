//! Functions of time that are known: as a formula of a model file, their derivative likewise, and as numbers.

use crate::random::Random;

/// A function of time.
#[derive(Clone, Debug, PartialEq)]
pub enum Course {
    Constant(f64),
    /// b + a sin(w t + p)
    Sine {
        b: f64,
        a: f64,
        w: f64,
        p: f64,
    },
    /// a (t/w)ᵏ: zero at the start, with its first derivatives
    Power {
        a: f64,
        k: i32,
        w: f64,
    },
    /// b + a max(0, (t − s)/w)³: constant, then not
    Late {
        b: f64,
        a: f64,
        s: f64,
        w: f64,
    },
    /// b + a exp(−((t − s)/w)²): a short pulse
    Pulse {
        b: f64,
        a: f64,
        s: f64,
        w: f64,
    },
}

impl Course {
    /// Any, on an interval that ends at tend.
    pub fn any(random: &mut Random, tend: f64) -> Course {
        match random.below(5) {
            0 => Course::Constant(random.signed(0.2, 1.5)),
            1 => Course::Sine {
                b: random.between(-1.0, 1.0),
                a: random.signed(0.3, 1.0),
                w: random.between(0.5, 6.0),
                p: random.between(0.0, 3.0),
            },
            2 => Course::starts_at_zero(random, tend),
            3 => Course::Late {
                b: random.signed(0.2, 1.0),
                a: random.signed(0.2, 1.0),
                s: random.between(0.3 * tend, 0.8 * tend),
                w: 0.3 * tend,
            },
            _ => Course::Pulse {
                b: random.signed(0.2, 1.0),
                a: random.signed(0.3, 1.0),
                s: random.between(0.3 * tend, 0.8 * tend),
                w: random.between(0.05, 0.3),
            },
        }
    }

    /// Zero at the start, as at rest.
    pub fn starts_at_zero(random: &mut Random, tend: f64) -> Course {
        Course::Power { a: random.signed(0.3, 1.5), k: 1 + random.below(4) as i32, w: tend }
    }

    /// Between 1 and 3.
    pub fn positive(random: &mut Random, tend: f64) -> Course {
        match random.below(4) {
            0 => Course::Constant(random.between(1.0, 2.5)),
            1 => Course::Sine { b: 2.0, a: 0.8, w: random.between(0.5, 4.0), p: random.between(0.0, 3.0) },
            2 => Course::Late {
                b: 1.0,
                a: random.between(0.05, 0.2),
                s: random.between(0.3 * tend, 0.8 * tend),
                w: 0.3 * tend,
            },
            _ => Course::Pulse {
                b: 1.0,
                a: random.between(0.5, 1.5),
                s: random.between(0.3 * tend, 0.8 * tend),
                w: random.between(0.05, 0.3),
            },
        }
    }

    /// Never negative, as the force of a rod that pulls; zero at the start once in three times.
    pub fn pulls(random: &mut Random, tend: f64) -> Course {
        if random.once_in(3) {
            Course::Power { a: random.between(0.5, 3.0), k: 1 + random.below(2) as i32, w: tend }
        } else {
            Course::positive(random, tend)
        }
    }

    /// A formula.
    pub fn text(&self) -> String {
        match *self {
            Course::Constant(a) => format!("{a}"),
            Course::Sine { b, a, w, p } => format!("{b} + ({a})*sin({w}*t + {p})"),
            Course::Power { a, k, w } => format!("({a})*(t/{w})^{k}"),
            Course::Late { b, a, s, w } => format!("{b} + ({a})*max(0, (t - {s})/{w})^3"),
            Course::Pulse { b, a, s, w } => format!("{b} + ({a})*exp(-((t - {s})/{w})^2)"),
        }
    }

    /// The formula of its derivative.
    pub fn rate(&self) -> String {
        match *self {
            Course::Constant(_) => "0".to_string(),
            Course::Sine { a, w, p, .. } => format!("({a})*{w}*cos({w}*t + {p})"),
            Course::Power { a, k, w } => format!("({a})*{k}/{w}*(t/{w})^{}", k - 1),
            Course::Late { a, s, w, .. } => format!("3*({a})/{w}*max(0, (t - {s})/{w})^2"),
            Course::Pulse { a, s, w, .. } => format!("-2*({a})*(t - {s})/{w}^2*exp(-((t - {s})/{w})^2)"),
        }
    }

    /// Its value.
    pub fn at(&self, t: f64) -> f64 {
        match *self {
            Course::Constant(a) => a,
            Course::Sine { b, a, w, p } => b + a * (w * t + p).sin(),
            Course::Power { a, k, w } => a * (t / w).powi(k),
            Course::Late { b, a, s, w } => b + a * ((t - s) / w).max(0.0).powi(3),
            Course::Pulse { b, a, s, w } => b + a * (-((t - s) / w).powi(2)).exp(),
        }
    }

    /// Something simpler that may serve as well.
    pub fn simpler(&self) -> Option<Course> {
        match *self {
            Course::Constant(a) => (a != 1.0).then_some(Course::Constant(1.0)),
            Course::Power { a, k, w } if k > 1 => Some(Course::Power { a, k: k - 1, w }),
            Course::Power { .. } => None,
            Course::Sine { b, a, .. } => Some(Course::Constant(b + a)),
            Course::Late { b, .. } | Course::Pulse { b, .. } => Some(Course::Constant(b)),
        }
    }
}
