// Modes of a run on the report page: bands behind the plots, marks of switches, the table of switches.
const Modes = (() => {
  const { variable, vector, element } = Looks;
  const bands = PAGE.bands;
  const COLOURS = 8;
  /** Height of the mark of a switch, in pixels. */
  const MARK = 7;
  /** How much of its colour a band has. */
  const SOFT = 0.13;
  const HATCH = 0.4;
  /** Rows that one click adds to the table. */
  const MORE = 500;

  /** The mode of a drawing in the page has this colour. */
  function colour(mode) {
    return variable(name(mode));
  }

  function name(mode) {
    return mode === null ? "--quiet" : `--mode-${mode % COLOURS}`;
  }

  /** Does anything mark it beside its colour? */
  function isHatched(mode) {
    return mode === null || bands.modes[mode].sliding;
  }

  /** Place of the band at a time. */
  function place(t) {
    let [low, high] = [0, bands.t.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (bands.t[middle] <= t) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Name of a mode in a legend. */
  function label({ name, sliding }) {
    return sliding && !name.includes("(sliding)") ? `${name} (sliding)` : name;
  }

  /** The active mode as a part of a sentence. */
  function named(t) {
    if (!bands || !bands.t.length) return "";
    const mode = bands.mode[place(t)];
    return mode === null ? ", chattering" : `, ${bands.modes[mode].name}`;
  }

  /** Bands in pixels: from, to, mode. Neighbours narrower than a pixel are one band of chattering. */
  function visible(chart, view) {
    const { bbox } = chart;
    const scale = bbox.width / (view.max - view.min);
    const at = (t) => Math.min(Math.max((t - view.min) * scale, 0), bbox.width);
    const found = [];
    let narrow = false;
    for (let k = place(view.min); k < bands.t.length && bands.t[k] < view.max; k += 1) {
      const [from, to] = [at(bands.t[k]), at(k + 1 < bands.t.length ? bands.t[k + 1] : bands.end)];
      const last = found[found.length - 1];
      if (to - from >= 1) {
        narrow = false;
        found.push([from, to, bands.mode[k]]);
      } else if (narrow) {
        last[1] = to;
        last[2] = null;
      } else {
        narrow = true;
        found.push([from, to, bands.mode[k]]);
      }
    }
    return found;
  }

  function drawBands(chart, view) {
    if (!bands || !bands.t.length) return;
    const { ctx, bbox } = chart;
    ctx.save();
    for (const [from, to, mode] of visible(chart, view)) {
      const box = [bbox.left + from, bbox.top, Math.max(to - from, 1), bbox.height];
      ctx.globalAlpha = SOFT;
      ctx.fillStyle = colour(mode);
      ctx.fillRect(...box);
      if (isHatched(mode)) {
        ctx.globalAlpha = HATCH;
        ctx.fillStyle = hatching(ctx, mode);
        ctx.fillRect(...box);
      }
    }
    ctx.restore();
  }

  /** Slanted lines for sliding, upright ones for chattering. */
  function hatching(ctx, mode) {
    const size = Math.round(8 * devicePixelRatio);
    const tile = Object.assign(document.createElement("canvas"), { width: size, height: size });
    const pen = tile.getContext("2d");
    pen.strokeStyle = colour(mode);
    pen.lineWidth = devicePixelRatio;
    pen.beginPath();
    if (mode === null) {
      for (const x of [size / 4, (3 * size) / 4]) {
        pen.moveTo(x, 0);
        pen.lineTo(x, size);
      }
    } else {
      for (const shift of [-size, 0, size]) {
        pen.moveTo(shift, size);
        pen.lineTo(shift + size, 0);
      }
    }
    pen.stroke();
    return ctx.createPattern(tile, "repeat");
  }

  /** A mark on the time axis for every switch, one at each pixel. */
  function drawSwitches(chart, view) {
    if (!bands || !bands.switches.length) return;
    const { ctx, bbox } = chart;
    const scale = bbox.width / (view.max - view.min);
    const foot = bbox.top + bbox.height;
    let last = -1;
    ctx.save();
    ctx.fillStyle = variable("--note");
    ctx.beginPath();
    for (const t of bands.switches) {
      if (t < view.min || t > view.max) continue;
      const x = Math.round(bbox.left + (t - view.min) * scale);
      if (x === last) continue;
      last = x;
      const [half, high] = [(MARK / 2) * devicePixelRatio, MARK * devicePixelRatio];
      ctx.moveTo(x - half, foot);
      ctx.lineTo(x + half, foot);
      ctx.lineTo(x, foot - high);
    }
    ctx.fill();
    ctx.restore();
  }

  /** Modes that were active, with the ground that they have. */
  function addLegend(parent) {
    if (!bands || !bands.t.length) return;
    const list = element(parent, "ul", "modes");
    const active = bands.modes.map((_, mode) => mode).filter((mode) => bands.mode.includes(mode));
    for (const mode of active) {
      addSample(element(list, "li"), mode, label(bands.modes[mode]));
    }
    if (bands.mode.includes(null) || hasShort()) addSample(element(list, "li"), null, "chattering");
  }

  /** Are there neighbours so short that they may be drawn as one band? */
  function hasShort() {
    const shortest = (bands.end - bands.t[0]) / 1000;
    const length = (k) => (k + 1 < bands.t.length ? bands.t[k + 1] : bands.end) - bands.t[k];
    return bands.t.some((_, k) => k > 0 && length(k - 1) < shortest && length(k) < shortest);
  }

  function addSample(item, mode, text) {
    const drawing = vector("svg", { width: 26, height: 14, "aria-hidden": "true" });
    const ground = vector("rect", { width: 26, height: 14, "fill-opacity": 0.25, "stroke-opacity": 0.7 });
    ground.style.fill = ground.style.stroke = `var(${name(mode)})`;
    drawing.append(ground);
    if (isHatched(mode)) {
      const slant = mode === null ? 0 : 14;
      for (let x = mode === null ? 3 : -11; x < 26; x += mode === null ? 4 : 8) {
        const line = vector("line", { x1: x, y1: 14, x2: x + slant, y2: 0, "stroke-opacity": 0.7 });
        line.style.stroke = `var(${name(mode)})`;
        drawing.append(line);
      }
    }
    item.append(drawing);
    element(item, "span", "", text);
  }

  /** Buttons of the table of switches: more rows, and without those that are chattering. */
  function useTable(card) {
    const tools = card && card.querySelector(".tools");
    if (!tools) return;
    const rows = [...card.querySelectorAll("tbody tr")];
    const first = Number(card.dataset.first);
    let most = first;
    tools.hidden = false;

    let calm = null;
    if (rows.some((row) => row.classList.contains("chattering")) && rows.some((row) => !row.classList.contains("chattering"))) {
      const label = element(tools, "label", "choice");
      calm = element(label, "input", "calm");
      calm.type = "checkbox";
      label.append("without chattering");
      calm.addEventListener("change", () => {
        most = first;
        update();
      });
    }
    const more = element(tools, "button", "more");
    more.type = "button";
    more.addEventListener("click", () => {
      most += MORE;
      update();
    });
    const count = element(tools, "span", "note");
    update();

    function update() {
      let [shown, wanted] = [0, 0];
      for (const row of rows) {
        const out = calm !== null && calm.checked && row.classList.contains("chattering");
        if (!out) wanted += 1;
        row.hidden = out || shown >= most;
        if (!row.hidden) shown += 1;
      }
      more.hidden = shown >= wanted;
      more.textContent = wanted - shown > MORE ? `show ${MORE} more` : `show all ${wanted}`;
      count.textContent = `${shown} of ${wanted} rows`;
    }
  }

  /** Modes that a drawing in lines has. */
  function addLineLegend(parent, modes) {
    const list = element(parent, "ul", "modes");
    for (const mode of modes) {
      const item = element(list, "li");
      const drawing = vector("svg", { width: 26, height: 10, "aria-hidden": "true" });
      const line = vector("line", { x1: 0, x2: 26, y1: 5, y2: 5, "stroke-width": 2.5 });
      line.style.stroke = `var(${name(mode)})`;
      drawing.append(line);
      item.append(drawing);
      element(item, "span", "", label(bands.modes[mode]));
    }
  }

  return { colour, named, drawBands, drawSwitches, addLegend, addLineLegend, useTable };
})();

