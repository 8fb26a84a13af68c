// A plugin's run, as `logs` and `run-schedule` show it to people.

export interface Run {
  id: string;
  handler: string;
  status: 'queued' | 'running' | 'succeeded' | 'retrying' | 'dead';
  createdAt: string;
  cpuMs: number | null;
  effects: unknown[];
  logs: { level: string; message: string }[];
  error: { code: string; message: string; stack: string[] } | null;
  progress: { done: number; of: number; unit?: string } | null;
  continuedBy: string | null;
}

export function runLines(run: Run): string {
  const error = run.error ? `  ${run.error.code}: ${run.error.message}` : '';
  const cost = `cpu ${Math.round(run.cpuMs ?? 0)} ms  effects ${run.effects.length}`;
  return [
    `${run.createdAt}  ${run.id}  ${run.handler}  ${run.status}  ${cost}${error}`,
    ...(run.error?.stack ?? []).map((frame) => `    at ${frame}`),
    ...run.logs.map(({ level, message }) => `  ${level.padEnd(5)} ${message}`),
  ].join('\n');
}
