// Draws the curves of the report page with uPlot. The data stand in the page: tables of times that curves share, plots
// with their curves, times of events. Everything is drawn here; nothing is fetched.
(() => {
  const { LABEL, PAPER, axis, padded, labels, power, precise, widthOfLabels, variable, vector, sizeFor, fit, element } = Looks;

  /** Curves of a plot that are shown at first. */
  const FIRST = 12;
  /** With more curves than this there are tools to choose among them. */
  const MANY = 10;
  /** Nothing is drawn below this on a logarithmic scale. */
  const FLOOR = 1e-20;
  const COLOURS = 10;
  const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
  /** How points are joined. */
  const SHAPES = {
    line: { paths: uPlot.paths.linear(), points: { size: 4, width: 0, fill: curveColour } },
    steps: { paths: uPlot.paths.stepped({ align: -1 }), points: { show: false } },
    points: { paths: () => null, points: { show: true, size: 4, width: 0, fill: curveColour } },
  };
  /** Distances of marks on an axis of counts. */
  const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000, 100000, 1e6, 1e9];

  /** Plots that are drawn, by the id of their place. */
  const drawn = new Map();
  const whole = wholeInterval();
  let view = whole;

  /** Draw what is open, and follow what the reader does. */
  function start() {
    for (const plot of PAGE.plots) {
      const place = document.getElementById(plot.id);
      const open = () => {
        if (place.open && !drawn.has(plot.id)) drawn.set(plot.id, draw(place.querySelector("figure"), plot));
      };
      place.addEventListener("toggle", open);
      open();
    }
    const hint = document.querySelector(".hint");
    if (PAGE.events.length) hint.append(" Vertical lines mark events.");
    if (PAGE.bands) hint.append(" The ground shows the mode that is active, marks below it the switches.");
    const portrait = new Portrait(document.getElementById("portrait"));
    Modes.useTable(document.getElementById("switches"));
    const ways = PAGE.ways.map((way) => new Way(document.getElementById(way.id), way));
    if (Player) Player.listen(showTime);
    if (Player) Player.listen((t) => ways.forEach((way) => way.mark(t)));
    // for whoever wants to look at a plot from outside
    window.daedal = { plots: drawn, portrait, player: Player, ways };
    const charts = () => [...drawn.values(), ...portrait.charts(), ...ways.map(({ chart }) => chart).filter(Boolean)];
    const redraw = () => charts().forEach((chart) => chart.redraw(false, true));

    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    addEventListener("beforeprint", () => {
      document.documentElement.classList.add("printing");
      for (const chart of charts()) chart.setSize({ width: PAPER, height: chart.height });
      redraw();
    });
    addEventListener("afterprint", () => {
      document.documentElement.classList.remove("printing");
      for (const chart of drawn.values()) fit(chart);
      for (const way of ways) if (way.chart) fit(way.chart, (box) => way.size(box));
      portrait.fit();
      redraw();
    });
  }

  /** One plot with its axis titles and its legend. */
  function draw(figure, plot) {
    const table = PAGE.tables[plot.table];
    const logarithmic = plot.scale === "logarithmic";
    const floor = logarithmic ? floorOf(plot.curves) : null;
    const values = plot.curves.map((curve) => (logarithmic ? raised(curve.values, floor) : curve.values));
    const clipped = logarithmic && plot.curves.some((curve) => curve.values.some((x) => x !== null && x < floor));

    element(figure, "div", "axis vertical", plot.axis);
    const place = element(figure, "div", "canvas");
    element(figure, "div", "axis horizontal", "t (model units)");
    Modes.addLegend(figure);
    if (clipped) element(figure, "p", "note", `Zeros and values below ${power(floor)} are drawn at ${power(floor)}.`);

    const legend = new Legend(figure, plot, table);
    const series = plot.curves.map((curve, k) => ({
      label: curve.name,
      show: k < FIRST,
      stroke: () => colour(k),
      width: 1.6,
      // points on whole pixels would make stairs of flat curves
      pxAlign: 0,
      dash: DASHES[Math.floor(k / COLOURS) % DASHES.length],
      ...SHAPES[plot.shape],
    }));
    const marks = {
      linear: { values: labels },
      counts: { values: labels, incrs: WHOLE },
      logarithmic: { values: powers, splits: wholePowers, filter: (chart, splits) => splits },
    }[plot.scale];
    const options = {
      ...sizeFor(place),
      legend: { show: false },
      focus: { alpha: 0.35 },
      series: [{}, ...series],
      scales: {
        x: { time: false, auto: false, min: view.min, max: view.max },
        y: logarithmic ? { distr: 3, log: 10, range: decades } : { range: padded },
      },
      axes: [
        { ...axis, size: 32, space: 70, values: labels },
        { ...axis, size: widthOfLabels, space: LABEL, ...marks },
      ],
      cursor: {
        drag: { x: true, y: false },
        focus: { prox: 24 },
        // the cursor is shared, the zoom goes its own way
        sync: { key: "time", scales: ["x", null], setSeries: false, filters: { pub: (type) => /^mouse(move|leave)$/.test(type) } },
        bind: { dblclick: () => () => show(whole) },
      },
      hooks: {
        setScale: [(chart, key) => key === "x" && follow(chart)],
        setCursor: [(chart) => legend.tell(chart.cursor.idx), seek],
        setSeries: [(chart, k, change) => change.focus !== undefined && legend.mark(k)],
        drawClear: [(chart) => Modes.drawBands(chart, view)],
        draw: [drawEvents, (chart) => Modes.drawSwitches(chart, view)],
      },
    };
    const chart = new uPlot(options, [table.t, ...values], place);
    legend.attach(chart);
    new ResizeObserver(() => fit(chart)).observe(place);
    return chart;
  }

  /** Names of the curves, their values at the cursor, and switches. */
  class Legend {
    constructor(figure, plot, table) {
      this.plot = plot;
      this.table = table;
      if (plot.curves.length > MANY) this.addTools(figure);
      this.time = element(figure, "div", "time");
      this.box = element(figure, "div", "legend");
      this.entries = plot.curves.map((curve, k) => this.addEntry(curve, k));
    }

    attach(chart) {
      this.chart = chart;
      this.update();
    }

    addTools(figure) {
      const tools = element(figure, "div", "tools");
      const switchAll = (on) => () => {
        this.chart.batch(() => {
          this.entries.forEach((entry, k) => {
            if (!entry.button.hidden) this.chart.setSeries(k + 1, { show: on });
          });
        });
        this.update();
      };
      element(tools, "span", "", "Choose curves:");
      const all = element(tools, "button", "all", "all");
      const none = element(tools, "button", "none", "none");
      const search = element(tools, "input", "search");
      this.count = element(tools, "span", "note");
      all.type = none.type = "button";
      all.addEventListener("click", switchAll(true));
      none.addEventListener("click", switchAll(false));
      search.type = "search";
      search.placeholder = "part of a name";
      search.setAttribute("aria-label", "show only names that contain this");
      search.addEventListener("input", () => {
        const part = search.value.trim().toLowerCase();
        for (const { button, name } of this.entries) button.hidden = !name.toLowerCase().includes(part);
      });
    }

    addEntry(curve, k) {
      const button = element(this.box, "button", "curve");
      button.type = "button";
      button.title = curve.name;
      button.append(sample(k, this.plot.shape));
      element(button, "span", "name", curve.name);
      const value = element(button, "span", "value");
      button.addEventListener("click", () => {
        this.chart.setSeries(k + 1, { show: !this.chart.series[k + 1].show });
        this.update();
      });
      return { button, value, name: curve.name };
    }

    /** Which curves are on? */
    update() {
      let on = 0;
      this.entries.forEach(({ button }, k) => {
        const shown = this.chart.series[k + 1].show;
        button.setAttribute("aria-pressed", String(shown));
        if (shown) on += 1;
      });
      if (this.count) this.count.textContent = `${on} of ${this.entries.length} shown`;
    }

    /** Values at a place of the table; none without a cursor. */
    tell(place) {
      const known = place !== null && place !== undefined;
      const t = known ? this.table.t[place] : null;
      this.time.textContent = known ? `t = ${precise(t)}${Modes.named(t)}` : "";
      this.entries.forEach(({ value }, k) => {
        value.textContent = known ? precise(this.plot.curves[k].values[place]) : "";
      });
    }

    /** The curve near the cursor. */
    mark(near) {
      this.entries.forEach(({ button }, k) => button.classList.toggle("near", k + 1 === near));
    }
  }

  /** The moving picture follows the cursor. */
  function seek(chart) {
    const { left, idx } = chart.cursor;
    if (!Player || Player.state.playing || idx === null || idx === undefined || left < 0 || !chart.over.matches(":hover")) return;
    Player.seek(chart.posToVal(left, "x"), showTime);
  }

  /** The cursor of all plots follows the moving picture. */
  function showTime(t) {
    for (const chart of drawn.values()) {
      if (!chart.root.offsetParent) continue;
      const left = chart.valToPos(t, "x");
      const seen = left >= 0 && left <= chart.over.clientWidth;
      // far above, so that no curve is near it
      chart.setCursor({ left: seen ? left : -10, top: -1000 }, true, false);
    }
  }

  /** All plots show the interval that one was zoomed to. */
  function follow(chart) {
    const { min, max } = chart.scales.x;
    if (min !== view.min || max !== view.max) show({ min, max });
  }

  function show(interval) {
    view = interval;
    for (const chart of drawn.values()) {
      const { min, max } = chart.scales.x;
      if (min !== view.min || max !== view.max) chart.setScale("x", { min: view.min, max: view.max });
    }
  }

  function wholeInterval() {
    const ends = PAGE.tables.filter((table) => table.t.length).map((table) => [table.t[0], table.t[table.t.length - 1]]);
    if (!ends.length) return { min: 0, max: 1 };
    const min = Math.min(...ends.map((end) => end[0]));
    const max = Math.max(...ends.map((end) => end[1]));
    return max > min ? { min, max } : { min, max: min + 1 };
  }

  /** A line where an event happened. */
  function drawEvents(chart) {
    if (!PAGE.events.length) return;
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.strokeStyle = variable("--note");
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    for (const t of PAGE.events) {
      if (t === null || t < view.min || t > view.max) continue;
      const x = Math.round(chart.valToPos(t, "x", true)) + 0.5;
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
    }
    ctx.stroke();
    ctx.restore();
  }

  // ranges

  /** Whole decades. */
  function decades(chart, min, max) {
    if (min === null || max === null || !(min > 0)) return [1e-1, 1];
    const low = Math.floor(Math.log10(min) + 1e-9);
    const high = Math.ceil(Math.log10(max) - 1e-9);
    return [10 ** low, 10 ** (high > low ? high : low + 1)];
  }

  /** Where zeros are drawn: a decade below the smallest positive value. */
  function floorOf(curves) {
    let smallest = Infinity;
    for (const { values } of curves) {
      for (const x of values) if (x !== null && x > FLOOR && x < smallest) smallest = x;
    }
    return isFinite(smallest) ? Math.max(FLOOR, 10 ** (Math.floor(Math.log10(smallest)) - 1)) : 1e-16;
  }

  function raised(values, floor) {
    return values.map((x) => (x === null ? null : Math.max(x, floor)));
  }

  // text

  function powers(chart, splits) {
    return splits.map(power);
  }

  /** Powers of ten, as many as there is room for. */
  function wholePowers(chart, axis, min, max) {
    const low = Math.round(Math.log10(min));
    const high = Math.round(Math.log10(max));
    const stride = Math.max(1, Math.ceil((high - low) / Math.max(1, Math.floor((chart.height - 32) / LABEL))));
    const splits = [];
    for (let k = high; k >= low; k -= stride) splits.unshift(10 ** k);
    return splits;
  }

  // looks

  /** Colour of series k of a plot; series 0 is the time. */
  function curveColour(chart, k) {
    return colour(k - 1);
  }

  function colour(k) {
    return variable(`--curve-${k % COLOURS}`);
  }

  /** A short piece of the curve, as it is drawn. */
  function sample(k, shape) {
    const drawing = vector("svg", { width: 26, height: 10, "aria-hidden": "true" });
    const dash = DASHES[Math.floor(k / COLOURS) % DASHES.length].join(" ");
    const piece =
      shape === "points"
        ? vector("circle", { cx: 13, cy: 5, r: 3 })
        : vector("line", { x1: 0, x2: 26, y1: 5, y2: 5, "stroke-width": 2.5, "stroke-dasharray": dash });
    piece.style.stroke = piece.style.fill = `var(--curve-${k % COLOURS})`;
    drawing.append(piece);
    return drawing;
  }

  start();
})();
