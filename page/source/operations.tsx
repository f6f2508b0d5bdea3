// What the program did, as it marked it: the operations of the recorded run around the crash, with their results.
import { counted, crashOf, operationText, resultsText } from "./report";
import type { Finding, Operation, ShownTrace } from "./report";

const BEFORE = 30;
const AFTER = 10;

export function stateOf(o: Operation, crash: number | null): string {
  if (o.end !== null && (crash === null || o.end < crash)) return "ended: acknowledged";
  if (crash !== null && o.begin >= crash) return "not begun";
  return crash === null ? "did not end" : "under way";
}

export function Operations({ trace, finding }: { trace: ShownTrace; finding: Finding }) {
  const crash = crashOf(finding);
  const all = trace.operations;
  if (all.length === 0) return null;
  const later = crash === null ? all.length : all.findIndex((o) => o.begin >= crash);
  const at = later < 0 ? all.length : later;
  const from = Math.max(0, at - BEFORE);
  const shown = all.slice(from, at + AFTER);
  const rest = all.length - shown.length;
  return (
    <section class="operations">
      <h3>Operations of the recorded run</h3>
      <div class="wide" tabIndex={0}>
        <table>
          <thead><tr><th>thread</th><th>operation</th><th>result</th><th>from event</th><th>to event</th><th>when the power fails</th></tr></thead>
          <tbody>
            {shown.map((o) => (
              <tr key={o.begin} class={o.end !== null && (crash === null || o.end < crash) ? "ended" : ""}>
                <td>{o.thread}</td>
                <td><code>{"  ".repeat(o.depth)}{operationText(o)}</code></td>
                <td><code>{resultsText(o)}</code></td>
                <td>{o.begin}</td>
                <td>{o.end ?? "it did not end"}</td>
                <td>{stateOf(o, crash)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rest > 0 ? <p>{counted(rest, "operation")} more around other findings</p> : null}
    </section>
  );
}
