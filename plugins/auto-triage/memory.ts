// Data in `kv`: `teams` (teams and their model signatures), `model:KEY`, and `own:KEY`, the issues that the plugin
// labelled itself, so that it does not learn from its own predictions.
import type { Stored } from './context.ts';
import { issueTypes, type IssueType } from './model/kind.ts';
import { asModel, type Model } from './model/model.ts';

/** Exceeds the number of issues read per team, so that none of the issues read has been evicted. */
const ownMax = 800;

export type TeamEntry = {
  /** Unix milliseconds of the `scheduledAt` at which its issues were last checked; identifies a round. */
  readonly checkedAt: number;
  /** Signature of the issues that the stored model was trained on. Empty without a model. */
  readonly signature: string;
  /** Issues of each kind to train on, if the usual number takes too long. */
  readonly perKind?: number;
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

/** Returns the predicted kind of the last {@link ownMax} issues labelled by the plugin. */
export async function readOwn(kv: Stored, team: string): Promise<Map<string, IssueType>> {
  const own = new Map<string, IssueType>();
  for (const entry of await ownEntries(kv, team)) {
    const kind = issueTypes[Number(entry.slice(0, 1))];
    if (kind) own.set(entry.slice(1), kind);
  }
  return own;
}

export async function rememberOwn(kv: Stored, team: string, issueId: string, kind: IssueType): Promise<void> {
  const entries = await ownEntries(kv, team);
  entries.push(`${issueTypes.indexOf(kind)}${issueId}`);
  await kv.set(`own:${team}`, entries.slice(-ownMax).join(' '));
}

async function ownEntries(kv: Stored, team: string): Promise<string[]> {
  const stored = await kv.get(`own:${team}`);
  return typeof stored === 'string' && stored !== '' ? stored.split(' ') : [];
}
