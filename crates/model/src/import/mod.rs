//! Robots of other formats as model files: URDF and MJCF.
//!
//! ```text
//! XML with places ─► Tree: links in frames of their parents ─► Drawing: world coordinates of one position ─► text of a model file
//! urdf, mjcf                                                   draw, drive                                    write
//! ```
//! The result is text, because people go on writing in it: loops that the format does not have, outputs, start values. What is not understood
//! is counted by name, and what would make the motion another one is refused at its place.

mod draw;
mod drive;
mod frame;
mod kinds;
mod mjcf;
mod names;
mod tree;
mod urdf;
mod write;
mod xml;

use crate::diagnostic::{Mistake, Mistakes};
use crate::model::Model;
use crate::suggestion::help;
use std::path::Path;
use std::sync::Arc;
use xml::{Element, Log};

/// What holds the root of a robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// It is a part of the ground.
    Fixed,
    /// Nothing.
    Floating,
}

/// An imported robot.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The text of a model file.
    pub text: String,
    /// What is not as it was in the robot's file, a line each.
    pub notes: Vec<String>,
}

/// The model file of a robot; its first element says the format. Without `base` the roots of URDF are fixed, those of MJCF are as it says.
///
/// ```
/// let urdf = r#"
///     <robot name="pendulum">
///       <link name="base"/>
///       <link name="rod">
///         <inertial>
///           <origin xyz="0 0 -0.4"/>
///           <mass value="1.4"/>
///           <inertia ixx="0.075" iyy="0.075" izz="0.0006"/>
///         </inertial>
///       </link>
///       <joint name="hinge" type="continuous">
///         <parent link="base"/>
///         <child link="rod"/>
///         <axis xyz="0 1 0"/>
///       </joint>
///     </robot>"#;
/// let imported = daedal_model::import("pendulum.urdf", urdf, None)?;
/// assert!(imported.text.contains("kind = \"revolute\""));
/// let model = daedal_model::Model::read("pendulum.toml", &imported.text, &[])?;
/// assert_eq!(model.name, "pendulum");
/// # Ok::<(), daedal_model::Mistakes>(())
/// ```
pub fn import(name: &str, text: &str, base: Option<Base>) -> Result<Imported, Mistakes> {
    let wrong = |list: Vec<Mistake>| Mistakes::new(name, Arc::from(text), list);
    let document = xml::document(text).map_err(|mistake| wrong(vec![mistake]))?;
    let mut log = Log::default();
    let root = document.root_element();
    let mut tree = match root.tag_name().name() {
        "robot" => urdf::read(root, base, &mut log),
        "mujoco" => mjcf::read(root, base, &mut log),
        other => {
            let help =
                help(other, ["robot", "mujoco"].into_iter(), "the first element of URDF and MJCF files is one of");
            let place = Element::new(root).place();
            log.refuse(
                place,
                format!("<{other}> is neither a robot of URDF nor a model of MJCF"),
                "unknown format",
                &help,
            );
            return Err(wrong(log.mistakes));
        }
    };
    // a tree with mistakes is not drawn: its gaps would be mistakes again
    let drawing = if log.mistakes.is_empty() { draw::draw(&mut tree, text, &mut log) } else { None };
    let Some(mut drawing) = drawing.filter(|_| log.mistakes.is_empty()) else { return Err(wrong(log.mistakes)) };
    let stem = Path::new(name).file_stem().map_or("robot".into(), |stem| stem.to_string_lossy().into_owned());
    drawing.name = tree.name.take().filter(|name| !name.is_empty()).unwrap_or(stem);
    drawing.source = Path::new(name).file_name().map_or(name.into(), |name| name.to_string_lossy().into_owned());
    drawing.notes = log.told();
    let text = drawing.text();
    // what is written is read before anybody gets it
    Model::read("the imported model", &text, &[])?;
    Ok(Imported { text, notes: drawing.notes })
}

/// A colour of a picture.
fn rgb(rgba: &[f64]) -> String {
    let byte = |x: f64| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
    format!("#{:02x}{:02x}{:02x}", byte(rgba[0]), byte(rgba[1]), byte(rgba[2]))
}
