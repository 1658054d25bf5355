// Switches curves of a comparison on and off, one by one, by method or by formulation.
"use strict";

(() => {
  const boxes = [...document.querySelectorAll("[data-curve]")];
  const method = (box) => box.dataset.curve.split(" ")[0];
  const formulation = (box) => box.dataset.curve.split(" ")[1];
  const groups = [
    ...[...document.querySelectorAll("[data-method]")].map((box) => [box, (curve) => method(curve) === box.dataset.method]),
    ...[...document.querySelectorAll("[data-formulation]")].map((box) => [box, (curve) => formulation(curve) === box.dataset.formulation]),
  ];

  /** Show what is chosen; a box of several curves tells whether all, some or none of them are shown. */
  function update() {
    const shown = new Set(boxes.filter((box) => box.checked).map((box) => box.dataset.curve));
    for (const part of document.querySelectorAll("[data-series]")) part.classList.toggle("off", !shown.has(part.dataset.series));
    for (const [box, owns] of groups) {
      const own = boxes.filter(owns);
      const count = own.filter((curve) => curve.checked).length;
      box.checked = count > 0;
      box.indeterminate = count > 0 && count < own.length;
    }
  }

  for (const box of boxes) box.addEventListener("change", update);
  for (const [box, owns] of groups) {
    box.addEventListener("change", () => {
      for (const curve of boxes.filter(owns)) curve.checked = box.checked;
      update();
    });
  }
  update();
})();
