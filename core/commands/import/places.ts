// Where imported issues go: teams and labels, made where missing.
import { ApiCallError, type Call } from '../../../sdk/client/index.ts';
import { foldName } from '../../lib/fold.ts';
import { readAll } from '../remote.ts';
import { fitChars } from './fit.ts';

const nameCharsMax = 80;

/** Both answer null when the place is there, otherwise with the reason why not. */
export interface Places {
  /** @param name what the file calls the team; two names never share one key */
  team(key: string, name: string): Promise<string | null>;
  label(name: string, teamKey: string): Promise<string | null>;
}

export function createPlaces(call: Call, made: { teams: number; labels: number }): Places {
  let names: Map<string, string> | null = null;
  let labels: Set<string> | null = null;
  /** Team key → the name in this file that has it. */
  const owners = new Map<string, string>();
  const refused = new Map<string, string>();

  /** Makes what `what` names, once: a refusal stands for all later rows. */
  const make = async (what: string, path: string, body: unknown): Promise<string | null> => {
    const known = refused.get(what);
    if (known !== undefined) return known;
    try {
      await call('POST', path, body);
      return null;
    } catch (error) {
      if (!(error instanceof ApiCallError) || error.status !== 422) throw error;
      // Somebody else made it meanwhile.
      if (error.details.some(({ issue }) => issue === 'already_exists')) return null;
      const why = `${what} cannot be made: ${error.message}`;
      refused.set(what, why);
      return why;
    }
  };

  return {
    async team(key, name) {
      names ??= new Map((await readAll<Team>(call, '/teams')).map((team) => [team.key, team.name]));
      const wanted = fitChars(name, nameCharsMax);
      const existing = names.get(key);
      // A team whose name is no path was named by people; one that an import made stands for that one path.
      const other = owners.get(key) ?? (existing?.includes('/') && name.includes('/') ? existing : wanted);
      if (foldName(other) !== foldName(wanted))
        return `"${name}" would get the team key ${key}, which "${other}" has already; give it a name with another last segment`;
      if (existing === undefined) {
        const why = await make(`the team ${key}`, '/teams', { key, name: wanted });
        if (why !== null) return why;
        made.teams++;
        names.set(key, wanted);
      }
      owners.set(key, wanted);
      return null;
    },

    async label(name, teamKey) {
      labels ??= new Set(
        (await readAll<Label>(call, '/labels')).map((label) => labelPlace(label.team, label.name)),
      );
      if (labels.has(labelPlace(null, name)) || labels.has(labelPlace(teamKey, name))) return null;
      const why = await make(`the label "${name}"`, '/labels', { name });
      if (why !== null) return why;
      made.labels++;
      labels.add(labelPlace(null, name));
      return null;
    },
  };
}

interface Team {
  key: string;
  name: string;
}

interface Label {
  name: string;
  team: string | null;
}

/** Names of labels differ in more than case; a label of one team is none of another's. */
function labelPlace(team: string | null, name: string): string {
  return `${team ?? ''} ${foldName(name)}`;
}
