// What happened, in the order of the trace: one track for the recorded run and one for each restart, the crash as a line between them.
import { placeText } from "./report";
import type { Finding } from "./report";

export interface Step {
  track: number; // 1: the recorded run
  event: number | null;
  place: number | null;
  text: string;
  is: "store" | "lost" | "flush" | "end" | "crash" | "read" | "fails";
}

export function stepsOf(finding: Finding): Step[] {
  const steps: Step[] = [];
  const claim = finding.claim;
  const crashes = finding.shown_by?.crashes ?? [];
  const lost = crashes.flatMap((c) => c.lost);
  const isLost = (level: number, event: number) => lost.some((l) => l.level === level && l.event === event);
  const seen = new Set<string>();
  for (const s of [claim.first, claim.second, claim.store, ...(claim.others ?? []), ...lost]) {
    if (!s || seen.has(`${s.level} ${s.event}`)) continue;
    seen.add(`${s.level} ${s.event}`);
    const gone = isLost(s.level, s.event);
    steps.push({ track: s.level, event: s.event, place: s.place, is: gone ? "lost" : "store",
      text: `${s.bytes.type || "bytes"} = ${s.after.text || "?"}${gone ? ", lost" : ""} (${placeText(s.at)})` });
  }
  if (claim.flush) steps.push({ track: claim.flush.level, event: claim.flush.event, place: null, is: "flush", text: `${claim.flush.access} (${placeText(claim.flush.at)})` });
  if (claim.promised) steps.push({ track: 1, event: claim.promised.event, place: claim.promised.place, is: "end", text: "the operation has ended: it was acknowledged" });
  for (const c of crashes) steps.push({ track: c.level, event: c.event, place: c.after, is: "crash", text: "the power fails" });
  steps.sort((a, b) => a.track - b.track || (a.event ?? Infinity) - (b.event ?? Infinity) || (a.is === "crash" ? 1 : 0) - (b.is === "crash" ? 1 : 0));
  const last = crashes.length + 1;
  if (finding.shown_by && claim.read)
    steps.push({ track: last, event: null, place: claim.read.place, is: "read", text: `reads ${claim.read.bytes.type || "bytes"} = ${claim.read.value.text}${claim.read.if_persisted.text && claim.read.if_persisted.text !== claim.read.value.text ? ` instead of ${claim.read.if_persisted.text}` : ""}` });
  if (finding.shown_by) steps.push({ track: last, event: null, place: finding.shown_by.fails_at, is: "fails", text: finding.shown_by.symptom });
  return steps;
}

const MARKS: Record<Step["is"], string> = { store: "●", lost: "○", flush: "↓", end: "✓", crash: "⚡", read: "←", fails: "✗" };

export function Timeline({ finding }: { finding: Finding }) {
  const steps = stepsOf(finding);
  if (steps.length === 0) return null;
  const tracks = [...new Set(steps.map((s) => s.track))];
  return (
    <section class="timeline">
      <h3>What happened</h3>
      {tracks.map((track) => (
        <div class="track" key={track}>
          <h4>{track === 1 ? "The recorded run" : track === 2 ? "The restart" : `Restart ${track - 1}`}</h4>
          <ol>
            {steps.filter((s) => s.track === track).map((s, i) => (
              <li key={i} class={s.is}>
                <span aria-hidden="true">{MARKS[s.is]}</span>
                <span class="event">{s.event === null ? "" : `event ${s.event}`}</span>
                <span>{s.text}</span>
                {s.place ? <a href={`#${finding.fingerprint}/${s.place}`}>({s.place})</a> : null}
              </li>
            ))}
          </ol>
        </div>
      ))}
    </section>
  );
}
