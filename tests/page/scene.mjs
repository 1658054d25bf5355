// Opens pages with a moving picture, plays and scrubs them, and looks at what happens. Exits with 1 if anything is wrong.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [, , executablePath, pages, pictures] = process.argv;
const args = ["--no-sandbox", "--enable-unsafe-swiftshader", "--use-angle=swiftshader", "--disable-background-networking", "--no-first-run", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args, headless: true });
let faults = 0;
let checks = 0;

for (const file of readdirSync(pages).filter((name) => name.endsWith(".html")).sort()) {
  for (const [width, colorScheme] of [[1280, "light"], [390, "dark"]]) await look(file.replace(".html", ""), width, colorScheme);
}
await browser.close();
console.log(`${checks} checks of moving pictures, ${faults} failed`);
process.exit(faults ? 1 : 0);

/** One page at one width. */
async function look(name, width, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, offline: true });
  const page = await context.newPage();
  const requests = [];
  const complaints = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  const address = pathToFileURL(join(pages, `${name}.html`)).href;
  await page.goto(address);
  await settle(page);
  const check = (right, what) => {
    checks += 1;
    if (right) return;
    faults += 1;
    console.error(`${name} at ${width}: ${what}`);
  };
  const first = await page.evaluate(() => document.querySelector("#mechanism, details.plot, .cards").id);
  check(first === "mechanism", "the mechanism does not come first");
  const start = await picture(page);
  check(start.drawn > 100, `the mechanism is not drawn: ${start.drawn} pixels`);

  // scrubbing moves the mechanism and the cursors of the plots
  const span = await page.evaluate(() => [Frames.t[0], Frames.t[Frames.count - 1]]);
  const at = span[0] + 0.37 * (span[1] - span[0]);
  await page.locator("#mechanism .scrub").evaluate((slider) => {
    slider.value = 370;
    slider.dispatchEvent(new Event("input"));
  });
  await settle(page);
  const scrubbed = await picture(page);
  check(scrubbed.text !== start.text, "scrubbing does not move the mechanism");
  const cursors = await page.evaluate(() => [...daedal.plots.values()].filter((chart) => chart.root.offsetParent).map((chart) => chart.posToVal(chart.cursor.left, "x")));
  check(cursors.length > 0 && cursors.every((t) => Math.abs(t - at) < 0.01 * (span[1] - span[0])), `cursors stand at ${cursors.slice(0, 3)}, not at ${at}`);
  const told = await page.locator("details.plot .curve .value").first().textContent();
  check(told.length > 0, "no value beside the names after scrubbing");
  await page.screenshot({ path: join(pictures, `scene-${name}-${width}.png`) });

  // the cursor of a plot moves the mechanism
  const over = page.locator("details.plot[open]:not(.way):not(#portrait) .u-over").first();
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await page.mouse.move(box.x + 0.8 * box.width, box.y + 0.5 * box.height);
  await settle(page);
  const time = await page.evaluate(() => daedal.player.state.time);
  const wanted = await page.evaluate((part) => { const chart = [...daedal.plots.values()].find((chart) => chart.root.offsetParent); return chart.posToVal(part * chart.over.clientWidth, "x"); }, 0.8);
  check(Math.abs(time - wanted) < 0.02 * Math.abs(span[1] - span[0]), `the mechanism shows ${time} where the cursor stands at ${wanted}`);
  await page.mouse.move(1, 1);

  // it plays, and pauses
  await page.locator("#mechanism .play").scrollIntoViewIfNeeded();
  await page.locator("#mechanism .scrub").evaluate((slider) => {
    slider.value = 0;
    slider.dispatchEvent(new Event("input"));
  });
  await page.click("#mechanism .play");
  await page.waitForFunction((from) => daedal.player.state.time !== from, span[0]);
  await page.waitForTimeout(400);
  await page.click("#mechanism .play");
  const [paused, playing] = await page.evaluate(() => [daedal.player.state.time, daedal.player.state.playing]);
  check(paused !== span[0] && !playing, "it does not play and pause");
  check((await picture(page)).text !== start.text, "playing does not move the mechanism");

  // the shadow of the start, and the camera
  const before = (await picture(page)).text;
  await page.locator("#mechanism input[name=start]").check();
  await settle(page);
  check((await picture(page)).text !== before, "the start is not shown");
  await page.locator("#mechanism canvas").scrollIntoViewIfNeeded();
  await page.evaluate(() => document.getElementById("mechanism").scrollIntoView());
  const canvas = await page.locator("#mechanism canvas").boundingBox();
  const dragged = (await picture(page)).text;
  await page.mouse.move(canvas.x + 100, canvas.y + 60);
  await page.mouse.down();
  await page.mouse.move(canvas.x + 160, canvas.y + 90, { steps: 3 });
  await page.mouse.up();
  await settle(page);
  const turned = (await picture(page)).text;
  check(turned !== dragged, "dragging does not move the camera");
  await page.click("#mechanism .fit");
  await settle(page);
  check((await picture(page)).text === dragged, "fit does not show everything again");

  check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than the window");
  const sizes = await page.evaluate(() => [...document.querySelectorAll("#mechanism button, #mechanism select, #mechanism .scrub")].map((part) => part.getBoundingClientRect()).every(({ left, right, width }) => left >= 0 && right <= innerWidth && width > 20));
  check(sizes, "a tool does not fit into the window");
  const three = await page.evaluate(() => typeof THREE !== "undefined");
  check(three === (await page.evaluate(() => Frames.scene.dimension === 3)), "three.js is carried where it is not needed, or is missing");
  check(requests.length === 1 && requests[0] === address, `it asks for ${requests.slice(1).join(", ")}`);
  check(complaints.length === 0, `it complains: ${complaints.join("; ")}`);
  await context.close();
}

function settle(page) {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** Pixels of the picture that are drawn, and all of it as text. */
function picture(page) {
  return page.evaluate(() => {
    const canvas = document.querySelector("#mechanism canvas");
    const { width, height } = canvas;
    const copy = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, width, height);
    let drawn = 0;
    for (let k = 3; k < data.length; k += 4) if (data[k] > 60) drawn += 1;
    return { drawn, text: copy.canvas.toDataURL() };
  });
}
