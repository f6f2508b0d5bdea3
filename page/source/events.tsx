// The events of the recorded run around a finding, one lane for each thread, with the operations and the crash. Only the rows that are in view are
// elements of the page, so that a list of 100,000 scrolls like one of 100.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { counted, crashOf, grouped, lostEvents, lowerBound, placeText } from "./report";
import type { Finding, Operation, ShownTrace, TraceEvent } from "./report";

const ROW = 24; // pixels
const SPARE = 10; // rows above and below what is in view
const MOST_LANES = 12;

type Row = { is: "event"; event: TraceEvent } | { is: "gap"; skipped: number } | { is: "crash"; event: number };

// Events with what is left out between them, and the crash in its place.
export function rowsOf(trace: ShownTrace, crash: number | null): Row[] {
  const rows: Row[] = [];
  let before = crash;
  for (const event of trace.events) {
    if (event.skipped) rows.push({ is: "gap", skipped: event.skipped });
    if (before !== null && event.event >= before) {
      rows.push({ is: "crash", event: before });
      before = null;
    }
    rows.push({ is: "event", event });
  }
  if (before !== null) rows.push({ is: "crash", event: before });
  const left = trace.total - trace.events.reduce((n, e) => n + 1 + (e.skipped ?? 0), 0);
  if (left > 0) rows.push({ is: "gap", skipped: left });
  return rows;
}

function markOf(kind: string, lost: boolean): string {
  if (/^(store|rmw$)/.test(kind)) return lost ? "○" : "●";
  if (/^cl(flush|wb)/.test(kind) || kind === "msync" || kind === "fsync") return "↓";
  if (/fence$/.test(kind)) return "‖";
  if (kind === "op-begin") return "┌";
  if (kind === "op-end") return "✓";
  return "·";
}

// Of each thread the operations that lie in no other, by their begins.
function outermost(operations: Operation[]): Map<number, Operation[]> {
  const of = new Map<number, Operation[]>();
  for (const o of operations) {
    if (o.depth !== 0) continue;
    const list = of.get(o.thread);
    if (list) list.push(o);
    else of.set(o.thread, [o]);
  }
  return of;
}

function underWay(operations: Operation[] | undefined, event: number): boolean {
  if (!operations) return false;
  const o = operations[lowerBound(operations, event + 1, (one) => one.begin) - 1];
  return o !== undefined && (o.end === null || event <= o.end);
}

export function Events({ trace, finding, at }: { trace: ShownTrace; finding: Finding; at: number | null }) {
  const crash = crashOf(finding);
  const rows = useMemo(() => rowsOf(trace, crash), [trace, crash]);
  const lost = useMemo(() => lostEvents(finding), [finding]);
  const places = useMemo(() => {
    const of = new Map<number, number>();
    const { first, second, store } = finding.claim;
    for (const s of [first, second, store, ...(finding.claim.others ?? [])]) if (s?.place && s.level === 1) of.set(s.event, s.place);
    return of;
  }, [finding]);
  const threads = useMemo(() => [...new Set(trace.events.map((e) => e.thread))].sort((a, b) => a - b), [trace]);
  const operations = useMemo(() => outermost(trace.operations), [trace]);
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 20 * ROW });
  const measure = () => {
    const b = box.current;
    if (b) setView({ top: b.scrollTop, height: b.clientHeight });
  };
  const show = (row: number) => {
    const b = box.current;
    if (!b) return;
    b.scrollTop = (row + 0.5) * ROW - b.clientHeight / 2;
    measure();
  };
  const crashRow = rows.findIndex((r) => r.is === "crash");
  useLayoutEffect(() => show(crashRow), [trace, finding]);
  // Where the scrubber is, is brought into view.
  const atRow = at === null ? -1 : rows.findIndex((r) => r.is === "event" && r.event.event >= at);
  const moved = useRef(at);
  useEffect(() => {
    if (moved.current !== at && atRow >= 0) show(atRow);
    moved.current = at;
  }, [at]);

  const first = Math.max(0, Math.floor(view.top / ROW) - SPARE);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW) + SPARE);
  const lanes = threads.length <= MOST_LANES ? threads : [];
  const columns = `6rem ${lanes.length > 0 ? `repeat(${lanes.length}, 2rem)` : "4rem"} 6.5rem minmax(0, 3fr) minmax(0, 1fr) 2.5rem`;
  return (
    <div class="trace">
      <p class="legend">
        ● store, ○ lost by this crash, ↓ flush, ‖ fence, ┌ an operation begins, ✓ it ended, before the crash: acknowledged; a bar runs along an operation. {grouped(trace.events.length)} of {counted(trace.total, "event")}{" "}
        {trace.events.length < trace.total ? <span>(<code>check --events N</code> keeps more) </span> : null}
        {crashRow >= 0 ? <button type="button" onClick={() => show(crashRow)}>to the crash</button> : null}
      </p>
      <div class="events" ref={box} onScroll={measure} tabIndex={0} role="table" aria-label="Events of the recorded run" aria-rowcount={rows.length + 1}>
        <div role="rowgroup" class="head">
          <div role="row" class="row" aria-rowindex={1} style={{ gridTemplateColumns: columns }}>
            <span role="columnheader">event</span>
            {lanes.length > 0 ? lanes.map((t) => <span key={t} role="columnheader" class="lane" title={`thread ${t}`}>t{t}</span>) : <span role="columnheader">thread</span>}
            <span role="columnheader">kind</span>
            <span role="columnheader">what</span>
            <span role="columnheader">where</span>
            <span role="columnheader">place</span>
          </div>
        </div>
        <div role="rowgroup" class="all" style={{ "--height": `${rows.length * ROW}px` }}>
          {rows.slice(first, last).map((row, i) => {
            const index = first + i;
            const style = { top: `${index * ROW}px`, gridTemplateColumns: columns };
            if (row.is !== "event")
              return (
                <div key={index} role="row" aria-rowindex={index + 2} class={`row ${row.is}`} style={{ top: style.top }}>
                  <span role="cell">{row.is === "crash" ? `⚡ the power fails before event ${row.event}` : `… ${counted(row.skipped, "event")} left out`}</span>
                </div>
              );
            const e = row.event;
            const gone = lost.has(e.event);
            const place = places.get(e.event);
            const frame = e.at ? trace.places[e.at - 1] ?? null : null;
            const mark = markOf(e.kind, gone);
            return (
              <div key={index} role="row" aria-rowindex={index + 2} data-event={e.event} style={style}
                class={`row${gone ? " lost" : ""}${crash !== null && e.event >= crash ? " after" : ""}${index === atRow ? " at" : ""}`}>
                <span role="cell">{e.event}</span>
                {lanes.length > 0 ? lanes.map((t) => (
                  <span key={t} role="cell" class={`lane${underWay(operations.get(t), e.event) ? " op" : ""}`}>{t === e.thread ? mark : ""}</span>
                )) : <span role="cell">{mark} t{e.thread}</span>}
                <span role="cell">{e.kind}</span>
                <span role="cell" class="cut" title={e.what}>{e.what}{gone ? ", lost" : ""}</span>
                <span role="cell" class="cut" title={frame ? `${placeText(frame)} in ${frame.function}` : ""}>{frame ? placeText(frame) : ""}</span>
                <span role="cell">{place ? <a href={`#${finding.fingerprint}/${place}`} tabIndex={-1}>({place})</a> : ""}</span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
