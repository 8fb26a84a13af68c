// A plugin's run, as `logs` and `run-schedule` show it to people.

interface Effect {
  kind: string;
  id: string;
  action: 'create' | 'update';
  values: Record<string, { before: unknown; after: unknown }> | null;
}

export interface Run {
  id: string;
  handler: string;
  status: 'queued' | 'running' | 'succeeded' | 'retrying' | 'dead';
  createdAt: string;
  cpuMs: number | null;
  effects: Effect[];
  logs: { level: string; message: string }[];
  error: { code: string; message: string; stack: string[] } | null;
  progress: { done: number; of: number; unit?: string } | null;
  continuedBy: string | null;
  proposalId?: string | null;
}

export function runLines(run: Run): string {
  const error = run.error ? `  ${run.error.code}: ${run.error.message}` : '';
  const cost = `cpu ${Math.round(run.cpuMs ?? 0)} ms  effects ${effectsKept(run)}`;
  return [
    `${run.createdAt}  ${run.id}  ${run.handler}  ${run.status}  ${cost}${error}`,
    ...(run.error?.stack ?? []).map((frame) => `    at ${frame}`),
    ...run.effects.flatMap(effectLines),
    ...(run.proposalId ? [`  proposed as ${run.proposalId}`] : []),
    ...run.logs.map(({ level, message }) => `  ${level.padEnd(5)} ${message}`),
  ].join('\n');
}

/** What a run staged that did not succeed was never written. */
function effectsKept({ status, effects }: Run): string {
  if (status === 'succeeded' || effects.length === 0) return String(effects.length);
  return `0 (${effects.length} dropped)`;
}

/** Of one that was only simulated: what it would have written, field by field. */
function effectLines({ kind, id, action, values }: Effect): string[] {
  if (values === null) return [];
  const fields = Object.entries(values).map(([name, { before, after }]) =>
    action === 'create' ? `    ${name}: ${shown(after)}` : `    ${name}: ${shown(before)} → ${shown(after)}`,
  );
  return [`  would ${action} ${kind} ${id}`, ...fields];
}

/** References by their names: `[bug, ui]`. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const { name, key, identifier, id } = value as Record<string, unknown>;
  const named = [name, key, identifier, id].find((one) => typeof one === 'string');
  return typeof named === 'string' ? named : JSON.stringify(value);
}
