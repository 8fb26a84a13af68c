// Resolves teams and labels, which are created if missing, and existing states and members.
import { ApiCallError, type Call } from '../../../../../sdk/client/index.ts';
import { foldName } from '../../../../platform/lib/text/words.ts';
import { readAll } from '../../lib/remote.ts';
import { fitChars } from './fit.ts';
import { personKey, type ImportMember, type People } from './people.ts';
import type { Report } from '../report.ts';

const nameCharsMax = 80;

export interface ReferenceResolver {
  /** These two answer null when the place is there, otherwise with the reason why not. */
  /** @param name what the file calls the team; two names never share one key */
  team(key: string, name: string): Promise<string | null>;
  label(name: string, teamKey: string): Promise<string | null>;
  /** The state that means what a state of elsewhere meant; undefined where a word says nothing to us. */
  state(teamKey: string, name: string): Promise<State | undefined>;
  /** The member of a login, a name or an e-mail address; undefined where there is none. @param as what the row has them */
  member(name: string, as: 'assignee' | 'creator'): Promise<string | undefined>;
}

/** @param note told once of each name that nothing here has @param left of each row that has such a one @param mapped people by `--people` */
export function createReferenceResolver(
  call: Call,
  made: Pick<Report, 'teams' | 'labels'>,
  note: (text: string) => void,
  left: (what: string) => void,
  mapped: People,
): ReferenceResolver {
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
      const why = `${what} cannot be created: ${error.message}`;
      refused.set(what, why);
      return why;
    }
  };

  return {
    ...createKnown(call, note, left, mapped),
    async team(key, name) {
      names ??= new Map((await readAll<Team>(call, '/teams')).map((team) => [team.key, team.name]));
      const wanted = fitChars(name, nameCharsMax);
      const existing = names.get(key);
      // A team whose name is no path was named by people; one that an import made stands for that one path.
      const other = owners.get(key) ?? (existing?.includes('/') && name.includes('/') ? existing : wanted);
      if (foldName(other) !== foldName(wanted))
        return `"${name}" would get the team key ${key}, which "${other}" already has; use a name with another last segment`;
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

/** States and people: what is not here is said once, and left out. */
function createKnown(
  call: Call,
  note: (text: string) => void,
  left: (what: string) => void,
  mapped: People,
): Pick<ReferenceResolver, 'state' | 'member'> {
  let states: readonly State[] | null = null;
  let people: ReadonlyMap<string, string> | null = null;
  const unknown = new Set<string>();
  const missing = (what: string, text: string): undefined => {
    left(what);
    if (!unknown.has(text)) note(text);
    unknown.add(text);
    return undefined;
  };
  return {
    async state(teamKey, name) {
      // A team that was made meanwhile has states that were not read yet.
      if (!states?.some(({ team }) => team === teamKey)) states = await readAll<State>(call, '/workflows');
      const own = states.filter(({ team }) => team === teamKey);
      const named = own.find((one) => foldName(one.name) === foldName(name));
      const type = typeOfStatus(name);
      return (
        named ??
        own.find((one) => one.type === type) ??
        missing('state', `the state "${name}" is unknown: its issues get the default state`)
      );
    },
    async member(name, as) {
      const given = mapped.get(personKey(name));
      if (given !== undefined) return given;
      people ??= new Map(
        (await readAll<ImportMember>(call, '/members')).flatMap(({ id, name: called, email }) => [
          [foldName(called), id] as const,
          ...(email === null ? [] : [[personKey(email), id] as const]),
        ]),
      );
      return (
        people.get(personKey(name)) ??
        missing(as, `no member matches "${name}": the issues get another ${as} or none`)
      );
    },
  };
}

const statusTypes: readonly (readonly [words: RegExp, type: string])[] = [
  [/duplicate/, 'duplicate'],
  [/cancel|won.?t|reject|declin|abandon|not planned/, 'canceled'],
  [/done|complete|closed|resolved|fixed|released|shipped|merged/, 'completed'],
  [/progress|review|doing|started|testing|\bqa\b|develop/, 'started'],
  [/triage/, 'triage'],
  [/backlog|icebox|later/, 'backlog'],
  [/to.?do|open|new|selected|ready|planned|unstarted/, 'unstarted'],
];

/** The type of state that a name from elsewhere means. */
function typeOfStatus(name: string): string | undefined {
  const words = name.toLowerCase();
  return statusTypes.find(([said]) => said.test(words))?.[1];
}

export interface State {
  id: string;
  name: string;
  type: string;
  team: string;
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
