// Opens every page from disk, uses it as a reader would, and looks at what happens. Exits with 1 if anything is wrong.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [, , executablePath, pages, pictures] = process.argv;
const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args, headless: true });
let faults = 0;
let checks = 0;

for (const file of readdirSync(pages).filter((name) => name.endsWith(".html")).sort()) {
  for (const [width, colorScheme] of [[1280, "light"], [480, "light"], [1280, "dark"]]) {
    await look(file.replace(".html", ""), width, colorScheme);
  }
}
await browser.close();
console.log(`${checks} checks, ${faults} failed`);
process.exit(faults ? 1 : 0);

/** One page at one width. */
async function look(name, width, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, offline: true });
  const page = await context.newPage();
  const requests = [];
  const complaints = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  const address = pathToFileURL(join(pages, `${name}.html`)).href;
  await page.goto(address);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const check = (right, what) => {
    checks += 1;
    if (right) return;
    faults += 1;
    console.error(`${name} at ${width}, ${colorScheme}: ${what}`);
  };

  // folded plots are drawn when they are opened
  const folded = await page.evaluate(() => [...document.querySelectorAll("details.plot:not([open])")].map((place) => place.id));
  check(await page.evaluate((ids) => ids.every((id) => !daedal.plots.has(id)), folded), "a folded plot is drawn at once");
  for (const id of folded) await page.click(`#${id} summary`);
  await page.waitForFunction(() => daedal.plots.size === document.querySelectorAll("details.plot:not(#portrait):not(.way)").length);

  const ids = await page.evaluate(() => [...daedal.plots.keys()]);
  check(ids.length > 0, "there are no plots");
  for (const id of ids) {
    check(await coloured(page, id) > 50, `${id} is blank`);
    const titles = await page.$$eval(`#${id} .axis`, (axes) => axes.map((axis) => axis.textContent));
    check(titles.length === 2 && titles.every((title) => title.length > 0), `${id} has axes without titles`);
  }
  await page.screenshot({ path: join(pictures, `${name}-${width}-${colorScheme}.png`), fullPage: true });
  for (const fault of await overlaps(page)) check(false, fault);
  check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than the window");

  await useLegend(page, ids[0], check);
  await hover(page, ids[0], check);
  await zoom(page, ids, check);
  if (name === "large") await choose(page, check);
  if (await page.locator("#portrait").count()) await modes(page, name, check);
  await expected(page, name, check);

  check(requests.length === 1 && requests[0] === address, `it asks for ${requests.slice(1).join(", ")}`);
  check(complaints.length === 0, `it complains: ${complaints.join("; ")}`);
  await context.close();
}

/** Pixels of a plot that have the colour of a curve, roughly: not grey. */
function coloured(page, id) {
  return page.evaluate((id) => {
    const canvas = document.querySelector(`#${id} canvas`);
    // a copy is read, so that the browser does not complain about the page
    const { width, height } = canvas;
    const copy = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, width, height);
    let count = 0;
    for (let k = 0; k < data.length; k += 4) {
      const [r, g, b, a] = data.slice(k, k + 4);
      if (a > 128 && Math.max(r, g, b) - Math.min(r, g, b) > 30) count += 1;
    }
    return count;
  }, id);
}

/** A click on a name switches its curve off and on. */
async function useLegend(page, id, check) {
  const shown = () => page.evaluate((id) => daedal.plots.get(id).series[1].show, id);
  const entry = page.locator(`#${id} .curve`).first();
  await page.mouse.move(1, 1);
  const before = await coloured(page, id);
  await entry.click();
  await page.mouse.move(1, 1);
  check(!(await shown()), "the curve stays on");
  check((await entry.getAttribute("aria-pressed")) === "false", "the legend does not tell that the curve is off");
  check((await coloured(page, id)) !== before, "the picture stays the same without the curve");
  await entry.click();
  check(await shown(), "the curve stays off");
}

/** Values at the cursor. */
async function hover(page, id, check) {
  const box = await plotArea(page, id);
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.5);
  const time = await page.textContent(`#${id} .time`);
  const value = await page.locator(`#${id} .curve .value`).first().textContent();
  check(/^t = -?[\d.]+(e[+-]\d+)?(, .+)?$/.test(time), `no time at the cursor, but ${JSON.stringify(time)}`);
  check(/^(–|-?[\d.]+(e[+-]\d+)?)$/.test(value), `no value at the cursor, but ${JSON.stringify(value)}`);
  for (const fault of await overlaps(page)) check(false, `at the cursor: ${fault}`);
  await page.mouse.move(1, 1);
}

/** Dragging narrows the time axis of all plots, a double click shows everything again. */
async function zoom(page, ids, check) {
  const intervals = () => page.evaluate(() => [...daedal.plots.values()].map(({ scales: { x } }) => [x.min, x.max]));
  const [whole] = await intervals();
  const box = await plotArea(page, ids[0]);
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.25, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.35, y, { steps: 4 });
  await page.mouse.move(box.x + box.width * 0.5, y, { steps: 4 });
  await page.mouse.up();
  await page.evaluate(() => new Promise(requestAnimationFrame));
  const near = await intervals();
  const part = (near[0][1] - near[0][0]) / (whole[1] - whole[0]);
  check(Math.abs(part - 0.25) < 0.03, `a quarter of the axis was dragged over, ${part} is shown`);
  check(near.every(([min, max]) => min === near[0][0] && max === near[0][1]), "plots show different times after zooming");
  const again = await plotArea(page, ids[0]);
  await page.mouse.dblclick(again.x + again.width / 2, again.y + again.height / 2);
  await page.evaluate(() => new Promise(requestAnimationFrame));
  check((await intervals()).every(([min, max]) => min === whole[0] && max === whole[1]), "a double click does not reset");
}

/** Hundreds of curves: all, none, by name; few at first. */
async function choose(page, check) {
  const count = () => page.evaluate(() => daedal.plots.get("positions").series.slice(1).filter((series) => series.show).length);
  check((await count()) === 12, "there should be twelve curves at first");
  await page.click("#positions .none");
  check((await count()) === 0, "none are left");
  await page.fill("#positions .search", "roll");
  check((await page.locator("#positions .curve:visible").count()) === 20, "the search should find twenty names");
  await page.click("#positions .all");
  check((await count()) === 20, "all that were found are on");
  const peak = await page.evaluate(() => Math.max(...daedal.plots.get("positions").data[4]));
  check(peak > 9, `a peak of one point is lost: ${peak}`);
  check((await page.textContent("#positions .note")).includes("30000 points are drawn as"), "the page does not tell that points are left out");
}

/** What only some pages say. */
async function expected(page, name, check) {
  const text = await page.evaluate(() => document.body.innerText);
  const parts = {
    pendulum: ["Reached the end at t = 5.0", "Invariants".toLowerCase(), "psf+i", "accepted steps"],
    stopped: ["Stopped at t = 1.01", "singular configuration", "Everything computed until then"],
    redundant: ["Undetermined combinations"],
    table: ["does not say", "Variables"],
    friction: ["forward|backward (sliding)", "sliding begins", "7 switches"],
    rope: ["1 switch", "is a gap in its curve", "vx^2 + vy^2 >= c"],
    belt: ["stick (sliding)", "8 switches", "immediate"],
    modes: ["back <slip>", "chattering between slip", "lambda.wall: 1.25", "v: 0.5 → -0.5", "stick (sliding)"],
    odd: ["</script><b>x</b>", "<i>not italic</i>", "the event <hit> stopped the run", "Zeros and values below"],
  }[name] ?? [];
  for (const part of parts) check(text.includes(part), `the page should say ${part}`);
  check((await page.locator("b, i").count()) === 0, "a name became markup");
}

/** Bands, switches and the phase portrait of a run through several modes. */
async function modes(page, name, check) {
  const picture = () => page.evaluate(() => document.querySelector("#portrait canvas").toDataURL());
  // the ground of a plot has the soft colours of the modes
  const grounds = await page.evaluate(() => {
    const canvas = document.querySelector("details.plot:not(#portrait) canvas");
    const { width, height } = canvas;
    const copy = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, Math.round(height * 0.1), width, 1);
    const colours = new Set();
    for (let k = 0; k < data.length; k += 4) {
      const [r, g, b, a] = data.slice(k, k + 4);
      if (a > 20 && a < 60) colours.add([r, g, b].map((x) => x >> 5).join());
    }
    return colours.size;
  });
  check(grounds >= (name === "chattering" ? 1 : 2), `the bands have ${grounds} colours`);
  const entries = await page.locator("details.plot .modes").first().locator("li").allTextContents();
  check(entries.length > 0, "no legend of modes");
  if (name === "modes") {
    check(entries.join("; ") === "slip; back <slip>; stick (sliding); chattering", `the legend says ${entries.join("; ")}`);
    const rows = page.locator("#switches tbody tr:visible");
    const all = await page.locator("#switches tbody tr").count();
    check((await rows.count()) === 50, "fifty rows at first");
    await page.click("#switches .more");
    check((await rows.count()) === all, "all rows after a click");
    await page.check("#switches .calm");
    check((await rows.count()) === all - 111, `without chattering ${await rows.count()} rows of ${all}`);
    await page.uncheck("#switches .calm");
    check((await rows.count()) === 50, "the first rows again");
  }
  if (name === "chattering") {
    check(entries.join("; ") === "chattering", `the legend says ${entries.join("; ")}`);
    check((await page.locator("#switches tbody tr").count()) === 2000, "the page lists two thousand switches");
  }
  // other columns give another picture, with the keyboard as well
  const before = await picture();
  await page.locator("#portrait select").first().selectOption({ index: 0 });
  const other = await picture();
  check(other !== before, "the portrait does not change with the first choice");
  check((await page.textContent("#portrait .axis.vertical")) !== "", "the portrait has no title upward");
  await page.locator("#portrait select").nth(1).focus();
  await page.keyboard.press("ArrowDown");
  check((await picture()) !== other, "the portrait does not change with the second choice");
  const area = await plotArea(page, "portrait");
  const drawn = await page.evaluate(() => {
    const { chart, x, y } = daedal.portrait;
    const k = x.findIndex((value, k) => k > x.length / 2 && value !== null && y[k] !== null);
    return [chart.valToPos(x[k], "x"), chart.valToPos(y[k], "y")];
  });
  await page.mouse.move(area.x + drawn[0], area.y + drawn[1]);
  check(/^t = .*\(.+, .+\), ./.test(await page.textContent("#portrait .time")), "no values at the cursor of the portrait");
  await page.mouse.move(1, 1);
  // keys reach the choices, the table and its tools
  const reached = await page.evaluate(() => [...document.querySelectorAll("#portrait select, #switches .scroll, #switches button:not([hidden])")].every((part) => part.tabIndex === 0));
  check(reached, "something cannot be reached with keys");
}

async function plotArea(page, id) {
  const over = page.locator(`#${id} .u-over`);
  await over.scrollIntoViewIfNeeded();
  return over.boundingBox();
}

/** Texts whose boxes overlap. Texts that scroll inside a box count where they can be seen. */
function overlaps(page) {
  return page.evaluate(() => {
    const texts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const parent = node.parentElement;
      if (!node.textContent.trim() || parent.closest("script, style, noscript") || !parent.checkVisibility()) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        let { left, right, top, bottom } = rect;
        for (let box = parent; box; box = box.parentElement) {
          if (getComputedStyle(box).overflow === "visible") continue;
          const clip = box.getBoundingClientRect();
          left = Math.max(left, clip.left);
          right = Math.min(right, clip.right);
          top = Math.max(top, clip.top);
          bottom = Math.min(bottom, clip.bottom);
        }
        if (right - left > 1 && bottom - top > 1) texts.push({ left, right, top, bottom, parent, text: node.textContent.trim().slice(0, 40) });
      }
    }
    texts.sort((a, b) => a.top - b.top);
    const faults = [];
    texts.forEach((a, k) => {
      for (let j = k + 1; j < texts.length && texts[j].top < a.bottom; j += 1) {
        const b = texts[j];
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = a.bottom - b.top;
        // boxes of lines of the same text touch each other by their line height
        if (wide > 2 && high > 4 && a.parent !== b.parent) faults.push(`${JSON.stringify(a.text)} overlaps ${JSON.stringify(b.text)}`);
      }
    });
    return faults;
  });
}
