// Opens every page of a comparison from disk, uses it as a reader would, and looks at what happens. Exits with 1 if anything is wrong.
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
  const check = (right, what) => {
    checks += 1;
    if (right) return;
    faults += 1;
    console.error(`${name} at ${width}, ${colorScheme}: ${what}`);
  };
  await page.screenshot({ path: join(pictures, `${name}-${width}-${colorScheme}.png`), fullPage: true });
  check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than the window");

  // one panel at a time, each with its pictures
  const tabs = await page.$$eval(".tab", (labels) => labels.map((label) => label.htmlFor));
  check(tabs.length > 0, "there are no tabs");
  for (const tab of tabs) {
    await page.click(`label[for=${tab}]`);
    check((await page.locator(".panel:visible").count()) === 1, `${tab} does not show one panel`);
    check((await page.locator(".panel:visible .picture").count()) === 3, `${tab} does not show three pictures`);
  }
  // text stands inside of its picture, and points inside of the field
  const outside = await page.$$eval(".picture svg", (pictures) =>
    pictures.filter((picture) => picture.checkVisibility()).flatMap((picture) => {
      const frame = picture.getBoundingClientRect();
      const inside = (box) => box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
      return [...picture.querySelectorAll("text, .point")].filter((part) => !inside(part.getBoundingClientRect())).map((part) => part.textContent);
    }),
  );
  check(outside.length === 0, `outside of its picture: ${outside.join("; ")}`);

  await switchCurves(page, check);
  check(requests.length === 1 && requests[0] === address, `it asks for ${requests.slice(1).join(", ")}`);
  check(complaints.length === 0, `it complains: ${complaints.join("; ")}`);
  await context.close();
}

/** A curve, all curves of a method, all of a formulation. */
async function switchCurves(page, check) {
  const count = (name) => page.locator(`.panel .series[data-series="${name}"]:not(.off)`).count();
  const curves = await page.$$eval("[data-curve]", (boxes) => boxes.map((box) => box.dataset.curve));
  const drawn = [];
  for (const name of curves) if ((await count(name)) > 0) drawn.push(name);
  check(drawn.length > 0, "no curve is drawn");
  const [first] = drawn;
  const box = page.locator(`[data-curve="${first}"]`);
  await box.click();
  check((await count(first)) === 0, `${first} cannot be switched off`);
  for (const other of drawn.slice(1)) check((await count(other)) > 0, `${other} went with it`);
  await box.click();
  check((await count(first)) > 0, `${first} cannot be switched on again`);

  for (const [attribute, part] of [["data-method", 0], ["data-formulation", 1]]) {
    const group = page.locator(`[${attribute}="${first.split(" ")[part]}"]`);
    if ((await group.count()) === 0) continue;
    await group.click();
    for (const name of drawn) {
      const own = name.split(" ")[part] === first.split(" ")[part];
      check(((await count(name)) === 0) === own, `${attribute} of ${first} does the wrong thing to ${name}`);
    }
    await group.click();
    check((await count(first)) > 0, `${attribute} of ${first} cannot be switched on again`);
  }
}
