// The schedule under which the run was recorded, taken apart: who decided, and which switches were asked for (src/run/schedule.h has the form).

export interface Turn {
  when: string;
  what: string;
}
export interface Schedule {
  base: string;
  turns: Turn[];
}

const SWITCH = /^(?:(\d+)([ns]))?(\d+)([>e])(\d+)$/;

// Null: a form that this page does not know.
export function scheduleOf(text: string): Schedule | null {
  const parts = /^(list|system|random,\d+,\d+|turns,\d+|priorities,\d+,\d+,\d+)(?:\/\d+)?(?:[,+](\S+))?/.exec(text);
  if (!parts) return null;
  const [kind = "", a, b] = (parts[1] ?? "").split(",");
  const base: Record<string, string> = {
    list: "A thread goes on until it waits or ends, but for the switches below.",
    system: "The system decided.",
    random: `At one step in ${b} another thread goes on, whichever (seed ${a}).`,
    turns: `Each thread gets ${a} steps in turn.`,
    priorities: `The thread of the highest priority goes on; priorities are those of seed ${a}.`,
  };
  const turns: Turn[] = [];
  for (const word of parts[2] ? parts[2].split(",") : []) {
    const turn = SWITCH.exec(word);
    if (!turn) return null;
    const [, thread, by, at, is, to] = turn;
    turns.push({
      when: !thread ? `at step ${at} of all threads` : by === "s" ? `when thread ${thread} has made ${at} stores` : `at step ${at} of thread ${thread}`,
      what: is === ">" ? `thread ${to} goes on` : `the oldest waiting store of thread ${to} takes effect`,
    });
  }
  return { base: base[kind] ?? "", turns };
}

export function ScheduleView({ text }: { text: string }) {
  const schedule = scheduleOf(text);
  return (
    <section class="schedule">
      <h3>The schedule of the recorded run</h3>
      <p><code>--schedule {text}</code></p>
      {schedule ? <p>{schedule.base}</p> : null}
      {schedule && schedule.turns.length > 0 ? (
        <div class="wide" tabIndex={0}>
          <table>
            <thead><tr><th>when</th><th>what</th></tr></thead>
            <tbody>{schedule.turns.map((t, i) => <tr key={i}><td>{t.when}</td><td>{t.what}</td></tr>)}</tbody>
          </table>
        </div>
      ) : null}
    </section>
  );
}
