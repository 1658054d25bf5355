// Pictures in space with three.js, which stands in the page. Drag to turn, with Shift or the right button to move, Ctrl and the wheel or two fingers to
// zoom, double click to see everything.
if (Player && Frames.scene.dimension === 3) {
  const { scene, count, frame, vector, value, pose, placed, moving, finite, colour } = Frames;
  const { box } = Player;
  const up = new THREE.Vector3(...scene.up).normalize();
  const whole = extent();
  /** What travels far is followed: the picture is as large as it is in a single frame. */
  const follows = whole.radius > 8 * whole.single;
  const size = 2 * (follows ? whole.single : whole.radius);
  const arrow = Frames.arrowScale(size);
  const geometries = new Map();

  let renderer = null;
  try {
    renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
  } catch {
    Looks.element(box, "p", "missing", "This browser cannot draw in space (WebGL is switched off).");
  }
  if (renderer) start();

  /** A ball around everything that is seen in any frame. */
  function extent() {
    const bounds = new THREE.Box3();
    let single = 0;
    const stride = Math.max(1, Math.floor(count / 200));
    for (let k = 0; k < count; k += stride) {
      const here = inFrame(frame(k));
      if (here.isEmpty()) continue;
      bounds.union(here);
      single = Math.max(single, here.getBoundingSphere(new THREE.Sphere()).radius);
    }
    if (bounds.isEmpty()) bounds.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
    const ball = bounds.getBoundingSphere(new THREE.Sphere());
    const lowest = Math.min(...[0, 1].flatMap((x) => [0, 1].flatMap((y) => [0, 1].map((z) =>
      new THREE.Vector3(x ? bounds.max.x : bounds.min.x, y ? bounds.max.y : bounds.min.y, z ? bounds.max.z : bounds.min.z).dot(up)))));
    return { centre: ball.center, radius: ball.radius || 1, single: single || ball.radius || 1, lowest };
  }

  /** A box around what is seen in a frame. */
  function inFrame(at) {
    const bounds = new THREE.Box3();
    const take = (point, room = 0) => {
      if (!finite(point)) return;
      const [x, y, z] = Array.isArray(room) ? room : [room, room, room];
      bounds.expandByPoint(new THREE.Vector3(...point).add(new THREE.Vector3(x, y, z)));
      bounds.expandByPoint(new THREE.Vector3(...point).sub(new THREE.Vector3(x, y, z)));
    };
    for (const drawing of scene.drawings) {
      const room = drawing.kind === "circle" ? Math.abs(value(drawing.radius, at)) : drawing.kind === "point" ? drawing.size || 0 : 0;
      for (const point of corners(drawing, at)) take(point, room);
    }
    for (const { from, to } of scene.forces) for (const { body, point } of [from, to]) take(placed(pose(body, at), point));
    scene.bodies.forEach((body, b) => {
      const where = pose(b, at);
      for (const shape of body.shapes) {
        if (shape.kind === "plane") continue;
        take(placed(where, shape.at), reach(shape, where));
      }
    });
    for (const { bodies, at: place } of scene.joints) take(placed(pose(bodies[0], at), place));
    return bounds;
  }

  /** How far a shape of a body reaches along the axes of the world. */
  function reach({ kind, size: [a, b, c], rotation, ...shape }, { q }) {
    if (kind === "mesh") return meshReach({ ...shape, size: [a] });
    if (kind === "sphere") return a;
    const axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((axis) => placed({ at: [0, 0, 0], q }, placed({ at: [0, 0, 0], q: rotation }, axis)));
    if (kind === "box") return [0, 1, 2].map((k) => (Math.abs(axes[0][k]) * a + Math.abs(axes[1][k]) * b + Math.abs(axes[2][k]) * c) / 2);
    const round = (along) => (kind === "capsule" ? a : a * Math.sqrt(Math.max(0, 1 - along * along)));
    return axes[2].map((along) => (Math.abs(along) * b) / 2 + round(along));
  }

  function meshReach({ vertices, size: [scale] }) {
    let reach = 0;
    for (let k = 0; k < vertices.length; k += 3) reach = Math.max(reach, Math.hypot(vertices[k], vertices[k + 1], vertices[k + 2]));
    return scale * reach;
  }

  function corners(drawing, at) {
    const points = drawing.points.map((point) => vector(point, at));
    if (!drawing.at) return points;
    const place = vector(drawing.at, at);
    return points.map((point) => point.map((x, k) => x + place[k]));
  }

  /** A geometry that shapes of the same kind and size share. */
  function shared(key, make) {
    if (!geometries.has(key)) geometries.set(key, make());
    return geometries.get(key);
  }

  function geometry(shape) {
    const [a, b, c] = shape.size;
    if (shape.kind === "mesh") {
      const mesh = new THREE.BufferGeometry();
      mesh.setAttribute("position", new THREE.Float32BufferAttribute(shape.vertices.map((x) => a * x), 3));
      mesh.setIndex(shape.triangles);
      mesh.computeVertexNormals();
      return mesh;
    }
    return shared(`${shape.kind} ${shape.size}`, () => {
      switch (shape.kind) {
        case "box":
          return new THREE.BoxGeometry(a, b, c);
        case "sphere":
          return new THREE.SphereGeometry(a, 32, 20);
        case "cylinder":
          return new THREE.CylinderGeometry(a, a, b, 40).rotateX(Math.PI / 2);
        case "capsule":
          return new THREE.CapsuleGeometry(a, b, 10, 28).rotateX(Math.PI / 2);
        default:
          return new THREE.PlaneGeometry(a, b);
      }
    });
  }

  function start() {
    const world = new THREE.Scene();
    const camera = new THREE.PerspectiveCamera(35, 1, size / 1000, size * 40);
    camera.up.copy(up);
    world.add(new THREE.HemisphereLight(0xffffff, 0x8a8f98, 2.2));
    const lamp = new THREE.DirectionalLight(0xffffff, 2.2);
    world.add(lamp, lamp.target);
    // directions across the vertical
    const first = new THREE.Vector3(1, 0, 0);
    if (Math.abs(up.x) > 0.9) first.set(0, 1, 0);
    first.addScaledVector(up, -first.dot(up)).normalize();
    const second = new THREE.Vector3().crossVectors(up, first);
    const eye = { azimuth: -0.95, elevation: 0.35, distance: 1, target: new THREE.Vector3() };
    const looks = [];
    const along = new THREE.Vector3();
    const ahead = new THREE.Vector3(0, 1, 0);
    const now = build(false);
    const past = build(true);
    past.draw(frame(0), Player.state);
    const traces = scene.traces.map(traceLine);
    const grid = groundGrid();
    world.add(now.group, past.group, grid, ...traces.map(({ line }) => line));
    const canvas = renderer.domElement;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "the mechanism");
    box.append(canvas);
    let [width, height] = [0, 0];

    function material(given, usual, ghost, options = {}) {
      const made = new THREE.MeshStandardMaterial({ roughness: 0.55, metalness: 0.1, transparent: ghost, opacity: ghost ? 0.16 : 1, depthWrite: !ghost, ...options });
      looks.push(() => made.color.set(colour(given, usual)));
      return made;
    }

    /** Everything but traces; the ghost stays at the start. */
    function build(ghost) {
      const group = new THREE.Group();
      const steps = [];
      const thick = size * 0.0022;
      scene.bodies.forEach((body, b) => {
        if (ghost && !Array.isArray(body.pose)) return;
        const holder = new THREE.Group();
        for (const shape of body.shapes) {
          const flat = shape.kind === "plane";
          const mesh = new THREE.Mesh(geometry(shape), material(body.color, flat ? "grey" : "blue", ghost, flat ? { side: THREE.DoubleSide, transparent: true, opacity: 0.3, depthWrite: false } : {}));
          mesh.position.set(...shape.at);
          const [w, x, y, z] = shape.rotation;
          mesh.quaternion.set(x, y, z, w);
          holder.add(mesh);
        }
        group.add(holder);
        steps.push((at) => {
          const where = pose(b, at);
          holder.visible = finite(where.at) && finite(where.q);
          if (!holder.visible) return;
          holder.position.set(...where.at);
          holder.quaternion.set(where.q[1], where.q[2], where.q[3], where.q[0]);
        });
      });
      for (const { kind, from, to } of scene.forces) {
        const ends = (at) => [from, to].map(({ body, point }) => placed(pose(body, at), point));
        const look = material(null, "green", ghost);
        steps.push(/spring/.test(kind) ? spring(group, ends, look, 0.03 * size, 8) : rod(group, ends, look, 2 * thick));
      }
      for (const drawing of scene.drawings) {
        if (ghost && (!moving(drawing) || drawing.kind === "arrow")) continue;
        const usual = { polygon: "blue", spring: "green", arrow: "red" }[drawing.kind] || "black";
        const look = material(drawing.color, usual, ghost);
        const points = (at) => corners(drawing, at);
        const wide = thick * (drawing.width || 3);
        switch (drawing.kind) {
          case "point":
            steps.push(ball(group, points, look, drawing.size || size * 0.014));
            break;
          case "line":
            for (let k = 0; k + 1 < drawing.points.length; k += 1) steps.push(rod(group, (at) => points(at).slice(k, k + 2), look, wide));
            break;
          case "circle":
            steps.push(disc(group, drawing, look, wide, ghost));
            break;
          case "spring":
            steps.push(spring(group, points, look, drawing.size || 0.03 * size, drawing.coils || 8));
            break;
          case "polygon":
            steps.push(face(group, points, material(drawing.color, usual, ghost, { side: THREE.DoubleSide, transparent: true, opacity: ghost ? 0.1 : 0.55 }), drawing));
            break;
          case "arrow":
            steps.push(pointer(group, (at) => points(at)[0], (at) => vector(drawing.vector, at), drawing.scale || arrow, look, wide));
            break;
        }
      }
      if (!ghost) for (const joint of scene.joints) steps.push(...hinge(group, joint, thick));
      return { group, draw: (at, state) => steps.forEach((step) => step(at, state)) };
    }

    function add(group, geometry, look) {
      const mesh = new THREE.Mesh(geometry, look);
      group.add(mesh);
      return mesh;
    }

    function ball(group, points, look, radius) {
      const mesh = add(group, shared(`ball ${radius}`, () => new THREE.SphereGeometry(radius, 36, 24)), look);
      return (at) => {
        const [point] = points(at);
        mesh.visible = finite(point);
        if (mesh.visible) mesh.position.set(...point);
      };
    }

    /** Put a mesh of unit length along y between two points. */
    function stretch(mesh, [from, to], across) {
      along.set(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
      const length = along.length();
      mesh.visible = finite(from) && finite(to) && length > 0;
      if (!mesh.visible) return;
      mesh.position.set((from[0] + to[0]) / 2, (from[1] + to[1]) / 2, (from[2] + to[2]) / 2);
      mesh.quaternion.setFromUnitVectors(ahead, along.divideScalar(length));
      mesh.scale.set(across, length, across);
    }

    function rod(group, ends, look, radius) {
      const mesh = add(group, shared("rod", () => new THREE.CylinderGeometry(1, 1, 1, 14)), look);
      return (at) => stretch(mesh, ends(at), radius);
    }

    function spring(group, ends, look, radius, coils) {
      const helix = shared(`helix ${coils}`, () => {
        const points = [];
        const steps = Math.round(coils * 20);
        for (let k = 0; k <= steps; k += 1) {
          const phi = (2 * Math.PI * coils * k) / steps;
          points.push(new THREE.Vector3(Math.cos(phi), k / steps - 0.5, Math.sin(phi)));
        }
        return new THREE.TubeGeometry(new THREE.CatmullRomCurve3(points), steps, 0.018, 6);
      });
      const mesh = add(group, helix, look);
      return (at) => stretch(mesh, ends(at), radius);
    }

    function disc(group, { points, radius, axis, fill }, look, wide, ghost) {
      const holder = new THREE.Group();
      const rim = add(holder, new THREE.TorusGeometry(1, 0.02, 10, 64), look);
      let inside = null;
      if (fill) {
        inside = add(holder, shared("disc", () => new THREE.CircleGeometry(1, 64)), look.clone());
        Object.assign(inside.material, { side: THREE.DoubleSide, transparent: true, opacity: ghost ? 0.1 : 0.5 });
        looks.push(() => inside.material.color.copy(look.color));
      }
      group.add(holder);
      const normal = new THREE.Vector3(0, 0, 1);
      return (at) => {
        const [centre, r] = [vector(points[0], at), Math.abs(value(radius, at))];
        const direction = axis ? vector(axis, at) : [0, 0, 1];
        along.set(...direction);
        holder.visible = finite(centre) && r > 0 && along.length() > 0;
        if (!holder.visible) return;
        holder.position.set(...centre);
        holder.quaternion.setFromUnitVectors(normal, along.normalize());
        holder.scale.setScalar(r);
        rim.scale.set(1, 1, Math.max(1, wide / (0.02 * r)));
      };
    }

    function face(group, points, look, { points: { length } }) {
      const shape = new THREE.BufferGeometry();
      const positions = new THREE.Float32BufferAttribute(new Float32Array(3 * length), 3);
      shape.setAttribute("position", positions);
      shape.setIndex(Array.from({ length: length - 2 }, (_, k) => [0, k + 1, k + 2]).flat());
      const mesh = add(group, shape, look);
      mesh.frustumCulled = false;
      return (at) => {
        const all = points(at);
        mesh.visible = all.every(finite);
        if (!mesh.visible) return;
        all.forEach((point, k) => positions.setXYZ(k, ...point));
        positions.needsUpdate = true;
        shape.computeVertexNormals();
      };
    }

    function pointer(group, from, shown, scale, look, wide) {
      const shaft = add(group, shared("rod", () => new THREE.CylinderGeometry(1, 1, 1, 14)), look);
      const head = add(group, shared("cone", () => new THREE.ConeGeometry(1, 1, 18)), look);
      return (at, state) => {
        const [point, arrow] = [from(at), shown(at)];
        const tip = point.map((x, k) => x + scale * arrow[k]);
        const length = Math.hypot(...arrow) * scale;
        const part = Math.max(0, 1 - (0.035 * size) / length);
        const neck = point.map((x, k) => x + part * scale * arrow[k]);
        stretch(shaft, [point, neck], wide);
        stretch(head, [neck, tip], 3 * wide);
        if (!state.forces) shaft.visible = head.visible = false;
      };
    }

    /** A joint by its kind, and its force. */
    function hinge(group, { kind, bodies, at: place, axis, second_axis: second, force }, thick) {
      const point = (at) => placed(pose(bodies[0], at), place);
      const look = material(null, bodies.includes(null) ? "black" : "grey", false);
      const steps = [];
      const own = (make) => {
        const from = group.children.length;
        const step = make();
        const made = group.children.slice(from);
        steps.push((at, state) => {
          step(at, state);
          if (!state.joints) made.forEach((child) => (child.visible = false));
        });
      };
      const unit = (axis) => axis.map((x) => x / (Math.hypot(...axis) || 1));
      /** Ends of a piece of an axis through the joint, fixed in one of the bodies. */
      const piece = (axis, reach, body = bodies[0]) => (at) => {
        const where = pose(body, at);
        const along = placed({ at: [0, 0, 0], q: where.q }, unit(axis));
        return [-reach, reach].map((s) => point(at).map((x, k) => x + s * along[k]));
      };
      const span = pins();
      switch (kind) {
        case "revolute":
          own(() => rod(group, piece(axis, 0.8 * span), look, 0.28 * span));
          break;
        case "universal":
          own(() => rod(group, piece(axis, span), look, 0.2 * span));
          own(() => rod(group, piece(second, span, bodies[1]), look, 0.2 * span));
          break;
        case "prismatic":
        case "screw":
        case "cylindrical":
          own(() => rod(group, piece(axis, 4 * span), look, 1.2 * thick));
          own(() => sleeve(group, piece(axis, span), look, 0.55 * span, kind === "prismatic"));
          break;
        case "point-on-line":
          own(() => rod(group, piece(axis, 4 * span), look, 1.2 * thick));
          break;
        case "planar":
        case "point-on-plane":
          own(() => rod(group, piece(axis, 0.06 * span), look, 1.6 * span));
          break;
        case "knife-edge":
          own(() => rod(group, piece(second, span, bodies[1]), look, 0.15 * span));
          break;
        case "weld":
          own(() => sleeve(group, piece([0, 0, 1], 0.4 * span), look, 0.4 * span, true));
          break;
        default:
          own(() => ball(group, (at) => [point(at)], look, 0.6 * span));
      }
      if (force) steps.push(pointer(group, point, (at) => force.map((column) => Frames.column(column, at)), arrow, material(null, "red", false), 2 * thick));
      return steps;
    }

    /** Half the length of a pin: as large as bodies are thick, and not too small to be seen. */
    function pins() {
      const thickness = scene.bodies.flatMap(({ shapes }) => shapes.filter(({ kind }) => kind !== "plane" && kind !== "mesh").map(({ kind, size: s }) => (kind === "box" ? [...s].sort((a, b) => a - b)[1] : kind === "sphere" ? s[0] : 2 * Math.min(s[0], s[1]))));
      thickness.sort((a, b) => a - b);
      const usual = thickness.length ? thickness[thickness.length >> 1] : 0;
      return Math.min(0.04 * size, Math.max(0.009 * size, 0.9 * usual));
    }

    /** What slides: a tube, or one with edges. */
    function sleeve(group, ends, look, radius, edged) {
      const mesh = add(group, shared(edged ? "edged" : "rod", () => new THREE.CylinderGeometry(1, 1, 1, edged ? 4 : 14)), look);
      return (at) => stretch(mesh, ends(at), radius);
    }

    function traceLine({ body, point, color }) {
      const positions = new Float32Array(3 * count);
      for (let k = 0; k < count; k += 1) {
        const at = frame(k);
        const place = body === null || body === undefined ? vector(point, at) : placed(pose(body, at), vector(point, at));
        positions.set(finite(place) ? place : k ? positions.slice(3 * k - 3, 3 * k) : [0, 0, 0], 3 * k);
      }
      const shape = new THREE.BufferGeometry();
      shape.setAttribute("position", new THREE.BufferAttribute(positions, 3));
      const look = new THREE.LineBasicMaterial();
      looks.push(() => look.color.set(colour(color, "orange")));
      const line = new THREE.Line(shape, look);
      line.frustumCulled = false;
      return { line, shape };
    }

    /** Squares of a round length below everything. */
    function groundGrid() {
      const power = 10 ** Math.floor(Math.log10(size / 5));
      const cell = [1, 2, 5, 10].map((k) => k * power).find((cell) => size / cell <= 8);
      const cells = Math.min(400, 2 * Math.ceil((1.5 * whole.radius) / cell));
      const lines = new THREE.GridHelper(cells * cell, cells);
      lines.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), up);
      const height = Math.abs(whole.lowest) < 0.02 * size ? 0 : whole.lowest;
      lines.position.copy(whole.centre).addScaledVector(up, height - whole.centre.dot(up));
      lines.material.vertexColors = false;
      lines.material.transparent = true;
      lines.material.opacity = 0.6;
      looks.push(() => lines.material.color.set(Looks.variable("--line")));
      const unit = scene.unit ? ` ${scene.unit}` : "";
      Looks.element(box, "span", "squares", `squares of ${+cell.toPrecision(3)}${unit}`);
      return lines;
    }

    function fit() {
      eye.azimuth = -0.95;
      eye.elevation = 0.35;
      eye.target.copy(follows ? new THREE.Vector3() : whole.centre);
      const narrow = Math.min(1, width / height || 1);
      eye.distance = (0.5 * size) / Math.sin((camera.fov * Math.PI) / 360) / narrow;
    }

    /** From the place that is followed, if there is one. */
    function look(at) {
      const level = Math.cos(eye.elevation) * eye.distance;
      const target = eye.target.clone();
      if (follows) {
        const [low, high] = [at.low, at.high].map((k) => inFrame(frame(k)).getCenter(new THREE.Vector3()));
        target.add(low.lerp(high, at.part));
      }
      camera.position
        .copy(target)
        .addScaledVector(first, level * Math.cos(eye.azimuth))
        .addScaledVector(second, level * Math.sin(eye.azimuth))
        .addScaledVector(up, Math.sin(eye.elevation) * eye.distance);
      camera.lookAt(target);
      lamp.position.copy(camera.position).addScaledVector(up, size);
      lamp.target.position.copy(target);
    }

    function draw(at, state) {
      now.draw(at, state);
      past.group.visible = state.start;
      for (const { line, shape } of traces) {
        line.visible = state.traces;
        shape.setDrawRange(0, at.low + 1);
      }
      look(at);
      if (width) renderer.render(world, camera);
    }

    function resize() {
      const changed = Math.max(200, box.clientWidth);
      if (changed === width) return;
      width = changed;
      height = width < 600 ? Math.round(0.85 * width) : 460;
      renderer.setPixelRatio(Math.min(2, devicePixelRatio || 1));
      renderer.setSize(width, height);
      camera.aspect = width / height;
      camera.updateProjectionMatrix();
      fit();
      Player.draw();
    }

    function paint() {
      looks.forEach((change) => change());
      Player.draw();
    }

    // turning, moving and zooming
    const fingers = new Map();
    const zoom = (factor) => (eye.distance = Math.min(size * 20, Math.max(size * 0.02, eye.distance / factor)));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const here = [event.offsetX, event.offsetY];
      fingers.set(event.pointerId, here);
      const [dx, dy] = [here[0] - before[0], here[1] - before[1]];
      const other = [...fingers].find(([id]) => id !== event.pointerId);
      if (other) {
        const distance = (p) => Math.hypot(p[0] - other[1][0], p[1] - other[1][1]) || 1;
        zoom(distance(here) / distance(before));
      } else if (event.shiftKey || event.buttons & 2) {
        const pixel = (2 * eye.distance * Math.tan((camera.fov * Math.PI) / 360)) / height;
        const right = new THREE.Vector3().setFromMatrixColumn(camera.matrix, 0);
        const upward = new THREE.Vector3().setFromMatrixColumn(camera.matrix, 1);
        eye.target.addScaledVector(right, -dx * pixel).addScaledVector(upward, dy * pixel);
      } else {
        eye.azimuth -= 0.008 * dx;
        eye.elevation = Math.min(1.55, Math.max(-1.55, eye.elevation + 0.008 * dy));
      }
      Player.draw();
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        zoom(Math.exp(-0.002 * event.deltaY));
        Player.draw();
      },
      { passive: false },
    );
    canvas.addEventListener("dblclick", () => {
      fit();
      Player.draw();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
    resize();
    Player.show({ draw, fit });
    paint();
    new ResizeObserver(resize).observe(box);
  }
}
