//! The moving picture of a run: the shapes of the model and its bodies, and their coordinates at the times of the frames.
//!
//! Frames stand at equal times, sixty in a second of the animation, and are computed like the points between the steps, on the polynomials
//! over them. So they change nothing in the run: without polynomials, with `--save steps` or a number of points, the frames are the points
//! that were kept.

mod bodies;

use crate::model::{DrawnModel, ModelSystem};
use crate::modes::table::ColumnTable;
use crate::outcome::{Computed, Outcome, SolverResult};
use crate::outputs::ModelOutputs;
use crate::record::Stretch;
use bodies::DrawnBodies;
use daedal::Save;
use daedal::hybrid::HybridSolution;
use daedal_model::{HybridModel, LineStyle, ModelKind, ModelPicture, PictureKind, PictureShape, PictureValue};
use daedal_run::{Coordinate, DrawingKind, Scene, SceneDrawing, SceneFrames, SceneTrace, Stroke};
use std::collections::HashMap;

/// Frames in a second of the animation.
const RATE: f64 = 60.0;
/// Most frames.
const MOST_FRAMES: f64 = 3_000.0;
/// Most numbers of all frames together: forty megabytes on a page.
const MOST_NUMBERS: f64 = 1e7;
/// How many seconds an animation should last at least and at most, where the file does not give its speed.
const LASTS: (f64, f64) = (3.0, 50.0);

/// The picture of a run, if its model has one or is made of bodies.
pub fn scene(outcome: &Outcome, computed: &Computed, stretches: &[Stretch]) -> Option<Scene> {
    let content = &outcome.model.content;
    let drawn = content.picture.as_deref();
    let mut bodies = match (&content.equations, &computed.result) {
        (ModelSystem::Motion(motion), _) => {
            let drawn = motion.bodies.as_deref().zip(motion.formulas.as_ref());
            drawn.map(|(system, formulas)| DrawnBodies::new(system, formulas))
        }
        (ModelSystem::Modes(_), SolverResult::Modes { solution, model, .. }) => DrawnBodies::in_modes(model, solution),
        _ => None,
    };
    if drawn.is_none() && bodies.is_none() {
        return None;
    }
    let mut shapes = drawn.map(|drawn| DrawnShapes::new(outcome, computed, drawn));
    let of_shapes = shapes.as_ref().map_or(0, |shapes| shapes.formulas.len());
    let count = of_shapes + bodies.as_ref().map_or(0, DrawnBodies::columns);

    let (t0, t1) = (outcome.interval.0, computed.t);
    let given = drawn.and_then(|drawn| drawn.picture.speed);
    let speed = given.unwrap_or_else(|| usual_speed((outcome.interval.1 - t0).abs()));
    let most = (MOST_NUMBERS / count.max(1) as f64).clamp(2.0, MOST_FRAMES);
    let wanted = (outcome.save == Save::Dense).then(|| frame_times(t0, t1, speed, most));
    let mut frames = SceneFrames { t: Vec::new(), columns: vec![Vec::new(); count] };
    let mut take = |mode: usize, t: f64, x: &[f64]| {
        frames.t.push(t);
        let of_shapes = shapes.as_mut().map_or(Vec::new(), |shapes| shapes.frame(mode, t, x));
        let of_bodies = bodies.as_mut().map_or(Vec::new(), |bodies| bodies.frame(mode, t, x));
        let values = of_shapes.into_iter().chain(of_bodies);
        frames.columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    };
    for_each_frame(stretches, wanted.as_deref(), &mut take);
    if stretches.iter().all(|stretch| stretch.points.is_empty()) {
        let (mode, x) = end_state(&computed.result);
        take(mode, computed.t, x);
    }
    let of_bodies = frames.columns.split_off(of_shapes);
    let mut scene = match drawn {
        Some(drawn) => assembled(&drawn.picture, speed, frames),
        None => Scene { speed, frames, ..Scene::default() },
    };
    if let Some(bodies) = bodies {
        let first = scene.frames.columns.len();
        scene.frames.columns.extend(of_bodies);
        scene.up = drawn.and_then(|drawn| drawn.picture.up).unwrap_or_else(|| bodies::upward(bodies.system()));
        bodies.draw(&mut scene, first);
    }
    Some(scene)
}

/// The formulas of a picture along a run.
struct DrawnShapes {
    table: ColumnTable,
    /// places of the formulas in a row; none where no mode has one
    formulas: Vec<Option<usize>>,
}

impl DrawnShapes {
    fn new(outcome: &Outcome, computed: &Computed, drawn: &DrawnModel) -> Self {
        let table = match &computed.result {
            SolverResult::Single { solution, .. } => {
                let outputs = ModelOutputs::of_picture(&outcome.model, drawn, &solution.names, name);
                ColumnTable::with_outputs(outputs, solution)
            }
            SolverResult::Modes { solution, model, .. } => of_modes(model, solution),
        };
        let places: HashMap<&str, usize> = table.names.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
        let count = drawn.picture.shapes.iter().flat_map(values).filter_map(number).max().map_or(0, |k| k + 1);
        let formulas = (0..count).map(|k| places.get(name(k).as_str()).copied()).collect();
        DrawnShapes { table, formulas }
    }

    /// Their values at a point.
    fn frame(&mut self, mode: usize, t: f64, x: &[f64]) -> Vec<f64> {
        let row = self.table.at(mode, t, x, None);
        self.formulas.iter().map(|place| place.map_or(f64::NAN, |place| row[place])).collect()
    }
}

/// How a formula of a picture is called; no variable has such a name.
fn name(k: usize) -> String {
    format!("picture {k}")
}

fn number(value: PictureValue) -> Option<usize> {
    match value {
        PictureValue::Formula(k) => Some(k),
        PictureValue::Number(_) => None,
    }
}

/// All numbers of a shape.
fn values(shape: &PictureShape) -> impl Iterator<Item = PictureValue> + '_ {
    let lists = shape.points.iter().chain(&shape.at).chain(&shape.axis).chain(&shape.vector);
    lists.flatten().chain(&shape.angle).chain(&shape.radius).copied()
}

/// The columns of a run through modes, with formulas of the picture where the outputs are otherwise.
fn of_modes(model: &HybridModel, solution: &HybridSolution) -> ColumnTable {
    let mut model = model.clone();
    for mode in &mut model.modes {
        let formulas = mode.picture.iter().map(|&(k, e)| (name(k), e)).collect();
        match &mut mode.kind {
            ModelKind::Motion { formulas: of, .. } => of.outputs = formulas,
            ModelKind::Dae { formulas: of, .. } => of.outputs = formulas,
            ModelKind::Hybrid(_) => {}
        }
    }
    ColumnTable::new(&model, solution)
}

fn end_state(result: &SolverResult) -> (usize, &[f64]) {
    match result {
        SolverResult::Single { solution, .. } => (0, &solution.end.x),
        SolverResult::Modes { solution, .. } => (solution.end_mode, &solution.end.x),
    }
}

/// One, if the animation lasts neither too short nor too long with it; else 1, 2 or 5 times a power of ten.
fn usual_speed(duration: f64) -> f64 {
    if (LASTS.0..=LASTS.1).contains(&duration) || !(duration > 0.0) {
        return 1.0;
    }
    let slowest = duration / if duration < LASTS.0 { 10.0 } else { 30.0 };
    let power = 10.0_f64.powf(slowest.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|k| k * power).rfind(|speed| *speed <= slowest * (1.0 + 1e-9)).unwrap_or(slowest)
}

/// Equal times from one end to the other.
fn frame_times(t0: f64, t1: f64, speed: f64, most: f64) -> Vec<f64> {
    let parts = (RATE * (t1 - t0).abs() / speed).ceil().clamp(1.0, most - 1.0) as usize;
    (0..=parts).map(|k| if k == parts { t1 } else { t0 + (t1 - t0) * k as f64 / parts as f64 }).collect()
}

/// Visit mode, time and state of all frames: at the wanted times on the polynomials, or at the points that were kept.
fn for_each_frame(stretches: &[Stretch], wanted: Option<&[f64]>, visit: &mut dyn FnMut(usize, f64, &[f64])) {
    let Some(wanted) = wanted else {
        // two points of one time, on both sides of a switch, are one frame
        let mut last = None;
        for (mode, (t, x, _)) in stretches.iter().flat_map(|s| s.points.iter().map(|point| (s.mode, point))) {
            if last != Some(*t) {
                visit(mode, *t, x);
            }
            last = Some(*t);
        }
        return;
    };
    let sense = if wanted.last() < wanted.first() { -1.0 } else { 1.0 };
    let mut open = wanted.iter().copied().peekable();
    for stretch in stretches {
        for (k, (t, x, _)) in stretch.points.iter().enumerate() {
            while let Some(at) = open.next_if(|at| sense * at <= sense * t) {
                // the step that ends here; the first point of a stretch stands for what was before
                match k.checked_sub(1).and_then(|before| stretch.segments.get(before)).filter(|_| at != *t) {
                    Some(segment) => visit(stretch.mode, at, &stretch.inside(segment, at).0),
                    None => visit(stretch.mode, at, x),
                }
            }
        }
    }
}

/// The scene, whose columns are those that move.
fn assembled(picture: &ModelPicture, speed: f64, frames: SceneFrames) -> Scene {
    // formulas with equal values share a column, those that do not move are numbers
    let mut seen: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut coordinates = Vec::new();
    for values in frames.columns {
        let first = values[0];
        if first.is_finite() && values.iter().all(|x| *x == first) {
            coordinates.push(Coordinate::Fixed(first));
            continue;
        }
        let bits = values.iter().map(|x| x.to_bits()).collect();
        let column = *seen.entry(bits).or_insert_with(|| {
            columns.push(values);
            columns.len() - 1
        });
        coordinates.push(Coordinate::Column { column });
    }
    let value = |of: &PictureValue| match *of {
        PictureValue::Number(x) => Coordinate::Fixed(x),
        PictureValue::Formula(k) => coordinates[k],
    };
    let all = |of: &Vec<PictureValue>| of.iter().map(value).collect::<Vec<_>>();
    let mut scene = Scene {
        dimension: if picture.dimension == 3 { 3 } else { 2 },
        up: if picture.dimension == 3 { picture.up.unwrap_or([0.0, 0.0, 1.0]) } else { [0.0, 1.0, 0.0] },
        unit: picture.unit.clone(),
        speed,
        frames: SceneFrames { t: frames.t, columns },
        ..Scene::default()
    };
    for shape in &picture.shapes {
        let kind = match shape.kind {
            PictureKind::Point => DrawingKind::Point,
            PictureKind::Line => DrawingKind::Line,
            PictureKind::Circle => DrawingKind::Circle,
            PictureKind::Spring => DrawingKind::Spring,
            PictureKind::Polygon => DrawingKind::Polygon,
            PictureKind::Arrow => DrawingKind::Arrow,
            PictureKind::Trace => {
                let (color, width) = (shape.color.clone(), shape.width);
                scene.traces.push(SceneTrace { body: None, point: all(&shape.points[0]), color, width });
                continue;
            }
        };
        scene.drawings.push(SceneDrawing {
            kind,
            points: shape.points.iter().map(all).collect(),
            at: shape.at.as_ref().map(all),
            angle: shape.angle.as_ref().map(value),
            radius: shape.radius.as_ref().map(value),
            axis: shape.axis.as_ref().map(all),
            vector: shape.vector.as_ref().map(all),
            size: shape.size,
            coils: shape.coils,
            scale: shape.scale,
            width: shape.width,
            color: shape.color.clone(),
            fill: shape.fill,
            style: match shape.style {
                LineStyle::Solid => Stroke::Solid,
                LineStyle::Dashed => Stroke::Dashed,
                LineStyle::Ground => Stroke::Ground,
            },
        });
    }
    scene
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_animation_lasts_neither_too_short_nor_too_long() {
        assert_eq!([3.0, 10.0, 50.0].map(usual_speed), [1.0; 3]);
        assert_eq!([0.03, 1.0, 120.0, 0.0].map(usual_speed), [0.002, 0.1, 2.0, 1.0]);
        for duration in [1e-9, 0.07, 2.9, 51.0, 1e3, 3.1e10] {
            let lasts = duration / usual_speed(duration);
            assert!((9.0..=76.0).contains(&lasts), "{duration}: {lasts}");
        }
    }

    #[test]
    fn frames_stand_at_equal_times_with_both_ends_and_have_a_limit() {
        assert_eq!(frame_times(0.0, 1.0, 10.0, 3000.0), [0.0, 1.0 / 6.0, 2.0 / 6.0, 0.5, 4.0 / 6.0, 5.0 / 6.0, 1.0]);
        assert_eq!(frame_times(2.0, 0.0, 60.0, 3000.0), [2.0, 1.0, 0.0]);
        assert_eq!(frame_times(0.0, 1e3, 1.0, 3000.0).len(), 3000);
        assert_eq!(frame_times(0.0, 0.0, 1.0, 3000.0), [0.0, 0.0]);
    }
}
