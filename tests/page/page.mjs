// The page in a real Chromium, from its file and without a network: what it shows is what the JSON report says, every finding is reached by the keyboard,
// there are no errors on the console, axe finds nothing serious, and names that want to be more than names are text.
//
//   node page.mjs BLACKOUT REPORT.json FOLDER [SCREENSHOT.png]
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const require = createRequire(path.join(here, "../../page/package.json"));
const { chromium } = require("playwright-core");
const [blackout, reportPath, folder, screenshot] = process.argv.slice(2);
const original = JSON.parse(fs.readFileSync(reportPath, "utf8"));

// Names as an attacker would choose them, everywhere where a program's text comes in.
const HOSTILE = ["</script><script>document.title='owned'</script>", "<img src=x onerror=\"document.title='owned'\">", "\u001b[31mred\u202efdp.exe", "x".repeat(5000), "\u0000\u2028'\"`${1}"];
function hostile(report) {
  const copy = structuredClone(report);
  let n = 0;
  const spoil = (value, key) => {
    if (typeof value === "string" && !["fingerprint", "kind", "severity", "is", "file", "bytes", "where", "access"].includes(key)) return value + HOSTILE[n++ % HOSTILE.length];
    if (Array.isArray(value)) return value.map((v) => spoil(v, key));
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, spoil(v, k)]));
    return value;
  };
  for (const key of ["command", "notes", "incomplete", "caveats", "verdict", "findings"]) copy[key] = spoil(copy[key], key);
  return copy;
}

function pageOf(report, name) {
  const json = path.join(folder, `${name}.json`);
  const html = path.join(folder, `${name}.html`);
  fs.writeFileSync(json, JSON.stringify(report));
  execFileSync(blackout, ["report", json, "--output", html]);
  return html;
}

// What stands in the way of people who see little, or nothing.
async function isAccessible(page) {
  await page.addScriptTag({ path: require.resolve("axe-core/axe.min.js") });
  const found = await page.evaluate(async () => (await globalThis.axe.run()).violations.map((v) => [v.impact, v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))]));
  assert.deepEqual(found.filter(([impact]) => impact === "serious" || impact === "critical"), []);
}

const spaced = (hex) => (hex === "" ? "?" : hex.slice(0, 64).match(/../g).join(" ") + (hex.length > 64 ? " \u2026" : ""));
const squeezed = (text) => text.replace(/\s+/g, " ").trim();

async function examine(browser, report, html, colorScheme) {
  const context = await browser.newContext({ offline: true, colorScheme, viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const errors = [];
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") errors.push(m.text()); });
  page.on("pageerror", (e) => errors.push(String(e)));
  page.on("request", (r) => { if (!/^(file|data):/.test(r.url())) errors.push(`asks for ${r.url()}`); });
  await page.goto(pathToFileURL(html).href);
  assert.equal(squeezed(await page.locator("h1").innerText()), squeezed(report.verdict));
  assert.equal(await page.title(), "Blackout report");
  const links = page.locator("a.to-finding");
  assert.equal(await links.count(), report.findings.length);

  await isAccessible(page);

  // By keyboard alone: j leads through all of them, in their order.
  for (const finding of report.findings) {
    await page.keyboard.press("j");
    await page.locator(`[data-finding="${finding.fingerprint}"]`).waitFor();
    assert.equal(await page.locator("article").count(), 1);
    const shown = await page.locator("article").evaluate((a) => ({
      verdict: a.querySelector(".verdict").textContent,
      places: [...a.querySelectorAll(".places > li > h3")].map((h) => h.textContent),
      evidence: [...a.querySelectorAll(".evidence > li")].map((l) => l.textContent),
      diff: a.querySelector(".diff")?.innerText ?? null,
      command: a.querySelector(".command")?.textContent ?? null,
      lost: [...a.querySelectorAll(".cell.lost")].map((c) => [Number(c.dataset.offset), c.querySelector("i").textContent, c.querySelector("b").textContent]),
      crashes: a.querySelectorAll(".track .crash").length,
      explanation: a.querySelector(".explanation")?.textContent ?? null,
      difference: [...a.querySelectorAll(".difference tbody tr")].map((r) => [...r.querySelectorAll("td")].map((d) => d.textContent)),
    }));
    assert.equal(shown.verdict, finding.verdict);
    assert.equal(shown.places.length, finding.places.length);
    finding.places.forEach((p, i) => assert.ok(shown.places[i].startsWith(`(${p.number}) ${p.label}`), shown.places[i]));
    assert.deepEqual(shown.evidence, finding.evidence);
    assert.equal(shown.explanation, finding.explanation);
    // What the lost stores of the last crash would have changed, each in its row.
    const changed = (finding.shown_by?.crashes.at(-1)?.lost ?? []).filter((s) => s.before.bytes !== s.after.bytes || s.before.bytes === "");
    if (new Set(changed.map((s) => s.bytes.offset)).size === changed.length)
      assert.deepEqual(new Set(shown.difference.map((r) => `${r[1]} ${r[3]} ${r[4]}`)),
        new Set(changed.map((s) => `0x${s.bytes.offset.toString(16)} ${spaced(s.before.bytes)} ${spaced(s.after.bytes)}`)));
    assert.equal(shown.command, finding.replay ? `blackout replay ${finding.replay}` : null);
    if (finding.fix?.diff) assert.equal(shown.diff.trimEnd().split("\n").length, finding.fix.diff.trimEnd().split("\n").length);
    assert.equal(shown.crashes, finding.shown_by?.crashes.length ?? 0);
    // The bytes that the crash lost, with what they held and what was stored.
    const lost = new Map();
    for (const crash of finding.shown_by?.crashes ?? [])
      for (const s of crash.lost)
        for (let i = 0; i < Math.min(s.bytes.size, 256); ++i) {
          const at = s.bytes.offset + i;
          lost.set(at, [at, lost.get(at)?.[1] ?? s.before.bytes.slice(2 * i, 2 * i + 2), s.after.bytes.slice(2 * i, 2 * i + 2)]);
        }
    if (finding.shown_by) assert.deepEqual(shown.lost, [...lost.values()].sort((a, b) => a[0] - b[0]));
  }
  await page.keyboard.press("u");
  await links.first().waitFor();
  // And by the links, with Tab and Enter.
  await links.first().focus();
  await page.keyboard.press("Enter");
  await page.locator(`[data-finding="${report.findings[0].fingerprint}"]`).waitFor();
  // An address of its own.
  const last = report.findings[report.findings.length - 1];
  await page.goto(`${pathToFileURL(html).href}#${last.fingerprint}`);
  await page.reload();
  await page.locator(`[data-finding="${last.fingerprint}"]`).waitFor();
  await page.goto(`${pathToFileURL(html).href}#${report.findings[0].fingerprint}`);
  await page.reload();
  await page.locator(`[data-finding="${report.findings[0].fingerprint}"]`).waitFor();
  await isAccessible(page);
  await page.goto(`${pathToFileURL(html).href}#all`);
  await page.reload();
  assert.equal(await page.locator("article").count(), report.findings.length);
  assert.equal(await page.title(), "Blackout report");
  assert.deepEqual(errors, []);
  if (screenshot && colorScheme === "light") {
    await page.goto(`${pathToFileURL(html).href}#${report.findings[0].fingerprint}`);
    await page.reload();
    await page.locator("article").waitFor();
    await page.screenshot({ path: screenshot, fullPage: true });
  }
  await context.close();
}

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  assert.ok(original.findings.length > 0, "a report without findings shows little");
  await examine(browser, original, pageOf(original, "plain"), "light");
  await examine(browser, original, pageOf(original, "plain"), "dark");
  const many = structuredClone(original);
  many.findings = Array.from({ length: 1000 }, (_, i) => ({ ...original.findings[i % original.findings.length], fingerprint: i.toString(16).padStart(16, "0") }));
  const before = Date.now();
  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  await page.goto(pathToFileURL(pageOf(many, "many")).href);
  assert.equal(await page.locator("a.to-finding").count(), 1000);
  console.log(`1,000 findings are there after ${Date.now() - before} ms`);
  await context.close();
  const spoiled = hostile(original);
  const saved = JSON.parse(JSON.stringify(spoiled));
  await examine(browser, saved, pageOf(spoiled, "hostile"), "dark");
} finally {
  await browser.close();
}
console.log("the page shows what the report says");
