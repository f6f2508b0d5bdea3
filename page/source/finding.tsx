// One finding: the sentence first, then what to do, the places in the source, what happened, what else a crash may leave, the bytes, what supports it.
import { useState } from "preact/hooks";
import { ImageDifference } from "./difference";
import { Events } from "./events";
import { CacheLines } from "./lines";
import { Operations } from "./operations";
import { Scrubber } from "./points";
import { counted, ownFrame, placeText, shortName, traceOf } from "./report";
import type { Finding, Frame, Report, ShownTrace } from "./report";
import { ScheduleView } from "./schedule";
import { Timeline } from "./timeline";

const CONTEXT = 3;

function Source({ report, frame }: { report: Report; frame: Frame }) {
  const lines = report.page.lines[frame.file];
  if (!lines) return null;
  const numbers = Object.keys(lines).map(Number).filter((n) => Math.abs(n - frame.line) <= CONTEXT).sort((a, b) => a - b);
  if (!numbers.includes(frame.line)) return null;
  return (
    <pre class="source" tabIndex={0} aria-label={`${frame.file}, around line ${frame.line}`}>
      {numbers.map((n) => (
        <div key={n} class={n === frame.line ? "here" : ""}>
          <span class="number">{n === frame.line ? `> ${n}` : n}</span> {lines[String(n)]}
        </div>
      ))}
    </pre>
  );
}

function Diff({ text }: { text: string }) {
  return (
    <pre class="diff" tabIndex={0} aria-label="The fix as a patch">
      {text.replace(/\n$/, "").split("\n").map((line, i) => (
        <div key={i} class={line.startsWith("+") && !line.startsWith("+++") ? "added" : line.startsWith("-") && !line.startsWith("---") ? "removed" : line.startsWith("@@") ? "hunk" : ""}>{line || " "}</div>
      ))}
    </pre>
  );
}

// The scrubber over the points and the list of events go together.
function AroundTheCrash({ trace, finding }: { trace: ShownTrace; finding: Finding }) {
  const [at, choose] = useState<number | null>(null);
  if (trace.events.length === 0) return null;
  return (
    <section class="around">
      <h3>What a crash may leave, point by point</h3>
      <Scrubber trace={trace} finding={finding} at={at} choose={choose} />
      <h3>Events of the recorded run</h3>
      <Events trace={trace} finding={finding} at={at} />
    </section>
  );
}

export function FindingView({ report, index }: { report: Report; index: number }) {
  const f = report.findings[index];
  if (!f) return null;
  const trace = traceOf(report, f);
  return (
    <article id={f.fingerprint} data-finding={f.fingerprint}>
      <h2>
        <span class={`badge ${f.severity}`}>{f.severity}</span> {f.title} <code>{f.kind}</code>
      </h2>
      <p class="verdict">{f.verdict}</p>
      {f.explanation ? <p class="explanation">{f.explanation}</p> : null}
      <p class="meaning">{f.meaning}</p>
      {f.fix || f.hint ? (
        <section class="fix">
          <h3>What to do</h3>
          {f.hint ? <p>{f.hint}</p> : null}
          {f.fix ? <p>{f.fix.tried}</p> : null}
          {f.fix?.diff ? <Diff text={f.fix.diff} /> : null}
        </section>
      ) : null}
      <ol class="places">
        {f.places.map((p, i) => {
          const frame = ownFrame(report, index, i);
          return (
            <li key={p.number} id={`${f.fingerprint}/${p.number}`}>
              <h3>
                ({p.number}) {p.label}: <span class="where">{placeText(frame)}{frame?.column ? `:${frame.column}` : ""}</span> {frame?.function ? <span class="function" title={frame.function}>in {shortName(frame.function)}</span> : null}
              </h3>
              {frame ? <Source report={report} frame={frame} /> : null}
              {p.stack.length > 1 ? (
                <details>
                  <summary>{counted(p.stack.length - 1, "call")} above it</summary>
                  <ul>{p.stack.slice(1).map((s, n) => <li key={n}>{p.stack[n]?.inlined ? "inlined into" : "called from"} {placeText(s)} in {s.function || "an unknown function"}</li>)}</ul>
                </details>
              ) : null}
            </li>
          );
        })}
      </ol>
      <Timeline finding={f} />
      {trace ? <AroundTheCrash trace={trace} finding={f} /> : null}
      {trace ? <Operations trace={trace} finding={f} /> : null}
      {f.schedule ? <ScheduleView text={f.schedule} /> : null}
      <CacheLines finding={f} />
      <ImageDifference finding={f} />
      <section>
        <h3>Evidence</h3>
        {f.shown_by ? <p>{f.shown_by.crash ? `Here ${f.shown_by.crash}; ` : ""}{counted(f.shown_by.states, "crash state")} at {counted(f.shown_by.points, "point")}.</p> : null}
        <ul class="evidence">{f.evidence.map((e, i) => <li key={i}>{e}</li>)}</ul>
        {f.shown_by && f.shown_by.output.length > 0 ? <pre class="output" tabIndex={0} aria-label="What the restart printed">{f.shown_by.output.join("\n")}</pre> : null}
      </section>
      {f.replay ? (
        <section>
          <h3>Again</h3>
          <pre class="command" tabIndex={0}>blackout replay {f.replay}</pre>
          {f.operations_file ? <p>Its operations are those of <code>{f.operations_file}</code></p> : null}
        </section>
      ) : null}
      <p class="id">id {f.fingerprint}</p>
    </article>
  );
}
