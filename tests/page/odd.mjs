// Run files that no solver writes every day: names that would break a page, gaps, events, hundreds of curves, many points.
import { writeFileSync } from "node:fs";

const [, , odd, large] = process.argv;

const names = ["</script><b>x</b>", "a,b", "\"quoted\" & 'so'", "a name that is much longer than the place which a legend has for it", "λ"];
const times = Array.from({ length: 200 }, (_, k) => k / 20);
writeFileSync(odd, JSON.stringify({
  format: "daedal run",
  version: 1,
  model: "odd </title> names",
  description: "<i>not italic</i>",
  parameters: { "<m>": 1, "very.long.name.of.a.parameter.that.must.break.somewhere": 1e-300 },
  method: "geoms",
  ended: "event",
  message: "the event <hit> stopped the run",
  statistics: { steps: 1234567, solves: null, max_residual: { position: 1e-9, velocity: null, acceleration: "NaN", invariant: null } },
  undetermined: [[["lambda.a", 0.7071], ["lambda.b", -0.7071]]],
  names,
  kinds: ["position", "position", "dynamic", "contact", "output"],
  units: ["m", "rad", null, null, "N"],
  t_end: 9.95,
  final: [1, "NaN", "-Infinity", -0.0, 1e-300],
  events: [{ name: "<hit>", t: 2.5, state: [0, 0, 0, 0, 0] }, { name: "hit", t: 9.95, state: [0, 0, 0, 0, 0] }],
  times,
  states: times.map((t) => [Math.sin(t), t > 3 && t < 4 ? "NaN" : Math.cos(t), 1e9 * t, 1e-9 * t, t > 5 ? "Infinity" : 1 + 1e-16 * t]),
  steps: { t: times.slice(1), h: times.slice(1).map(() => 0.05), order: times.slice(1).map(() => 5), residual_position: times.slice(1).map((t) => (t > 5 ? 0 : 1e-14 * t)) },
}));

const many = Array.from({ length: 120 }, (_, j) => `body${Math.floor(j / 6)}.${["x", "y", "z", "roll", "pitch", "yaw"][j % 6]}`);
const points = Array.from({ length: 30000 }, (_, k) => k / 1000);
writeFileSync(large, JSON.stringify({
  format: "daedal run",
  version: 1,
  model: "large",
  names: many,
  kinds: many.map(() => "position"),
  times: points,
  states: points.map((t) => many.map((_, j) => Math.sin(t * (1 + j / 20)) + (j === 3 && t === 12.345 ? 10 : 0))),
}));
