// The moving picture of the report page: its frames, the time that is shown, and the tools below it. Who draws it: flat.js and space.js.
const Frames = (() => {
  const place = document.getElementById("scene");
  if (!place) return null;
  const scene = JSON.parse(place.textContent);
  const { t, columns: packed } = scene.frames;
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const values = new Float32Array(bytes.buffer);
  const count = t.length;

  /** Place among the frames of a time: the frame before it, and the part of the way to the next one. */
  function locate(time) {
    const falls = t[count - 1] < t[0];
    let [low, high] = [0, count - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (falls ? t[middle] >= time : t[middle] <= time) low = middle;
      else high = middle;
    }
    const length = t[high] - t[low];
    const part = length ? Math.min(1, Math.max(0, (time - t[low]) / length)) : 0;
    return { low, high, part };
  }

  /** The value of a coordinate at a place. */
  function value(coordinate, { low, high, part }) {
    if (typeof coordinate === "number") return coordinate;
    const from = coordinate.column * count;
    const [x, y] = [values[from + low], values[from + high]];
    if (Number.isNaN(x) || Number.isNaN(y)) return part < 0.5 ? x : y;
    return x + part * (y - x);
  }

  const vector = (coordinates, at) => coordinates.map((coordinate) => value(coordinate, at));
  const column = (column, at) => value({ column }, at);
  const frame = (k) => ({ low: k, high: k, part: 0 });

  /** Place and quaternion (w, x, y, z) of a body; no body is the ground. */
  function pose(body, at) {
    if (body === null || body === undefined) return { at: [0, 0, 0], q: [1, 0, 0, 0] };
    const { pose } = scene.bodies[body];
    if (!Array.isArray(pose)) return { at: pose.at, q: pose.rotation };
    const x = pose.map((k) => column(k, at));
    if (x.length === 3) return { at: [x[0], x[1], 0], q: [Math.cos(x[2] / 2), 0, 0, Math.sin(x[2] / 2)] };
    const norm = Math.hypot(x[3], x[4], x[5], x[6]) || 1;
    return { at: x.slice(0, 3), q: x.slice(3).map((q) => q / norm) };
  }

  /** A point in the frame of a pose, seen in the world. */
  function placed({ at, q: [w, a, b, c] }, [x, y, z]) {
    const [u, v, s] = [2 * (b * z - c * y), 2 * (c * x - a * z), 2 * (a * y - b * x)];
    return [at[0] + x + w * u + b * s - c * v, at[1] + y + w * v + c * u - a * s, at[2] + z + w * s + a * v - b * u];
  }

  const moves = (coordinate) => typeof coordinate === "object";
  /** Does a drawing move? */
  const moving = ({ points, at, angle, axis, radius }) => [points.flat(), at || [], axis || [], [angle, radius]].flat().some((c) => c && moves(c));

  /** Length of arrows for each unit of what they show, so that the longest has a part of the extent. */
  function arrowScale(extent) {
    let longest = 0;
    const stride = Math.max(1, Math.floor(count / 400));
    const arrows = [
      ...scene.drawings.filter(({ kind, scale }) => kind === "arrow" && !scale).map(({ vector }) => vector),
      ...scene.joints.filter(({ force }) => force).map(({ force }) => force.map((column) => ({ column }))),
    ];
    for (const arrow of arrows) {
      for (let k = 0; k < count; k += stride) {
        const length = Math.hypot(...vector(arrow, frame(k)));
        if (length > longest) longest = length;
      }
    }
    return longest ? (0.18 * extent) / longest : 0;
  }

  const finite = (list) => list.every(Number.isFinite);
  const COLOURS = ["blue", "orange", "green", "purple", "teal", "yellow", "red", "violet", "pink", "grey"];
  /** A colour by name, which follows light and dark, or as it is given. */
  function colour(given, usual) {
    const word = given || usual;
    if (/^#[0-9a-f]{3,8}$/i.test(word)) return word;
    const k = COLOURS.indexOf(word);
    return Looks.variable(k < 0 ? "--text" : `--curve-${k}`);
  }

  return { scene, t, count, locate, value, vector, column, frame, pose, placed, moving, arrowScale, finite, colour };
})();

const Player = (() => {
  if (!Frames) return null;
  const { scene, t, count } = Frames;
  const { element, precise } = Looks;
  const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
  /** Plots follow so often in a second while it plays. */
  const FOLLOW = 20;

  const place = document.getElementById("mechanism");
  const [first, last] = [t[0], t[count - 1]];
  const state = { time: first, playing: false, factor: 1, traces: true, start: false, forces: true, joints: true };
  const listeners = [];
  let view = null;
  let told = 0;

  const box = element(place, "div", "stage");
  const tools = element(place, "div", "tools player");
  const play = element(tools, "button", "play");
  const slider = element(tools, "input", "scrub");
  const clock = element(tools, "output", "clock");
  const speed = element(tools, "select", "speed");
  play.type = "button";
  slider.type = "range";
  slider.setAttribute("aria-label", "time");
  speed.setAttribute("aria-label", "speed");
  Object.assign(slider, { min: 0, max: 1000, step: "any", value: 0 });
  for (const factor of SPEEDS) {
    const option = element(speed, "option", "", `${factor} ×`);
    option.value = factor;
  }
  speed.value = 1;
  speed.title = `at 1 × a second shows ${precise(scene.speed)} of the time of the model`;
  const more = element(place, "div", "tools");
  const has = {
    traces: scene.traces.length > 0,
    start: count > 1,
    forces: scene.drawings.some(({ kind }) => kind === "arrow") || scene.joints.some(({ force }) => force),
    joints: scene.joints.length > 0,
  };
  const words = { traces: "traces", start: "start", forces: "forces", joints: "joints" };
  for (const [key, word] of Object.entries(words)) {
    if (!has[key]) continue;
    const label = element(more, "label", "choice", word);
    const input = document.createElement("input");
    input.type = "checkbox";
    input.name = key;
    input.checked = state[key];
    label.prepend(input);
    input.addEventListener("change", () => {
      state[key] = input.checked;
      draw();
    });
  }
  const fit = element(more, "button", "fit", "fit");
  fit.type = "button";
  fit.title = "see everything again";

  function label() {
    play.textContent = state.playing ? "❚❚" : "▶";
    play.setAttribute("aria-label", state.playing ? "pause" : "play");
    play.disabled = count < 2;
  }

  function draw() {
    if (view) view.draw(Frames.locate(state.time), state);
    clock.textContent = `t = ${precise(+state.time.toPrecision(5))}`;
  }

  /** Show a time; `by` is who asked for it, and is not told. */
  function seek(time, by) {
    const [low, high] = first < last ? [first, last] : [last, first];
    state.time = Math.min(high, Math.max(low, time));
    if (by !== slider) slider.value = last === first ? 0 : (1000 * (state.time - first)) / (last - first);
    draw();
    const now = performance.now();
    if (state.playing && now - told < 1000 / FOLLOW) return;
    told = now;
    for (const listener of listeners) if (listener !== by) listener(state.time);
  }

  function setPlaying(playing) {
    if (playing === state.playing || count < 2) return;
    state.playing = playing;
    label();
    if (!playing) {
      seek(state.time);
      return;
    }
    if (state.time === last) seek(first);
    let before = null;
    const sense = Math.sign(last - first);
    const step = (now) => {
      if (!state.playing) return;
      const seconds = before === null ? 0 : Math.min(0.1, (now - before) / 1000);
      before = now;
      const next = state.time + sense * seconds * scene.speed * state.factor;
      if (sense * next >= sense * last) {
        seek(last);
        setPlaying(false);
        return;
      }
      seek(next);
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  play.addEventListener("click", () => setPlaying(!state.playing));
  speed.addEventListener("change", () => (state.factor = Number(speed.value)));
  slider.addEventListener("input", () => {
    setPlaying(false);
    seek(first + (Number(slider.value) / 1000) * (last - first), slider);
  });
  fit.addEventListener("click", () => {
    view.fit();
    draw();
  });

  return {
    box,
    state,
    seek,
    setPlaying,
    draw,
    /** Who wants to know the time that is shown. */
    listen: (listener) => listeners.push(listener),
    /** Who draws. */
    show: (drawn) => {
      view = drawn;
      label();
      draw();
    },
  };
})();
