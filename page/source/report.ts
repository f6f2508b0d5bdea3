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
  operations_file?: string;
  replay: string | null;
  fix: { flushes: number; fences: number; tried: string; diff: string | null } | null;
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
