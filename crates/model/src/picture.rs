//! `[picture]`: what the mechanism looks like, by formulas.
//!
//! Points, lines, circles, springs, polygons, arrows and traces; every coordinate is a formula of the model. They stand in the graph of the
//! equations beside the outputs and are none of them: nothing that a run decides depends on its picture. Derivatives are not allowed, so
//! that every point which is kept can be drawn. In a system with modes a shape is drawn while the active mode has the names in it.

use crate::bodies;
use crate::definitions;
use crate::diagnostic::Mistake;
use crate::document::{self, Section, TomlItem, wrong_type};
use crate::formula::ast::{Range, Term, Tree};
use crate::formula::parser;
use crate::hybrid::choice;
use crate::index::{Bindings, each};
use crate::lower::Lowering;
use crate::model::NUMBER;
use crate::names::{Classes, Context, Quantity};
use crate::reader::Reader;
use crate::source::Span;
use crate::suggestion::help;
use daedal::graph::Expr;
use std::rc::Rc;
use toml::de::{DeTable, DeValue};

const COORDINATE: Context = Context {
    place: "a picture",
    allowed: Classes::of(&[
        Quantity::Parameter,
        Quantity::Time,
        Quantity::Position,
        Quantity::Velocity,
        Quantity::Dynamic,
        Quantity::Auxiliary,
        Quantity::Contact,
        Quantity::Lambda,
        Quantity::Mu,
        Quantity::State,
    ]),
    help: "pictures are made of variables, multipliers, time and parameters, not of derivatives",
};
const SIZE: Context = Context { place: "a size in a picture", ..NUMBER };

/// Most shapes of a picture, those of index ranges counted each.
const MOST_SHAPES: usize = 20_000;
/// Colours by name, which are readable on light and on dark ground.
const COLOURS: [&str; 11] =
    ["black", "blue", "orange", "green", "purple", "teal", "yellow", "red", "violet", "pink", "grey"];
const STYLES: [(&str, LineStyle); 3] =
    [("solid", LineStyle::Solid), ("dashed", LineStyle::Dashed), ("ground", LineStyle::Ground)];
const UPWARD: [(&str, [f64; 3]); 3] = [("x", [1.0, 0.0, 0.0]), ("y", [0.0, 1.0, 0.0]), ("z", [0.0, 0.0, 1.0])];

/// A picture, read.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelPicture {
    /// 2: flat; 3: in space; 0 without shapes.
    pub dimension: usize,
    /// Direction that is up, if the file says it.
    pub up: Option<[f64; 3]>,
    /// Unit of its lengths, as text.
    pub unit: Option<String>,
    /// Time of the model in a second of the animation, if the file says it.
    pub speed: Option<f64>,
    /// What is drawn, the last one on top.
    pub shapes: Vec<PictureShape>,
    /// Numbers of formulas and their nodes in the graph of the equations, of a model without modes; modes keep their own.
    pub formulas: Vec<(usize, Expr)>,
}

/// A shape of a picture; which fields it has depends on its kind.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureShape {
    /// What it is.
    pub kind: PictureKind,
    /// The point, both ends, or all corners; those of a polygon that has `at` are relative to it.
    pub points: Vec<Vec<PictureValue>>,
    /// Where the corners of a polygon are placed.
    pub at: Option<Vec<PictureValue>>,
    /// By how much a circle or a polygon is turned.
    pub angle: Option<PictureValue>,
    /// Radius of a circle.
    pub radius: Option<PictureValue>,
    /// Axis of a circle in space.
    pub axis: Option<Vec<PictureValue>>,
    /// What an arrow shows.
    pub vector: Option<Vec<PictureValue>>,
    /// Radius of a point or of a spring, in units of the model.
    pub size: Option<f64>,
    /// Windings of a spring.
    pub coils: Option<f64>,
    /// Length of an arrow for each unit of what it shows.
    pub scale: Option<f64>,
    /// Width of lines in pixels.
    pub width: Option<f64>,
    /// A name, or #rrggbb.
    pub color: Option<String>,
    /// Is it filled?
    pub fill: Option<bool>,
    /// How lines are drawn.
    pub style: LineStyle,
}

/// Kinds of shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureKind {
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
    /// The way of a point.
    Trace,
}

/// How lines are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineStyle {
    /// Without gaps.
    #[default]
    Solid,
    /// With gaps.
    Dashed,
    /// Hatched on the right side, looking along it: what does not move.
    Ground,
}

/// A number in a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PictureValue {
    /// As it is written.
    Number(f64),
    /// The formula of this number.
    Formula(usize),
}

/// Keys of a table; `true` for those that must be there.
type Keys = &'static [(&'static str, bool)];

/// Keys of the section with what they hold, and the keys of its tables; `true` for those that must be there.
const KINDS: [(&str, PictureKind, Keys); 7] = [
    ("points", PictureKind::Point, &[("at", true), ("size", false), ("color", false)]),
    (
        "lines",
        PictureKind::Line,
        &[("from", false), ("to", false), ("points", false), ("width", false), ("style", false), ("color", false)],
    ),
    (
        "circles",
        PictureKind::Circle,
        &[
            ("at", true),
            ("radius", true),
            ("angle", false),
            ("axis", false),
            ("width", false),
            ("fill", false),
            ("color", false),
        ],
    ),
    (
        "springs",
        PictureKind::Spring,
        &[("from", true), ("to", true), ("coils", false), ("size", false), ("width", false), ("color", false)],
    ),
    (
        "polygons",
        PictureKind::Polygon,
        &[("points", true), ("at", false), ("angle", false), ("width", false), ("fill", false), ("color", false)],
    ),
    (
        "arrows",
        PictureKind::Arrow,
        &[("at", true), ("vector", true), ("scale", false), ("width", false), ("color", false)],
    ),
    ("traces", PictureKind::Trace, &[("at", true), ("width", false), ("color", false)]),
];

/// A picture whose formulas are not in a graph yet.
#[derive(Default)]
pub(crate) struct PictureDraft {
    pub picture: Option<ModelPicture>,
    formulas: Vec<(Rc<Tree>, Bindings)>,
}

impl PictureDraft {
    /// All formulas.
    pub fn nodes(&self) -> impl Iterator<Item = &Tree> {
        self.formulas.iter().map(|(node, _)| &**node)
    }
}

/// Read the section.
pub(crate) fn read(reader: &mut Reader, root: &DeTable) -> PictureDraft {
    let mut draft = PictureDraft::default();
    let Some(section) = Section::find(reader, root, "picture", "[picture]") else { return draft };
    let known: Vec<&str> = ["unit", "speed", "up"].into_iter().chain(KINDS.iter().map(|(key, ..)| *key)).collect();
    section.check_keys(reader, &known);
    let mut picture = ModelPicture {
        dimension: 0,
        up: choice(reader, section, "up", &UPWARD).map(|(up, _)| up),
        unit: section.string(reader, "unit"),
        speed: document::positive(reader, section, "speed"),
        shapes: Vec::new(),
        formulas: Vec::new(),
    };
    for (key, value) in section.table {
        let Some((key, kind, keys)) = KINDS.iter().find(|(known, ..)| key.get_ref() == *known) else { continue };
        let DeValue::Array(items) = value.get_ref() else {
            let expected = format!("a list of tables: each one stands below its own [[picture.{key}]]");
            reader.mistake(wrong_type(&format!("`{key}`"), &expected, value));
            continue;
        };
        for item in items {
            let DeValue::Table(table) = item.get_ref() else {
                reader.mistake(wrong_type(&format!("an entry of `{key}`"), "a table { at = [x, y], … }", item));
                continue;
            };
            let title = format!("[[picture.{key}]]");
            let one =
                ShapeTable { section: Section { title: &title, span: item.span().into(), table }, kind: *kind, keys };
            one.read(reader, &mut picture, &mut draft.formulas);
        }
    }
    if section.get("up").is_some() && picture.dimension == 2 {
        reader.mistake(Mistake::NotAllowed {
            what: "`up`".into(),
            place: "a flat picture".into(),
            at: section.get("up").map_or(section.span, |value| value.span().into()).into(),
            label: "points have two coordinates".into(),
            help: "the second coordinate of a flat picture is up".into(),
        });
    }
    let has_bodies = bodies::present(root);
    if has_bodies && picture.dimension != 0 && (picture.dimension == 2) != bodies::is_planar(root) {
        let wanted = if picture.dimension == 2 { "three" } else { "two" };
        reader.mistake(Mistake::NotAllowed {
            what: format!("a picture with {} coordinates", if picture.dimension == 2 { "two" } else { "three" }),
            place: "this world".into(),
            at: section.span.into(),
            label: "its points stand beside the bodies".into(),
            help: format!("give {wanted} coordinates: bodies in the plane \"xy\" have two, others three"),
        });
    }
    if picture.shapes.is_empty() && reader.count() == 0 && !has_bodies {
        reader.mistake(Mistake::Missing {
            what: "a shape in [picture]".into(),
            at: section.span.into(),
            label: "nothing would be drawn".into(),
            help: "write lines = [{ from = [0, 0], to = [\"x\", \"y\"] }]".into(),
        });
    }
    draft.picture = Some(picture);
    draft
}

/// The formulas as nodes of the graph; they are kept by the reader.
pub(crate) fn lower(to: &mut Lowering, draft: &PictureDraft) {
    for (k, (node, bindings)) in draft.formulas.iter().enumerate() {
        if to.reader.mode.is_some() && !to.reader.scope.incomplete {
            let (_, missing) = definitions::unknown(to.reader, node, bindings);
            let left_out = missing.is_some();
            to.reader.note_formula(node.span, missing);
            if left_out {
                continue;
            }
        }
        let value = to.formula(node, COORDINATE, bindings);
        to.reader.picture.extend(value.map(|value| (k, value.expr)));
    }
}

/// The colour of a table: a name, or #rrggbb.
pub(crate) fn color(reader: &mut Reader, section: Section) -> Option<String> {
    let word = section.string(reader, "color")?;
    let digits = word.strip_prefix('#').unwrap_or_default();
    let hexadecimal = digits.len() == 6 && digits.chars().all(|c| c.is_ascii_hexdigit());
    if hexadecimal || COLOURS.contains(&word.as_str()) {
        return Some(word);
    }
    let at = section.get("color").map_or(section.span, |value| value.span().into());
    reader.mistake(Mistake::Syntax {
        message: format!("there is no color `{word}`"),
        label: "unknown color".into(),
        at: at.into(),
        help: Some(help(&word, COLOURS.into_iter(), "a color is #rrggbb or one of")),
    });
    None
}

/// One table of a shape.
struct ShapeTable<'t, 'i> {
    section: Section<'t, 'i>,
    kind: PictureKind,
    keys: &'t [(&'t str, bool)],
}

impl ShapeTable<'_, '_> {
    /// All shapes that it stands for.
    fn read(&self, reader: &mut Reader, picture: &mut ModelPicture, formulas: &mut Vec<(Rc<Tree>, Bindings)>) {
        let section = self.section;
        let known: Vec<&str> = self.keys.iter().map(|(key, _)| *key).chain(["for"]).collect();
        section.check_keys(reader, &known);
        for (key, _) in self.keys.iter().filter(|(key, needed)| *needed && section.get(key).is_none()) {
            reader.mistake(Mistake::Missing {
                what: format!("the key `{key}` of {}", section.title),
                at: section.span.into(),
                label: "in this table".into(),
                help: example(self.kind).into(),
            });
        }
        let Some(ranges) = self.ranges(reader) else { return };
        let color = color(reader, section);
        let style = choice(reader, section, "style", &STYLES).map_or(LineStyle::Solid, |(style, _)| style);
        let fill = section.truth(reader, "fill");
        let before = reader.count();
        let Some(trees) = self.trees(reader, picture) else { return };
        if reader.count() > before {
            return;
        }
        let result = each(&ranges, reader, &mut Bindings::default(), &mut |reader, bindings| {
            if picture.shapes.len() >= MOST_SHAPES {
                let at = section.span.into();
                return Err(
                    Mistake::TooLarge { limit: MOST_SHAPES, wanted: String::new(), unit: "shapes".into(), at }.into()
                );
            }
            let mut value = |tree: &Rc<Tree>| match tree.kind {
                Term::Number(x) => PictureValue::Number(x),
                _ => {
                    formulas.push((Rc::clone(tree), bindings.clone()));
                    PictureValue::Formula(formulas.len() - 1)
                }
            };
            let mut all = |trees: &Vec<Rc<Tree>>| trees.iter().map(&mut value).collect::<Vec<_>>();
            let points = trees.points.iter().map(&mut all).collect();
            let (at, axis, vector) =
                (trees.at.as_ref().map(&mut all), trees.axis.as_ref().map(&mut all), trees.vector.as_ref().map(all));
            let (angle, radius) = (trees.angle.as_ref().map(&mut value), trees.radius.as_ref().map(&mut value));
            let mut size = |key: &str| self.size(reader, key, bindings);
            let (size, coils, scale, width) = (size("size"), size("coils"), size("scale"), size("width"));
            let color = color.clone();
            let kind = self.kind;
            picture.shapes.push(PictureShape {
                kind,
                points,
                at,
                angle,
                radius,
                axis,
                vector,
                size,
                coils,
                scale,
                width,
                color,
                fill,
                style,
            });
            Ok(())
        });
        reader.ok(result);
    }

    /// `for = "i in 1..N"`.
    fn ranges(&self, reader: &mut Reader) -> Option<Vec<Range>> {
        let Some(value) = self.section.get("for") else { return Some(Vec::new()) };
        let Some(text) = document::text(reader, value) else {
            reader.mistake(wrong_type("`for`", "an index range such as \"i in 1..N\"", value));
            return None;
        };
        reader.told(parser::index_ranges(&text))
    }

    /// A number that is made of parameters and indices, and is not negative.
    fn size(&self, reader: &mut Reader, key: &str, bindings: &mut Bindings) -> Option<f64> {
        let item = self.section.get(key)?;
        let node = document::formula(reader, item, &format!("`{key}`"))?;
        let result = reader.constant(&node, SIZE, bindings);
        let value = reader.ok(result)?;
        if !(value > 0.0 && value.is_finite()) {
            reader.mistake(Mistake::NotPositive { what: format!("`{key}`"), value, at: node.span.into() });
            return None;
        }
        Some(value)
    }

    /// The formulas of all coordinates.
    fn trees(&self, reader: &mut Reader, picture: &mut ModelPicture) -> Option<Trees> {
        let section = self.section;
        let mut point = |reader: &mut Reader, key: &str| {
            let item = section.get(key)?;
            coordinates(reader, item, key, &mut picture.dimension)
        };
        let mut points = Vec::new();
        let (mut at, axis, vector);
        at = point(reader, "at");
        axis = point(reader, "axis");
        vector = point(reader, "vector");
        points.extend(point(reader, "from"));
        points.extend(point(reader, "to"));
        let polygon = self.kind == PictureKind::Polygon;
        if let Some(item) = section.get("points") {
            if !points.is_empty() {
                reader.mistake(Mistake::NotAllowed {
                    what: "`points`".into(),
                    place: "a line with `from` and `to`".into(),
                    at: Span::from(item.span()).into(),
                    label: "given beside".into(),
                    help: "a line has two ends, `from` and `to`, or a list of `points`".into(),
                });
            }
            let DeValue::Array(items) = item.get_ref() else {
                reader.mistake(wrong_type("`points`", "a list of points [[x, y], …]", item));
                return None;
            };
            for item in items {
                points.extend(coordinates(reader, item, "points", &mut picture.dimension));
            }
        }
        let least = if polygon { 3 } else { 2 };
        let lines = matches!(self.kind, PictureKind::Line | PictureKind::Spring | PictureKind::Polygon);
        if lines && points.len() < least && reader.count() == 0 {
            reader.mistake(Mistake::Missing {
                what: format!("enough points of {}", section.title),
                at: section.get("points").map_or(section.span, |item| item.span().into()).into(),
                label: format!("{} instead of {least} or more", points.len()),
                help: example(self.kind).into(),
            });
        }
        if !lines {
            points.extend(at.take());
        }
        let mut single =
            |key: &str| section.get(key).and_then(|item| document::formula(reader, item, &format!("`{key}`")));
        let (angle, radius) = (single("angle"), single("radius"));
        if let Some(item) = section.get("angle").filter(|_| polygon && at.is_none()) {
            reader.mistake(Mistake::Missing {
                what: format!("the key `at` of {}", section.title),
                at: Span::from(item.span()).into(),
                label: "turned about which point?".into(),
                help: "write at = [\"x\", \"y\"], and the corners relative to it".into(),
            });
        }
        let flat = |key: &str| section.get(key).map(|item| Span::from(item.span()));
        let misplaced = match picture.dimension {
            2 => flat("axis").map(|at| ("axis", "a flat picture", at, "circles of a flat picture need no axis")),
            3 => {
                flat("angle").map(|at| ("angle", "a picture in space", at, "give the points of what turns themselves"))
            }
            _ => None,
        };
        if let Some((key, place, at, help)) = misplaced {
            let (what, place, label) = (format!("`{key}`"), place.into(), "here".into());
            reader.mistake(Mistake::NotAllowed { what, place, at: at.into(), label, help: help.into() });
        }
        Some(Trees { points, at, axis, vector, angle, radius })
    }
}

/// Formulas of a shape.
struct Trees {
    points: Vec<Vec<Rc<Tree>>>,
    at: Option<Vec<Rc<Tree>>>,
    axis: Option<Vec<Rc<Tree>>>,
    vector: Option<Vec<Rc<Tree>>>,
    angle: Option<Rc<Tree>>,
    radius: Option<Rc<Tree>>,
}

/// `[x, y]` or `[x, y, z]`, as many as everywhere in the picture.
fn coordinates(reader: &mut Reader, item: &TomlItem, key: &str, dimension: &mut usize) -> Option<Vec<Rc<Tree>>> {
    let DeValue::Array(items) = item.get_ref() else {
        reader.mistake(wrong_type(&format!("`{key}`"), "a point [x, y], or [x, y, z] in space", item));
        return None;
    };
    let found = items.len();
    if !(2..=3).contains(&found) || (*dimension != 0 && *dimension != found) {
        let message = match *dimension {
            0 => "a point has two coordinates, or three in space".to_string(),
            all => format!("other points of the picture have {all} coordinates"),
        };
        let help = Some("a picture is flat, with [x, y], or in space, with [x, y, z]".into());
        reader.mistake(Mistake::Count { message, at: Span::from(item.span()).into(), found, help });
        return None;
    }
    *dimension = found;
    let trees: Vec<_> = items.iter().filter_map(|item| document::formula(reader, item, "a coordinate")).collect();
    (trees.len() == found).then_some(trees)
}

/// How such a shape is written.
fn example(kind: PictureKind) -> &'static str {
    match kind {
        PictureKind::Point => "write points = [{ at = [\"x\", \"y\"] }]",
        PictureKind::Line => {
            "write lines = [{ from = [0, 0], to = [\"x\", \"y\"] }], or points = [[0, 0], [\"x\", \"y\"], …]"
        }
        PictureKind::Circle => "write circles = [{ at = [\"x\", \"y\"], radius = 0.1 }]",
        PictureKind::Spring => "write springs = [{ from = [0, 0], to = [\"x\", \"y\"] }]",
        PictureKind::Polygon => "write polygons = [{ points = [[0, 0], [1, 0], [0, 1]] }]",
        PictureKind::Arrow => "write arrows = [{ at = [\"x\", \"y\"], vector = [\"vx\", \"vy\"] }]",
        PictureKind::Trace => "write traces = [{ at = [\"x\", \"y\"] }]",
    }
}
