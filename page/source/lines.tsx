// Cache lines byte by byte: what was there before, what was stored, what the crash lost or kept, what the restart read. Only bytes that the finding
// speaks of have values; the state of each is a letter as well as a colour.
import { baseName } from "./report";
import type { Finding, NamedBytes, SeenStore } from "./report";

const LINE = 64;

type State = "lost" | "kept" | "read";
interface Cell {
  before: string;
  after: string;
  states: Set<State>;
  read: string;
}
export interface CacheLine {
  file: string;
  offset: number;
  flush: string;
  cells: Map<number, Cell>;
}

function hexByte(hex: string, i: number): string {
  return hex.slice(2 * i, 2 * i + 2);
}

export function cacheLines(finding: Finding): CacheLine[] {
  const lines = new Map<string, CacheLine>();
  const cellsOf = (bytes: NamedBytes, each: (cell: Cell, i: number) => void) => {
    for (let i = 0; i < Math.min(bytes.size, 4 * LINE); ++i) {
      const at = bytes.offset + i;
      const offset = at - (at % LINE);
      const key = `${offset} ${bytes.file}`;
      let line = lines.get(key);
      if (!line) {
        line = { file: bytes.file, offset, flush: "", cells: new Map() };
        lines.set(key, line);
      }
      let cell = line.cells.get(at - offset);
      if (!cell) {
        cell = { before: "", after: "", states: new Set(), read: "" };
        line.cells.set(at - offset, cell);
      }
      each(cell, i);
    }
  };
  const stored = (store: SeenStore, state: State) =>
    cellsOf(store.bytes, (cell, i) => {
      cell.before ||= hexByte(store.before.bytes, i);
      cell.after = hexByte(store.after.bytes, i);
      cell.states.add(state);
    });
  const claim = finding.claim;
  const lost = finding.shown_by?.crashes.flatMap((c) => c.lost) ?? [];
  const isLost = (s: SeenStore) => lost.some((l) => l.level === s.level && l.event === s.event);
  for (const s of lost) stored(s, "lost");
  for (const s of [claim.first, claim.second, claim.store, ...(claim.others ?? [])]) if (s && !isLost(s)) stored(s, finding.shown_by ? "kept" : "lost");
  if (claim.read) {
    const read = claim.read;
    cellsOf(read.bytes, (cell, i) => {
      cell.read = hexByte(read.value.bytes, i);
      cell.before ||= cell.read;
      cell.states.add("read");
    });
  }
  return [...lines.values()].sort((a, b) => a.offset - b.offset);
}

// What the finding knows of flushes of the line of its first store.
export function flushState(finding: Finding): string {
  if (finding.claim.is !== "crash-cause") return "";
  const flush = finding.claim.flush;
  if (flush) return `${flush.access} at event ${flush.event}, not complete when it mattered`;
  return finding.kind === "missing-flush" ? "not flushed when the power failed" : "";
}

const LETTERS: Record<State, string> = { lost: "L", kept: "S", read: "R" };

export function CacheLines({ finding }: { finding: Finding }) {
  const lines = cacheLines(finding);
  if (lines.length === 0) return null;
  const state = flushState(finding);
  return (
    <section class="lines">
      <h3>Cache lines at the crash</h3>
      <p class="legend">
        Each cell is a byte: what it held, and below it what was stored. <b>L</b> lost by the crash, <b>S</b> stored and survived, <b>R</b> read by the restart.
      </p>
      {lines.map((line) => (
        <figure key={line.offset}>
          <figcaption>
            {baseName(line.file)}, line at offset 0x{line.offset.toString(16)}
            {state && finding.claim.first && line.offset === finding.claim.first.bytes.offset - (finding.claim.first.bytes.offset % LINE) ? `: ${state}` : ""}
          </figcaption>
          <div class="cells" role="img" aria-label={describe(line)}>
            {Array.from({ length: LINE }, (_, i) => {
              const cell = line.cells.get(i);
              if (!cell) return <span key={i} class="cell" />;
              const states = [...cell.states];
              return (
                <span key={i} class={`cell ${states.join(" ")}`} data-offset={line.offset + i} title={states.join(", ")}>
                  <i>{cell.before || "??"}</i>
                  <b>{cell.states.has("read") && states.length === 1 ? cell.read : cell.after}</b>
                  <em>{states.map((s) => LETTERS[s]).join("")}</em>
                </span>
              );
            })}
          </div>
        </figure>
      ))}
    </section>
  );
}

function describe(line: CacheLine): string {
  const count = (state: State) => [...line.cells.values()].filter((c) => c.states.has(state)).length;
  return `64 bytes: ${count("lost")} lost, ${count("kept")} survived, ${count("read")} read by the restart`;
}
