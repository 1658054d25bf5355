// What all drawings of the report page share: the data, ranges, text, colours, sizes.
"use strict";

/** All that is drawn on the page. */
const PAGE = JSON.parse(document.getElementById("data").textContent);

const Looks = (() => {
  const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
  /** Height of a label with its air, in pixels. */
  const LABEL = 30;
  /** Width of a printed page in pixels. */
  const PAPER = 660;

  /** Lines, marks and text of an axis. */
  const axis = {
    stroke: () => variable("--quiet"),
    grid: { stroke: () => variable("--grid"), width: 1 },
    ticks: { stroke: () => variable("--line"), width: 1, size: 5 },
    font: FONT,
  };

  /** A linear range with some air; values that differ by rounding only count as one. */
  function padded(chart, min, max) {
    if (min === null || max === null || !isFinite(min) || !isFinite(max)) return [0, 1];
    const size = Math.max(Math.abs(min), Math.abs(max));
    if (max - min <= 1e-12 * size || size === 0) return [min - (0.1 * size || 1), max + (0.1 * size || 1)];
    const air = 0.06 * (max - min);
    return [min - air, max + air];
  }

  function labels(chart, splits, axis, space, increment) {
    const largest = Math.max(...splits.map(Math.abs));
    if (largest >= 1e5 || largest < 1e-3) {
      const digits = Math.max(0, Math.floor(Math.log10(largest)) - Math.floor(Math.log10(increment) + 1e-9));
      return splits.map((x) => (x === 0 ? "0" : x.toExponential(Math.min(digits, 15))));
    }
    let digits = 0;
    while (digits < 15 && Math.abs(Math.round(increment * 10 ** digits) - increment * 10 ** digits) > 1e-6) digits += 1;
    return splits.map((x) => x.toFixed(digits));
  }

  /** A power of ten. */
  function power(x) {
    return x >= 0.01 && x < 10000 ? String(+x.toPrecision(3)) : `1e${Math.round(Math.log10(x))}`;
  }

  function precise(x) {
    if (x === null || x === undefined) return "–";
    const size = Math.abs(x);
    return x !== 0 && (size < 1e-4 || size >= 1e7) ? x.toExponential(6) : String(+x.toPrecision(8));
  }

  /** As wide as the longest label, and equal for most plots, so that their times stand below each other. */
  function widthOfLabels(chart, values, axis, cycle) {
    if (cycle > 1) return chart.axes[axis]._size;
    const longest = (values || []).reduce((longest, text) => (text && text.length > longest.length ? text : longest), "");
    chart.ctx.font = FONT;
    return Math.max(58, Math.ceil(chart.ctx.measureText(longest).width) + 18);
  }

  function variable(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function vector(tag, attributes) {
    const shape = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
    return shape;
  }

  function sizeFor(place) {
    const width = Math.max(200, Math.floor(place.clientWidth));
    return { width, height: width < 600 ? 220 : 270 };
  }

  function fit(chart, rule = sizeFor) {
    const place = chart.root.parentElement;
    if (!place.clientWidth || document.documentElement.classList.contains("printing")) return;
    const size = rule(place);
    if (size.width !== chart.width || size.height !== chart.height) chart.setSize(size);
  }

  function element(parent, tag, style, text) {
    const child = document.createElement(tag);
    if (style) child.className = style;
    if (text !== undefined) child.textContent = text;
    parent.append(child);
    return child;
  }

  return { LABEL, PAPER, axis, padded, labels, power, precise, widthOfLabels, variable, vector, sizeFor, fit, element };
})();

