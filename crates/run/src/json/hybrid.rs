//! The modes of a run as they are written: lists of objects, without what is empty or usual.

use crate::hybrid::{Hybrid, Jump, Mode, Phase, Restart, Smoothness, Switch, SwitchKind};
use crate::number::{Number, absent};
use crate::run::Warning;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub struct HybridRecord {
    modes: Vec<ModeRecord>,
    #[serde(default, deserialize_with = "absent")]
    phases: Vec<PhaseRecord>,
    #[serde(default, deserialize_with = "absent")]
    switches: Vec<SwitchRecord>,
    /// Where files had their warnings before every run had some.
    #[serde(default, deserialize_with = "absent", skip_serializing)]
    pub(super) warnings: Vec<WarningRecord>,
}

#[derive(Serialize, Deserialize)]
struct ModeRecord {
    name: String,
    #[serde(default, deserialize_with = "absent")]
    sliding: bool,
    #[serde(default, deserialize_with = "absent")]
    unknowns: Vec<String>,
    #[serde(default)]
    steps: Option<u64>,
    #[serde(default)]
    decisions: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct PhaseRecord {
    mode: usize,
    t0: Number,
    t1: Number,
}

#[derive(Serialize, Deserialize)]
struct SwitchRecord {
    t: Number,
    from: usize,
    to: usize,
    condition: String,
    kind: SwitchKind,
    #[serde(default, deserialize_with = "absent", skip_serializing_if = "Smoothness::is_smooth")]
    smoothness: Smoothness,
    #[serde(default, deserialize_with = "absent", skip_serializing_if = "Vec::is_empty")]
    jumps: Vec<JumpRecord>,
    /// multiplier, impulse
    #[serde(default, deserialize_with = "absent", skip_serializing_if = "Vec::is_empty")]
    impulses: Vec<(String, Number)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    restart: Option<RestartRecord>,
    #[serde(default, deserialize_with = "absent", skip_serializing_if = "std::ops::Not::not")]
    chattering: bool,
}

#[derive(Serialize, Deserialize)]
struct RestartRecord {
    way: String,
    /// kind, largest change
    #[serde(default)]
    moved: Vec<(String, Number)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    momentum: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    energy: Option<Number>,
}

#[derive(Serialize, Deserialize)]
struct JumpRecord {
    name: String,
    before: Number,
    after: Number,
}

/// A warning of a run.
#[derive(Serialize, Deserialize)]
pub struct WarningRecord {
    #[serde(default)]
    t: Option<Number>,
    message: String,
}

impl WarningRecord {
    pub fn of(warning: &Warning) -> Self {
        WarningRecord { t: warning.t.map(Number), message: warning.message.clone() }
    }

    pub fn into_warning(self) -> Warning {
        Warning { t: self.t.map(|Number(t)| t), message: self.message }
    }
}

impl HybridRecord {
    pub fn of(hybrid: &Hybrid) -> Self {
        let mode = |mode: &Mode| ModeRecord {
            name: mode.name.clone(),
            sliding: mode.sliding,
            unknowns: mode.unknowns.clone(),
            steps: mode.steps,
            decisions: mode.decisions.clone(),
        };
        let phase = |phase: &Phase| PhaseRecord { mode: phase.mode, t0: Number(phase.t0), t1: Number(phase.t1) };
        let jump = |jump: &Jump| JumpRecord {
            name: jump.name.clone(),
            before: Number(jump.before),
            after: Number(jump.after),
        };
        let restart = |restart: &Restart| RestartRecord {
            way: restart.way.clone(),
            moved: restart.moved.iter().map(|(kind, change)| (kind.clone(), Number(*change))).collect(),
            momentum: restart.momentum.map(Number),
            energy: restart.energy.map(Number),
        };
        let switch = |switch: &Switch| SwitchRecord {
            t: Number(switch.t),
            from: switch.from,
            to: switch.to,
            condition: switch.condition.clone(),
            kind: switch.kind,
            smoothness: switch.smoothness,
            jumps: switch.jumps.iter().map(jump).collect(),
            impulses: switch.impulses.iter().map(|(name, x)| (name.clone(), Number(*x))).collect(),
            restart: switch.restart.as_ref().map(restart),
            chattering: switch.chattering,
        };
        HybridRecord {
            modes: hybrid.modes.iter().map(mode).collect(),
            phases: hybrid.phases.iter().map(phase).collect(),
            switches: hybrid.switches.iter().map(switch).collect(),
            warnings: Vec::new(),
        }
    }

    pub fn into_hybrid(self) -> Hybrid {
        let mode = |mode: ModeRecord| Mode {
            name: mode.name,
            sliding: mode.sliding,
            unknowns: mode.unknowns,
            steps: mode.steps,
            decisions: mode.decisions,
        };
        let phase = |phase: PhaseRecord| Phase { mode: phase.mode, t0: phase.t0.0, t1: phase.t1.0 };
        let jump = |jump: JumpRecord| Jump { name: jump.name, before: jump.before.0, after: jump.after.0 };
        let restart = |restart: RestartRecord| Restart {
            way: restart.way,
            moved: restart.moved.into_iter().map(|(kind, Number(change))| (kind, change)).collect(),
            momentum: restart.momentum.map(|x| x.0),
            energy: restart.energy.map(|x| x.0),
        };
        let switch = |switch: SwitchRecord| Switch {
            t: switch.t.0,
            from: switch.from,
            to: switch.to,
            condition: switch.condition,
            kind: switch.kind,
            smoothness: switch.smoothness,
            jumps: switch.jumps.into_iter().map(jump).collect(),
            impulses: switch.impulses.into_iter().map(|(name, Number(x))| (name, x)).collect(),
            restart: switch.restart.map(restart),
            chattering: switch.chattering,
        };
        Hybrid {
            modes: self.modes.into_iter().map(mode).collect(),
            phases: self.phases.into_iter().map(phase).collect(),
            switches: self.switches.into_iter().map(switch).collect(),
        }
    }
}
