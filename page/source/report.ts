// The report as it is embedded in the page: docs/report-json.md, as far as it is shown, and the lines of the source that the tool
// adds.

export interface Frame {
  function: string;
  file: string;
  line: number;
  column: number;
  module: string;
  inlined: boolean;
}

export interface Value {
  bytes: string; // hexadecimal, in the order of memory
  text: string;
}

export interface NamedBytes {
  file: string;
  offset: number;
  size: number;
  type: string;
}

export interface SeenStore {
  level: number;
  event: number;
  bytes: NamedBytes;
  before: Value;
  after: Value;
  at: Frame | null;
  place: number | null;
}

export interface SeenFlush {
  level: number;
  event: number;
  access: string;
  at: Frame | null;
}

export interface SeenRead {
  bytes: NamedBytes;
  value: Value;
  if_persisted: Value;
  place: number | null;
}

export interface Claim {
  is: string;
  first?: SeenStore | null;
  second?: SeenStore | null;
  others?: SeenStore[];
  store?: SeenStore | null;
  flush?: SeenFlush | null;
  read?: SeenRead | null;
  promised?: { event: number; place: number | null } | null;
}

export interface Place {
  number: number;
  label: string;
  type: string;
  incidental: boolean;
  stack: Frame[];
}

export interface SeenCrash {
  level: number;
  event: number;
  after: number | null;
  lost: SeenStore[];
}

export interface Finding {
  fingerprint: string;
  kind: string;
  severity: "shown" | "suspected" | "performance";
  title: string;
  verdict: string;
  explanation?: string | null;
  meaning: string;
  hint: string;
  places: Place[];
  times: number;
  evidence: string[];
  claim: Claim;
  operation: { name: string } | null;
  shown_by: {
    symptom: string;
    crash: string;
    fails_at: number | null;
    crashes: SeenCrash[];
    states: number;
    points: number;
    output: string[];
  } | null;
  schedule?: string;
  trace?: number | null;
  operations_file?: string;
  crash_state?: { at: number }[] | null;
  replay: string | null;
  fix: { flushes: number; fences: number; tried: string; diff: string | null } | null;
}

export interface Operand {
  kind: "unsigned" | "signed" | "bytes" | "text";
  value: string;
}

export interface TraceEvent {
  event: number;
  thread: number;
  kind: string;
  what: string;
  at: number | null; // in `places`, from 1
  skipped?: number; // events before it that are left out
}

export interface Operation {
  thread: number;
  name: string;
  arguments: Operand[];
  results: Operand[] | null; // null: it did not end
  begin: number;
  end: number | null;
  depth: number;
}

// What a crash just before an event may leave.
export interface Point {
  event: number;
  uncertain: number;
  sets: number | null; // null: more than a million
  log10_sets: number;
  lines: PointLine[];
}
export interface PointLine {
  file: string;
  offset: number;
  stores: number;
  guaranteed: number;
  open: number[];
  sets: number;
  all: boolean;
}

export interface ShownTrace {
  total: number;
  events: TraceEvent[];
  places: Frame[];
  operations: Operation[];
  points: Point[];
}

export interface Report {
  tool: { name: string; version: string };
  command: string[];
  exit_code: number;
  complete: boolean;
  incomplete: string[];
  counts: { shown: number; suspected: number; performance: number; hidden_by_only: number; suppressed: number; in_baseline?: number };
  run: { model: string; events: number; stores: number; flushes: number; fences: number; threads: number; lines: number; points: number };
  exploration: { strategy: string; points: number; complete_points: number; runs: number; states: number; failing: number } | null;
  findings: Finding[];
  traces?: ShownTrace[]; // not in reports of earlier versions
  notes: string[];
  caveats: string[];
  page: { verdict: string; lines: Record<string, Record<string, string>>; frames: number[][] };
}

// The reader's own line of a place, as the tool chose it; null: unknown.
export function ownFrame(report: Report, finding: number, place: number): Frame | null {
  const p = report.findings[finding]?.places[place];
  return p?.stack[report.page.frames[finding]?.[place] ?? 0] ?? null;
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function placeText(frame: Frame | null): string {
  if (!frame) return "an unknown place";
  if (!frame.file) return frame.module ? `(${baseName(frame.module)})` : "an unknown place";
  return `${baseName(frame.file)}:${frame.line}`;
}

export function grouped(n: number): string {
  return n.toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

export function counted(n: number, unit: string): string {
  const plural = unit.endsWith("sh") ? `${unit}es` : `${unit}s`;
  return `${grouped(n)} ${n === 1 ? unit : plural}`;
}

// The part of the recorded run that is shown with the finding; null: there is none.
export function traceOf(report: Report, finding: Finding): ShownTrace | null {
  return finding.trace ? report.traces?.[finding.trace - 1] ?? null : null;
}

// The event of the recorded run before which the power fails; null: not in that run.
export function crashOf(finding: Finding): number | null {
  const crash = finding.shown_by?.crashes.find((c) => c.level === 1);
  return crash?.event ?? finding.crash_state?.[0]?.at ?? null;
}

// Stores of the recorded run that the finding's crash loses.
export function lostEvents(finding: Finding): Set<number> {
  return new Set((finding.shown_by?.crashes ?? []).flatMap((c) => c.lost).filter((s) => s.level === 1).map((s) => s.event));
}

export function hex(n: number): string {
  return `0x${n.toString(16)}`;
}

function operandText(o: Operand): string {
  return o.kind === "text" ? JSON.stringify(o.value) : o.kind === "bytes" ? `[${o.value}]` : o.value;
}

export function operationText(o: Operation): string {
  return `${o.name}(${o.arguments.map(operandText).join(", ")})`;
}

export function resultsText(o: Operation): string {
  return o.results ? o.results.map(operandText).join(" ") : "";
}

// The first of ascending numbers that is not below `n`.
export function lowerBound<T>(list: readonly T[], n: number, of: (one: T) => number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(list[middle] as T) < n) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Of a C++ name what tells functions apart: without the parameters and unnamed namespaces.
export function shortName(name: string): string {
  const short = name.replace(/\(anonymous namespace\)::/g, "");
  const end = short.indexOf("(", short.startsWith("operator()") ? 10 : 1);
  return end > 0 && !short.includes("operator()") && !short.includes("::$_") ? short.slice(0, end) : short;
}
