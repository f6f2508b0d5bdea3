// The report of one check as a page: an overview, and a view for each finding, each with an address of its own (#FINGERPRINT,
// #FINGERPRINT/PLACE, #all). Works from the file alone, with the keyboard, and without colour.
import { render } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { FindingView } from "./finding";
import { Overview } from "./overview";
import { counted } from "./report";
import type { Report } from "./report";

function useHash(): string {
  const [hash, setHash] = useState(() => location.hash.slice(1));
  useEffect(() => {
    const changed = () => setHash(location.hash.slice(1));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return hash;
}

function Page({ report }: { report: Report }) {
  const hash = useHash();
  const [id = "", place] = hash.split("/");
  const current = report.findings.findIndex((f) => f.fingerprint === id);
  const all = id === "all";
  const go = (index: number) => {
    const f = report.findings[index];
    if (f) location.hash = f.fingerprint;
  };
  useEffect(() => {
    if (place) document.getElementById(hash)?.scrollIntoView();
    else scrollTo(0, 0);
    document.getElementById("view")?.focus({ preventScroll: true });
  }, [hash]);
  // With what is shown, so that a key that is pressed at once is not lost.
  useLayoutEffect(() => {
    const pressed = (e: KeyboardEvent) => {
      if (e.ctrlKey || e.altKey || e.metaKey) return;
      if (e.key === "j" || e.key === "n") go(current + 1);
      else if ((e.key === "k" || e.key === "p") && current > 0) go(current - 1);
      else if (e.key === "Escape" || e.key === "u") location.hash = "";
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [current]);
  return (
    <>
      <header>
        <h1>{report.page.verdict}</h1>
        <nav aria-label="findings">
          <a href="#">overview</a> <a href="#all">all on one page</a>{" "}
          {current >= 0 ? (
            <span>
              {current + 1} of {counted(report.findings.length, "finding")}{" "}
              {current > 0 ? <a href={`#${report.findings[current - 1]?.fingerprint}`}>previous (k)</a> : null}{" "}
              {current + 1 < report.findings.length ? <a href={`#${report.findings[current + 1]?.fingerprint}`}>next (j)</a> : null}
            </span>
          ) : <span class="keys">keys: j next finding, k previous, u overview</span>}
        </nav>
      </header>
      <div id="view" tabIndex={-1}>
        {all || current < 0 ? <Overview report={report} /> : null}
        {all ? report.findings.map((_, i) => <FindingView key={i} report={report} index={i} />) : null}
        {current >= 0 ? <FindingView key={id} report={report} index={current} /> : null}
      </div>
      <footer>Blackout {report.tool.version}</footer>
    </>
  );
}

const data = document.getElementById("report");
const root = document.getElementById("app");
if (data && root) render(<Page report={JSON.parse(data.textContent ?? "null") as Report} />, root);
