//! The moving picture of a page: the scene as JSON with its frames as 32-bit floats in base64, and the scripts that draw it. A flat scene is drawn on a
//! canvas; one in space brings three.js along, whose module becomes a function of a plain script, so that it needs no address to be loaded from.

use crate::run::Run;
use crate::scene::{Scene, SceneFrames};
use serde::Serialize;
use std::fmt::Write;

const THREE: &str = include_str!("../../assets/three/three.module.min.js");
const THREE_LICENSE: &str = include_str!("../../assets/three/LICENSE");
const PLAYER: &str = include_str!("../../assets/player.js");
const FLAT: &str = include_str!("../../assets/flat.js");
const SPACE: &str = include_str!("../../assets/space.js");
/// Pages without a picture have neither.
const NOTHING: &str = "const Frames = null;\nconst Player = null;\n";
/// Most bytes of frames on a page, before base64.
const MOST_BYTES: usize = 40_000_000;

/// What a page shows of a scene.
pub struct PictureSection {
    /// Its place.
    pub section: String,
    /// Its data.
    pub data: String,
    /// Who draws it.
    pub script: String,
}

/// Frames as a page holds them.
#[derive(Serialize)]
struct PageFrames {
    t: Vec<f64>,
    /// one column after the other
    columns: String,
}

/// The moving picture of a run; scripts that do nothing if it has none.
pub fn mechanism(run: &Run) -> Result<PictureSection, serde_json::Error> {
    let Some(scene) = run.scene.as_deref().filter(|scene| !scene.is_empty() && !scene.frames.t.is_empty()) else {
        return Ok(PictureSection { section: String::new(), data: String::new(), script: NOTHING.to_string() });
    };
    let (frames, stride) = thinned(&scene.frames);
    let mut section = "<section id=\"mechanism\" aria-label=\"moving picture\">".to_string();
    if stride > 1 {
        let (kept, all) = (frames.t.len(), scene.frames.t.len());
        let _ = write!(section, "<p class=\"note\">{kept} of {all} frames are shown. The run file has them all.</p>");
    }
    section.push_str("</section>\n");
    let without_frames = Scene { frames: SceneFrames::default(), ..scene.clone() };
    let mut value = serde_json::to_value(&without_frames)?;
    value["frames"] = serde_json::to_value(frames)?;
    let data = serde_json::to_string(&value)?.replace('<', "\\u003c");
    let data = format!("<script type=\"application/json\" id=\"scene\">{data}</script>\n");
    let script = match scene.dimension {
        2 => format!("{PLAYER}{FLAT}"),
        _ => format!("{}{PLAYER}{SPACE}", three()),
    };
    Ok(PictureSection { section, data, script })
}

/// Frames in single precision, fewer of them where the page would be too large; each how manieth was taken.
fn thinned(frames: &SceneFrames) -> (PageFrames, usize) {
    let bytes = 4 * frames.columns.len() * frames.t.len();
    let stride = bytes.div_ceil(MOST_BYTES).max(1);
    let last = frames.t.len() - 1;
    // the last one is among them
    let kept: Vec<usize> = (0..last).step_by(stride).chain([last]).collect();
    let mut packed = Vec::with_capacity(4 * frames.columns.len() * kept.len());
    for column in &frames.columns {
        for &k in &kept {
            packed.extend_from_slice(&(column[k] as f32).to_le_bytes());
        }
    }
    (PageFrames { t: kept.iter().map(|&k| frames.t[k]).collect(), columns: base64(&packed) }, stride)
}

/// three.js as a value: `export{a as Vector3,…}` at the end of its module becomes what a function returns.
fn three() -> String {
    let (body, exports) = THREE.rsplit_once("export{").unwrap_or((THREE, ""));
    let names = exports.split('}').next().unwrap_or_default().split(',');
    let pairs: Vec<String> = names
        .filter(|name| !name.is_empty())
        .map(|name| name.split_once(" as ").map_or(name.to_string(), |(own, known)| format!("{known}:{own}")))
        .collect();
    let license = THREE_LICENSE.trim();
    format!("/*! three.js\n{license}\n*/\nconst THREE = (() => {{{body}return{{{}}};}})();\n", pairs.join(","))
}

/// RFC 4648.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0_u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        for k in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * k)) as usize & 63] as char;
            text.push(if k <= three.len() { letter } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Coordinate, DrawingKind, SceneDrawing};

    fn run(dimension: u8, frames: usize, color: &str) -> Run {
        let coordinates = (0..dimension).map(|_| Coordinate::Column { column: 0 }).collect();
        let mut dot = SceneDrawing::new(DrawingKind::Point, vec![coordinates]);
        dot.color = Some(color.into());
        let t: Vec<f64> = (0..frames).map(|k| k as f64).collect();
        let frames = SceneFrames { columns: vec![t.iter().map(|t| 0.5 * t).collect()], t };
        let scene = Scene { dimension, drawings: vec![dot], frames, ..Scene::default() };
        Run { scene: Some(Box::new(scene)), ..Run::default() }
    }

    #[test]
    fn base64_is_that_of_its_standard() {
        // RFC 4648, section 10
        let all = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(all, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }

    #[test]
    fn frames_are_floats_of_single_precision() {
        let found = mechanism(&run(2, 2, "red")).expect("a picture");
        // 0 and 0.5 as 32-bit floats
        assert!(found.data.contains(&base64(&[0, 0, 0, 0, 0, 0, 0, 0x3f])), "{}", found.data);
    }

    #[test]
    fn only_pictures_in_space_carry_three() {
        assert!(mechanism(&run(3, 2, "red")).expect("a picture").script.contains("WebGLRenderer:"));
        let flat = mechanism(&run(2, 2, "red")).expect("a picture").script;
        assert!(!flat.contains("WebGLRenderer:") && flat.len() < 40_000, "{}", flat.len());
        assert_eq!(mechanism(&Run::default()).expect("nothing").script, NOTHING);
        assert!(!three().contains("export{") && three().contains("Vector3:"));
    }

    #[test]
    fn no_colour_can_leave_the_data() {
        let data = mechanism(&run(2, 2, "</script><b>")).expect("a picture").data;
        assert_eq!(data.matches("</script").count(), 1);
    }

    #[test]
    fn frames_of_huge_pictures_are_thinned_and_keep_both_ends() {
        let t: Vec<f64> = (0..1001).map(f64::from).collect();
        let frames = SceneFrames { columns: vec![vec![0.0; 1001]; 30_000], t };
        let (kept, stride) = thinned(&frames);
        assert_eq!((stride, kept.t.first(), kept.t.last()), (4, Some(&0.0), Some(&1000.0)));
        assert!(kept.columns.len() * 3 / 4 <= MOST_BYTES + 4 * 30_000);
    }
}
