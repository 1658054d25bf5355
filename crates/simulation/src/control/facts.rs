//! What is known of the control of a system without modes, or of one mode.

use super::linearised::{ControlMatrices, DrivingTerm};
use super::terms::{LinearSum, cleaned};
use crate::model::GeneralModel;
use daedal::graph::Expr;
use daedal::linalg::{Mat, RankRule};
use daedal_model::ModelControl;
use daedal_pencils::Kronecker;
use daedal_pencils::control::{
    ControlError, Controllability, DescriptorSystem, EquivalentControl, OptimalityValues, RegularisingFeedback,
    regularise_derivative, regularise_output, regularise_state,
};
use daedal_pencils::structured::OptimalControl;

/// Which feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedbackKind {
    /// u = F x + w.
    State,
    /// u = F y + w.
    Output,
    /// u = −G ẋ + w.
    Derivative,
}

impl FeedbackKind {
    /// All of them.
    pub const ALL: [FeedbackKind; 3] = [FeedbackKind::State, FeedbackKind::Output, FeedbackKind::Derivative];

    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            FeedbackKind::State => "state",
            FeedbackKind::Output => "output",
            FeedbackKind::Derivative => "derivative",
        }
    }

    pub(super) fn make(self, system: &DescriptorSystem, rule: RankRule) -> Result<RegularisingFeedback, ControlError> {
        match self {
            FeedbackKind::State => regularise_state(system, rule),
            FeedbackKind::Output => regularise_output(system, rule),
            FeedbackKind::Derivative => regularise_derivative(system, rule),
        }
    }
}

/// What is known of the control of one system.
pub struct ControlFacts {
    /// Names of the states.
    pub states: Vec<String>,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Outputs as they are written.
    pub outputs: Vec<String>,
    /// Values about which it was linearised, by name, if it is not linear.
    pub point: Option<Vec<(String, f64)>>,
    /// The system without control.
    pub free: Kronecker,
    /// The system with the inputs as unknowns (behaviour approach).
    pub behaviour: Kronecker,
    /// What inputs can do.
    pub controllability: Controllability,
    /// What outputs tell.
    pub observability: Option<Controllability>,
    /// Regularising feedback of every kind, or why there is none.
    pub feedback: Vec<(FeedbackKind, Result<RegularisingFeedback, String>)>,
    /// The optimality conditions, where a cost is given.
    pub optimality: Option<Result<OptimalityValues, String>>,
    /// Equivalent control along the surfaces, where some are given.
    pub sliding: Option<Result<SlidingFacts, String>>,
}

/// Sliding along surfaces.
pub struct SlidingFacts {
    /// The surfaces as they are written.
    pub surfaces: Vec<String>,
    /// Equivalent control: input, and formula.
    pub law: Vec<(String, String)>,
    /// ṡ = Q(u − u_eq).
    pub crossing: Mat<f64>,
    /// The system while it slides.
    pub sliding: Kronecker,
    /// Values of the inputs in this system.
    pub values: Vec<f64>,
}

/// Look at a system with `[control]`; nothing without one.
pub(crate) fn of_general(general: &GeneralModel, rule: RankRule) -> Option<Result<ControlFacts, String>> {
    let control = general.control.as_deref()?;
    Some(
        ControlMatrices::new(&general.formulas, control, &general.initial)
            .and_then(|found| facts(found, control, general, rule)),
    )
}

fn facts(
    mut found: ControlMatrices,
    control: &ModelControl,
    general: &GeneralModel,
    rule: RankRule,
) -> Result<ControlFacts, String> {
    let told = |error: ControlError| error.to_string();
    let DescriptorSystem { E, A, B, .. } = &found.system;
    let pencil = |E: &Mat<f64>, A: &Mat<f64>| Kronecker::new(E, A, rule).map_err(|error| error.to_string());
    let (n, k) = (found.states.len(), found.inputs.len());
    let wide = |X: &Mat<f64>, Y: Option<&Mat<f64>>| {
        Mat::from_fn(n, n + k, |i, j| if j < n { X[(i, j)] } else { Y.map_or(0.0, |Y| Y[(i, j - n)]) })
    };
    let free = pencil(E, A)?;
    let behaviour = pencil(&wide(E, None), &wide(A, Some(B)))?;
    let controllability = Controllability::new(&found.system, rule).map_err(told)?;
    let observed = !control.outputs.is_empty();
    let observability =
        if observed { Some(Controllability::of_outputs(&found.system, rule).map_err(told)?) } else { None };
    let kinds = FeedbackKind::ALL.into_iter().filter(|kind| observed || *kind != FeedbackKind::Output);
    let feedback = kinds.map(|kind| (kind, kind.make(&found.system, rule).map_err(told))).collect();
    let optimality =
        plant(&found).map(|plant| plant.and_then(|plant| OptimalityValues::new(&plant, rule).map_err(told)));
    let sliding = (!control.surfaces.is_empty()).then(|| sliding(&mut found, control, general, rule));
    let point = found.point.as_ref().map(|(x, u)| {
        let named = found.states.iter().chain(&found.inputs).cloned();
        named.zip(x.iter().chain(u).copied()).collect()
    });
    Ok(ControlFacts {
        states: found.states,
        inputs: found.inputs,
        outputs: control.outputs.iter().map(|output| output.text.clone()).collect(),
        point,
        free,
        behaviour,
        controllability,
        observability,
        feedback,
        optimality,
        sliding,
    })
}

/// Plant and quadratic weights.
pub(super) fn plant(found: &ControlMatrices) -> Option<Result<OptimalControl, String>> {
    let cost = found.cost.as_ref()?;
    Some(match (cost, &found.point) {
        (_, Some(_)) => Err("the system is nonlinear: optima are found for linear ones".into()),
        (Err(why), _) => Err(why.clone()),
        (Ok(cost), None) => {
            let (n, k) = (found.states.len(), found.inputs.len());
            let part = |i: usize, j: usize, r: usize, c: usize| cost.W.get(i..i + r, j..j + c).to_owned();
            Ok(OptimalControl {
                E: found.system.E.clone(),
                A: found.system.A.clone(),
                B: found.system.B.clone(),
                Q: part(0, 0, n, n),
                S: part(0, n, n, k),
                R: part(n, n, k, k),
                E_rate: None,
            })
        }
    })
}

fn sliding(
    found: &mut ControlMatrices,
    control: &ModelControl,
    general: &GeneralModel,
    rule: RankRule,
) -> Result<SlidingFacts, String> {
    let system = DescriptorSystem { C: found.surfaces.clone(), ..found.system.clone() };
    let equivalent = EquivalentControl::new(&system, rule).map_err(|error| error.to_string())?;
    let (n, k) = (found.states.len(), found.inputs.len());
    let mut law = Vec::new();
    for i in 0..k {
        let row = |X: &Mat<f64>| (0..X.ncols()).map(|j| X[(i, j)]).collect::<Vec<f64>>();
        let of_states = cleaned(row(&equivalent.of_states));
        let mut sum = LinearSum::of(&of_states, &found.states);
        if let Some((x, u)) = &found.point {
            sum.constant = u[i] - of_states.iter().zip(x).map(|(k, x)| k * x).sum::<f64>();
        }
        let mut formula = match &found.drive {
            DrivingTerm::Constant(b) => {
                sum.constant += row(&equivalent.of_b).iter().zip(b).map(|(k, b)| k * b).sum::<f64>();
                sum.text()
            }
            DrivingTerm::OfTime(b) => {
                let b = b.clone();
                let one = found.graph.with(|| Expr::from(1.0));
                let rates = found.graph.total_derivative(&b, &[(found.t, one)]);
                let (of_b, of_rate) = (cleaned(row(&equivalent.of_b)), cleaned(row(&equivalent.of_rate)));
                let drive = found.graph.with(|| {
                    let mut all = Expr::from(0.0);
                    for j in 0..n {
                        all = all + Expr::from(of_b[j]) * b[j] + Expr::from(of_rate[j]) * rates[j];
                    }
                    all
                });
                let text = found.graph.formula(drive);
                if sum.is_empty() { text } else { format!("{} + ({text})", sum.text()) }
            }
        };
        if formula.is_empty() {
            formula = "0".into();
        }
        law.push((found.inputs[i].clone(), formula));
    }
    let values = control.inputs.iter().map(|(name, _)| {
        let found = general.formulas.parameters.iter().find(|(other, _)| other == name);
        found.map_or(f64::NAN, |(_, value)| *value)
    });
    Ok(SlidingFacts {
        surfaces: control.surfaces.iter().map(|surface| surface.text.clone()).collect(),
        law,
        crossing: equivalent.crossing,
        sliding: equivalent.sliding,
        values: values.collect(),
    })
}
