// Flat pictures on a canvas: x to the right, y upward. Drag to move it, Ctrl and the wheel or two fingers to zoom, double click to see everything.
if (Player && Frames.scene.dimension === 2) {
  const { scene, count, frame, vector, value, pose, placed, moving, finite, colour } = Frames;
  const { box } = Player;
  const canvas = Looks.element(box, "canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "the mechanism");
  const context = canvas.getContext("2d");
  const whole = extent();
  const size = Math.max(whole.high[0] - whole.low[0], whole.high[1] - whole.low[1]) || 1;
  const arrow = Frames.arrowScale(size);
  /** centre, and pixels for each unit */
  const view = { centre: [0, 0], zoom: 1 };
  let [width, height] = [0, 0];

  /** Everything that is seen in any frame. */
  function extent() {
    const low = [Infinity, Infinity];
    const high = [-Infinity, -Infinity];
    const take = ([x, y], room = 0) => {
      if (!finite([x, y])) return;
      low[0] = Math.min(low[0], x - room);
      low[1] = Math.min(low[1], y - room);
      high[0] = Math.max(high[0], x + room);
      high[1] = Math.max(high[1], y + room);
    };
    const stride = Math.max(1, Math.floor(count / 400));
    for (let k = 0; k < count; k += stride) {
      const at = frame(k);
      for (const drawing of scene.drawings) {
        const room = drawing.kind === "circle" ? Math.abs(value(drawing.radius, at)) : drawing.size && drawing.kind === "point" ? drawing.size : 0;
        for (const point of corners(drawing, at)) take(point, room || 0);
      }
      scene.bodies.forEach((body, b) => body.shapes.forEach((shape) => outline(shape, pose(b, at)).forEach((point) => take(point))));
      for (const { from, to } of scene.forces) for (const { body, point } of [from, to]) take(placed(pose(body, at), point));
      for (const { bodies, at: place } of scene.joints) take(placed(pose(bodies[0], at), place));
    }
    if (!finite([...low, ...high])) return { low: [-1, -1], high: [1, 1] };
    return { low, high };
  }

  /** Points of a drawing; those of a polygon that is placed are turned and moved. */
  function corners(drawing, at) {
    const points = drawing.points.map((point) => vector(point, at));
    if (!drawing.at) return points;
    const [x, y] = vector(drawing.at, at);
    const angle = drawing.angle === undefined ? 0 : value(drawing.angle, at);
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    return points.map(([u, v]) => [x + cos * u - sin * v, y + sin * u + cos * v]);
  }

  /** The outline of a shape of a body, seen from above. */
  function outline(shape, body) {
    const [a, b = a, c = b] = shape.size;
    const points = [];
    const around = (radius, z) => {
      for (let k = 0; k < 32; k += 1) points.push([radius * Math.cos((Math.PI * k) / 16), radius * Math.sin((Math.PI * k) / 16), z]);
    };
    if (shape.kind === "box" || shape.kind === "plane") {
      const z = shape.kind === "box" ? c / 2 : 0;
      for (const x of [-a / 2, a / 2]) for (const y of [-b / 2, b / 2]) points.push([x, y, -z], [x, y, z]);
    } else if (shape.kind === "mesh") {
      for (let k = 0; k < shape.vertices.length; k += 3) points.push(shape.vertices.slice(k, k + 3).map((x) => a * x));
    } else if (shape.kind === "sphere") {
      around(a, 0);
    } else {
      around(a, -b / 2);
      around(a, b / 2);
      if (shape.kind === "capsule") points.push([0, 0, -b / 2 - a], [0, 0, b / 2 + a]);
    }
    const own = { at: shape.at, q: shape.rotation };
    return hull(points.map((point) => placed(body, placed(own, point))));
  }

  /** The convex hull of points in the plane. */
  function hull(points) {
    const sorted = points.map(([x, y]) => [x, y]).sort((p, q) => p[0] - q[0] || p[1] - q[1]);
    const turn = (o, p, q) => (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]);
    const half = (list) => {
      const chain = [];
      for (const point of list) {
        while (chain.length > 1 && turn(chain[chain.length - 2], chain[chain.length - 1], point) <= 0) chain.pop();
        chain.push(point);
      }
      return chain.slice(0, -1);
    };
    return [...half(sorted), ...half(sorted.reverse())];
  }

  const toPixels = ([x, y]) => [width / 2 + view.zoom * (x - view.centre[0]), height / 2 - view.zoom * (y - view.centre[1])];

  function fit() {
    const { low, high } = whole;
    view.centre = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
    const air = 26;
    view.zoom = Math.min((width - 2 * air) / (high[0] - low[0] || size / 10), (height - 2 * air) / (high[1] - low[1] || size / 10));
  }

  function resize() {
    const ratio = devicePixelRatio || 1;
    const changed = Math.max(200, box.clientWidth);
    const aspect = (whole.high[1] - whole.low[1]) / (whole.high[0] - whole.low[0] || 1);
    const tall = Math.round(Math.min(changed < 600 ? 380 : 480, Math.max(150, changed * aspect + 52)));
    if (changed === width && tall === height) return;
    [width, height] = [changed, tall];
    canvas.style.height = `${height}px`;
    [canvas.width, canvas.height] = [Math.round(ratio * width), Math.round(ratio * height)];
    fit();
    Player.draw();
  }

  function draw(at, state) {
    const ratio = canvas.width / width;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.lineJoin = context.lineCap = "round";
    if (state.traces) for (const trace of scene.traces) drawTrace(trace, at);
    if (state.start) {
      context.globalAlpha = 0.22;
      shapes(frame(0), state, true);
      context.globalAlpha = 1;
    }
    shapes(at, state, false);
    drawScale();
  }

  function shapes(at, state, ghost) {
    scene.bodies.forEach((body, b) => {
      if (ghost && !Array.isArray(body.pose)) return;
      const where = pose(b, at);
      for (const shape of body.shapes) path(outline(shape, where), { color: colour(body.color, "blue"), closed: true, fill: true, width: 1.5 });
    });
    for (const { kind, from, to } of scene.forces) {
      const ends = [from, to].map(({ body, point }) => placed(pose(body, at), point));
      path(/spring/.test(kind) ? winding(ends[0], ends[1], 8) : ends, { color: colour(null, "green"), width: 1.5 });
    }
    for (const drawing of scene.drawings) if (!ghost || moving(drawing)) shape(drawing, at, state, ghost);
    if (ghost || !state.joints) return;
    for (const joint of scene.joints) drawJoint(joint, at, state);
  }

  /** A joint by its kind, and its force. What belongs to the ground is hatched. */
  function drawJoint({ kind, bodies, at: place, axis, force }, at, state) {
    const where = pose(bodies[0], at);
    const point = placed(where, place);
    if (!finite(point)) return;
    const color = colour(null, "black");
    const grounded = bodies.includes(null);
    if (["prismatic", "point-on-line"].includes(kind) && axis) {
      const reach = 0.16 * size;
      const ends = [-reach, reach].map((s) => placed(where, place.map((x, k) => x + s * axis[k])));
      if (bodies[0] === null) hatch(ends, color);
      path(ends, { color, width: 1.2, dashed: bodies[0] !== null });
    }
    const [x, y] = toPixels(point);
    if (kind === "revolute" && grounded) {
      path([[0, 0], [-8, -13], [8, -13]].map(([u, v]) => [point[0] + u / view.zoom, point[1] + v / view.zoom]), { color, width: 1.5, closed: true });
      hatch([[-13, -13], [13, -13]].map(([u, v]) => [point[0] + u / view.zoom, point[1] + v / view.zoom]), color, 6);
    }
    if (kind === "weld") {
      context.fillStyle = color;
      context.fillRect(x - 3.5, y - 3.5, 7, 7);
    } else if (kind !== "prismatic") {
      context.beginPath();
      context.arc(x, y, 3.5, 0, 2 * Math.PI);
      context.fillStyle = Looks.variable("--ground");
      context.fill();
      stroke({ color, width: 1.5 });
    }
    if (force && state.forces) arrowTo(point, force.map((column) => Frames.column(column, at)), arrow, colour(null, "red"), 2);
  }

  function shape(drawing, at, state, ghost) {
    const points = corners(drawing, at);
    if (!points.every(finite)) return;
    const usual = { polygon: "blue", spring: "green", arrow: "red" }[drawing.kind] || "black";
    const look = { color: colour(drawing.color, usual), width: drawing.width || 2.5, dashed: drawing.style === "dashed" };
    switch (drawing.kind) {
      case "point":
        dot(points[0], drawing.size ? Math.max(1.5, drawing.size * view.zoom) : 4.5, look.color);
        break;
      case "line":
        if (drawing.style === "ground") hatch(points, look.color);
        path(points, look);
        break;
      case "circle": {
        const radius = value(drawing.radius, at);
        if (!Number.isFinite(radius)) break;
        const [x, y] = toPixels(points[0]);
        context.beginPath();
        context.arc(x, y, Math.abs(radius) * view.zoom, 0, 2 * Math.PI);
        stroke({ ...look, fill: drawing.fill });
        if (drawing.angle !== undefined) {
          const angle = value(drawing.angle, at);
          path([points[0], [points[0][0] + radius * Math.cos(angle), points[0][1] + radius * Math.sin(angle)]], look);
        }
        break;
      }
      case "spring":
        path(winding(points[0], points[1], drawing.coils || 8, drawing.size), { ...look, width: drawing.width || 1.5 });
        break;
      case "polygon":
        path(points, { ...look, closed: true, fill: drawing.fill !== false, width: drawing.width || 1.5 });
        break;
      case "arrow":
        if (state.forces && !ghost) arrowTo(points[0], vector(drawing.vector, at), drawing.scale || arrow, look.color, look.width);
        break;
    }
  }

  function stroke({ color, width, dashed, fill }) {
    if (fill) {
      const alpha = context.globalAlpha;
      context.fillStyle = color;
      context.globalAlpha = 0.28 * alpha;
      context.fill();
      context.globalAlpha = alpha;
    }
    context.strokeStyle = color;
    context.lineWidth = width;
    context.setLineDash(dashed ? [7, 6] : []);
    context.stroke();
    context.setLineDash([]);
  }

  function path(points, look) {
    if (!points.every(finite)) return;
    context.beginPath();
    points.forEach((point, k) => (k ? context.lineTo(...toPixels(point)) : context.moveTo(...toPixels(point))));
    if (look.closed) context.closePath();
    stroke(look);
  }

  function dot(point, radius, color) {
    if (!finite(point)) return;
    const [x, y] = toPixels(point);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = color;
    context.fill();
  }

  function arrowTo(point, shown, scale, color, width) {
    if (!finite(point) || !finite(shown)) return;
    const tip = [point[0] + scale * shown[0], point[1] + scale * shown[1]];
    const [[x0, y0], [x1, y1]] = [toPixels(point), toPixels(tip)];
    const length = Math.hypot(x1 - x0, y1 - y0);
    if (length < 2) return;
    const [u, v, head] = [(x1 - x0) / length, (y1 - y0) / length, Math.min(10, 0.5 * length)];
    path([point, tip], { color, width });
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - head * u + 0.45 * head * v, y1 - head * v - 0.45 * head * u);
    context.lineTo(x1 - head * u - 0.45 * head * v, y1 - head * v + 0.45 * head * u);
    context.closePath();
    context.fillStyle = color;
    context.fill();
  }

  /** A zigzag between two points. */
  function winding([x0, y0], [x1, y1], coils, reach) {
    const [dx, dy] = [x1 - x0, y1 - y0];
    const length = Math.hypot(dx, dy) || 1;
    const aside = (reach || 0.025 * size) / length;
    const turns = Math.max(2, Math.min(400, Math.round(2 * coils)));
    const points = [[x0, y0]];
    for (let k = 0; k <= turns + 1; k += 1) {
      const part = 0.1 + (0.8 * Math.min(turns, Math.max(0, k - 0.5))) / turns;
      const side = k === 0 || k === turns + 1 ? 0 : k % 2 ? aside : -aside;
      points.push([x0 + part * dx - side * dy, y0 + part * dy + side * dx]);
    }
    return [...points, [x1, y1]];
  }

  /** Short strokes on the right side of what does not move. */
  function hatch(points, color, pace = 10) {
    context.beginPath();
    for (let k = 0; k + 1 < points.length; k += 1) {
      const [[x0, y0], [x1, y1]] = [toPixels(points[k]), toPixels(points[k + 1])];
      const length = Math.hypot(x1 - x0, y1 - y0) || 1;
      const [u, v] = [(x1 - x0) / length, (y1 - y0) / length];
      for (let s = pace / 2; s < Math.min(length, 20000); s += pace) {
        const [x, y] = [x0 + s * u, y0 + s * v];
        context.moveTo(x, y);
        context.lineTo(x - 7 * u - 7 * v, y - 7 * v + 7 * u);
      }
    }
    stroke({ color, width: 1 });
  }

  function drawTrace({ body, point, color, width }, at) {
    const where = (at) => (body === null || body === undefined ? vector(point, at) : placed(pose(body, at), [...vector(point, at), 0].slice(0, 3)));
    context.beginPath();
    let drawing = false;
    const go = (at) => {
      const place = where(at);
      const is = finite(place);
      if (is) {
        if (drawing) context.lineTo(...toPixels(place));
        else context.moveTo(...toPixels(place));
      }
      drawing = is;
    };
    for (let k = 0; k <= at.low; k += 1) go(frame(k));
    go(at);
    context.globalAlpha = 0.8;
    stroke({ color: colour(color, "orange"), width: width || 1.5 });
    context.globalAlpha = 1;
  }

  /** A round length in a corner. */
  function drawScale() {
    const wanted = 0.22 * Math.min(width, 500);
    const power = 10 ** Math.floor(Math.log10(wanted / view.zoom));
    const length = [5, 2, 1].map((k) => k * power).find((length) => length * view.zoom <= wanted) || power;
    const pixels = length * view.zoom;
    context.strokeStyle = context.fillStyle = Looks.variable("--quiet");
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(10, height - 14);
    context.lineTo(10, height - 10);
    context.lineTo(10 + pixels, height - 10);
    context.lineTo(10 + pixels, height - 14);
    context.stroke();
    context.font = "12px system-ui, sans-serif";
    context.fillText(`${+length.toPrecision(3)}${scene.unit ? ` ${scene.unit}` : ""}`, 16 + pixels, height - 8);
  }

  // moving and zooming
  const fingers = new Map();
  const zoomAt = (x, y, factor) => {
    const [cx, cy] = [x - width / 2, height / 2 - y];
    view.centre = [view.centre[0] + (cx / view.zoom) * (1 - 1 / factor), view.centre[1] + (cy / view.zoom) * (1 - 1 / factor)];
    view.zoom *= factor;
    Player.draw();
  };
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = [event.offsetX, event.offsetY];
    fingers.set(event.pointerId, now);
    const other = [...fingers].find(([id]) => id !== event.pointerId);
    if (other) {
      const distance = (p) => Math.hypot(p[0] - other[1][0], p[1] - other[1][1]) || 1;
      zoomAt((now[0] + other[1][0]) / 2, (now[1] + other[1][1]) / 2, distance(now) / distance(before));
      return;
    }
    view.centre = [view.centre[0] - (now[0] - before[0]) / view.zoom, view.centre[1] + (now[1] - before[1]) / view.zoom];
    Player.draw();
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoomAt(event.offsetX, event.offsetY, Math.exp(-0.002 * event.deltaY));
    },
    { passive: false },
  );
  canvas.addEventListener("dblclick", () => {
    fit();
    Player.draw();
  });

  resize();
  new ResizeObserver(resize).observe(box);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", Player.draw);
  Player.show({ draw, fit });
}
