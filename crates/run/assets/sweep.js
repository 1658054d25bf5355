// Maps and curves of a sweep. A map shows a column over two parameters; curves show it over one parameter, with a curve for each value of a second one, and over
// time, with a curve for each run. Parameters that are on no axis have a value that is chosen.
class SweepPictures {
  constructor(place) {
    this.place = place;
    this.points = PAGE.times ? PAGE.times.length : 1;
    this.column = 0;
    this.time = this.points - 1;
    // parameters with one value are on no axis
    this.varied = PAGE.parameters.map((_, k) => k).filter((k) => !PAGE.grid || PAGE.parameters[k].values.length > 1);
    if (this.varied.length === 0) this.varied = [0];
    this.across = this.varied[0];
    this.along = PAGE.grid && this.varied.length > 1 ? this.varied[1] : null;
    this.fixed = PAGE.parameters.map(() => 0);
    const strides = [];
    PAGE.parameters.reduceRight((stride, { values }, k) => {
      strides[k] = stride;
      return stride * values.length;
    }, 1);
    this.strides = strides;
    this.tools = Looks.element(place, "div", "tools");
    this.gallery = Looks.element(place, "div", "gallery");
    this.addTools();
    this.draw();
  }

  addTools() {
    const { element } = Looks;
    const choice = (text, names, value, change) => {
      const label = element(this.tools, "label", "choice", text);
      const select = element(label, "select");
      names.forEach(([key, name]) => (element(select, "option", "", name).value = key));
      select.value = value;
      select.addEventListener("change", () => {
        change(Number(select.value));
        this.draw();
      });
      return { label, select };
    };
    choice("show", PAGE.columns.map(({ name, kind }, k) => [k, kind === "output" ? name : `${name} (${kind})`]), this.column, (k) => (this.column = k)).select.id = "column";
    const named = this.varied.map((k) => [k, PAGE.parameters[k].name]);
    if (named.length > 1) {
      // two axes never show the same parameter: they change places
      const axis = (own, other) => (k) => {
        if (this[other] === k) this[other] = this[own];
        this[own] = k;
        for (const [which, { select }] of Object.entries(axes)) select.value = this[which];
        this.showFixed();
      };
      const axes = { across: choice("to the right", named, this.across, axis("across", "along")) };
      if (this.along !== null) axes.along = choice("upward", named, this.along, axis("along", "across"));
    }
    this.choices = !PAGE.grid || this.varied.length < 3 ? [] : this.varied.map((k) => {
      const { name, values } = PAGE.parameters[k];
      return { k, ...choice(name, values.map((x, i) => [i, short(x)]), 0, (i) => (this.fixed[k] = i)) };
    });
    this.showFixed();
    if (this.points < 2) return;
    const label = element(this.tools, "label", "choice at", "t");
    const slider = element(label, "input");
    Object.assign(slider, { type: "range", min: 0, max: this.points - 1, step: 1, value: this.time, id: "time" });
    const output = element(label, "output", "", Looks.precise(PAGE.times[this.time]));
    slider.addEventListener("input", () => {
      this.time = Number(slider.value);
      output.textContent = Looks.precise(PAGE.times[this.time]);
      this.draw();
    });
  }

  showFixed() {
    for (const { k, label } of this.choices) label.hidden = k === this.across || k === this.along;
  }

  /** The run at these places of the two axes. */
  run(i, j) {
    return PAGE.parameters.reduce((sum, _, k) => sum + this.strides[k] * (k === this.across ? i : k === this.along ? j : this.fixed[k]), 0);
  }

  value(run, time = this.time) {
    return PAGE.columns[this.column].values[run * this.points + time];
  }

  draw() {
    if (PAGE.columns.length === 0) return;
    this.gallery.replaceChildren();
    const { name } = PAGE.columns[this.column];
    const at = this.points > 1 ? ` at t = ${Looks.precise(PAGE.times[this.time])}` : PAGE.times ? "" : " at the end";
    const across = PAGE.parameters[this.across];
    const title = (over) => `${name}${at} over ${over}`;
    if (this.along !== null) this.addMap(title(`${across.name} and ${PAGE.parameters[this.along].name}`));
    this.addCurves(title(across.name), across);
    if (this.points > 1) this.addWays(`${name} over time`);
  }

  addMap(title) {
    const [across, along] = [PAGE.parameters[this.across], PAGE.parameters[this.along]];
    const field = new Field(this.gallery, title, Axis.ofCells(across.values), Axis.ofCells(along.values), across.name, along.name, BAR);
    const cells = across.values.flatMap((_, i) => along.values.map((_, j) => this.value(this.run(i, j))));
    const colours = new Ramp(cells);
    const [x, y] = [field.across.borders(across.values), field.up.borders(along.values)];
    const paths = new Map();
    cells.forEach((value, k) => {
      const [i, j] = [Math.floor(k / along.values.length), k % along.values.length];
      const [x0, x1, y0, y1] = [field.x(x[i][0]), field.x(x[i][1]), field.y(y[j][0]), field.y(y[j][1])].map((p) => p.toFixed(1));
      const colour = value === null ? null : colours.of(value);
      paths.set(colour, `${paths.get(colour) || ""}M${x0} ${y0}H${x1}V${y1}H${x0}z`);
    });
    for (const [colour, d] of paths) field.add("path", { class: colour ? "mesh" : "mesh nothing", d }, colour && { fill: colour });
    colours.addBar(field);
    const nearest = (borders, value) => borders.findIndex(([low, high]) => (value - low) * (value - high) <= 0);
    const mark = field.add("path", { class: "chosen", d: "" });
    field.point((px, py) => {
      const [i, j] = [nearest(x, px), nearest(y, py)];
      if (i < 0 || j < 0) return "";
      mark.setAttribute("d", `M${field.x(x[i][0])} ${field.y(y[j][0])}H${field.x(x[i][1])}V${field.y(y[j][1])}H${field.x(x[i][0])}z`);
      const value = this.value(this.run(i, j));
      return `${across.name} = ${Looks.precise(across.values[i])}, ${along.name} = ${Looks.precise(along.values[j])}: ${value === null ? "no value" : Looks.precise(value)}`;
    });
  }

  /** Over one parameter. Without a grid, runs are points. */
  addCurves(title, across) {
    const { name } = PAGE.columns[this.column];
    const along = this.along === null ? null : PAGE.parameters[this.along];
    let curves;
    if (PAGE.grid) {
      const curve = (j) => across.values.map((x, i) => [x, this.value(this.run(i, j))]).sort((a, b) => a[0] - b[0]);
      curves = along ? along.values.map((value, j) => ({ name: `${along.name} = ${short(value)}`, by: value, points: curve(j) })) : [{ name, points: curve(0) }];
    } else {
      curves = [{ name, dots: true, points: across.values.map((x, run) => [x, x === null ? null : this.value(run)]) }];
    }
    const axis = PAGE.grid ? Axis.ofCells(across.values, 0) : Axis.of(across.values);
    this.addLines(title, axis, across.name, name, curves, along);
  }

  /** Over time: the runs of the axis to the right, or all of them without a grid. */
  addWays(title) {
    const { name } = PAGE.columns[this.column];
    const way = (run) => PAGE.times.map((t, k) => [t, this.value(run, k)]);
    const across = PAGE.parameters[this.across];
    let curves = across.values.map((value, i) => {
      const run = PAGE.grid ? this.run(i, this.along === null ? 0 : this.fixed[this.along]) : i;
      return { name: `${across.name} = ${short(value)}`, by: value, points: way(run) };
    });
    const all = curves.length;
    curves = thinned(curves.filter(({ by }) => by !== null), MOST_WAYS);
    const along = PAGE.grid && this.along !== null ? PAGE.parameters[this.along] : null;
    const where = along ? ` at ${along.name} = ${short(along.values[this.fixed[this.along]])}` : "";
    const field = this.addLines(`${title}${where}`, Axis.of(PAGE.times), "t", name, curves, across);
    const now = field.x(PAGE.times[this.time]).toFixed(1);
    field.add("path", { class: "now", d: `M${now} ${field.top}V${field.bottom}` });
    if (curves.length < all) Looks.element(field.figure, "p", "note", `${curves.length} of ${all} runs are drawn.`);
    if (!along) return;
    const tools = Looks.element(field.figure, "div", "tools");
    const select = Looks.element(Looks.element(tools, "label", "choice", along.name), "select");
    along.values.forEach((x, j) => (Looks.element(select, "option", "", short(x)).value = j));
    select.value = this.fixed[this.along];
    select.addEventListener("change", () => {
      this.fixed[this.along] = Number(select.value);
      this.draw();
    });
  }

  /** Lines with their names, or with a bar of colours where there are many. */
  addLines(title, axis, across, up, curves, by) {
    const many = curves.length > COLOURS;
    const field = new Field(this.gallery, title, axis, Axis.of(curves.flatMap(({ points }) => points.map(([, y]) => y))), across, up, many ? BAR : 0);
    const ramp = many ? new Ramp(curves.map(({ by }) => by), by.name) : null;
    const colour = (k) => (many ? ramp.of(curves[k].by) : `var(--curve-${k})`);
    curves.forEach(({ points, dots }, k) => {
      const there = points.map(([x, y]) => (x === null || y === null ? null : [field.x(x).toFixed(1), field.y(y).toFixed(1)]));
      const line = there.map((at, i) => (at ? `${i > 0 && there[i - 1] ? "L" : "M"}${at[0]} ${at[1]}` : "")).join("");
      if (!dots) field.add("path", { class: "way", d: line }, { stroke: colour(k) });
      if (dots || (!many && points.length <= MOST_DOTS)) {
        const d = there.filter(Boolean).map(([x, y]) => `M${x - 2.5} ${y}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0z`).join("");
        field.add("path", { d }, { fill: colour(k) });
      }
    });
    if (many) ramp.addBar(field);
    else if (curves.length > 1) {
      const names = Looks.element(field.figure, "ul", "entries");
      curves.forEach(({ name }, k) => {
        const entry = Looks.element(names, "li");
        Looks.element(entry, "span", "swatch").style.background = colour(k);
        entry.append(name);
      });
    }
    const mark = field.add("path", { class: "chosen", d: "" });
    field.point((px, py) => {
      let nearest = null;
      const far = ([x, y]) => (x === null || y === null ? Infinity : Math.hypot(field.x(x) - field.x(px), field.y(y) - field.y(py)));
      for (const { name, points } of curves) for (const at of points) if (nearest === null || far(at) < far(nearest.at)) nearest = { name, at };
      if (nearest === null || far(nearest.at) === Infinity) return "";
      const [x, y] = nearest.at;
      mark.setAttribute("d", `M${field.x(x) - 5} ${field.y(y)}a5 5 0 1 0 10 0a5 5 0 1 0-10 0z`);
      return `${curves.length > 1 ? `${nearest.name}, ` : ""}${across} = ${Looks.precise(x)}: ${Looks.precise(y)}`;
    });
    return field;
  }
}

/** Curves with colours of their own; more of them have colours of a ramp. */
const COLOURS = 10;
/** Most curves over time, and most points of a curve that are marked. */
const MOST_WAYS = 150;
const MOST_DOTS = 40;
/** Room for a bar of colours with its marks. */
const BAR = 96;

/** The value of a parameter, for a name. */
function short(x) {
  return x === null ? "–" : Looks.precise(+x.toPrecision(5));
}

/** As many at most, evenly chosen, the first and the last among them. */
function thinned(list, most) {
  if (list.length <= most) return list;
  return Array.from({ length: most }, (_, k) => list[Math.round((k * (list.length - 1)) / (most - 1))]);
}

/** Colours for numbers, by which a map can be read in grey as well: viridis, in 64 steps. */
class Ramp {
  static STOPS = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];
  static STEPS = 64;

  /** Lines have no colours that vanish before the ground. */
  constructor(values, lines = null) {
    this.axis = Axis.of(values, 0);
    this.title = lines || "";
    const dark = matchMedia("screen and (prefers-color-scheme: dark)").matches;
    this.part = lines === null ? [0, 1] : dark ? [0.2, 1] : [0, 0.88];
  }

  of(value) {
    const place = Math.round((Ramp.STEPS - 1) * Math.min(1, Math.max(0, this.axis.place(value)))) / (Ramp.STEPS - 1);
    const [low, high] = this.part;
    const at = (low + place * (high - low)) * (Ramp.STOPS.length - 1);
    const k = Math.min(Math.floor(at), Ramp.STOPS.length - 2);
    const [below, above] = [Ramp.STOPS[k], Ramp.STOPS[k + 1]].map((stop) => [1, 3, 5].map((i) => parseInt(stop.slice(i, i + 2), 16)));
    return `rgb(${below.map((c, i) => Math.round(c + (at - k) * (above[i] - c))).join(" ")})`;
  }

  /** The colours beside a field, with marks. */
  addBar(field) {
    const [left, height] = [field.right + 14, (field.bottom - field.top) / Ramp.STEPS];
    for (let k = 0; k < Ramp.STEPS; k += 1) {
      const value = this.axis.at(k / (Ramp.STEPS - 1));
      field.add("rect", { class: "mesh", x: left, y: (field.bottom - (k + 1) * height).toFixed(2), width: 12, height: (height + 0.5).toFixed(2) }, { fill: this.of(value) });
    }
    for (const [value, text] of this.axis.marks(6)) {
      const y = field.bottom - (field.bottom - field.top) * this.axis.place(value);
      field.add("text", { class: "mark", x: left + 16, y: y + 4.5 }).textContent = text;
    }
    if (this.title) field.add("text", { class: "title", x: left + 12, y: field.bottom + 19, "text-anchor": "middle" }).textContent = this.title;
  }
}

/** Numbers along a line: linear, or logarithmic where the values of a parameter are more even so. */
class Axis {
  constructor(low, high, logarithmic = false) {
    Object.assign(this, { low, high, logarithmic });
  }

  /** All these numbers with some air; those that differ by rounding only count as one. */
  static of(values, air = 0.05) {
    const there = values.filter((x) => x !== null);
    const [low, high] = there.reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [Infinity, -Infinity]);
    if (low > high) return new Axis(0, 1);
    const size = Math.max(Math.abs(low), Math.abs(high));
    if (high - low <= 1e-12 * size || size === 0) return new Axis(low - (0.1 * size || 1), high + (0.1 * size || 1));
    return new Axis(low - air * (high - low), high + air * (high - low));
  }

  /** The values of a parameter; half a cell more at both ends, where cells are drawn. */
  static ofCells(values, more = 0.5) {
    const sorted = [...new Set(values)].sort((a, b) => a - b);
    if (sorted.length < 2) return Axis.of(sorted);
    const uneven = (list) => {
      const steps = list.slice(1).map((x, k) => x - list[k]);
      return Math.max(...steps) / Math.min(...steps);
    };
    const logarithmic = sorted[0] > 0 && sorted.length > 2 && uneven(sorted.map(Math.log10)) < 0.5 * uneven(sorted);
    const at = logarithmic ? sorted.map(Math.log10) : sorted;
    const last = at.length - 1;
    const air = more === 0 ? [0.03 * (at[last] - at[0]), 0.03 * (at[last] - at[0])] : [more * (at[1] - at[0]), more * (at[last] - at[last - 1])];
    const ends = [at[0] - air[0], at[last] + air[1]];
    return logarithmic ? new Axis(10 ** ends[0], 10 ** ends[1], true) : new Axis(ends[0], ends[1]);
  }

  /** Place of a number, from 0 at the lower to 1 at the upper end. */
  place(x) {
    const [low, high, at] = this.logarithmic ? [this.low, this.high, x].map(Math.log10) : [this.low, this.high, x];
    return (at - low) / (high - low);
  }

  at(place) {
    return this.logarithmic ? this.low * (this.high / this.low) ** place : this.low + place * (this.high - this.low);
  }

  /** Where the cell of each value begins and ends: half way to its neighbours. */
  borders(values) {
    const sorted = [...new Set(values)].sort((a, b) => a - b);
    const between = (a, b) => (this.logarithmic ? Math.sqrt(a * b) : 0.5 * (a + b));
    return values.map((x) => {
      const k = sorted.indexOf(x);
      return [k > 0 ? between(sorted[k - 1], x) : this.low, k < sorted.length - 1 ? between(x, sorted[k + 1]) : this.high];
    });
  }

  /** Numbers with marks, and their texts. */
  marks(most) {
    if (this.logarithmic) return this.powers(most);
    const rough = (this.high - this.low) / most;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((digit) => digit * unit).find((step) => step >= rough * (1 - 1e-9));
    const splits = [];
    for (let k = Math.ceil(this.low / step - 1e-9); k * step <= this.high + 1e-9 * step; k += 1) splits.push(k === 0 ? 0 : k * step);
    const texts = Looks.labels(null, splits, null, null, step);
    return splits.map((x, k) => [x, texts[k]]);
  }

  powers(most) {
    const [low, high] = [Math.log10(this.low), Math.log10(this.high)];
    for (const digits of [[1, 2, 5], [1, 3], [1]]) {
      const marks = [];
      for (let k = Math.floor(low); k <= high; k += 1) for (const digit of digits) marks.push(digit * 10 ** k);
      const inside = marks.filter((x) => x >= this.low && x <= this.high);
      if (inside.length <= most || digits.length === 1) {
        const pace = Math.ceil(inside.length / most);
        return inside.filter((_, k) => k % pace === 0).map((x) => [x, Looks.precise(+x.toPrecision(1))]);
      }
    }
    return [];
  }
}

/** A picture with two axes. */
class Field {
  constructor(gallery, title, across, up, acrossTitle, upTitle, besides) {
    const [width, height] = [560, 400];
    Object.assign(this, { across, up, left: 78, top: 12, right: width - 14 - besides, bottom: height - 54 });
    this.figure = Looks.element(gallery, "figure", "picture");
    Looks.element(this.figure, "figcaption", "", title);
    this.svg = Looks.vector("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
    this.figure.append(this.svg);
    this.told = Looks.element(this.figure, "p", "told");
    for (const [value, text] of across.marks(7)) {
      const x = this.x(value).toFixed(1);
      this.add("path", { class: "grid", d: `M${x} ${this.top}V${this.bottom}` });
      this.add("text", { class: "mark", x, y: this.bottom + 19, "text-anchor": "middle" }).textContent = text;
    }
    for (const [value, text] of up.marks(7)) {
      const y = this.y(value);
      this.add("path", { class: "grid", d: `M${this.left} ${y.toFixed(1)}H${this.right}` });
      this.add("text", { class: "mark", x: this.left - 7, y: (y + 4.5).toFixed(1), "text-anchor": "end" }).textContent = text;
    }
    this.add("path", { class: "frame", d: `M${this.left} ${this.top}V${this.bottom}H${this.right}` });
    this.add("text", { class: "title", x: 0.5 * (this.left + this.right), y: height - 10, "text-anchor": "middle" }).textContent = acrossTitle;
    const middle = 0.5 * (this.top + this.bottom);
    this.add("text", { class: "title", transform: `translate(15 ${middle}) rotate(-90)`, "text-anchor": "middle" }).textContent = upTitle;
  }

  x(value) {
    return this.left + (this.right - this.left) * this.across.place(value);
  }

  y(value) {
    return this.bottom - (this.bottom - this.top) * this.up.place(value);
  }

  add(tag, attributes, style) {
    const shape = Looks.vector(tag, attributes);
    if (style) Object.assign(shape.style, style);
    this.svg.append(shape);
    return shape;
  }

  /** Tell about the place that is pointed at. */
  point(tell) {
    this.svg.addEventListener("pointermove", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
      const inside = at.x >= this.left && at.x <= this.right && at.y >= this.top && at.y <= this.bottom;
      if (!inside) return;
      const place = [(at.x - this.left) / (this.right - this.left), (this.bottom - at.y) / (this.bottom - this.top)];
      this.told.textContent = tell(this.across.at(place[0]), this.up.at(place[1]));
    });
  }
}

new SweepPictures(document.getElementById("pictures"));
