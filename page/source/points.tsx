// What a crash may leave, point by point: the finding's own crash and those near it, with a slider over them.
import { baseName, counted, crashOf, grouped, hex, lostEvents, lowerBound } from "./report";
import type { Finding, Point, PointLine, ShownTrace } from "./report";

const BEFORE = 16;
const AFTER = 8;

// The points near the finding's crash; those of a trace are near any finding of it.
export function pointsOf(trace: ShownTrace, finding: Finding): Point[] {
  const crash = crashOf(finding);
  if (crash === null) return [];
  const at = lowerBound(trace.points, crash, (p) => p.event);
  return trace.points.slice(Math.max(0, at - BEFORE), at + AFTER);
}

function setsText(p: Point): string {
  return p.sets === null ? `about 10^${Math.round(p.log10_sets)} sets of stores` : `${counted(p.sets, "set")} of stores`;
}

function lineCount(n: number): string {
  return n === 0 ? "all that was stored is guaranteed" : `${counted(n, "line")} with stores that may be lost`;
}

export function Scrubber({ trace, finding, at, choose }: { trace: ShownTrace; finding: Finding; at: number | null; choose: (event: number) => void }) {
  const points = pointsOf(trace, finding);
  const crash = crashOf(finding);
  if (points.length === 0 || crash === null) return null;
  const index = Math.min(lowerBound(points, at ?? crash, (p) => p.event), points.length - 1);
  const point = points[index] as Point;
  const most = Math.max(...points.map((p) => p.log10_sets), 0.1);
  const words = `before event ${point.event}${point.event === crash ? ", the crash of this finding" : ""}: ${lineCount(point.uncertain)}; a crash may leave ${setsText(point)}`;
  return (
    <div class="points">
      <div class="bars" aria-hidden="true">
        {points.map((p, i) => (
          <span key={p.event} class={`${i === index ? "now" : ""}${p.event === crash ? " crash" : ""}`} title={`event ${p.event}: ${setsText(p)}`} onClick={() => choose(p.event)}>
            <i style={{ height: `${4 + (p.log10_sets / most) * 36}px` }} />
          </span>
        ))}
      </div>
      <input type="range" min={0} max={points.length - 1} step={1} value={index} aria-label="The point at which the power fails" aria-valuetext={words}
        onInput={(e) => {
          const p = points[Number(e.currentTarget.value)];
          if (p) choose(p.event);
        }} />
      <p class="point" data-event={point.event} aria-live="polite">
        {words[0]?.toUpperCase() + words.slice(1)}.
        {point.event !== crash ? <> <button type="button" onClick={() => choose(crash)}>back to the crash</button></> : null}
      </p>
      <PointLines point={point} trace={trace} finding={finding} crash={point.event === crash} />
    </div>
  );
}

function PointLines({ point, trace, finding, crash }: { point: Point; trace: ShownTrace; finding: Finding; crash: boolean }) {
  const lost = lostEvents(finding);
  const whatOf = (event: number) => {
    const e = trace.events[lowerBound(trace.events, event, (one) => one.event)];
    return e?.event === event ? e.what : "";
  };
  const shown = point.lines.filter((l) => l.open.length > 0).length;
  if (point.lines.length === 0) return null;
  return (
    <div class="wide" tabIndex={0}>
      <table class="states">
        <thead><tr><th>line</th><th>stores so far</th><th>guaranteed</th><th>may be lost</th><th>sets</th></tr></thead>
        <tbody>
          {point.lines.map((l: PointLine) => (
            <tr key={`${l.file} ${l.offset}`} class={l.open.length > 0 ? "open" : ""}>
              <td>{baseName(l.file)} {hex(l.offset)}</td>
              <td>{grouped(l.stores)}</td>
              <td>{l.guaranteed === l.stores ? "all" : grouped(l.guaranteed)}</td>
              <td>
                {l.open.length === 0 ? "nothing" : (
                  <ul>
                    {l.open.map((event) => (
                      <li key={event} data-open={event} class={crash && lost.has(event) ? "lost" : ""}>event {event}{whatOf(event) ? `: ${whatOf(event)}` : ""}{crash && lost.has(event) ? ", lost here" : ""}</li>
                    ))}
                    {l.stores - l.guaranteed > l.open.length ? <li>and {grouped(l.stores - l.guaranteed - l.open.length)} more</li> : null}
                  </ul>
                )}
              </td>
              <td>{l.all ? "" : "at least "}{grouped(l.sets)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {point.uncertain > shown ? <p>and {counted(point.uncertain - shown, "line")} more with stores that may be lost</p> : null}
    </div>
  );
}
