// The pools as the crash left them against everything persisted: which bytes differ, and what each has. It is what the lost stores had changed,
// so bytes that two of them changed have the value from before the first, and the one after the last.
import { baseName } from "./report";
import type { Finding } from "./report";

export interface Difference {
  file: string;
  offset: number;
  size: number;
  type: string;
  left: string; // hexadecimal, as the crash left it; empty: unknown
  whole: string; // with everything persisted
  place: number | null;
}

const MOST = 200;

export function differenceOf(finding: Finding): Difference[] {
  const rows: Difference[] = [];
  // What is lost of the last crash is what the last restart finds.
  const crashes = finding.shown_by?.crashes ?? [];
  const crash = crashes[crashes.length - 1];
  for (const s of [...(crash?.lost ?? [])].sort((a, b) => a.event - b.event)) {
    const same = rows.find((r) => r.file === s.bytes.file && r.offset === s.bytes.offset && r.size === s.bytes.size);
    if (same) {
      same.whole = s.after.bytes;
      continue;
    }
    rows.push({ file: s.bytes.file, offset: s.bytes.offset, size: s.bytes.size, type: s.bytes.type, left: s.before.bytes, whole: s.after.bytes, place: s.place });
  }
  return rows.filter((r) => r.left !== r.whole || r.left === "").sort((a, b) => a.file.localeCompare(b.file) || a.offset - b.offset);
}

const spaced = (hex: string) => (hex === "" ? "?" : (hex.slice(0, 64).match(/../g) ?? []).join(" ") + (hex.length > 64 ? " \u2026" : ""));

export function ImageDifference({ finding }: { finding: Finding }) {
  const rows = differenceOf(finding);
  if (rows.length === 0) return null;
  return (
    <section class="difference">
      <h3>Memory after the crash, against everything persisted</h3>
      <div class="wide" tabIndex={0}>
        <table>
          <thead><tr><th>file</th><th>offset</th><th>field</th><th>after the crash</th><th>with everything persisted</th><th>stored at</th></tr></thead>
          <tbody>
            {rows.slice(0, MOST).map((r, i) => (
              <tr key={i}>
                <td>{baseName(r.file)}</td>
                <td>{`0x${r.offset.toString(16)}`}</td>
                <td>{r.type}</td>
                <td><code>{spaced(r.left)}</code></td>
                <td><code>{spaced(r.whole)}</code></td>
                <td>{r.place ? <a href={`#${finding.fingerprint}/${r.place}`}>({r.place})</a> : ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > MOST ? <p>{`and ${rows.length - MOST} more`}</p> : null}
    </section>
  );
}
