//! Random piecewise linear systems against matrix exponentials: no event is missed, and all come at the right time.
//!
//! The reference knows nothing of integrators: in every mode x' = A x + b the exact flow is the exponential of [[A, b], [0, 0]]; it is scanned
//! with a fine step, and events are bisected. Systems whose events are nearly tangential, nearly simultaneous, too many, or followed at once
//! by others, are drawn again.

use super::support::*;
use daedal::hybrid::{Hybrid, HybridOptions, Transition};
use daedal::linalg::Mat;
use daedal::{Initial, Problem, solve};
use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::random::Random;

const TEND: f64 = 6.0;
/// Step of the scan.
const SCAN: f64 = 1e-3;
/// Slower passages through zero are tangential.
const SLOWEST: f64 = 0.1;
/// Minima of a function that stay closer to zero than this, and events closer to each other, are not decided by the tolerance.
const CLOSE: f64 = 1e-4;

/// From → to when c·x + d ≤ 0, and then x becomes R x + r.
#[derive(Clone, Debug)]
struct Link {
    from: usize,
    to: usize,
    c: Vec<f64>,
    d: f64,
    reset: Option<(Vec<Vec<f64>>, Vec<f64>)>,
}

#[derive(Clone, Debug)]
struct Draw {
    modes: Vec<Affine>,
    links: Vec<Link>,
    x0: Vec<f64>,
}

fn draw(random: &mut Random) -> Draw {
    let n = 2 + random.below(2);
    let vector = |random: &mut Random, scale: f64| -> Vec<f64> { (0..n).map(|_| scale * random.real()).collect() };
    // rotations with little damping, so that surfaces are met again and again
    let flow = |random: &mut Random| {
        let mut A: Vec<Vec<f64>> = (0..n).map(|_| vector(random, 0.6)).collect();
        let speed = 2.0 + 2.0 * random.real();
        for i in 0..n {
            A[i][i] -= 0.4;
        }
        A[0][1] += speed;
        A[1][0] -= speed;
        Affine { A, ..Affine::constant(&vector(random, 2.0)) }
    };
    let surface = |random: &mut Random| {
        let mut c = vector(random, 1.0);
        let norm = c.iter().map(|c| c * c).sum::<f64>().sqrt();
        for c in &mut c {
            *c /= norm;
        }
        (c, 0.7 * random.real())
    };
    let (modes, links);
    if random.below(2) == 0 {
        // two modes, one on each side of a plane
        modes = vec![flow(random), flow(random)];
        let (c, d) = surface(random);
        let negative: Vec<f64> = c.iter().map(|c| -c).collect();
        links =
            vec![Link { from: 0, to: 1, c, d, reset: None }, Link { from: 1, to: 0, c: negative, d: -d, reset: None }];
    } else {
        // two to four modes with one or two ways out of each, with or without jumps
        let count = 2 + random.below(3);
        modes = (0..count).map(|_| flow(random)).collect();
        let ways: Vec<usize> = (0..count).flat_map(|from| vec![from; 1 + random.below(2)]).collect();
        links = ways
            .into_iter()
            .map(|from| {
                let (c, d) = surface(random);
                let to = (from + 1 + random.below(count - 1)) % count;
                let reset = (random.below(2) == 0).then(|| {
                    let R = (0..n).map(|i| (0..n).map(|j| if i == j { 0.9 } else { 0.1 * random.real() }).collect());
                    (R.collect(), vector(random, 0.5))
                });
                Link { from, to, c, d, reset }
            })
            .collect();
    }
    let x0 = vector(random, 1.0);
    let mut draw = Draw { modes, links, x0 };
    // the first mode is not left at once; the other side of a plane belongs to the other mode
    let first = draw.links[0].g(&draw.x0);
    let divided = draw.links.iter().all(|link| link.reset.is_none()) && draw.links.len() == 2;
    for link in &mut draw.links {
        let outside = if divided { first < 0.0 } else { link.from == 0 && link.g(&draw.x0) < 0.0 };
        if outside {
            for c in &mut link.c {
                *c = -*c;
            }
            link.d = -link.d;
        }
    }
    draw
}

fn affine(c: &[f64], d: f64, x: &[f64]) -> f64 {
    d + c.iter().zip(x).map(|(c, x)| c * x).sum::<f64>()
}

impl Link {
    fn g(&self, x: &[f64]) -> f64 {
        affine(&self.c, self.d, x)
    }

    /// dg/dt along a mode.
    fn rate(&self, mode: &Affine, x: &[f64]) -> f64 {
        let xdot: Vec<f64> = mode.A.iter().zip(&mode.b).map(|(row, b)| affine(row, *b, x)).collect();
        affine(&self.c, 0.0, &xdot)
    }

    fn jump(&self, x: &[f64]) -> Vec<f64> {
        match &self.reset {
            None => x.to_vec(),
            Some((R, r)) => R.iter().zip(r).map(|(row, r)| affine(row, *r, x)).collect(),
        }
    }
}

/// Exponential of h [[A, b], [0, 0]].
fn flow(mode: &Affine, h: f64) -> Mat<f64> {
    let n = mode.b.len();
    let extended = Mat::from_fn(n + 1, n + 1, |i, j| {
        h * if i == n {
            0.0
        } else if j == n {
            mode.b[i]
        } else {
            mode.A[i][j]
        }
    });
    exponential(&extended)
}

/// eᴬ: the Taylor series of 2⁻ᵏA, squared k times.
fn exponential(A: &Mat<f64>) -> Mat<f64> {
    let n = A.nrows();
    let squarings = A.norm_l2().max(1.0).log2().ceil() as i32 + 1;
    let A = A * faer::Scale(0.5_f64.powi(squarings));
    let mut term = Mat::<f64>::identity(n, n);
    let mut sum = term.clone();
    for k in 1..=20 {
        term = &term * &A * faer::Scale(1.0 / f64::from(k));
        sum += &term;
    }
    for _ in 0..squarings {
        sum = &sum * &sum;
    }
    sum
}

fn moved(E: &Mat<f64>, x: &[f64]) -> Vec<f64> {
    let n = x.len();
    (0..n).map(|i| E[(i, n)] + (0..n).map(|j| E[(i, j)] * x[j]).sum::<f64>()).collect()
}

struct Reference {
    /// time, from, to
    events: Vec<(f64, usize, usize)>,
    end: Vec<f64>,
}

/// The exact solution, or why it is no fair test.
fn exact(draw: &Draw, x0: &[f64]) -> Result<Reference, &'static str> {
    let (mut t, mut mode, mut x) = (0.0, 0, x0.to_vec());
    let steps: Vec<Mat<f64>> = draw.modes.iter().map(|mode| flow(mode, SCAN)).collect();
    let mut events: Vec<(f64, usize, usize)> = Vec::new();
    'modes: loop {
        let links: Vec<&Link> = draw.links.iter().filter(|link| link.from == mode).collect();
        for link in &links {
            let g = link.g(&x);
            let on_surface = g.abs() < 1e-9 && link.rate(&draw.modes[mode], &x) > SLOWEST;
            if g < 10.0 * CLOSE && !on_surface {
                return Err("another transition at once");
            }
        }
        let entered = t;
        loop {
            let h = SCAN.min(TEND - t);
            if h <= 1e-12 {
                return Ok(Reference { events, end: x });
            }
            let next = if h == SCAN { moved(&steps[mode], &x) } else { moved(&flow(&draw.modes[mode], h), &x) };
            if next.iter().any(|x| x.abs() > 100.0) {
                return Err("too large");
            }
            let crossed: Vec<&&Link> = links.iter().filter(|link| link.g(&next) <= 0.0).collect();
            for link in &links {
                // a minimum inside of this step that stays close to zero, on either side
                let (before, after) = (link.rate(&draw.modes[mode], &x), link.rate(&draw.modes[mode], &next));
                if before < 0.0 && after > 0.0 && link.g(&x).min(link.g(&next)) < 10.0 * CLOSE && t > entered {
                    return Err("nearly tangential");
                }
            }
            let mut first: Option<(f64, &Link)> = None;
            for link in crossed {
                let (mut low, mut high) = (0.0, h);
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    let there = moved(&flow(&draw.modes[mode], middle), &x);
                    if link.g(&there) > 0.0 { low = middle } else { high = middle }
                }
                if first.is_some_and(|(time, _)| (time - high).abs() < CLOSE) {
                    return Err("nearly simultaneous");
                }
                if first.is_none_or(|(time, _)| high < time) {
                    first = Some((high, link));
                }
            }
            let Some((h, link)) = first else {
                (t, x) = (t + h, next);
                continue;
            };
            let at = moved(&flow(&draw.modes[mode], h), &x);
            if link.rate(&draw.modes[mode], &at) > -SLOWEST {
                return Err("nearly tangential");
            }
            if links.iter().any(|other| !std::ptr::eq(*other, link) && other.g(&at).abs() < CLOSE) {
                return Err("nearly simultaneous");
            }
            if events.last().is_some_and(|(last, ..)| t + h - last < 10.0 * CLOSE) || TEND - t - h < CLOSE {
                return Err("nearly simultaneous");
            }
            t += h;
            events.push((t, mode, link.to));
            if events.len() > 40 {
                return Err("too many");
            }
            (mode, x) = (link.to, link.jump(&at));
            continue 'modes;
        }
    }
}

fn built(draw: &Draw, method: Method) -> Hybrid<'static> {
    let mut hybrid = Hybrid::new();
    for (k, equations) in draw.modes.iter().enumerate() {
        hybrid.mode(mode(&format!("mode {k}"), equations, method));
    }
    for link in &draw.links {
        let (g, jump) = (link.clone(), link.clone());
        let mut transition = Transition::when(link.from, link.to, "surface", move |_, x| g.g(x));
        if link.reset.is_some() {
            transition = transition.transfer(move |_, old, _, new| new.copy_from_slice(&jump.jump(old)));
        }
        hybrid.transition(transition);
    }
    hybrid
}

/// How much a change of the start by 10⁻⁷ is magnified in the event times, at least 1.
fn condition(draw: &Draw, reference: &Reference) -> f64 {
    let mut worst = 1.0_f64;
    for j in 0..draw.x0.len() {
        let mut x0 = draw.x0.clone();
        x0[j] += 1e-7;
        let Ok(other) = exact(draw, &x0) else { continue };
        for (a, b) in reference.events.iter().zip(&other.events) {
            worst = worst.max((a.0 - b.0).abs() / 1e-7);
        }
    }
    worst
}

/// Tolerance of the runs.
const TOLERANCE: f64 = 1e-8;

/// A system that was drawn, its exact events, and how much they magnify errors.
struct Case {
    draw: Draw,
    reference: Reference,
    condition: f64,
}

/// 200 systems, and how often was drawn again for which reason. Drawn once for all tests.
fn systems() -> &'static (Vec<Case>, BTreeMap<&'static str, usize>) {
    static SYSTEMS: OnceLock<(Vec<Case>, BTreeMap<&'static str, usize>)> = OnceLock::new();
    SYSTEMS.get_or_init(|| {
        let (mut random, mut again, mut systems) = (Random(20), BTreeMap::new(), Vec::new());
        while systems.len() < 200 {
            let draw = draw(&mut random);
            match exact(&draw, &draw.x0) {
                Ok(reference) if !reference.events.is_empty() => {
                    let condition = condition(&draw, &reference);
                    systems.push(Case { draw, reference, condition });
                }
                Ok(_) => *again.entry("without events").or_insert(0) += 1,
                Err(reason) => *again.entry(reason).or_insert(0) += 1,
            }
        }
        (systems, again)
    })
}

/// The largest error of an event time, and how many errors are larger than ten times the tolerance, divided by how much the system
/// magnifies errors and not. No event may be missing.
fn errors(method: Method) -> (f64, usize, usize) {
    let (systems, again) = systems();
    let (mut worst, mut beyond, mut events) = (0.0_f64, 0, 0);
    // the same without regard to how much a system magnifies errors
    let (mut plain_worst, mut plain_beyond) = (0.0_f64, 0);
    for (number, Case { draw, reference, condition }) in systems.iter().enumerate() {
        let hybrid = built(draw, method);
        let problem = Problem::new(&hybrid, Initial::new(0.0, &draw.x0), TEND);
        let solution = solve(&problem, &HybridOptions::default(), &tolerance(TOLERANCE))
            .unwrap_or_else(|e| panic!("system {number}: {}\n{draw:?}\n{:?}", told(&e), reference.events));
        let found: Vec<_> = solution.switches.iter().map(|s| (s.from, s.to)).collect();
        let wanted: Vec<_> = reference.events.iter().map(|e| (e.1, e.2)).collect();
        let lists = || format!("{:?}\n{:?}\n{draw:?}", solution.mode_trajectory(), reference.events);
        assert_eq!(found, wanted, "system {number}: {}", lists());
        for (switch, event) in solution.switches.iter().zip(&reference.events) {
            let error = (switch.t - event.0).abs() / (condition * TOLERANCE);
            plain_worst = plain_worst.max(error * condition);
            plain_beyond += usize::from(error * condition > 10.0);
            worst = worst.max(error);
            beyond += usize::from(error > 10.0);
        }
        events += wanted.len();
        for (x, y) in solution.end.x.iter().zip(&reference.end) {
            assert!((x - y).abs() < 1e-4, "system {number}: {x} not {y}");
        }
    }
    println!("{method:?}: {events} events in {} systems; drawn again: {again:?}", systems.len());
    println!("largest error of a time by tolerance {worst:.1}; {beyond} are larger than ten");
    println!("not divided by the magnification: {plain_worst:.1}; {plain_beyond} are larger than ten");
    (worst, beyond, plain_beyond)
}

#[test]
fn radau_misses_no_event_and_finds_all_times_to_ten_times_the_tolerance() {
    let (worst, beyond, plain) = errors(Method::Radau);
    assert_eq!((beyond, plain), (0, 0), "up to {worst} times the tolerance");
}

#[test]
fn bdf_misses_no_event() {
    // the error of BDF is a few dozen times its tolerance before any event comes
    let (worst, ..) = errors(Method::Bdf);
    assert!(worst < 1000.0, "up to {worst} times the tolerance");
}

/// Events are found to rounding on the trajectory that the method computes: their error is that of the trajectory.
#[test]
fn the_error_of_the_first_event_is_that_of_the_trajectory() {
    for method in METHODS {
        let (mut excess, mut largest) = (0.0_f64, 0.0_f64);
        for Case { draw, reference, .. } in systems().0.iter().take(60) {
            let (exact, ..) = reference.events[0];
            let hybrid = built(draw, method);
            let problem = Problem::new(&hybrid, Initial::new(0.0, &draw.x0), TEND);
            let found = solve(&problem, &HybridOptions::default(), &tolerance(TOLERANCE)).unwrap().switches[0].t;
            // the first mode alone, up to the event
            let mut alone = Hybrid::new();
            alone.mode(mode("alone", &draw.modes[0], method));
            let problem = Problem::new(&alone, Initial::new(0.0, &draw.x0), exact);
            let x = solve(&problem, &HybridOptions::default(), &tolerance(TOLERANCE)).unwrap().end.x;
            let link = draw.links.iter().filter(|link| link.from == 0);
            let link = link.min_by(|a, b| a.g(&x).abs().total_cmp(&b.g(&x).abs())).unwrap();
            let shift = -link.g(&x) / link.rate(&draw.modes[0], &x);
            largest = largest.max((found - exact).abs());
            excess = excess.max((found - exact - shift).abs());
        }
        println!(
            "{method:?}: first events {largest:.1e} beside the exact time, {excess:.1e} beside that of the trajectory"
        );
        assert!(excess < 10.0 * TOLERANCE, "{method:?}: {excess:e}");
    }
}
