//! An analysis for people, in sections, within 100 columns.

use super::lines::{MOST_FORMULAS, ReportText, solvable, stated_hidden};
use daedal::analysis::{
    Analysis, Definiteness, Level, Mass, Mode, Movement, Place, RankDecision, Regularity, Residual, Severity,
    Stiffness, TimeScales,
};
use daedal::families;
use daedal_simulation::check::{Check, MechanismCheck, MotionCheck, kind, level, severity, short, structure, verdict};
use std::fmt::Write;

/// Most entries of a list of numbers.
const MOST: usize = 12;

pub fn text(check: &Check, checked: &MotionCheck) -> String {
    let found = &checked.analysis;
    let mut text = ReportText::default();
    text.line(&format!("{}: {}", check.model.name(), check.model.description()));
    text.line(&conclusion(found, check.odd.len()));
    for finding in &found.findings {
        text.entry(severity(finding.severity()), &finding.to_string());
    }
    for (_, warning) in &check.odd {
        text.entry(severity(Severity::Warning), &warning.to_string());
    }
    text.heading("structure");
    overview(&mut text, found);
    if let Some(mechanism) = &checked.mechanism {
        text.heading("bodies and joints");
        self::mechanism(&mut text, mechanism);
    }
    text.heading("constraints");
    levels(&mut text, found, &checked.texts.definitions);
    stated_hidden(&mut text, &checked.comparison);
    ranks(&mut text, found);
    text.heading(&format!("initial values at t = {:?}", found.t));
    start(&mut text, found);
    if let Some(mass) = &found.mass {
        text.heading("mass matrix");
        self::mass(&mut text, mass);
    }
    if !found.invariants.is_empty() {
        text.heading("invariants");
        for test in &found.invariants {
            let told = format!(
                "{}: rate {} of its terms, drift {} (the tolerance explains {}), {} points up to t = {:.4}",
                verdict(test.verdict),
                short(test.relative_rate()),
                short(test.drift),
                short(test.explained),
                test.points,
                test.until
            );
            text.entry(&test.name, &told);
        }
    }
    if let Some(scales) = &found.time_scales {
        text.heading("time scales of the motion linearised at the start");
        time_scales(&mut text, scales);
    } else if found.sparse {
        text.heading("time scales");
        let told = format!("not computed, with {} unknowns: compare a run of radau with one of dop853", found.x.len());
        text.entry("unknown", &told);
    }
    text.into_string()
}

/// Freedoms, redundant rows and joint forces.
fn mechanism(text: &mut ReportText, found: &MechanismCheck) {
    let mobility = &found.mobility;
    text.entry(
        "mobility",
        &format!(
            "{} by the count of Grübler, {} by the rank of {} rows",
            mobility.counted, mobility.freedoms, mobility.rows
        ),
    );
    for joint in &found.redundant {
        text.entry("redundant", joint);
    }
    if !mobility.dependent.is_empty() {
        let dropped = mobility.dependent.iter().fold(0.0f64, |most, row| most.max(row.remainder));
        text.entry(
            "gap",
            &format!("smallest row kept {}, largest dropped {}", short(mobility.smallest_kept), short(dropped)),
        );
        text.entry(
            "not unique",
            &format!("forces of {}: those of least norm are shown", mobility.not_unique.join(", ")),
        );
    }
    for body in &found.free {
        text.entry("free", &format!("{body}: no joint holds it"));
    }
    for joint in &found.flipped {
        text.entry("flipped", &format!("{joint} is turned by 180° against the drawing"));
    }
    for reaction in found.reactions.iter().take(MOST) {
        let vector = |v: &[f64; 3]| format!("({}, {}, {})", short(v[0]), short(v[1]), short(v[2]));
        let told = format!("force {}, torque {}", vector(&reaction.force), vector(&reaction.torque));
        text.entry(&reaction.joint, &told);
    }
    if found.reactions.len() > MOST {
        text.entry("", &format!("… and {} joints more; --format json has them all", found.reactions.len() - MOST));
    }
}

/// The verdict, when everything is known; `further` warnings are told besides the findings.
fn conclusion(found: &Analysis, further: usize) -> String {
    if !found.is_possible() {
        return "IMPOSSIBLE or singular: there is no motion, or more than one".into();
    }
    let warnings = found.findings.iter().filter(|finding| finding.severity() == Severity::Warning).count();
    solvable("the model can be solved", warnings + further)
}

fn overview(text: &mut ReportText, found: &Analysis) {
    let n = found.sizes;
    let sizes = [
        (n.positions, "position", "positions"),
        (n.velocities, "velocity", "velocities"),
        (n.dynamic, "dynamic force element", "dynamic force elements"),
        (n.auxiliary, "auxiliary variable", "auxiliary variables"),
        (n.contact, "contact variable", "contact variables"),
        (n.holonomic, "holonomic constraint", "holonomic constraints"),
        (n.nonholonomic, "nonholonomic constraint", "nonholonomic constraints"),
        (n.invariants, "invariant", "invariants"),
    ];
    let sizes: Vec<String> = sizes
        .iter()
        .filter(|(n, _, _)| *n > 0)
        .map(|(n, one, several)| format!("{n} {}", if *n == 1 { one } else { several }))
        .collect();
    text.entry("sizes", &sizes.join(", "));
    if let Some(constraints) = &found.constraints {
        let (p, v) = (constraints.position_freedom, constraints.velocity_freedom);
        text.entry("freedom", &format!("{p} in position, {v} in velocity"));
    }
    match found.index {
        Some(index) => {
            let d = index.differentiation.map_or("not defined (redundant constraints)".into(), |d| d.to_string());
            text.entry("index", &format!("differentiation index {d}, strangeness index {}", index.strangeness));
        }
        None => text.entry("index", "not decided: the mass matrix is singular, or accelerations are not determined"),
    }
    let time = if found.structure.autonomous { "does not enter" } else { "enters" };
    text.entry("time", time);
}

fn levels(text: &mut ReportText, found: &Analysis, definitions: &[(String, String)]) {
    for at in [Level::Position, Level::Velocity, Level::Acceleration] {
        let equations: Vec<_> = found.equations.iter().filter(|e| e.level == at).collect();
        if equations.iter().any(|e| e.formula.is_some()) {
            for e in equations.iter().take(MOST_FORMULAS) {
                let hidden = if e.hidden { ", hidden" } else { "" };
                let formula = e.formula.as_ref().map_or(String::new(), |f| format!(": {f}"));
                text.entry(level(at), &format!("{} ({}{hidden}){formula}", e.name, kind(e.kind)));
            }
            text.more(equations.len());
            continue;
        }
        // names by kind
        let mut told: Vec<String> = Vec::new();
        for part in equations.chunk_by(|a, b| a.kind == b.kind) {
            let names: Vec<&str> = part.iter().map(|e| e.name.as_str()).collect();
            let hidden = if part[0].hidden { ", hidden" } else { "" };
            told.push(format!("{} ({}{hidden})", names.join(", "), kind(part[0].kind)));
        }
        if !told.is_empty() {
            text.entry(level(at), &told.join("; "));
        }
    }
    if found.equations.is_empty() {
        text.entry("none", "");
    }
    for (k, (name, formula)) in definitions.iter().take(MOST_FORMULAS).enumerate() {
        text.entry(if k == 0 { "where" } else { "" }, &format!("{name} = {formula}"));
    }
    text.more(definitions.len());
    if found.sizes.contact > 0 && found.equations.iter().any(|e| e.formula.is_some()) {
        text.entry("", "s' and s'' of a contact variable s are its rates, which keep its equation");
    }
}

fn ranks(text: &mut ReportText, found: &Analysis) {
    let Some(constraints) = &found.constraints else { return };
    if constraints.holonomic.rows > 0 {
        text.entry("rank of GZ", &rank(&constraints.holonomic));
    }
    if constraints.all.rows > constraints.holonomic.rows {
        text.entry("rank of [GZ; HZ]", &rank(&constraints.all));
    }
    if constraints.kinematics.rank < found.sizes.positions {
        text.entry(
            "rank of Z",
            &format!("{}: the kinematics keep combinations of positions", rank(&constraints.kinematics)),
        );
    }
    for redundancy in &constraints.redundancies {
        let word = if redundancy.is_consistent() { "holds" } else { "CONTRADICTORY" };
        let position = redundancy.position.map_or(String::new(), |r| format!("{}, ", short(r)));
        let (velocity, acceleration) = (short(redundancy.velocity), short(redundancy.acceleration));
        text.entry(
            "redundant",
            &format!("{}: {word} (residuals by level {position}{velocity}, {acceleration})", redundancy.combination),
        );
    }
    if let Some(nearby) = constraints.nearby {
        text.entry("rank nearby", &format!("{} at a distance of {}", nearby.rank, short(nearby.distance)));
    }
    if let Some(mass) = &found.mass {
        for combination in &mass.undetermined_multipliers {
            text.entry("undetermined", &combination.to_string());
        }
    }
    for (label, block) in [("contact dc/ds", &found.contact), ("auxiliary dd/dw", &found.auxiliary)] {
        if let Some(block) = block {
            text.entry(label, &regularity(block));
        }
    }
}

fn regularity(block: &Regularity) -> String {
    match block.rank.condition() {
        Some(condition) if block.is_regular() => format!("regular, condition {}", short(condition)),
        _ => {
            let open: Vec<String> = block.undefined.iter().map(ToString::to_string).collect();
            format!("SINGULAR, rank {}; not defined: {}", rank(&block.rank), open.join("; "))
        }
    }
}

/// Rank with its numbers.
fn rank(found: &RankDecision) -> String {
    let mut told = format!("{} of {}", found.rank, found.rows);
    let values: Vec<String> = found.singular_values.iter().take(MOST).map(|s| short(*s)).collect();
    let more = if found.singular_values.len() > MOST { ", …" } else { "" };
    let by_pivots = values.is_empty() && found.rank > 0;
    if by_pivots {
        let _ = write!(told, "; by elimination, smallest pivot {}", short(found.smallest_kept));
    } else if !values.is_empty() {
        let _ = write!(told, "; singular values {}{more}", values.join(", "));
    }
    if found.dependent_rows() > 0 && (by_pivots || !values.is_empty()) {
        let _ = write!(told, "; counted above {}", short(found.threshold));
        if let Some(gap) = found.gap().between() {
            let _ = write!(told, ", gap {}", if gap.is_finite() { short(gap) } else { "infinite".into() });
        }
    }
    told
}

fn start(text: &mut ReportText, found: &Analysis) {
    let given = &found.consistency;
    let place = match (given.place, given.iterations) {
        (Place::Consistent, Some(iterations)) => format!("found in {iterations} iterations"),
        (Place::Consistent, None) => "found".to_string(),
        (Place::Nearest, _) => "NOT found; what follows is told where the search ended".to_string(),
        (Place::Given, _) => "NOT found; what follows is told at the given values, zero where nothing is given".into(),
    };
    text.entry("consistent values", &place);
    if let Some(surplus) = given.surplus.filter(|n| *n > 0) {
        text.entry("surplus", &format!("{surplus} fixed values or conditions more than needed, which agree"));
    }
    residuals(text, &given.residuals);
    if !given.filled.is_empty() {
        let families = if given.filled.len() > MOST { families(&given.filled) } else { given.filled.clone() };
        text.entry("not given", &families.join(", "));
    }
    let mut moved: Vec<&Movement> = given.movements.iter().filter(|m| m.relative() > 1e-12).collect();
    moved.sort_by(|a, b| b.relative().total_cmp(&a.relative()));
    if !given.movements.is_empty() && moved.is_empty() {
        text.entry("moved", "nothing");
    }
    for movement in moved.iter().take(8) {
        let Movement { variable, given, start, .. } = movement;
        text.entry("moved", &format!("{variable} from {given:?} to {start:?} (by {})", short(start - given)));
    }
    if moved.len() > 8 {
        text.entry("", &format!("and {} others, less", moved.len() - 8));
    }
}

/// The largest residual of each level at the given values.
fn residuals(text: &mut ReportText, residuals: &[Residual]) {
    for at in [Some(Level::Position), Some(Level::Velocity), Some(Level::Acceleration), None] {
        let of_level = || residuals.iter().filter(|r| r.level == at);
        let label = at.map_or("conditions", level);
        let violated: Vec<&Residual> = of_level().filter(|r| !r.is_satisfied()).collect();
        if violated.is_empty() {
            if let Some(largest) = of_level().map(|r| r.value.abs()).max_by(f64::total_cmp) {
                text.entry(label, &format!("satisfied by the given values, residual at most {}", short(largest)));
            }
            continue;
        }
        let mut violated = violated;
        violated.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
        let told: Vec<String> =
            violated.iter().take(5).map(|r| format!("{} (residual {})", r.equation, short(r.value))).collect();
        let more = if violated.len() > 5 { format!(" and {} others", violated.len() - 5) } else { String::new() };
        text.entry(label, &format!("not satisfied by the given values: {}{more}", told.join(", ")));
    }
}

fn mass(text: &mut ReportText, mass: &Mass) {
    let symmetric =
        if mass.is_symmetric() { "symmetric".into() } else { format!("not symmetric (by {})", short(mass.asymmetry)) };
    let definite = match mass.definiteness {
        Definiteness::Positive => "positive definite",
        Definiteness::Semidefinite => "positive semidefinite",
        Definiteness::Indefinite => "INDEFINITE",
    };
    let (low, high) = mass.eigenvalues;
    text.entry(
        "structure",
        &format!(
            "{}, {symmetric}, {definite} (eigenvalues {} to {})",
            structure(mass.structure),
            short(low),
            short(high)
        ),
    );
    match mass.condition() {
        Some(condition) => text.entry("rank", &format!("full, condition {}", short(condition))),
        None => text.entry("rank", &rank(&mass.rank)),
    }
    let together = &mass.with_constraints;
    let told = match (mass.is_regular_with_constraints(), together.condition()) {
        (true, Some(condition)) => format!("regular, condition {} (scaled)", short(condition)),
        (true, None) if together.is_full() => format!("regular, smallest pivot {}", short(together.smallest_kept)),
        (true, None) => format!("regular up to redundancy, rank {} of {}", together.rank, together.rows),
        (false, _) => format!("SINGULAR, rank {}", rank(together)),
    };
    text.entry("with constraints", &told);
    for acceleration in &mass.undetermined {
        text.entry("undetermined", &acceleration.to_string());
    }
    for equation in &mass.equations {
        text.entry("no acceleration", &equation.to_string());
    }
}

fn time_scales(text: &mut ReportText, scales: &TimeScales) {
    let zeros = scales.modes.iter().filter(|m| m.magnitude() <= scales.zero).count();
    for mode in scales.modes.iter().filter(|m| m.magnitude() > scales.zero).take(MOST) {
        text.entry("", &self::mode(mode));
    }
    let told = scales.modes.len() - zeros;
    if told > MOST {
        text.entry("", &format!("and {} others, slower", told - MOST));
    }
    if zeros > 0 {
        text.entry("zero", &format!("{zeros}: below {} in size", short(scales.zero)));
    }
    let mut words: Vec<String> = Vec::new();
    words.push(match (scales.stiffness, scales.stiffness_ratio) {
        (Stiffness::Stiff, Some(ratio)) => format!("stiff (ratio {}): use an implicit method", short(ratio)),
        (Stiffness::Mild, Some(ratio)) => format!("mildly stiff (ratio {})", short(ratio)),
        (_, Some(ratio)) => format!("not stiff (ratio {})", short(ratio)),
        (_, None) => "not stiff: nothing decays".to_string(),
    });
    if let Some(decay) = scales.fastest_decay {
        words.push(format!("fastest decay in {}", short(decay)));
    }
    if let Some(frequency) = scales.highest_frequency {
        let periods = frequency * scales.interval;
        words.push(format!("highest frequency {}, {} periods in the interval", short(frequency), short(periods)));
    }
    if let Some(growth) = scales.fastest_growth {
        words.push(format!("grows by e in {}", short(growth)));
    }
    text.entry("verdict", &words.join("; "));
}

fn mode(mode: &Mode) -> String {
    let mut told = format!("{:>11}", short(mode.re));
    if mode.im > 0.0 {
        let _ = write!(told, " ± {:<9}", format!("{}i", short(mode.im)));
    } else {
        let _ = write!(told, "{:12}", "");
    }
    if let Some(frequency) = mode.frequency() {
        let _ = write!(told, "  frequency {}, damping {}", short(frequency), short(mode.damping()));
    }
    if let Some(constant) = mode.time_constant() {
        let word = if mode.re < 0.0 { "decays" } else { "GROWS" };
        let _ = write!(told, "  {word} by e in {}", short(constant));
    }
    told
}
