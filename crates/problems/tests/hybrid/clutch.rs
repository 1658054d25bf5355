//! A clutch: modes with different numbers of constraints, impulses, friction up to a capacity.

use super::support::*;
use daedal::hybrid::{HybridOptions, HybridSolution, Restart, Smoothness, SwitchKind};
use daedal::{Initial, Problem};
use daedal_problems::hybrid::clutch::*;

fn run(clutch: &Clutch, kind: ClutchKind, tend: f64, restart: Option<Restart>) -> HybridSolution {
    let mut hybrid = clutch.system(kind);
    if restart.is_some() {
        hybrid.transitions[0].restart = restart;
    }
    let problem = Problem::new(&hybrid, Initial { states: clutch.start(), ..Initial::default() }, tend);
    solved(&problem, &dense(1e-9), &HybridOptions::default())
}

#[test]
fn a_dog_clutch_conserves_the_momentum_and_loses_energy() {
    let clutch = Clutch::default();
    let solution = run(&clutch, ClutchKind::Dog, 2.0, None);
    expect(&trajectory(&solution), &[(0.5, 1, 2), (1.25, 2, 1)], 0.0);
    let [j1, j2] = clutch.inertia;
    let velocities = |value: &dyn Fn(&str) -> f64| [value("w1"), value("w2")];
    let old = velocities(&|name| before(&solution, 0, name));
    let new = velocities(&|name| after(&solution, 0, name));
    // before: free shafts
    close(old[0], 100.0 + clutch.impulse(0.5) / j1, 1e-7);
    close(old[1], -clutch.load * 0.5 / j2, 1e-7);
    // after: one velocity with the momentum of both
    let common = (j1 * old[0] + j2 * old[1]) / (j1 + j2);
    close(new[0], common, 1e-10);
    close(new[1], common, 1e-10);
    let loss = 0.5 * j1 * j2 / (j1 + j2) * (old[0] - old[1]).powi(2);
    close(clutch.energy(old) - clutch.energy(new), loss, 1e-8);
    let switch = &solution.switches[0];
    assert_eq!(switch.smoothness, Smoothness::Restart);
    let [(name, impulse)] = &switch.impulses[..] else { panic!("{:?}", switch.impulses) };
    assert!(name.contains("clutch"));
    close(*impulse, j1 * (old[0] - common), 1e-9);
    for angle in ["phi1", "phi2"] {
        close(after(&solution, 0, angle), before(&solution, 0, angle), 1e-12);
    }
    // engaged: the moment of the theory, and the momentum of both
    close(after(&solution, 0, "mu.clutch"), clutch.transmitted(0.5), 1e-8);
    close(before(&solution, 1, "mu.clutch"), clutch.transmitted(1.25), 1e-8);
    close(before(&solution, 1, "w1"), before(&solution, 1, "w2"), 1e-12);
    let momentum = 100.0 * j1 + clutch.impulse(1.25) - clutch.load * 1.25;
    close((j1 + j2) * before(&solution, 1, "w1"), momentum, 1e-6);
    // opened: nothing jumps, and the shafts are free again
    assert!(
        solution.switches[1].jumps.iter().all(|j| !j.name.starts_with("phi") && j.name != "w1" && j.name != "w2"),
        "{:?}",
        solution.switches[1].jumps
    );
    close(solution.end_value("w2").unwrap(), before(&solution, 1, "w2") - clutch.load * 0.75 / j2, 1e-7);
    // two and three unknowns more than the positions
    assert_eq!(solution.modes[0].unknowns.len() + 1, solution.modes[1].unknowns.len());
}

#[test]
fn the_smallest_change_is_no_impact_law() {
    let clutch = Clutch::default();
    let solution = run(&clutch, ClutchKind::Dog, 1.0, Some(Restart::LeastChange));
    let mean = f64::midpoint(before(&solution, 0, "w1"), before(&solution, 0, "w2"));
    close(after(&solution, 0, "w1"), mean, 1e-8);
    close(after(&solution, 0, "w2"), mean, 1e-8);
}

#[test]
fn a_friction_clutch_engages_where_the_velocities_meet_and_slips_beyond_its_capacity() {
    let clutch = Clutch { start: [20.0, 0.0], ..Clutch::default() };
    let [j1, j2] = clutch.inertia;
    let solution = run(&clutch, ClutchKind::Friction, 6.0, None);
    // slips until w₁ − w₂ = 20 + ∫ (T₁ − Tc)/J₁ − (Tc − T₂) t/J₂ vanishes
    let relative =
        |t: f64| 20.0 + (clutch.impulse(t) - clutch.capacity * t) / j1 - (clutch.capacity - clutch.load) / j2 * t;
    let bisect = |mut low: f64, mut high: f64, f: &dyn Fn(f64) -> f64| {
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if f(middle) > 0.0 { low = middle } else { high = middle }
        }
        high
    };
    let engaged = bisect(0.0, 0.6, &relative);
    close(solution.switches[0].t, engaged, 1e-7);
    assert_eq!(solution.switches[0].smoothness, Smoothness::Smooth, "{:?}", solution.switches[0].jumps);
    assert!(solution.switches[0].impulses.is_empty());
    // holds until the moment reaches the capacity
    let slips = bisect(engaged, 1.5, &|t| clutch.capacity - clutch.transmitted(t));
    close(solution.switches[1].t, slips, 1e-7);
    assert_eq!((solution.switches[1].from, solution.switches[1].to), (1, 0));
    assert_eq!(solution.switches[1].kind, SwitchKind::Regular);
    // and again: w₁ − w₂ from zero
    let later = |t: f64| {
        (clutch.impulse(t) - clutch.impulse(slips) - clutch.capacity * (t - slips)) / j1
            - (clutch.capacity - clutch.load) / j2 * (t - slips)
    };
    let again = bisect(slips + 0.5, 6.0, &later);
    close(solution.switches[2].t, again, 1e-6);
    assert_eq!(trajectory(&solution).iter().map(|s| (s.1, s.2)).collect::<Vec<_>>()[..3], [(1, 2), (2, 1), (1, 2)]);
    // momentum of both shafts in all modes
    for k in 0..=60 {
        let t = 0.1 * f64::from(k);
        let (w1, w2) = (solution.value("w1", t).unwrap(), solution.value("w2", t).unwrap());
        close(j1 * w1 + j2 * w2, 20.0 * j1 + clutch.impulse(t) - clutch.load * t, 1e-5);
    }
}
