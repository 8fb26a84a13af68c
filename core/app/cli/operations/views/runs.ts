// Displays the runs of plugins.
/** Statuses of runs that have not ended. */
const openStatuses = ['queued', 'running', 'waiting', 'retrying'] as const;
/** Statuses of runs whose handler completed. */
const doneStatuses = ['proposed', 'succeeded'] as const;

export const isOpen = ({ status }: Run): boolean => openStatuses.some((open) => open === status);
export const isDone = ({ status }: Run): boolean => doneStatuses.some((done) => done === status);

export interface Effect {
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
  /** Id of the install or automation. */
  pluginId: string;
  handler: string;
  status: (typeof openStatuses)[number] | (typeof doneStatuses)[number] | 'dead' | 'canceled';
  /** The budget for which it waits. */
  waitsFor: { quantity: string; until: string } | null;
  createdAt: string;
  /** Number of attempts so far. */
  attempt: number;
  cpuMs: number | null;
  effects: Effect[];
  logs: { level: string; message: string }[];
  error: { code: string; message: string; stack: string[] } | null;
  progress: { done: number; of: number; unit?: string } | null;
  continuedBy: string | null;
  proposalId?: string | null;
  /** Scopes that would show more. */
  leftOut: string[];
  /** Result of an action. */
  result?: unknown;
}

/** Returns false for an interrupted run, because it starts again soon. */
export function hasEnded(run: Run): boolean {
  if (run.status === 'retrying') return run.error?.code !== 'interrupted';
  return !isOpen(run);
}

export function progressText({ progress }: Run): string {
  if (!progress) return '';
  const { done, of, unit } = progress;
  return `${Math.floor(done)} of ${of}${unit === undefined ? '' : ` ${unit}`}`;
}

export function waitingText({ id, status, waitsFor }: Run): string {
  const state = waitsFor ? waitWords(waitsFor) : `is ${status}`;
  return `${id} ${state}. The run continues if you stop this command.`;
}

/** @param lists true to list the effects that were applied, too */
export function runLines(run: Run, lists = false): string {
  const error = run.error ? `  ${run.error.code}: ${run.error.message}` : '';
  const cost = `cpu ${Math.round(run.cpuMs ?? 0)} ms  effects ${effectsKept(run)}`;
  const wait = run.waitsFor ? `  ${waitWords(run.waitsFor)}` : '';
  return [
    `${run.createdAt}  ${run.id}  ${run.handler}  ${run.status}  ${cost}${wait}${error}`,
    ...(run.error?.stack ?? []).map((frame) => `    at ${frame}`),
    ...effectsOf(run, lists),
    ...run.logs.map(({ level, message }) => `  ${level.padEnd(5)} ${message}`),
  ].join('\n');
}

/** `waits until 2026-11-21T00:00:00.000Z: the daily budget of runs is used up`. */
export function waitWords({ quantity, until }: NonNullable<Run['waitsFor']>): string {
  return `waits until ${until}: the daily budget of ${quantity} is used up`;
}

/** Writes of a failed run and writes that are pending approval are not stored. */
function effectsKept(run: Run): string {
  const { effects } = run;
  if (!isDone(run) && effects.length > 0) return `0 (${effects.length} dropped)`;
  const counts = (['proposed', 'simulated'] as const).flatMap((what) => {
    const count = effects.filter(({ outcome }) => outcome === what).length;
    return count === 0 ? [] : [`${count} ${what}`];
  });
  const kept = effects.filter(({ outcome }) => outcome === 'applied' || outcome === null).length;
  return `${kept}${counts.length === 0 ? '' : ` (${counts.join(', ')})`}`;
}

/** @param lists true to list the effects of a run that wrote them all, too: values of these are in its events */
function effectsOf(run: Run, lists: boolean): string[] {
  const { effects, proposalId = null } = run;
  if (!isDone(run) || (!lists && effects.every(({ values }) => values === null))) return [];
  return effects.flatMap((effect) => effectLines(effect, proposalId));
}

const kindWords: Readonly<Record<string, string>> = { plugin_kv: 'value', scheduled_run: 'one-time job' };

/** A value is identified by its install and its key. */
const shortId = (kind: string, id: string): string =>
  kind === 'plugin_kv' ? id.slice(id.indexOf('/') + 1) : id;

/** Returns `issue ENG-1`. */
export const objectText = ({ kind, id, name }: Effect): string =>
  `${kindWords[kind] ?? kind.replaceAll('_', ' ')} ${name ?? shortId(kind, id)}`;

/** Only a change has two values. */
export function changeText(action: Effect['action'], before: unknown, after: unknown): string {
  if (action === 'update') return `${displayValue(before)} → ${displayValue(after)}`;
  return displayValue(action === 'create' ? after : before);
}

function effectLines(effect: Effect, proposalId: string | null): string[] {
  const { action, outcome, fields, values } = effect;
  const object = `${action} ${objectText(effect)}`;
  if (outcome === 'applied')
    return [`  applied: ${object}${action === 'update' ? ` (${fields.join(', ')})` : ''}`];
  const told = outcome === 'proposed' && proposalId !== null ? `proposed as ${proposalId}` : outcome;
  const lines = Object.entries(values ?? {}).map(
    ([field, { before, after }]) => `    ${field}: ${changeText(action, before, after)}`,
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

/** One run with its logs, and the result of an action. */
export function runView(run: Run): string {
  const { progress, result = null } = run;
  return [
    runLines(run, true),
    ...(progress ? [progressText(run)] : []),
    ...(result === null ? [] : [JSON.stringify(result, null, 2)]),
  ].join('\n');
}

/** Runs of a list with their logs, in the order of the list. */
export function runsView(runs: readonly Run[]): string {
  return [...runs.map((run) => runLines(run)), ...hints(runs)].join('\n');
}

/** Logins are apps, which never have the scope. */
function hints(runs: readonly Run[]): string[] {
  const missing = [...new Set(runs.flatMap(({ leftOut }) => leftOut))];
  return missing.length === 0
    ? []
    : [`To show logs and error messages, use an API key with ${missing.join(', ')} (TATAMI_TOKEN).`];
}
