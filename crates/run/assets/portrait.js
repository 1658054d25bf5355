// The phase portrait of the report page: one column against another, in the colours of the modes.
class Portrait {
  constructor(place) {
    this.data = PAGE.portrait;
    this.chart = null;
    if (!place || !this.data) return;
    this.place = place;
    const open = () => {
      if (place.open && !this.chart) this.draw(place.querySelector("figure"));
    };
    place.addEventListener("toggle", open);
    open();
  }

  charts() {
    return this.chart ? [this.chart] : [];
  }

  draw(figure) {
    const { axis, LABEL, labels, widthOfLabels, element } = Looks;
    const tools = element(figure, "div", "tools");
    this.choices = ["y", "x"].reduce((all, which) => ({ ...all, [which]: this.addChoice(tools, which) }), {});
    this.titles = { y: element(figure, "div", "axis vertical") };
    const box = element(figure, "div", "canvas");
    this.titles.x = element(figure, "div", "axis horizontal");
    this.told = element(figure, "div", "time");
    Modes.addLineLegend(figure, [...new Set(this.data.mode)].filter((mode) => mode !== null).sort((a, b) => a - b));
    element(figure, "p", "note", "The circle is the start, the square the end; dashed lines are jumps.");
    this.choose();
    const options = {
      mode: 2,
      ...this.size(box),
      legend: { show: false },
      series: [null, { facets: [{ scale: "x", auto: false }, { scale: "y", auto: false }], paths: () => null, points: { show: false } }],
      scales: { x: { time: false, auto: false, ...this.range("x") }, y: { auto: false, ...this.range("y") } },
      axes: [
        { ...axis, size: 32, space: 70, values: labels },
        { ...axis, size: widthOfLabels, space: LABEL, values: labels },
      ],
      cursor: { drag: { x: true, y: true }, points: { show: false }, dataIdx: () => null, bind: { dblclick: () => () => this.whole() } },
      hooks: { draw: [(chart) => this.drawPath(chart)], setCursor: [(chart) => this.tell(chart)] },
    };
    this.chart = new uPlot(options, [null, [this.x, this.y]], box);
    new ResizeObserver(() => this.fit()).observe(box);
  }

  fit() {
    if (this.chart) Looks.fit(this.chart, (box) => this.size(box));
  }

  size(box) {
    const { width, height } = Looks.sizeFor(box);
    return { width, height: Math.round(1.5 * height) };
  }

  addChoice(tools, which) {
    const { element } = Looks;
    const label = element(tools, "label", "choice", which === "y" ? "upward" : "to the right");
    const select = element(label, "select");
    this.data.columns.forEach(({ name }, k) => {
      const option = element(select, "option", "", name);
      option.value = k;
    });
    select.value = this.data[which];
    select.addEventListener("change", () => {
      this.choose();
      this.chart.setData([null, [this.x, this.y]], false);
      this.whole();
    });
    return select;
  }

  /** Take the columns that are chosen. */
  choose() {
    for (const which of ["x", "y"]) {
      const { name, curve, values } = this.data.columns[this.choices[which].value];
      this[which] = values || PAGE.plots[curve[0]].curves[curve[1]].values;
      this.titles[which].textContent = name;
    }
  }

  /** The whole range of a column. */
  range(which) {
    let [low, high] = [Infinity, -Infinity];
    for (const value of this[which]) {
      if (value === null) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    const [min, max] = Looks.padded(null, low, high);
    return { min, max };
  }

  whole() {
    this.chart.batch(() => {
      this.chart.setScale("x", this.range("x"));
      this.chart.setScale("y", this.range("y"));
    });
    this.chart.redraw(false, true);
  }

  drawPath(chart) {
    const { ctx, bbox } = chart;
    const { x, y } = this;
    const { mode } = this.data;
    // where points are left out, a change of modes is no jump
    const whole = mode.length === this.data.rows;
    const at = (k) => [chart.valToPos(x[k], "x", true), chart.valToPos(y[k], "y", true)];
    const is = (k) => x[k] !== null && y[k] !== null;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = 1.6 * devicePixelRatio;
    ctx.lineJoin = "round";
    // pieces of one mode, and the jumps between them
    for (let k = 0; k + 1 < x.length; ) {
      let end = k + 1;
      const jump = whole && mode[k] !== mode[end];
      while (!jump && end + 1 < x.length && mode[end + 1] === mode[end]) end += 1;
      ctx.beginPath();
      ctx.strokeStyle = jump ? Looks.variable("--quiet") : Modes.colour(mode[end]);
      ctx.setLineDash(jump ? [4 * devicePixelRatio, 4 * devicePixelRatio] : []);
      for (let j = k; j <= end; j += 1) {
        if (!is(j)) continue;
        if (j === k || !is(j - 1)) ctx.moveTo(...at(j));
        else ctx.lineTo(...at(j));
      }
      ctx.stroke();
      k = end;
    }
    this.drawEnds(ctx, at, is);
    ctx.restore();
  }

  /** A circle at the start, a square at the end. */
  drawEnds(ctx, at, is) {
    const size = 4 * devicePixelRatio;
    const places = [...this.x.keys()];
    const first = places.find(is);
    const last = places.reverse().find(is);
    if (first === undefined) return;
    ctx.setLineDash([]);
    ctx.strokeStyle = ctx.fillStyle = Looks.variable("--text");
    ctx.beginPath();
    ctx.arc(...at(first), size, 0, 2 * Math.PI);
    ctx.stroke();
    const [left, top] = at(last);
    ctx.fillRect(left - size, top - size, 2 * size, 2 * size);
  }

  /** The point next to the cursor. */
  tell(chart) {
    const { left, top } = chart.cursor;
    let [nearest, distance] = [null, 30 ** 2];
    if (left >= 0) {
      for (let k = 0; k < this.x.length; k += 1) {
        if (this.x[k] === null || this.y[k] === null) continue;
        const dx = chart.valToPos(this.x[k], "x") - left;
        const dy = chart.valToPos(this.y[k], "y") - top;
        if (dx * dx + dy * dy < distance) [nearest, distance] = [k, dx * dx + dy * dy];
      }
    }
    if (nearest === null) {
      this.told.textContent = "";
      return;
    }
    const { precise } = Looks;
    const t = (this.data.t || PAGE.tables[0].t)[nearest];
    const mode = this.data.mode[nearest];
    const named = mode === null ? "" : `, ${PAGE.bands.modes[mode].name}`;
    this.told.textContent = `t = ${precise(t)}, (${precise(this.x[nearest])}, ${precise(this.y[nearest])})${named}`;
  }
}

