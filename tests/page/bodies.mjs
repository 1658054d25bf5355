// Writes run files whose scenes have bodies: every kind of shape in space, with joints, forces and traces; bodies in the plane; and a hundred bodies.
import { writeFileSync } from "node:fs";

const [, , space, plane, many] = process.argv;

/** A run with a scene and one curve. */
function write(path, scene) {
  const { t } = scene.frames;
  const run = { format: "daedal run", version: 1, model: "bodies", ended: "end", t0: 0, tend: t[t.length - 1], names: ["x"], kinds: ["output"], times: t, states: t.map((t) => [Math.sin(t)]), scene };
  writeFileSync(path, JSON.stringify(run));
}

const times = Array.from({ length: 301 }, (_, k) => k / 60);
const columns = [];
/** The columns of functions of time. */
const add = (...functions) => functions.map((f) => columns.push(times.map(f)) - 1);
const turning = (axis, rate) => [(t) => Math.cos((rate * t) / 2), ...axis.map((a) => (t) => a * Math.sin((rate * t) / 2))];
const shape = (kind, size, at = [0, 0, 0], more = {}) => ({ kind, size, at, rotation: [1, 0, 0, 0], ...more });
const bodies = [
  { name: "ground", pose: { at: [0, 0, 0], rotation: [1, 0, 0, 0] }, color: "grey", shapes: [shape("plane", [4, 4])] },
  { name: "rod", pose: add((t) => 0.5 * Math.cos(t), (t) => 0.5 * Math.sin(t), () => 0.8, ...turning([0, 0, 1], 1)), color: null, shapes: [shape("box", [1, 0.1, 0.1])] },
  { name: "wheel", pose: add((t) => Math.cos(t), (t) => Math.sin(t), () => 0.8, ...turning([0, 0, 1], 5)), color: "orange", shapes: [shape("cylinder", [0.3, 0.1]), shape("box", [0.5, 0.05, 0.12])] },
  { name: "balls", pose: add((t) => -1 + 0.1 * Math.sin(3 * t), () => -1, () => 0.5, ...turning([1, 0, 0], 2)), color: "#2e7d32", shapes: [shape("sphere", [0.2]), shape("capsule", [0.08, 0.6], [0, 0.4, 0])] },
  { name: "wedge", pose: add(() => 1, () => -1, (t) => 0.3 + 0.2 * Math.sin(2 * t), ...turning([0, 0, 1], 0.5)), color: "purple",
    shapes: [shape("mesh", [0.5], [0, 0, 0], { vertices: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], triangles: [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3] })] },
];
const force = add((t) => 10 * Math.cos(t), (t) => 10 * Math.sin(t), () => 4);
write(space, {
  dimension: 3, up: [0, 0, 1], unit: "m", size: null, speed: 1, bodies,
  joints: [
    { name: "pivot", kind: "revolute", bodies: [null, 1], at: [0, 0, 0.8], axis: [0, 0, 1], force },
    { name: "bearing", kind: "revolute", bodies: [1, 2], at: [0.5, 0, 0], axis: [0, 0, 1], force: null },
    { name: "ball", kind: "spherical", bodies: [null, 4], at: [1, -1, 0.3], axis: null, force: null },
  ],
  forces: [{ name: "spring", kind: "spring", from: { body: 3, point: [0, 0, 0] }, to: { body: 1, point: [-0.5, 0, 0] } }, { name: "damper", kind: "damper", from: { body: null, point: [1, -1, 0] }, to: { body: 4, point: [0, 0, 0] } }],
  traces: [{ body: 2, point: [0.3, 0, 0.05] }], drawings: [], frames: { t: times, columns },
});

const flat = [];
const flatAdd = (...functions) => functions.map((f) => flat.push(times.map(f)) - 1);
write(plane, {
  dimension: 2, up: [0, 1, 0], unit: null, size: null, speed: 1,
  bodies: [
    { name: "crank", pose: flatAdd((t) => 0.5 * Math.cos(2 * t), (t) => 0.5 * Math.sin(2 * t), (t) => 2 * t), color: "red", shapes: [shape("box", [1, 0.12, 0.1])] },
    { name: "wheel", pose: flatAdd((t) => Math.cos(2 * t), (t) => Math.sin(2 * t), (t) => 9 * t), color: "blue", shapes: [shape("cylinder", [0.3, 0.1]), shape("box", [0.56, 0.04, 0.1])] },
  ],
  joints: [{ name: "pivot", kind: "revolute", bodies: [null, 0], at: [0, 0, 0], axis: null, force: flatAdd((t) => Math.cos(2 * t), (t) => Math.sin(2 * t), () => 0) }],
  forces: [{ name: "spring", kind: "spring", from: { body: null, point: [-2, 0, 0] }, to: { body: 1, point: [0, 0, 0] } }],
  traces: [{ body: 1, point: [0.28, 0] }], drawings: [], frames: { t: times, columns: flat },
});

// a hundred bodies and 600 frames
const long = Array.from({ length: 600 }, (_, k) => k / 60);
const all = [];
const chain = Array.from({ length: 100 }, (_, b) => {
  const functions = [(t) => b * 0.1, (t) => 0.5 * Math.sin(0.2 * b + t), (t) => 0.3 * Math.cos(0.3 * b + t), ...turning([0, 0, 1], 0.3)];
  return { name: `link ${b}`, pose: functions.map((f) => all.push(long.map(f)) - 1), color: null, shapes: [shape("box", [0.09, 0.05, 0.05])] };
});
write(many, { dimension: 3, up: [0, 0, 1], unit: null, size: null, speed: 1, bodies: chain, joints: [], forces: [], traces: [{ body: 99, point: [0, 0, 0] }], drawings: [], frames: { t: long, columns: all } });
