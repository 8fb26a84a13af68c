// A plugin's run, as `logs`, `action` and `run-schedule` show it to people and wait for it.
import { say } from '../../lib/output.ts';
import { poll } from '../../lib/poll.ts';

export const runStatuses = ['queued', 'running', 'succeeded', 'retrying', 'dead'] as const;

interface Effect {
  kind: string;
  id: string;
  action: 'create' | 'update' | 'delete';
  fields: string[];
  outcome: 'applied' | 'proposed' | 'simulated' | 'dropped' | null;
  name: string | null;
  values: Record<string, { before: unknown; after: unknown }> | null;
}

export interface Run {
  id: string;
  handler: string;
  status: (typeof runStatuses)[number];
  /** The budget for which it waits. */
  waitsFor: { quantity: string; until: string } | null;
  createdAt: string;
  cpuMs: number | null;
  effects: Effect[];
  logs: { level: string; message: string }[];
  error: { code: string; message: string; stack: string[] } | null;
  progress: { done: number; of: number; unit?: string } | null;
  continuedBy: string | null;
  proposalId?: string | null;
  /** Scopes that would show more. */
  leftOut: string[];
}

/** Waits for the end of a run, and says every few seconds what it waits for. */
export function untilEnded<R extends Run>(
  first: R,
  look: () => Promise<R>,
  ended: (run: R) => boolean,
): Promise<R> {
  return poll(first, look, ended, Number.POSITIVE_INFINITY, (run) => say(waitingText(run)));
}

function waitingText({ id, status, waitsFor }: Run): string {
  const wait = waitsFor ? ` and ${waitWords(waitsFor)}` : '';
  return `${id} is ${status}${wait}. The run continues if you stop this command.`;
}

export function runLines(run: Run): string {
  const error = run.error ? `  ${run.error.code}: ${run.error.message}` : '';
  const cost = `cpu ${Math.round(run.cpuMs ?? 0)} ms  effects ${effectsKept(run)}`;
  const wait = run.waitsFor ? `  ${waitWords(run.waitsFor)}` : '';
  return [
    `${run.createdAt}  ${run.id}  ${run.handler}  ${run.status}  ${cost}${wait}${error}`,
    ...(run.error?.stack ?? []).map((frame) => `    at ${frame}`),
    ...effectsOf(run),
    ...run.logs.map(({ level, message }) => `  ${level.padEnd(5)} ${message}`),
  ].join('\n');
}

/** `waits until 2026-11-21T00:00:00.000Z: the daily budget of runs is used up`. */
export function waitWords({ quantity, until }: NonNullable<Run['waitsFor']>): string {
  return `waits until ${until}: the daily budget of ${quantity} is used up`;
}

/** Writes of a failed run and writes that are pending approval are not stored. */
function effectsKept({ status, effects }: Run): string {
  if (status !== 'succeeded' && effects.length > 0) return `0 (${effects.length} dropped)`;
  const counts = (['proposed', 'simulated'] as const).flatMap((what) => {
    const count = effects.filter(({ outcome }) => outcome === what).length;
    return count === 0 ? [] : [`${count} ${what}`];
  });
  const kept = effects.filter(({ outcome }) => outcome === 'applied' || outcome === null).length;
  return `${kept}${counts.length === 0 ? '' : ` (${counts.join(', ')})`}`;
}

/** None of a run that wrote all: its events have them. */
function effectsOf({ status, effects, proposalId = null }: Run): string[] {
  if (status !== 'succeeded' || effects.every(({ values }) => values === null)) return [];
  return effects.flatMap((effect) => effectLines(effect, proposalId));
}

const kindWords: Readonly<Record<string, string>> = { plugin_kv: 'value', scheduled_run: 'one-time job' };

/** A value is identified by its install and its key. */
const shortId = (kind: string, id: string): string =>
  kind === 'plugin_kv' ? id.slice(id.indexOf('/') + 1) : id;

function effectLines(effect: Effect, proposalId: string | null): string[] {
  const { kind, id, name, action, outcome, fields, values } = effect;
  const object = `${action} ${kindWords[kind] ?? kind} ${name ?? shortId(kind, id)}`;
  if (outcome === 'applied')
    return [`  applied: ${object}${action === 'update' ? ` (${fields.join(', ')})` : ''}`];
  const told = outcome === 'proposed' && proposalId !== null ? `proposed as ${proposalId}` : outcome;
  const lines = Object.entries(values ?? {}).map(([field, { before, after }]) =>
    action === 'create'
      ? `    ${field}: ${displayValue(after)}`
      : action === 'delete'
        ? `    ${field}: ${displayValue(before)}`
        : `    ${field}: ${displayValue(before)} → ${displayValue(after)}`,
  );
  return [`  ${told ?? 'not applied'}: would ${object}`, ...lines];
}

/** References by their names: `[bug, ui]`; other objects by what they hold: `{severity: "high"}`. */
export function displayValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(displayValue).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const { name, key, identifier, id } = value as Record<string, unknown>;
  const named = [name, key, identifier, id].find((one) => typeof one === 'string');
  if (typeof named === 'string') return named;
  const held = Object.entries(value).map(([part, one]) => `${part}: ${displayValue(one)}`);
  return `{${held.join(', ')}}`;
}
