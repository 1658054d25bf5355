// Opens every page of a sweep from disk, uses it as a reader would, and looks at what happens. Exits with 1 if anything is wrong.
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

  // what is swept says which pictures there are
  const { varied, times } = await page.evaluate(() => ({ varied: PAGE.grid ? PAGE.parameters.filter(({ values }) => values.length > 1).length : 1, times: PAGE.times ? PAGE.times.length : 1 }));
  const expected = 1 + (varied > 1 ? 1 : 0) + (times > 1 ? 1 : 0);
  const drawn = () => page.locator("#pictures .picture").count();
  check((await drawn()) === expected, `${await drawn()} pictures instead of ${expected}`);
  if (varied > 1) check((await page.locator(".picture .mesh").count()) > 4, "the map has no colours");

  // every column can be shown, and nothing stands outside of its picture or is no number
  const columns = await page.$$eval("#column option", (options) => options.map(({ value }) => value));
  for (const column of columns) {
    await page.selectOption("#column", column);
    check((await drawn()) === expected, `column ${column} has other pictures`);
    const wrong = await page.$$eval("#pictures svg", (svgs) =>
      svgs.flatMap((svg) => {
        const frame = svg.getBoundingClientRect();
        const inside = (box) => box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
        const outside = [...svg.querySelectorAll("text, path, rect")].filter((part) => !inside(part.getBoundingClientRect()));
        const broken = [...svg.querySelectorAll("*")].filter((part) => [...part.attributes].some(({ value }) => /NaN|undefined|Infinity/.test(value)));
        return [...outside, ...broken].map((part) => part.outerHTML.slice(0, 120));
      }),
    );
    check(wrong.length === 0, `column ${column}: ${wrong.slice(0, 3).join("; ")}`);
  }

  // what is pointed at is told
  for (const picture of await page.locator("#pictures .picture svg").all()) {
    await picture.scrollIntoViewIfNeeded();
    const box = await picture.boundingBox();
    await page.mouse.move(box.x + 0.5 * box.width, box.y + 0.45 * box.height);
    const told = await picture.locator("xpath=../p[@class='told']").textContent();
    check(/=.*: ./.test(told), `it tells ${JSON.stringify(told)}`);
  }

  // axes change places
  if (varied > 1) {
    const [across, along] = [page.locator(".tools select").nth(1), page.locator(".tools select").nth(2)];
    const before = [await across.inputValue(), await along.inputValue()];
    await across.selectOption(before[1]);
    check((await across.inputValue()) === before[1] && (await along.inputValue()) === before[0], "the axes do not change places");
    check((await drawn()) === expected, "other pictures with other axes");
  }
  if (times > 1) {
    const title = () => page.locator("#pictures figcaption").first().textContent();
    const last = await title();
    await page.locator("#time").fill("0");
    check((await title()) !== last, "the slider of time does nothing");
  }
  check(requests.length === 1 && requests[0] === address, `it asks for ${requests.slice(1).join(", ")}`);
  check(complaints.length === 0, `it complains: ${complaints.join("; ")}`);
  await context.close();
}
