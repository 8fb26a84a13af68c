// Data in `kv`: `teams` (teams and their model signatures), `model:KEY` and `priority:KEY`, and `own:KEY` and
// `own-priority:KEY`, the issues that the plugin labelled or prioritised itself, so that it does not learn from its
// own predictions. duplicates/store.ts adds `similar:KEY`.
import type { Stored } from './context.ts';
import { issueTypes, type IssueType } from './model/kind.ts';
import { asModel, type Model } from './model/model.ts';
import type { Priority } from './priority/cues.ts';
import { asPriorityModel, priorities, type PriorityModel } from './priority/learned.ts';

/** Exceeds the number of issues read per team, so that none of the issues read has been evicted. */
const ownMax = 800;

export type TeamEntry = {
  /** Unix milliseconds of the `scheduledAt` at which its issues were last checked; identifies a round. */
  readonly checkedAt: number;
  /** Signature of the issues that the stored model was trained on. Empty without a model. */
  readonly signature: string;
  /** Issues of each kind to train on, if the usual number takes too long. */
  readonly perKind?: number;
  /** Signature of the issues whose priorities were read last. */
  readonly prioritySignature?: string;
  /** True if there is a model of priorities. */
  readonly hasPriorities?: boolean;
};
export type Teams = Readonly<Record<string, TeamEntry>>;

export async function readTeams(kv: Stored): Promise<Teams> {
  const stored = await kv.get('teams');
  return typeof stored === 'object' && stored !== null ? (stored as Teams) : {};
}

export function writeTeams(kv: Stored, teams: Teams): Promise<void> {
  return kv.set('teams', teams);
}

export async function readModel(kv: Stored, team: string): Promise<Model | undefined> {
  return asModel(await kv.get(`model:${team}`));
}

export function writeModel(kv: Stored, team: string, model: Model): Promise<void> {
  return kv.set(`model:${team}`, model);
}

export async function readPriorityModel(kv: Stored, team: string): Promise<PriorityModel | undefined> {
  return asPriorityModel(await kv.get(`priority:${team}`));
}

export function writePriorityModel(kv: Stored, team: string, model: PriorityModel): Promise<void> {
  return kv.set(`priority:${team}`, model);
}

/** Returns the predicted kind of the last {@link ownMax} issues labelled by the plugin. */
export function readOwn(kv: Stored, team: string): Promise<Map<string, IssueType>> {
  return readEntries(kv, `own:${team}`, issueTypes);
}

export function rememberOwn(kv: Stored, team: string, issueId: string, kind: IssueType): Promise<void> {
  return remember(kv, `own:${team}`, `${issueTypes.indexOf(kind)}${issueId}`);
}

/** Returns the predicted priority of the last {@link ownMax} issues prioritised by the plugin. */
export function readOwnPriorities(kv: Stored, team: string): Promise<Map<string, Priority>> {
  return readEntries(kv, `own-priority:${team}`, priorities);
}

export function rememberOwnPriority(
  kv: Stored,
  team: string,
  issueId: string,
  priority: Priority,
): Promise<void> {
  return remember(kv, `own-priority:${team}`, `${priorities.indexOf(priority)}${issueId}`);
}

async function readEntries<Value>(
  kv: Stored,
  key: string,
  values: readonly Value[],
): Promise<Map<string, Value>> {
  const own = new Map<string, Value>();
  for (const entry of await entriesOf(kv, key)) {
    const value = values[Number(entry.slice(0, 1))];
    if (value !== undefined) own.set(entry.slice(1), value);
  }
  return own;
}

async function remember(kv: Stored, key: string, entry: string): Promise<void> {
  const entries = await entriesOf(kv, key);
  entries.push(entry);
  await kv.set(key, entries.slice(-ownMax).join(' '));
}

async function entriesOf(kv: Stored, key: string): Promise<string[]> {
  const stored = await kv.get(key);
  return typeof stored === 'string' && stored !== '' ? stored.split(' ') : [];
}
