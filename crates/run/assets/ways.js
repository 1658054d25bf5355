// Plots of the report page that show one column over another; a ring marks the time of the moving picture.
class Way {
  constructor(place, way) {
    this.way = way;
    this.chart = null;
    this.time = null;
    const open = () => {
      if (place.open && !this.chart) this.draw(place.querySelector("figure"));
    };
    place.addEventListener("toggle", open);
    open();
  }

  draw(figure) {
    const { axis, LABEL, labels, widthOfLabels, element } = Looks;
    element(figure, "div", "axis vertical", this.way.axis);
    const box = element(figure, "div", "canvas");
    element(figure, "div", "axis horizontal", this.way.across);
    const names = element(figure, "div", "legend");
    this.way.curves.forEach(({ name }, k) => {
      const entry = element(names, "span", "curve");
      const line = Looks.vector("svg", { width: 26, height: 10, "aria-hidden": "true" });
      const piece = Looks.vector("line", { x1: 0, x2: 26, y1: 5, y2: 5, "stroke-width": 2.5 });
      piece.style.stroke = `var(--curve-${k % 10})`;
      line.append(piece);
      entry.append(line);
      element(entry, "span", "name", name);
    });
    const options = {
      mode: 2,
      ...this.size(box),
      legend: { show: false },
      series: [null, { facets: [{ scale: "x", auto: false }, { scale: "y", auto: false }], paths: () => null, points: { show: false } }],
      scales: { x: { time: false, auto: false, ...this.range([this.way.x]) }, y: { auto: false, ...this.range(this.way.curves.map(({ values }) => values)) } },
      axes: [
        { ...axis, size: 32, space: 70, values: labels },
        { ...axis, size: widthOfLabels, space: LABEL, values: labels },
      ],
      cursor: { drag: { x: true, y: true }, points: { show: false }, dataIdx: () => null, bind: { dblclick: () => () => this.whole() } },
      hooks: { draw: [(chart) => this.drawCurves(chart)] },
    };
    this.chart = new uPlot(options, [null, [this.way.x, this.way.curves[0].values]], box);
    new ResizeObserver(() => Looks.fit(this.chart, (box) => this.size(box))).observe(box);
  }

  size(box) {
    const { width, height } = Looks.sizeFor(box);
    return { width, height: Math.round(1.5 * height) };
  }

  range(lists) {
    let [low, high] = [Infinity, -Infinity];
    for (const list of lists) {
      for (const value of list) {
        if (value === null) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    const [min, max] = Looks.padded(null, low, high);
    return { min, max };
  }

  whole() {
    this.chart.batch(() => {
      this.chart.setScale("x", this.range([this.way.x]));
      this.chart.setScale("y", this.range(this.way.curves.map(({ values }) => values)));
    });
    this.chart.redraw(false, true);
  }

  /** Mark a time. */
  mark(time) {
    this.time = time;
    if (this.chart) this.chart.redraw(false, false);
  }

  drawCurves(chart) {
    const { ctx, bbox } = chart;
    const { x, t, curves } = this.way;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = 1.6 * devicePixelRatio;
    ctx.lineJoin = "round";
    let nearest = null;
    if (this.time !== null) {
      for (let k = 0; k < t.length; k += 1) if (nearest === null || Math.abs(t[k] - this.time) < Math.abs(t[nearest] - this.time)) nearest = k;
    }
    curves.forEach(({ values }, k) => {
      const at = (j) => [chart.valToPos(x[j], "x", true), chart.valToPos(values[j], "y", true)];
      const is = (j) => x[j] !== null && values[j] !== null;
      ctx.beginPath();
      ctx.strokeStyle = Looks.variable(`--curve-${k % 10}`);
      for (let j = 0; j < x.length; j += 1) {
        if (!is(j)) continue;
        if (j === 0 || !is(j - 1)) ctx.moveTo(...at(j));
        else ctx.lineTo(...at(j));
      }
      ctx.stroke();
      if (nearest === null || !is(nearest)) return;
      ctx.beginPath();
      ctx.arc(...at(nearest), 5 * devicePixelRatio, 0, 2 * Math.PI);
      ctx.stroke();
    });
    ctx.restore();
  }
}
