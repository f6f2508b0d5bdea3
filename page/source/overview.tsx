// What everybody wants to know first: the verdict, what was explored and what was not, the findings.
import { counted, grouped, ownFrame, placeText } from "./report";
import type { Report } from "./report";

function byCount(words: string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const w of words) counts.set(w, (counts.get(w) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

// The place that a finding leads with.
export function leading(report: Report, index: number): string {
  const f = report.findings[index];
  for (let i = 0; f && i < f.places.length; ++i) {
    const frame = ownFrame(report, index, i);
    if (frame?.line) return placeText(frame);
  }
  return "";
}

function Counts({ head, rows }: { head: string; rows: [string, number][] }) {
  return (
    <table class="counts">
      <thead><tr><th>{head}</th><th>findings</th></tr></thead>
      <tbody>{rows.map(([name, n]) => <tr key={name}><td>{name}</td><td>{grouped(n)}</td></tr>)}</tbody>
    </table>
  );
}

export function Overview({ report }: { report: Report }) {
  const e = report.exploration;
  const hidden = report.counts.hidden_by_only + report.counts.suppressed + (report.counts.in_baseline ?? 0);
  return (
    <main>
      {report.incomplete.length > 0 ? <section class="incomplete"><h2>Not looked at</h2><ul>{report.incomplete.map((s, i) => <li key={i}>{s}</li>)}</ul></section> : null}
      <section>
        <h2>{counted(report.findings.length, "finding")}</h2>
        {report.findings.length > 0 ? (
          <table class="findings">
            <thead><tr><th>severity</th><th>kind</th><th>where</th><th>what</th></tr></thead>
            <tbody>
              {report.findings.map((f, i) => (
                <tr key={f.fingerprint + i}>
                  <td><span class={`badge ${f.severity}`}>{f.severity}</span></td>
                  <td><code>{f.kind}</code></td>
                  <td>{leading(report, i)}</td>
                  <td><a class="to-finding" href={`#${f.fingerprint}`}>{f.verdict}</a></td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : null}
        {hidden > 0 ? <p>{counted(hidden, "finding")} left out by --only, suppressions or the baseline.</p> : null}
      </section>
      {report.findings.length > 1 ? (
        <section class="side">
          <Counts head="kind" rows={byCount(report.findings.map((f) => f.kind))} />
          <Counts head="file" rows={byCount(report.findings.map((_, i) => leading(report, i).replace(/:\d+$/, "") || "unknown"))} />
        </section>
      ) : null}
      <section>
        <h2>What was explored</h2>
        <dl>
          <dt>recorded run</dt>
          <dd>{counted(report.run.events, "event")}: {counted(report.run.stores, "store")}, {counted(report.run.flushes, "flush")}, {counted(report.run.fences, "fence")}; {counted(report.run.threads, "thread")}, {counted(report.run.lines, "line")}</dd>
          {e ? <><dt>crashes</dt><dd>at {counted(e.points, "point")}, {e.points === e.complete_points ? "all" : grouped(e.complete_points)} of them completely; {counted(e.runs, "restart")} for {counted(e.states, "crash state")}, of which {grouped(e.failing)} fail</dd><dt>strategy</dt><dd>{e.strategy}</dd></> : <><dt>crashes</dt><dd>not explored</dd></>}
          <dt>model</dt><dd>{report.run.model}</dd>
          <dt>command</dt><dd><code>{report.command.join(" ")}</code></dd>
        </dl>
      </section>
      <section>
        <h2>What this result means</h2>
        <ul>{[...report.notes, ...report.caveats].map((s, i) => <li key={i}>{s}</li>)}</ul>
      </section>
    </main>
  );
}
