//! Which modes slide along which surfaces: opposite transitions, where solutions lead, and the modes that are generated.

use super::condition::{Condition, SwitchingFunction};
use super::flow::GeneralFlow;
use super::sliding::{Combination, SlidingError, SurfaceFormula, difference, sliding_formulas};
use super::system::Hybrid;
use super::transition::Trigger;
use super::watch::uncertainty;
use crate::dae::{Form, System};
use crate::graph::{Expr, Graph};
use crate::method::radau::RadauIIa;
use crate::run::exit::{Composite, Exit, Reason, Sheet, Target};
use crate::run::place::{Place, PlaceEquations};
use crate::run::rearranged::{EventOf, carried, places_of, rearranged, rearranged_event};

/// Points at which it is tried whether functions are opposite.
const TRIALS: u32 = 5;
/// Functions whose sum changes by less than this part of their changes are opposite.
const OPPOSITE: f64 = 1e-9;

/// Surfaces that are further apart than this many times what the tolerances leave open in a function are told apart: in the middle between
/// them, and on each of them, the state lies clearly before the other one.
const APART: f64 = 4.0;

/// The only switching function of a transition that does not change the state.
pub fn surface_function<'h>(system: &'h Hybrid<'h>, transition: usize) -> Option<&'h SwitchingFunction<'h>> {
    let transition = &system.transitions[transition];
    match &transition.trigger {
        Trigger::When(Condition { functions, .. })
            if transition.transfer.is_none() && functions.len() == 1 && !functions[0].uses_derivatives =>
        {
            functions.first()
        }
        _ => None,
    }
}

/// A transition back along the opposite function: g + g̃ = c near a point of the first mode. Returns it with c.
pub fn opposite(system: &Hybrid, places: &[Place], transition: usize, (t, x): (f64, &[f64])) -> Option<(usize, f64)> {
    let (from, to) = (system.transitions[transition].from, system.transitions[transition].to);
    let g = surface_function(system, transition)?;
    let (names, other) = (&places[from].unknowns, &places[to].unknowns);
    (0..system.transitions.len()).find_map(|j| {
        let back = &system.transitions[j];
        if back.from != to || back.to != from || from == to {
            return None;
        }
        let g_back = surface_function(system, j)?;
        let sum = |trial: u32| {
            let (t, x) = moved(t, x, trial);
            let y: Vec<f64> = carried(&x, names, other).into_iter().map(|y| if y.is_nan() { 0.0 } else { y }).collect();
            let (a, b) = ((g.value)(t, &x, &vec![0.0; x.len()]), (g_back.value)(t, &y, &vec![0.0; y.len()]));
            (a + b, a)
        };
        let (c, here) = sum(0);
        let mut change = 0.0_f64;
        for trial in 1..TRIALS {
            let (sum, a) = sum(trial);
            change = change.max((a - here).abs());
            if !((sum - c).abs() <= OPPOSITE * ((a - here).abs() + a.abs() + 1e-3)) {
                return None;
            }
        }
        let rounded = 1e-12 * (change + here.abs());
        (change > 0.0 && c >= -rounded).then_some((j, if c.abs() <= rounded { 0.0 } else { c }))
    })
}

/// Do the formulas of two opposite transitions say that g + g̃ is the same everywhere, always?
pub fn constant_width(system: &Hybrid, places: &[Place], transition: usize, back: usize) -> bool {
    let formula = |j: usize| surface_function(system, j).and_then(|g| g.formula.as_ref());
    let (Some(g), Some(g_back)) = (formula(transition), formula(back)) else { return false };
    let names = [transition, back].map(|j| &places[system.transitions[j].from].unknowns);
    let mut graph = Graph::new();
    let t = graph.input("t");
    let x: Vec<Expr> = names[0].iter().map(|name| graph.input(name.as_str())).collect();
    let same = |name: &String| names[0].iter().position(|known| known == name);
    let y: Vec<Expr> =
        names[1].iter().map(|name| same(name).map_or_else(|| graph.input(name.as_str()), |j| x[j])).collect();
    let (a, b) = graph.with(|| (g(t, &x), -g_back(t, &y)));
    let sum = difference(&mut graph, a, b);
    graph.constant(sum).is_some()
}

/// The transition back over the same surface, with the width between both, near a point of the mode that is left. Where there is one the
/// system may slide.
pub fn opposite_transition(system: &Hybrid, transition: usize, t: f64, x: &[f64]) -> Option<(usize, f64)> {
    let places: Vec<Place> = (0..system.modes.len()).map(|k| Place::given(system, k, &[])).collect();
    opposite(system, &places, transition, (t, x))
}

/// A point nearby.
fn moved(t: f64, x: &[f64], trial: u32) -> (f64, Vec<f64>) {
    if trial == 0 {
        return (t, x.to_vec());
    }
    let shift = |j: usize, x: f64| x + 1e-2 * (x.abs() + 0.1) * (f64::from(trial) * 1.7 + j as f64 * 2.3).sin();
    (shift(77, t), x.iter().enumerate().map(|(j, &x)| shift(j, x)).collect())
}

/// How fast a function changes along a solution.
pub fn along(g: &SwitchingFunction, t: f64, x: &[f64], xdot: &[f64], probe: f64) -> f64 {
    let ahead: Vec<f64> = x.iter().zip(xdot).map(|(x, d)| x + probe * d).collect();
    ((g.value)(t + probe, &ahead, xdot) - (g.value)(t, x, xdot)) / probe
}

/// Why there is no generated mode for sliding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSliding {
    /// A mode without formulas.
    #[error("`{0}` has no formulas")]
    NoFormulas(String),
    /// A switching function without a formula.
    #[error("`{0}` has no formula")]
    NoFunction(String),
    /// The formulas do not fit together.
    #[error(transparent)]
    Formulas(#[from] SlidingError),
}

/// A generated mode that slides along surfaces.
pub fn generate<'h>(
    system: &'h Hybrid<'h>,
    places: &[Place<'h>],
    composite: &Composite,
    combination: Combination,
    tolerance: &dyn Fn(&str) -> (f64, f64),
) -> Result<Place<'h>, NoSliding> {
    let systems = composite
        .vertices
        .iter()
        .map(|&k| system.modes[k].flow.system().ok_or_else(|| NoSliding::NoFormulas(system.modes[k].name.clone())))
        .collect::<Result<Vec<System>, _>>()?;
    let first = composite.vertices[0];
    let order = places_of(&places[first].unknowns, systems[0].names());
    let mut functions = Vec::new();
    for surface in &composite.surfaces {
        let g = surface_function(system, surface.transition);
        let named = || NoSliding::NoFunction(system.transitions[surface.transition].name());
        let formula = g.and_then(|g| g.formula.as_ref()).ok_or_else(named)?;
        let order = &order;
        functions.push(move |t: Expr, x: &[Expr]| {
            let x: Vec<Expr> = order.iter().map(|place| place.map_or_else(|| Expr::from(f64::NAN), |j| x[j])).collect();
            formula(t, &x) - surface.offset
        });
    }
    let formulas: Vec<&crate::dae::Formulas> = systems.iter().map(|system| &system.formulas).collect();
    let surfaces: Vec<SurfaceFormula> = functions.iter().map(|f| f as _).collect();
    let combined = sliding_formulas(&formulas, &surfaces, combination)?;
    let sliding = systems[0].of_the_same_kind(&combined);
    let unknowns = sliding.names().to_vec();
    let mut exits = exits(system, places, composite, &unknowns);
    let tolerances: Vec<(f64, f64)> = unknowns.iter().map(|name| tolerance(name)).collect();
    for (surface, sheet) in composite.surfaces.iter().enumerate() {
        exits.extend(apart(system, places, (surface, sheet), &unknowns, &tolerances));
    }
    let events = events(places, composite, &unknowns);
    let names: Vec<&str> = composite.vertices.iter().map(|&k| &*system.modes[k].name).collect();
    let equations = PlaceEquations::Generated(Box::new(GeneralFlow::new(sliding, Form::Auto, RadauIIa::default())));
    Ok(Place {
        sliding: true,
        between: composite.vertices.clone(),
        exits,
        events,
        composite: Some(composite.clone()),
        ..Place::new(format!("{} (sliding)", names.join("|")), unknowns, equations)
    })
}

/// Names of the convex parameters of a mode that slides along s surfaces.
pub fn convex_parameters(s: usize) -> Vec<String> {
    if s == 1 { vec!["alpha".into()] } else { (1..=s).map(|i| format!("alpha.{i}")).collect() }
}

/// Ways out of sliding: a convex parameter leaves [0, 1], or the transitions that the modes have besides.
fn exits<'h>(
    system: &'h Hybrid<'h>,
    places: &[Place<'h>],
    composite: &Composite,
    unknowns: &[String],
) -> Vec<Exit<'h>> {
    let mut exits = Vec::new();
    for (surface, alpha) in convex_parameters(composite.surfaces.len()).into_iter().enumerate() {
        let Some(j) = unknowns.iter().position(|name| *name == alpha) else { continue };
        let side = |side: usize, function: SwitchingFunction<'h>| Exit {
            reason: Reason::Made(Condition::of(function)),
            to: Target::Side { surface, side },
            transition: None,
            hysteresis: 0.0,
            priority: None,
        };
        exits.push(side(0, SwitchingFunction::new(format!("{alpha} >= 1"), move |_, x| 1.0 - x[j])));
        exits.push(side(1, SwitchingFunction::new(format!("{alpha} <= 0"), move |_, x| x[j])));
    }
    for &vertex in &composite.vertices {
        for (j, transition) in system.transitions.iter().enumerate().filter(|(_, t)| t.from == vertex) {
            if composite.vertices.contains(&transition.to) && surface_function(system, j).is_some() {
                continue; // one of the surfaces
            }
            let already = exits.iter().any(|exit: &Exit| matches!(&exit.to, Target::Across(all) if all.contains(&j)));
            if already {
                continue;
            }
            let reason = match &transition.trigger {
                Trigger::At(schedule) => Reason::Times(schedule),
                Trigger::When(condition) => {
                    let order = places_of(&places[vertex].unknowns, unknowns);
                    let functions = condition.functions.iter().map(|g| rearranged(g, order.clone())).collect();
                    let (name, logic) = (condition.name.clone(), condition.logic.clone());
                    Reason::Made(Condition { name, functions, logic })
                }
            };
            // the same condition in all modes is another surface
            let partners: Vec<usize> = composite
                .vertices
                .iter()
                .filter_map(|&k| {
                    let same = |t: &super::transition::Transition| t.from == k && t.name() == transition.name();
                    system.transitions.iter().position(same)
                })
                .collect();
            let to = if partners.len() == composite.vertices.len() && surface_function(system, j).is_some() {
                Target::Across(partners)
            } else {
                Target::Mode(transition.to)
            };
            let (hysteresis, priority) = (transition.hysteresis, transition.priority);
            exits.push(Exit { reason, to, transition: Some(j), hysteresis, priority });
        }
    }
    exits
}

/// Events that the modes have between which it slides, each name once.
fn events<'h>(places: &[Place<'h>], composite: &Composite, unknowns: &[String]) -> Vec<EventOf<'h>> {
    let mut events: Vec<EventOf> = Vec::new();
    for place in composite.vertices.iter().map(|&vertex| &places[vertex]) {
        let order = places_of(&place.unknowns, unknowns);
        for event in &place.events {
            if let EventOf::Given(event) = event
                && !events.iter().any(|known| known.name == event.name)
            {
                events.push(EventOf::Made(rearranged_event(event, &order)));
            }
        }
    }
    events
}

/// A way out where the surfaces of the two transitions come apart, if their distance may change: a hysteresis opens.
fn apart<'h>(
    system: &'h Hybrid<'h>,
    places: &[Place<'h>],
    (surface, sheet): (usize, &Sheet),
    unknowns: &[String],
    tolerances: &[(f64, f64)],
) -> Option<Exit<'h>> {
    let here = |j: usize| {
        let order = places_of(&places[system.transitions[j].from].unknowns, unknowns);
        surface_function(system, j).map(|g| rearranged(g, order))
    };
    let back = sheet.back?;
    let (g, g_back) = (here(sheet.transition)?, here(back)?);
    let (tolerances, offset) = (tolerances.to_vec(), sheet.offset);
    let left = move |t: f64, x: &[f64]| {
        let scales: Vec<f64> = x.iter().zip(&tolerances).map(|(x, (rtol, atol))| rtol * x.abs() + atol).collect();
        let (a, b) = ((g.value)(t, x, x), (g_back.value)(t, x, x));
        let wider = a + b - 2.0 * offset;
        // the middle of a width that was asked for moves whichever way it changes
        let wider = if offset > 0.0 { wider.abs() } else { wider };
        APART * uncertainty(x, &scales, a, |x| (g.value)(t, x, x)) - wider
    };
    let name = |j: usize| system.transitions[j].name();
    let function = SwitchingFunction::new(format!("`{}` and `{}` apart", name(sheet.transition), name(back)), left);
    Some(Exit {
        reason: Reason::Made(Condition::of(function)),
        to: Target::Apart { surface },
        transition: None,
        hysteresis: 0.0,
        priority: None,
    })
}

/// The modes on the other side of a surface that is met while sliding: the targets of the transitions of all vertices, with the
/// transitions between them as surfaces. None if they do not fit together.
pub fn beyond(system: &Hybrid, composite: &Composite, transitions: &[usize]) -> Option<Composite> {
    let vertices: Vec<usize> = transitions.iter().map(|&j| system.transitions[j].to).collect();
    let mut surfaces = Vec::new();
    for (i, surface) in composite.surfaces.iter().enumerate() {
        let between = |t: &super::transition::Transition| t.from == vertices[0] && t.to == vertices[1 << i];
        let j = (0..system.transitions.len())
            .find(|&j| between(&system.transitions[j]) && surface_function(system, j).is_some())?;
        surfaces.push(Sheet { transition: j, back: None, offset: surface.offset });
    }
    Some(Composite { vertices, surfaces })
}

/// What is left when sliding along one of the surfaces ends on a side.
pub fn side(system: &Hybrid, composite: &Composite, surface: usize, side: usize) -> Option<Composite> {
    let keep = |place: &usize| (place >> surface) & 1 == side;
    let vertices: Vec<usize> =
        (0..composite.vertices.len()).filter(keep).map(|place| composite.vertices[place]).collect();
    let mut surfaces = Vec::new();
    for (i, other) in composite.surfaces.iter().enumerate().filter(|(i, _)| *i != surface) {
        let bit = 1 << (if i > surface { i - 1 } else { i });
        let between = |t: &super::transition::Transition| t.from == vertices[0] && t.to == vertices[bit];
        let j = (0..system.transitions.len())
            .find(|&j| between(&system.transitions[j]) && surface_function(system, j).is_some())?;
        surfaces.push(Sheet { transition: j, back: None, offset: other.offset });
    }
    Some(Composite { vertices, surfaces })
}
