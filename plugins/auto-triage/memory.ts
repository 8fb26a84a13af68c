// What the plugin keeps in `kv`: `teams` (which teams there are and which model each has), `model:KEY`, and `own:KEY`,
// the issues that the plugin labelled itself, so that it does not learn from its own guesses.
import type { Stored } from './context.ts';
import { issueKinds, type Kind } from './model/kind.ts';
import { asModel, type Model } from './model/model.ts';

/** More than a learning reads per team, so that nothing it reads has been forgotten. */
const ownMax = 800;

export type TeamEntry = {
  /** When the schedule was due whose run last looked at its issues, in milliseconds since 1970: names a round of learning. */
  readonly checkedAt: number;
  /** Names the stored model: of the issues it was learned from. Empty without a model. */
  readonly signature: string;
  /** Issues of each kind to learn from, where all that are usual take too long. */
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

/** The kind the plugin gave each issue, of the last {@link ownMax}. */
export async function readOwn(kv: Stored, team: string): Promise<Map<string, Kind>> {
  const own = new Map<string, Kind>();
  for (const entry of await ownEntries(kv, team)) {
    const kind = issueKinds[Number(entry.slice(0, 1))];
    if (kind) own.set(entry.slice(1), kind);
  }
  return own;
}

export async function rememberOwn(kv: Stored, team: string, issueId: string, kind: Kind): Promise<void> {
  const entries = await ownEntries(kv, team);
  entries.push(`${issueKinds.indexOf(kind)}${issueId}`);
  await kv.set(`own:${team}`, entries.slice(-ownMax).join(' '));
}

async function ownEntries(kv: Stored, team: string): Promise<string[]> {
  const stored = await kv.get(`own:${team}`);
  return typeof stored === 'string' && stored !== '' ? stored.split(' ') : [];
}
