// `tatami plugin undo RUN|PROPOSAL|UNDO|PLUGIN`: takes back what it changed; with `--simulate` only says what that would be.
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { proposal } from '../../../features/proposals/contract.ts';
import { moment, usage } from '../lib/flags.ts';
import { printResult } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { saying, sayingOf } from '../lib/lookup.ts';
import { displayValue } from './runs.ts';

export interface UndoOptions extends RemoteOptions {
  since?: string;
  until?: string;
  simulate?: boolean;
}

interface Undone {
  readonly kind: string;
  readonly id: string;
  readonly issue: { readonly id: string; readonly identifier: string | null } | null;
}

interface Undo {
  readonly id: string | null;
  readonly undid: readonly string[];
  readonly changes: readonly (Undone & {
    readonly action: 'update' | 'remove' | 'restore';
    readonly fields: readonly { readonly field: string; readonly from: unknown; readonly to: unknown }[];
  })[];
  readonly skipped: readonly (Undone & {
    readonly field: string | null;
    readonly reason: string;
    readonly ranSet: unknown;
    readonly now: unknown;
    readonly changedBy: { readonly name: string } | null;
  })[];
  readonly message: string;
}

/** What is undone by itself, by the prefix of its id; any other name is a plugin's. */
const ofOne: Readonly<Record<string, { readonly path: string; readonly noun: string }>> = {
  [idPrefixes.run]: { path: 'runs', noun: 'run' },
  [proposal.id]: { path: 'proposals', noun: 'proposal' },
  [idPrefixes.undo]: { path: 'undos', noun: 'undo' },
};

export async function undo(what: string, options: UndoOptions): Promise<void> {
  const call = connect(options);
  const named = encodeURIComponent(what);
  const isTried = options.simulate === true;
  const mode = isTried ? { mode: 'simulate' as const } : {};
  const one = ofOne[/^[a-z]+(?=_)/.exec(what)?.[0] ?? ''];
  const range = rangeOf(options, one?.noun);
  const made = one
    ? await sayingOf(one.noun, what, call<Undo>('POST', `/${one.path}/${named}/undo`, undefined, mode))
    : await saying(call, { plugin: what }, call<Undo>('POST', `/plugins/${named}/undo`, range, mode));
  printResult(made, options, (undone) => undoLines(undone, isTried));
}

/** @param noun of what is undone by itself; absent where it is a plugin. @throws CommandError */
function rangeOf({ since, until }: UndoOptions, noun: string | undefined): object {
  if (noun !== undefined) {
    if (since !== undefined || until !== undefined)
      throw usage(`--since and --until apply only to a plugin, not to a ${noun}.`);
    return {};
  }
  if (since === undefined)
    throw usage('Add --since with the start of the changes to undo, such as --since 2h.');
  const now = systemClock.nowMs();
  return {
    since: moment('--since', since, now),
    ...(until === undefined ? {} : { until: moment('--until', until, now) }),
  };
}

function undoLines({ id, undid, changes, skipped, message }: Undo, isTried: boolean): string {
  return [
    message,
    ...changes.flatMap(changeLines),
    ...(skipped.length > 0 ? ['skipped:', ...skipped.map(skippedLine)] : []),
    ...(isTried && changes.length > 0
      ? [`Run the command without --simulate to apply this, for ${undid.join(', ')}.`]
      : []),
    ...(id === null || isTried ? [] : [`Revert this with \`tatami plugin undo ${id}\`.`]),
  ].join('\n');
}

function changeLines({ action, fields, ...object }: Undo['changes'][number]): string[] {
  if (action !== 'update') return [`  ${action} ${nameOf(object)}`];
  return fields.map(
    ({ field, from, to }) => `  ${nameOf(object)}  ${field}: ${displayValue(from)} → ${displayValue(to)}`,
  );
}

function skippedLine({ field, reason, ranSet, now, changedBy, ...object }: Undo['skipped'][number]): string {
  const values =
    field === null ? '' : `  ${field}: was set to ${displayValue(ranSet)}, is ${displayValue(now)}`;
  const by = changedBy === null ? '' : ` by ${changedBy.name}`;
  return `  ${nameOf(object)}${values}  (${reason.replaceAll('_', ' ')}${by})`;
}

/** `issue ENG-12`, `comment com_… on ENG-12`. */
function nameOf({ kind, id, issue }: Undone): string {
  const identifier = issue?.identifier ?? issue?.id;
  const noun = kind.replaceAll('_', ' ');
  if (identifier === undefined) return `${noun} ${id}`;
  return kind === 'issue' ? `${noun} ${identifier}` : `${noun} ${id} on ${identifier}`;
}
