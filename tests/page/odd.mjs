// Run files that no solver writes every day: names that would break a page, gaps, events, hundreds of curves, many points, modes, a
// hundred thousand switches.
import { writeFileSync } from "node:fs";

const [, , odd, large, modes, chattering] = process.argv;

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

// slip, stick, sliding: jumps, a variable that appears later, switches that come close
const mode = (name, sliding, unknowns) => ({ name, sliding, unknowns, steps: 100, decisions: "quasilinear" });
const phases = [];
const switches = [];
const kinds = ["condition", "immediate", "sliding begins", "sliding ends", "scheduled", "accumulation"];
let t0 = 0;
for (let k = 0; t0 < 10; k += 1) {
  const close = k >= 8 && k < 120;
  const t1 = Math.min(10, t0 + (close ? 0.004 : 1 + 0.1 * (k % 3)));
  phases.push({ mode: close ? k % 2 : k % 3, t0, t1 });
  t0 = t1;
}
phases.slice(1).forEach(({ mode: to, t0: t }, k) => {
  const jumps = k % 5 === 0 ? [{ name: "v", before: 0.5, after: -0.5 }, { name: "<lambda>", before: "NaN", after: 1e-9 }] : [];
  switches.push({
    t,
    from: phases[k].mode,
    to,
    condition: k % 2 ? "v - vdr <= -<eps>" : "kx > Fs & t > 0",
    kind: kinds[k % kinds.length],
    ...(jumps.length && { smoothness: "transfer", jumps, impulses: [["lambda.wall", 1.25]] }),
    ...(k >= 8 && k < 119 && { chattering: true }),
  });
});
writeFileSync(modes, JSON.stringify(hybridRun("modes", phases, switches)));

const short = Array.from({ length: 100000 }, (_, k) => ({ mode: k % 2, t0: k * 1e-4, t1: (k + 1) * 1e-4 }));
const many_switches = short.slice(1).map(({ mode: to, t0: t }) => ({ t, from: 1 - to, to, condition: "v <= 0", kind: "condition", chattering: true }));
writeFileSync(chattering, JSON.stringify(hybridRun("chattering", short, many_switches)));

function hybridRun(model, phases, switches) {
  const rows = [];
  for (const { mode, t0, t1 } of phases) {
    const points = Math.max(2, Math.ceil((t1 - t0) * 40));
    for (let k = 0; k < points; k += 1) {
      const t = k === points - 1 ? t1 : t0 + ((t1 - t0) * k) / (points - 1);
      rows.push([t, Math.sin(t), Math.cos(t) + (mode === 1 ? 0.4 : 0), t < 2 ? "NaN" : mode === 2 ? t : 2, mode]);
    }
  }
  return {
    format: "daedal run",
    version: 1,
    model,
    ended: "end",
    names: ["x", "v", "<lambda>", "mode"],
    kinds: ["position", "velocity", "multiplier", "mode"],
    t_end: 10,
    final: rows[rows.length - 1].slice(1),
    hybrid: {
      modes: [mode("slip", false, ["x", "v"]), mode("back <slip>", false, ["x", "v"]), mode("stick", true, ["x", "v", "<lambda>"]), mode("never", false, [])],
      phases,
      switches,
      warnings: [{ t: 1.5, message: "chattering between slip and back <slip>" }],
    },
    times: rows.map((row) => row[0]),
    states: rows.map((row) => row.slice(1)),
  };
}
