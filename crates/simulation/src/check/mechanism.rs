//! Bodies and joints at the start: freedoms, redundant rows by name, joint forces.

use daedal::analysis::Analysis;
use daedal::motion::{Form, Layout};
use daedal_multibody::{Mobility, System};
use serde_json::{Value, json};

/// What was found about bodies and joints.
pub struct MechanismCheck {
    /// Freedoms and redundant rows at the start.
    pub mobility: Mobility,
    /// What is redundant, joint by joint, in words.
    pub redundant: Vec<String>,
    /// Bodies without a joint.
    pub free: Vec<String>,
    /// Joints whose axes point the other way than in the drawing.
    pub flipped: Vec<String>,
    /// Forces of all joints at the start.
    pub reactions: Vec<Reaction>,
}

/// What a joint carries: force and torque of its first body on its second one, in the world.
pub struct Reaction {
    /// The joint.
    pub joint: String,
    /// Its kind.
    pub kind: &'static str,
    /// Force.
    pub force: [f64; 3],
    /// Torque at the point of the joint.
    pub torque: [f64; 3],
    /// Is it determined by the motion?
    pub unique: bool,
}

impl MechanismCheck {
    /// Look at the start of an analysis.
    pub fn of(system: &System, found: &Analysis) -> Self {
        let layout = Layout::new(found.sizes, Form::StrangenessFree, false);
        let p = &found.x[layout.p()];
        let mobility = system.mobility(found.t, p);
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_string).collect::<Vec<_>>();
        MechanismCheck {
            redundant: redundant(&mobility),
            free: owned(system.free_bodies()),
            flipped: owned(system.flipped(p)),
            reactions: reactions(system, found, &layout, &mobility),
            mobility,
        }
    }

    pub(super) fn object(&self) -> Value {
        let dependent = self
            .mobility
            .dependent
            .iter()
            .map(|row| json!({ "row": row.row, "joint": row.joint, "from": row.from, "remainder": row.remainder }));
        let reactions = self.reactions.iter().map(|at| {
            json!({ "joint": at.joint, "kind": at.kind, "force": at.force, "torque": at.torque, "unique": at.unique })
        });
        json!({
            "counted": self.mobility.counted,
            "freedoms": self.mobility.freedoms,
            "rows": self.mobility.rows,
            "smallest_kept": self.mobility.smallest_kept,
            "redundant": dependent.collect::<Value>(),
            "not_unique": self.mobility.not_unique,
            "free": self.free,
            "flipped": self.flipped,
            "reactions": reactions.collect::<Value>(),
        })
    }
}

/// "pin4: axial position, both tilts follow from pin1, pin2, pin3".
fn redundant(mobility: &Mobility) -> Vec<String> {
    let mut joints: Vec<(&str, Vec<&str>, Vec<&str>)> = Vec::new();
    for row in &mobility.dependent {
        let part = row.row.rsplit('.').next().unwrap_or(&row.row);
        let from = row.from.iter().map(String::as_str).filter(|other| *other != row.joint);
        match joints.iter_mut().find(|(joint, ..)| *joint == row.joint) {
            Some((_, parts, all)) => {
                parts.push(part);
                let new: Vec<&str> = from.filter(|other| !all.contains(other)).collect();
                all.extend(new);
            }
            None => joints.push((&row.joint, vec![part], from.collect())),
        }
    }
    let words = |part: &&str| match *part {
        "x" | "y" => format!("position along {part} of its frame"),
        "z" => "axial position".to_string(),
        "rx" | "ry" => format!("tilt about {} of its frame", &part[1..]),
        "rz" => "rotation about its axis".to_string(),
        other => other.to_string(),
    };
    joints
        .into_iter()
        .map(|(joint, parts, from)| {
            let parts: Vec<String> = parts.iter().map(words).collect();
            let (follow, from) = (if parts.len() == 1 { "follows" } else { "follow" }, from.join(", "));
            format!("{joint}: {} {follow} from {from}", parts.join(", "))
        })
        .collect()
}

fn reactions(system: &System, found: &Analysis, layout: &Layout, mobility: &Mobility) -> Vec<Reaction> {
    let view = system.view(found.t, &found.x[layout.p()], &found.x[layout.v()]);
    let (mut lambda, mut mu) = (found.x[layout.lambda()].iter(), found.x[layout.mu()].iter());
    let rows = system.constraints(&view);
    let carried: Vec<f64> = rows
        .iter()
        .map(|row| if row.holonomic { lambda.next() } else { mu.next() }.copied().unwrap_or(f64::NAN))
        .collect();
    let mut reactions = Vec::new();
    for (j, joint) in system.joints().iter().enumerate() {
        let own: Vec<_> =
            rows.iter().zip(&carried).filter(|(row, _)| row.joint == j).map(|(row, l)| (row, *l)).collect();
        if own.is_empty() {
            continue;
        }
        let [force, torque] = system.reaction(&view, j, &own);
        let unique = !mobility.not_unique.contains(&joint.name);
        reactions.push(Reaction { joint: joint.name.clone(), kind: joint.kind.name(), force, torque, unique });
    }
    reactions
}
