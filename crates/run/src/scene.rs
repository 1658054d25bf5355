//! The moving picture of a run as data: what is drawn, and its coordinates at the times of the frames.
//!
//! Bodies carry shapes and move by poses, (x, y, z, q₀, q₁, q₂, q₃) in space and (x, y, φ) in the plane. Drawings are points, lines, circles,
//! springs, polygons and arrows whose coordinates are numbers or columns of the frames. Whoever shows it reads nothing else.

use crate::error::Inconsistent;
use crate::number;
use crate::run::{ordered, same_length};
use serde::{Deserialize, Serialize};

/// A moving picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// 2: flat, in x and y; 3: in space.
    pub dimension: u8,
    /// Direction that is up.
    #[serde(default = "upward")]
    pub up: [f64; 3],
    /// Unit of lengths as text, where known.
    #[serde(default)]
    pub unit: Option<String>,
    /// Extent of the whole, in lengths of the model; what the frames show if absent.
    #[serde(default)]
    pub size: Option<f64>,
    /// Time of the model in a second of the animation.
    #[serde(default = "one")]
    pub speed: f64,
    /// Bodies with their shapes.
    #[serde(default)]
    pub bodies: Vec<SceneBody>,
    /// Joints between them.
    #[serde(default)]
    pub joints: Vec<SceneJoint>,
    /// Springs, dampers and other elements between them.
    #[serde(default)]
    pub forces: Vec<SceneForce>,
    /// Points whose way is drawn.
    #[serde(default)]
    pub traces: Vec<SceneTrace>,
    /// Shapes by coordinates, the last one on top.
    #[serde(default)]
    pub drawings: Vec<SceneDrawing>,
    /// The coordinates.
    #[serde(default)]
    pub frames: SceneFrames,
}

impl Default for Scene {
    fn default() -> Self {
        Scene {
            dimension: 3,
            up: upward(),
            unit: None,
            size: None,
            speed: one(),
            bodies: Vec::new(),
            joints: Vec::new(),
            forces: Vec::new(),
            traces: Vec::new(),
            drawings: Vec::new(),
            frames: SceneFrames::default(),
        }
    }
}

fn upward() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

fn one() -> f64 {
    1.0
}

/// Coordinates at the times of the frames.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SceneFrames {
    /// Times in the order of the run.
    #[serde(with = "number::exact")]
    pub t: Vec<f64>,
    /// One list of values over these times for each column; NaN where the active mode does not have it.
    #[serde(with = "number::exact")]
    pub columns: Vec<Vec<f64>>,
}

/// A coordinate: a number, or a column of the frames.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Coordinate {
    /// It does not move.
    Fixed(f64),
    /// It moves.
    Column {
        /// Its column.
        column: usize,
    },
}

/// A body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneBody {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// How it moves.
    pub pose: Pose,
    /// A name of a colour, or #rrggbb.
    #[serde(default)]
    pub color: Option<String>,
    /// Its shapes, in its own frame.
    #[serde(default)]
    pub shapes: Vec<SceneShape>,
}

/// Where a body is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Pose {
    /// Columns of the frames: place and quaternion, body to world, in space; place and angle in the plane.
    Columns(Vec<usize>),
    /// It does not move.
    Fixed {
        /// Its place.
        at: [f64; 3],
        /// Its quaternion.
        #[serde(default = "unturned")]
        rotation: [f64; 4],
    },
}

fn unturned() -> [f64; 4] {
    [1.0, 0.0, 0.0, 0.0]
}

/// A shape of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneShape {
    /// What it is.
    pub kind: ShapeKind,
    /// Edges of a box; radius and length of a cylinder or capsule, whose axis is z; radius of a sphere; edges of a plane, normal to z;
    /// scale of a mesh.
    pub size: Vec<f64>,
    /// Its centre in the frame of the body.
    #[serde(default)]
    pub at: [f64; 3],
    /// Its quaternion in the frame of the body.
    #[serde(default = "unturned")]
    pub rotation: [f64; 4],
    /// Corners of a mesh: x, y, z of one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vertices: Option<Vec<f64>>,
    /// Triangles of a mesh: three corners each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triangles: Option<Vec<u32>>,
}

/// Kinds of shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShapeKind {
    /// Three edges.
    Box,
    /// Radius and length.
    Cylinder,
    /// Radius.
    Sphere,
    /// Radius, and length of the part between the half spheres.
    Capsule,
    /// Two edges.
    Plane,
    /// Corners and triangles.
    Mesh,
}

/// A joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneJoint {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// What kind of joint, as the model calls it.
    pub kind: String,
    /// The two bodies; none is the ground.
    pub bodies: [Option<usize>; 2],
    /// Its place in the frame of the first body, or in the world if that is the ground.
    pub at: [f64; 3],
    /// Its axis in the same frame: that of a hinge or a slide, the normal of a plane, the pin of a universal joint.
    #[serde(default)]
    pub axis: Option<[f64; 3]>,
    /// An axis in the frame of the second body, or in the world if that is the ground: the other pin of a universal joint, the other shaft, a blade.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_axis: Option<[f64; 3]>,
    /// Columns of the force on the second body, in the world.
    #[serde(default)]
    pub force: Option<[usize; 3]>,
}

/// An element between two points of bodies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneForce {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// What kind of element; springs are drawn as such.
    pub kind: String,
    /// Where it begins.
    pub from: Anchor,
    /// Where it ends.
    pub to: Anchor,
}

/// A point of a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// The body; none is the ground.
    pub body: Option<usize>,
    /// The point in the frame of the body, or in the world.
    pub point: [f64; 3],
}

/// A point whose way is drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneTrace {
    /// The body that it belongs to; without one its coordinates are those of the world.
    #[serde(default)]
    pub body: Option<usize>,
    /// Its coordinates, two or three.
    pub point: Vec<Coordinate>,
    /// A name of a colour, or #rrggbb.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// Width in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
}

/// A shape by coordinates; which fields it has depends on its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneDrawing {
    /// What it is.
    pub kind: DrawingKind,
    /// The point, both ends, or all corners; those of a polygon that has `at` are relative to it.
    pub points: Vec<Vec<Coordinate>>,
    /// Where the corners of a polygon are placed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Vec<Coordinate>>,
    /// By how much a circle or a polygon is turned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angle: Option<Coordinate>,
    /// Radius of a circle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<Coordinate>,
    /// Axis of a circle in space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<Vec<Coordinate>>,
    /// What an arrow shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector: Option<Vec<Coordinate>>,
    /// Radius of a point or of a spring, in lengths of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// Windings of a spring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coils: Option<f64>,
    /// Length of an arrow for each unit of what it shows; chosen so that the longest one can be seen if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Width of lines in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// A name of a colour, or #rrggbb.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// Is it filled?
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<bool>,
    /// How lines are drawn.
    #[serde(default)]
    pub style: Stroke,
}

impl SceneDrawing {
    /// A shape with nothing but its kind and its points.
    pub fn new(kind: DrawingKind, points: Vec<Vec<Coordinate>>) -> Self {
        SceneDrawing {
            kind,
            points,
            at: None,
            angle: None,
            radius: None,
            axis: None,
            vector: None,
            size: None,
            coils: None,
            scale: None,
            width: None,
            color: None,
            fill: None,
            style: Stroke::Solid,
        }
    }

    /// All of its coordinates, in lists that stand for a point or a vector.
    fn vectors(&self) -> impl Iterator<Item = &Vec<Coordinate>> {
        self.points.iter().chain(&self.at).chain(&self.axis).chain(&self.vector)
    }
}

/// Kinds of drawings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DrawingKind {
    /// A dot.
    Point,
    /// Straight lines through two points or more.
    Line,
    /// A circle, with a spoke where it has an angle.
    Circle,
    /// A spring between two points.
    Spring,
    /// A closed line.
    Polygon,
    /// A force, or another vector.
    Arrow,
}

/// How lines are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stroke {
    /// Without gaps.
    #[default]
    Solid,
    /// With gaps.
    Dashed,
    /// Hatched on the right side, looking along it: what does not move.
    Ground,
}

impl Scene {
    /// Is there anything to see?
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty() && self.drawings.is_empty() && self.traces.is_empty()
    }

    /// The value of a coordinate in a frame.
    pub fn value(&self, coordinate: Coordinate, frame: usize) -> f64 {
        match coordinate {
            Coordinate::Fixed(x) => x,
            Coordinate::Column { column } => self.frames.columns[column][frame],
        }
    }

    /// Do all columns and bodies that are named exist, and has everything the dimension of the whole?
    pub(crate) fn check(&self) -> Result<(), Inconsistent> {
        ordered("frames of the scene", &self.frames.t)?;
        for (k, column) in self.frames.columns.iter().enumerate() {
            same_length(&format!("column {k} of the scene"), column.len(), "frames", self.frames.t.len())?;
        }
        let wrong = |what: String| Err(Inconsistent::Scene { what });
        let dimension = usize::from(self.dimension);
        if !(2..=3).contains(&dimension) {
            return wrong(format!("its dimension is {dimension}, which is neither 2 nor 3"));
        }
        if !(self.speed.is_finite() && self.speed > 0.0) {
            return wrong(format!("its speed is {:?}", self.speed));
        }
        let (columns, bodies) = (self.frames.columns.len(), self.bodies.len());
        let body = |what: &str, of: Option<usize>| match of {
            Some(k) if k >= bodies => wrong(format!("{what} names body {k}, but there are {bodies}, counted from 0")),
            _ => Ok(()),
        };
        let column = |what: &str, k: usize| match k {
            k if k >= columns => wrong(format!("{what} names column {k}, but there are {columns}, counted from 0")),
            _ => Ok(()),
        };
        for of in &self.bodies {
            let what = format!("the body {}", of.name);
            if let Pose::Columns(pose) = &of.pose {
                same_length(
                    &format!("the pose of {what}"),
                    pose.len(),
                    "coordinates",
                    if dimension == 2 { 3 } else { 7 },
                )?;
                pose.iter().try_for_each(|&k| column(&what, k))?;
            }
            for shape in &of.shapes {
                shape.check(&what)?;
            }
        }
        for joint in &self.joints {
            let what = format!("the joint {}", joint.name);
            joint.bodies.iter().try_for_each(|&of| body(&what, of))?;
            joint.force.iter().flatten().try_for_each(|&k| column(&what, k))?;
        }
        for force in &self.forces {
            let what = format!("the force {}", force.name);
            [force.from.body, force.to.body].into_iter().try_for_each(|of| body(&what, of))?;
        }
        let point = |what: &str, point: &[Coordinate]| {
            same_length(&format!("a point of {what}"), point.len(), "coordinates", dimension)?;
            point.iter().try_for_each(|coordinate| match *coordinate {
                Coordinate::Column { column: k } => column(what, k),
                Coordinate::Fixed(x) if !x.is_finite() => wrong(format!("{what} has the coordinate {x:?}")),
                Coordinate::Fixed(_) => Ok(()),
            })
        };
        for (k, trace) in self.traces.iter().enumerate() {
            let what = format!("trace {k}");
            body(&what, trace.body)?;
            point(&what, &trace.point)?;
        }
        for (k, drawing) in self.drawings.iter().enumerate() {
            let what = format!("drawing {k}");
            drawing.vectors().try_for_each(|of| point(&what, of))?;
            let singles = [drawing.angle, drawing.radius].into_iter().flatten();
            for single in singles {
                if let Coordinate::Column { column: k } = single {
                    column(&what, k)?;
                }
            }
            let least = match drawing.kind {
                DrawingKind::Point | DrawingKind::Circle | DrawingKind::Arrow => 1,
                DrawingKind::Line | DrawingKind::Spring => 2,
                DrawingKind::Polygon => 3,
            };
            if drawing.points.len() < least {
                return wrong(format!("{what} has {} points, but needs {least}", drawing.points.len()));
            }
            let needed = match drawing.kind {
                DrawingKind::Circle => drawing.radius.is_some(),
                DrawingKind::Arrow => drawing.vector.is_some(),
                _ => true,
            };
            if !needed {
                return wrong(format!(
                    "{what} has no {}",
                    if drawing.radius.is_none() { "radius or vector" } else { "vector" }
                ));
            }
        }
        Ok(())
    }
}

impl SceneShape {
    fn check(&self, of: &str) -> Result<(), Inconsistent> {
        let wanted = match self.kind {
            ShapeKind::Box => 3,
            ShapeKind::Cylinder | ShapeKind::Capsule | ShapeKind::Plane => 2,
            ShapeKind::Sphere | ShapeKind::Mesh => 1,
        };
        same_length(&format!("the size of a shape of {of}"), self.size.len(), "numbers of its kind", wanted)?;
        let corners = self.vertices.as_ref().map_or(0, Vec::len) / 3;
        let triangles = self.triangles.as_deref().unwrap_or_default();
        if self.kind == ShapeKind::Mesh && (corners == 0 || triangles.is_empty() || !triangles.len().is_multiple_of(3))
        {
            return Err(Inconsistent::Scene { what: format!("a mesh of {of} has no corners or no triangles") });
        }
        match triangles.iter().find(|&&k| k as usize >= corners) {
            Some(k) => Err(Inconsistent::Scene { what: format!("a mesh of {of} names corner {k} of {corners}") }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene() -> Scene {
        let column = |column| Coordinate::Column { column };
        let line = vec![vec![Coordinate::Fixed(0.0), Coordinate::Fixed(0.0)], vec![column(0), column(1)]];
        Scene {
            dimension: 2,
            drawings: vec![SceneDrawing::new(DrawingKind::Line, line)],
            frames: SceneFrames { t: vec![0.0, 1.0], columns: vec![vec![1.0, 2.0], vec![0.5, f64::NAN]] },
            ..Scene::default()
        }
    }

    #[test]
    fn a_scene_is_written_and_read_with_its_gaps() {
        let text = serde_json::to_string(&scene()).expect("text");
        assert!(text.contains(r#""points":[[0.0,0.0],[{"column":0},{"column":1}]]"#), "{text}");
        let again: Scene = serde_json::from_str(&text).expect("a scene");
        assert!(again.frames.columns[1][1].is_nan());
        assert_eq!(serde_json::to_string(&again).expect("text"), text);
        assert_eq!(again.check(), Ok(()));
    }

    #[test]
    fn what_does_not_exist_is_named() {
        let said = |change: &dyn Fn(&mut Scene)| {
            let mut scene = scene();
            change(&mut scene);
            scene.check().expect_err("a fault").to_string()
        };
        assert!(said(&|scene| scene.drawings[0].points[1][0] = Coordinate::Column { column: 2 }).contains("column 2"));
        assert!(said(&|scene| scene.drawings[0].points[1].truncate(1)).contains("1 values, but there are 2"));
        assert!(said(&|scene| scene.frames.columns[0].truncate(1)).contains("column 0 of the scene"));
        assert!(said(&|scene| scene.dimension = 4).contains("neither 2 nor 3"));
        assert!(
            said(&|scene| scene.traces.push(SceneTrace { body: Some(0), point: vec![], color: None, width: None }))
                .contains("body 0")
        );
        assert!(said(&|scene| scene.drawings[0].kind = DrawingKind::Circle).contains("radius"));
    }
}
