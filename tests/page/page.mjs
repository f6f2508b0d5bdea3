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
  for (const key of ["command", "notes", "incomplete", "caveats", "verdict", "findings", "traces"]) copy[key] = spoil(copy[key], key);
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

// The events, the points and the operations of the recorded run are those of the JSON. Of a finding that names none there is nothing.
async function showsTheTrace(page, report, finding) {
  const trace = finding.trace ? report.traces[finding.trace - 1] : null;
  assert.equal(await page.locator(".events").count(), trace ? 1 : 0);
  if (!trace) return;
  const crash = finding.shown_by?.crashes.find((c) => c.level === 1)?.event ?? finding.crash_state?.[0]?.at ?? null;
  const lost = new Set((finding.shown_by?.crashes ?? []).flatMap((c) => c.lost).filter((s) => s.level === 1).map((s) => s.event));
  const gaps = trace.events.filter((e) => e.skipped).length + (trace.total > trace.events.reduce((n, e) => n + 1 + (e.skipped ?? 0), 0) ? 1 : 0);
  const events = await page.locator(".events").evaluate((box) => ({
    rows: Number(box.getAttribute("aria-rowcount")),
    crashes: box.querySelectorAll(".row.crash").length,
    shown: [...box.querySelectorAll(".row[data-event]")].map((r) => ({
      event: Number(r.dataset.event), text: r.textContent, lost: r.classList.contains("lost"), after: r.classList.contains("after"),
    })),
  }));
  assert.equal(events.rows, 1 + trace.events.length + gaps + (crash === null ? 0 : 1));
  assert.equal(events.crashes, crash === null ? 0 : 1);
  assert.ok(events.shown.length > 0);
  for (const row of events.shown) {
    const e = trace.events.find((one) => one.event === row.event);
    assert.ok(row.text.includes(e.kind) && row.text.includes(e.what), row.text);
    assert.equal(row.lost, lost.has(e.event));
    assert.equal(row.after, crash !== null && e.event >= crash);
  }
  const operations = await page.locator(".operations tbody tr").evaluateAll((rows) => rows.map((r) => [...r.querySelectorAll("td")].map((d) => d.textContent)));
  assert.equal(operations.length, Math.min(trace.operations.length, operations.length || 1));
  operations.forEach((cells, i) => {
    const o = trace.operations[i];
    assert.ok(cells[1].trim().startsWith(o.name), cells[1]);
    assert.equal(cells[3], String(o.begin));
    const acknowledged = o.end !== null && (crash === null || o.end < crash);
    assert.equal(cells[5].startsWith("ended"), acknowledged);
  });
  // The scrubber, by keyboard alone: each point is there, with its lines and the stores that may be lost.
  const slider = page.locator(".points input");
  assert.equal(await slider.count(), crash === null ? 0 : 1);
  if (crash === null) return;
  assert.equal(await page.locator(".point").getAttribute("data-event"), String(trace.points.find((p) => p.event >= crash)?.event));
  await slider.focus();
  await page.keyboard.press("Home");
  const count = Number(await slider.getAttribute("max")) + 1;
  const met = [];
  for (let i = 0; i < count; ++i) {
    if (i > 0) await page.keyboard.press("ArrowRight");
    const shown = await page.locator(".points").evaluate((p) => ({
      event: Number(p.querySelector(".point").dataset.event),
      words: p.querySelector(".point").textContent,
      lines: [...p.querySelectorAll(".states tbody tr")].map((r) => ({ sets: r.lastElementChild.textContent, guaranteed: r.children[2].textContent, open: [...r.querySelectorAll("[data-open]")].map((l) => Number(l.dataset.open)) })),
    }));
    met.push(shown.event);
    const point = trace.points.find((p) => p.event === shown.event);
    const grouped = (n) => n.toLocaleString("en-US");
    assert.deepEqual(shown.lines, point.lines.map((l) => ({ sets: `${l.all ? "" : "at least "}${grouped(l.sets)}`, guaranteed: l.guaranteed === l.stores ? "all" : grouped(l.guaranteed), open: l.open })));
    assert.ok(shown.words.includes(point.sets === null ? `about 10^${Math.round(point.log10_sets)} sets` : `${grouped(point.sets)} set`), shown.words);
    assert.equal(await slider.getAttribute("aria-valuetext").then((t) => t.includes(`event ${point.event}`)), true);
  }
  assert.deepEqual(met, [...new Set(met)].sort((a, b) => a - b));
  assert.ok(met.includes(crash));
  assert.equal(met.length, Math.min(count, trace.points.length));
}

// A run of 100,000 events: all of them come by, and the page has no more elements than are in view.
async function scrollsThroughMany(browser) {
  const many = structuredClone(original);
  const finding = many.findings.find((f) => f.trace && f.shown_by);
  const trace = many.traces[finding.trace - 1];
  const count = 100000;
  trace.total = count;
  trace.places = trace.places.slice(0, 1);
  trace.events = Array.from({ length: count }, (_, i) => ({ event: 2 * i, thread: 1 + (i % 3), kind: ["store", "clwb", "sfence"][i % 3], what: `field ${i} = ${i} (was 0)`, at: 1 }));
  trace.operations = Array.from({ length: count / 10 }, (_, i) => ({ thread: 1 + (i % 3), name: "insert", arguments: [], results: [], begin: 20 * i, end: 20 * i + 15, depth: 0 }));
  many.findings = [finding];
  const context = await browser.newContext({ offline: true, viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const begun = Date.now();
  await page.goto(`${pathToFileURL(pageOf(many, "events")).href}#${finding.fingerprint}`);
  await page.locator(".events .row").first().waitFor();
  const opened = Date.now() - begun;
  const done = await page.locator(".events").evaluate(async (box, total) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const seen = new Uint8Array(total);
    let most = 0, uncovered = 0, frames = 0, longest = 0;
    box.scrollTop = 0;
    await frame();
    await frame();
    const start = performance.now();
    let last = start;
    for (let top = 0; top < box.scrollHeight; top += 6000) {
      box.scrollTop = top;
      await frame();
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      ++frames;
      most = Math.max(most, box.querySelectorAll("*").length);
      // What is in view is there, from the first pixel to the last.
      const rows = [...box.querySelectorAll(".all .row")].map((r) => r.getBoundingClientRect());
      const view = box.getBoundingClientRect();
      if (Math.min(...rows.map((r) => r.top)) > view.top + 30 || Math.max(...rows.map((r) => r.bottom)) < view.bottom - 30) ++uncovered;
      for (const r of box.querySelectorAll("[data-event]")) seen[Number(r.dataset.event) / 2] = 1;
    }
    for (const r of box.querySelectorAll("[data-event]")) seen[Number(r.dataset.event) / 2] = 1;
    return { frames, most, uncovered, longest, mean: (performance.now() - start) / frames, height: box.scrollHeight, end: seen[total - 1], begin: seen[0] };
  }, count);
  console.log(`100,000 events: there after ${opened} ms; scrolled through in ${done.frames} frames of ${done.mean.toFixed(1)} ms (the longest ${done.longest.toFixed(0)} ms), at most ${done.most} elements`);
  assert.ok(done.height >= count * 20, `${done.height} pixels`);
  assert.ok(done.most < 1000, `${done.most} elements`);
  assert.equal(done.uncovered, 0);
  assert.equal(done.end, 1);
  // A frame is 17 ms on an idle machine; what draws all of the rows takes seconds for each.
  assert.ok(done.mean < 500, `${done.mean} ms for a frame`);
  // By keyboard, too.
  await page.locator(".events").focus();
  await page.keyboard.press("Home");
  await page.locator('.events [data-event="0"]').waitFor();
  await page.keyboard.press("End");
  await page.locator(`.events [data-event="${2 * (count - 1)}"]`).waitFor();
  await context.close();
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
    await showsTheTrace(page, report, finding);
  }
  // On paper nothing is scrolled: what is there is there as a whole, and what only a screen has is not.
  await page.emulateMedia({ media: "print" });
  const paper = await page.evaluate(() => ({
    cut: [...document.querySelectorAll(".events, .wide, pre")].filter((e) => e.scrollHeight > e.clientHeight + 4 && getComputedStyle(e).overflowY !== "visible").length,
    rows: [...document.querySelectorAll(".all .row")].filter((r) => getComputedStyle(r).position !== "static").length,
    buttons: [...document.querySelectorAll("button, nav")].filter((e) => getComputedStyle(e).display !== "none").length,
  }));
  assert.deepEqual(paper, { cut: 0, rows: 0, buttons: 0 });
  await page.emulateMedia({ media: "screen" });
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

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"] });
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
  await scrollsThroughMany(browser);
  const spoiled = hostile(original);
  const saved = JSON.parse(JSON.stringify(spoiled));
  await examine(browser, saved, pageOf(spoiled, "hostile"), "dark");
} finally {
  await browser.close();
}
console.log("the page shows what the report says");
