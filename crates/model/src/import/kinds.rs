//! Movements of one link against its parent as one joint.

use super::tree::{MovementKind, Placed};
use daedal_multibody::Coordinate;
use daedal_multibody::vector::{Vector, add, cross, dot, norm, scale, sub};

/// A joint of the model file.
#[derive(Clone, Debug)]
pub(super) struct JointKind {
    pub kind: &'static str,
    pub at: Vector<f64>,
    /// One, or two of a universal joint.
    pub axes: Vec<Vector<f64>>,
    /// The coordinate of each movement, where the joint has a name for it.
    pub coordinates: Vec<Option<Coordinate>>,
}

/// Directions and places of a file agree to so much; files are written with few digits.
const AGREE: f64 = 1e-9;

/// The joint of these movements, or why there is none.
pub(super) fn joint(freedoms: &[MovementKind], placed: &Placed) -> Result<JointKind, &'static str> {
    use MovementKind::{Ball, Hinge, Planar, Slide};
    let at = |k: usize| placed.movements[k].0;
    let axis = |k: usize| placed.movements[k].1;
    let (angle, travel) = (Some(Coordinate::Angle), Some(Coordinate::Travel));
    let one = |kind, coordinate: Option<Coordinate>| JointKind {
        kind,
        at: at(0),
        axes: if kind == "spherical" { Vec::new() } else { vec![axis(0)] },
        coordinates: vec![coordinate],
    };
    match freedoms {
        [Hinge] => Ok(one("revolute", angle)),
        [Slide] => Ok(one("prismatic", travel)),
        [Ball] => Ok(one("spherical", None)),
        [Planar] => Ok(one("planar", angle)),
        [Hinge, Hinge] => {
            if dot(axis(0), axis(1)).abs() > AGREE {
                return Err("the axes of its two hinges are not normal to each other");
            }
            // the point of the first axis that is nearest to the second one, and the other way round
            let between = sub(at(1), at(0));
            let first = add(at(0), scale(dot(between, axis(0)), axis(0)));
            let second = sub(at(1), scale(dot(between, axis(1)), axis(1)));
            if norm(sub(first, second)) > AGREE * (1.0 + norm(between)) {
                return Err("the axes of its two hinges do not cross");
            }
            Ok(JointKind { kind: "universal", at: first, axes: vec![axis(0), axis(1)], coordinates: vec![None; 2] })
        }
        [Hinge, Slide] | [Slide, Hinge] => {
            let hinge = usize::from(freedoms[0] == Slide);
            if norm(sub(axis(0), axis(1))) > AGREE {
                return Err("its hinge and its slide have different axes");
            }
            let coordinates = if hinge == 0 { vec![angle, travel] } else { vec![travel, angle] };
            Ok(JointKind { kind: "cylindrical", at: at(hinge), axes: vec![axis(hinge)], coordinates })
        }
        [Slide, Slide, Hinge] => {
            let normal = axis(2);
            if dot(normal, axis(0)).abs() > AGREE || dot(normal, axis(1)).abs() > AGREE {
                return Err("its slides are not normal to its hinge");
            }
            if norm(cross(axis(0), axis(1))) < AGREE {
                return Err("its two slides have one direction");
            }
            Ok(JointKind { kind: "planar", at: at(2), axes: vec![normal], coordinates: vec![None, None, angle] })
        }
        _ => Err("no joint moves like all of its joints together"),
    }
}
