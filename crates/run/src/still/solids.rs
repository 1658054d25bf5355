//! Bodies of a scene as faces on paper: those that are turned to the reader, the nearest ones last, so that they cover what is behind them.

use super::shapes::{Mark, Placement, Viewpoint, colour, cross, dot, minus, norm, placed, plus, scaled};
use crate::scene::{Pose, Scene, SceneJoint, SceneShape, ShapeKind};
use std::f64::consts::TAU;

/// Points of a circle.
const ROUND: usize = 40;
/// Most triangles of a mesh that are drawn.
const MOST_TRIANGLES: usize = 4000;
/// Length of an axis of a joint, and size of a bearing, as parts of the extent.
const AXIS: f64 = 0.05;
const BEARING: f64 = 0.035;

/// All bodies, the furthest first.
pub fn bodies(scene: &Scene, view: &Viewpoint, frame: usize) -> Vec<Mark> {
    let mut shapes: Vec<(f64, Vec<Mark>)> = Vec::new();
    for body in &scene.bodies {
        let pose = placed(scene, &body.pose, frame);
        let moves = matches!(body.pose, Pose::Columns(_));
        for shape in &body.shapes {
            let own = Placement { at: shape.at, rotation: shape.rotation };
            let centre = pose.place(own.place([0.0; 3]));
            let depth = if shape.kind == ShapeKind::Plane { f64::NEG_INFINITY } else { dot(view.towards, centre) };
            let color = colour(body.color.as_deref(), "blue");
            let face = |points: Vec<[f64; 2]>| Mark {
                points,
                closed: true,
                solid: true,
                ..Mark::line(color.clone(), 1.0, moves)
            };
            let world = |points: Vec<[f64; 3]>| -> Vec<[f64; 3]> {
                points.into_iter().map(|point| pose.place(own.place(point))).collect()
            };
            let faces: Vec<Mark> = faces(shape, view, &world).into_iter().map(face).collect();
            if faces.iter().flat_map(|face| &face.points).flatten().all(|x| x.is_finite()) {
                shapes.push((depth, faces));
            }
        }
    }
    shapes.sort_by(|a, b| a.0.total_cmp(&b.0));
    shapes.into_iter().flat_map(|(_, faces)| faces).collect()
}

/// What is seen of a shape: outlines on paper, the last one on top. `world` takes points of the shape to where they are.
fn faces(shape: &SceneShape, view: &Viewpoint, world: &dyn Fn(Vec<[f64; 3]>) -> Vec<[f64; 3]>) -> Vec<Vec<[f64; 2]>> {
    let size = &shape.size;
    let flat = |points: Vec<[f64; 3]>| points.into_iter().map(|point| view.flat(point)).collect::<Vec<_>>();
    // seen from outside its corners turn to the left
    let visible = |face: Vec<[f64; 3]>| {
        let face = world(face);
        let normal = cross(minus(face[1], face[0]), minus(face[2], face[0]));
        (dot(normal, view.towards) > 0.0).then(|| flat(face))
    };
    let circle = |r: f64, z: f64, sense: f64| -> Vec<[f64; 3]> {
        let angles = (0..ROUND).map(|k| sense * TAU * k as f64 / ROUND as f64);
        angles.map(|phi| [r * phi.cos(), r * phi.sin(), z]).collect()
    };
    match shape.kind {
        ShapeKind::Box => {
            let [x, y, z] = [0.5 * size[0], 0.5 * size[1], 0.5 * size[2]];
            let corner = |i: usize| {
                let side = |bit: usize, a: f64| if i >> bit & 1 == 1 { a } else { -a };
                [side(0, x), side(1, y), side(2, z)]
            };
            let six = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
            six.into_iter().filter_map(|face| visible(face.map(corner).to_vec())).collect()
        }
        ShapeKind::Plane => {
            let [x, y] = [0.5 * size[0], 0.5 * size[1]];
            vec![flat(world(vec![[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]]))]
        }
        ShapeKind::Cylinder => {
            let (r, z) = (size[0], 0.5 * size[1]);
            let caps = [circle(r, z, 1.0), circle(r, -z, -1.0)];
            let whole = hull(flat(world(caps.concat())));
            [whole].into_iter().chain(caps.into_iter().filter_map(visible)).collect()
        }
        ShapeKind::Capsule => {
            let (r, z) = (size[0], 0.5 * size[1]);
            vec![hull(
                [ball(world(vec![[0.0, 0.0, z]])[0], r, view), ball(world(vec![[0.0, 0.0, -z]])[0], r, view)].concat(),
            )]
        }
        ShapeKind::Sphere => vec![ball(world(vec![[0.0; 3]])[0], size[0], view)],
        ShapeKind::Mesh => {
            let vertices = shape.vertices.as_deref().unwrap_or_default();
            let corner = |k: u32| {
                let at = 3 * k as usize;
                [vertices[at], vertices[at + 1], vertices[at + 2]].map(|x| x * size[0])
            };
            let triangles = shape.triangles.as_deref().unwrap_or_default().chunks_exact(3).take(MOST_TRIANGLES);
            triangles.filter_map(|t| visible(vec![corner(t[0]), corner(t[1]), corner(t[2])])).collect()
        }
    }
}

/// A ball is a circle from everywhere.
fn ball(centre: [f64; 3], r: f64, view: &Viewpoint) -> Vec<[f64; 2]> {
    let [x, y] = view.flat(centre);
    (0..ROUND).map(|k| TAU * k as f64 / ROUND as f64).map(|phi| [x + r * phi.cos(), y + r * phi.sin()]).collect()
}

/// The convex hull of points, by Andrew's monotone chains.
fn hull(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.sort_by(|p, q| p[0].total_cmp(&q[0]).then(p[1].total_cmp(&q[1])));
    let mut both = Vec::new();
    for _ in 0..2 {
        let mut chain: Vec<[f64; 2]> = Vec::new();
        for &q in &points {
            while let [.., o, p] = chain[..]
                && (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]) <= 0.0
            {
                chain.pop();
            }
            chain.push(q);
        }
        chain.pop();
        both.extend(chain);
        points.reverse();
    }
    both
}

/// A joint: a dot, its axis where it is seen from the side, and a bearing on the ground in flat pictures.
pub fn joint(scene: &Scene, view: &Viewpoint, joint: &SceneJoint, frame: usize) -> Vec<Mark> {
    let pose = |body: Option<usize>| body.map(|k| placed(scene, &scene.bodies[k].pose, frame));
    let [of_A, of_B] = joint.bodies.map(pose);
    let seen = |of: &Option<Placement>, point: [f64; 3]| of.as_ref().map_or(point, |of| of.place(point));
    let at = seen(&of_A, joint.at);
    if !at.iter().all(|x| x.is_finite()) {
        return Vec::new();
    }
    let black = colour(None, "black");
    let moves = of_A.is_some();
    let mut marks = Vec::new();
    let turned = |of: &Option<Placement>, axis: [f64; 3]| minus(seen(of, axis), seen(of, [0.0; 3]));
    let axes = [joint.axis.map(|axis| turned(&of_A, axis)), joint.second_axis.map(|axis| turned(&of_B, axis))];
    let slides = ["prismatic", "cylindrical", "point-on-line", "screw"].contains(&joint.kind.as_str());
    for axis in axes.into_iter().flatten() {
        let reach = AXIS * view.extent() / norm(axis).max(f64::MIN_POSITIVE) * if slides { 2.0 } else { 1.0 };
        let ends = [plus(at, scaled(axis, -reach)), plus(at, scaled(axis, reach))].map(|end| view.flat(end));
        marks.push(Mark { points: ends.to_vec(), ..Mark::line(black.clone(), 1.0, moves) });
    }
    if scene.dimension == 2 && joint.kind == "revolute" && joint.bodies.contains(&None) {
        let ([x, y], s) = (view.flat(at), BEARING * view.extent());
        let points = vec![[x, y], [x - 0.6 * s, y - s], [x + 0.6 * s, y - s]];
        marks.push(Mark { points, closed: true, ..Mark::line(black.clone(), 1.0, false) });
    }
    marks.push(Mark {
        points: vec![view.flat(at)],
        dot: Some(super::shapes::Dot::Joint),
        ..Mark::line(black, 1.0, moves)
    });
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hull_of_a_square_has_its_corners_only() {
        let square = vec![[0.0, 0.0], [1.0, 1.0], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [0.5, 0.0]];
        assert_eq!(hull(square), [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
    }

    #[test]
    fn three_faces_of_a_box_are_seen_and_one_from_above() {
        let shape = SceneShape {
            kind: ShapeKind::Box,
            size: vec![1.0, 2.0, 3.0],
            at: [0.0; 3],
            rotation: [1.0, 0.0, 0.0, 0.0],
            vertices: None,
            triangles: None,
        };
        let count = |dimension: u8| faces(&shape, &Viewpoint::from(dimension, [0.0, 0.0, 1.0]), &|points| points).len();
        assert_eq!((count(3), count(2)), (3, 1));
    }
}
