//! When which mode was active, as bands behind the plots.
//!
//! All phases stand in the page, so that zooming shows the short ones, unless there are too many: then neighbours that are too short are
//! one band of chattering. The script does the same once more for what is narrower than a pixel.

use crate::hybrid::{ModeHistory, PhaseRecord};
use crate::page::plots::PlotValue;
use serde::Serialize;

/// With more phases than this, short ones are put together.
const MOST: usize = 20_000;

/// Bands of all modes.
#[derive(Serialize)]
pub struct Bands {
    modes: Vec<BandMode>,
    /// begins of the bands
    t: Vec<PlotValue>,
    /// end of the last one
    end: PlotValue,
    /// mode of each band; `None` for several modes in short succession
    mode: Vec<Option<usize>>,
    /// times of switches, one of those that lie too close
    switches: Vec<PlotValue>,
}

#[derive(Serialize)]
struct BandMode {
    name: String,
    sliding: bool,
}

/// The bands of a run.
pub fn bands(hybrid: &ModeHistory) -> Bands {
    let (begin, end) = (hybrid.phases.first().map_or(0.0, |p| p.t0), hybrid.phases.last().map_or(0.0, |p| p.t1));
    let shortest = if hybrid.phases.len() > MOST { (end - begin) / MOST as f64 } else { 0.0 };
    let bands = merged(&hybrid.phases, shortest);
    let mut switches: Vec<f64> = Vec::new();
    for switch in &hybrid.switches {
        if switches.last().is_none_or(|last| switch.t - last > shortest) {
            switches.push(switch.t);
        }
    }
    Bands {
        modes: hybrid.modes.iter().map(|mode| BandMode { name: mode.name.clone(), sliding: mode.sliding }).collect(),
        t: bands.iter().map(|band| PlotValue(band.0)).collect(),
        end: PlotValue(end),
        mode: bands.iter().map(|band| band.1).collect(),
        switches: switches.into_iter().map(PlotValue).collect(),
    }
}

/// Begin and mode of each band. Phases without any time are left out; two or more neighbours that are shorter than `shortest` become one.
fn merged(phases: &[PhaseRecord], shortest: f64) -> Vec<(f64, Option<usize>)> {
    let mut bands: Vec<(f64, Option<usize>)> = Vec::new();
    let mut was_short = false;
    for phase in phases.iter().filter(|phase| phase.t1 > phase.t0) {
        let is_short = phase.t1 - phase.t0 < shortest;
        match bands.last_mut() {
            Some(last) if is_short && was_short => last.1 = None,
            Some(last) if last.1 == Some(phase.mode) => {}
            _ => bands.push((phase.t0, Some(phase.mode))),
        }
        was_short = is_short;
    }
    bands
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phases(ends: &[(usize, f64)]) -> Vec<PhaseRecord> {
        let mut t0 = 0.0;
        let phase = |&(mode, t1): &(usize, f64)| {
            let phase = PhaseRecord { mode, t0, t1 };
            t0 = t1;
            phase
        };
        ends.iter().map(phase).collect()
    }

    #[test]
    fn short_neighbours_become_one_band_and_long_ones_stay() {
        let phases = phases(&[(0, 1.0), (1, 1.01), (0, 1.02), (1, 1.03), (0, 2.0), (1, 2.01), (0, 3.0), (2, 3.0)]);
        let all = merged(&phases, 0.0);
        assert_eq!(all.len(), 7, "a mode without any time has no band");
        let fewer = merged(&phases, 0.1);
        assert_eq!(fewer, [(0.0, Some(0)), (1.0, None), (1.03, Some(0)), (2.0, Some(1)), (2.01, Some(0))]);
    }

    #[test]
    fn a_hundred_thousand_phases_are_few_bands() {
        let ends: Vec<(usize, f64)> = (0..100_000).map(|k| (k % 2, 1e-5 * (k + 1) as f64)).collect();
        let bands = bands(&ModeHistory { phases: phases(&ends), ..ModeHistory::default() });
        assert_eq!((bands.t.len(), bands.mode[0]), (1, None));
    }
}
