// Resolves teams and labels, which are created if missing, and existing states and members; `--people` maps people of the other tracker
// to members.
import { ApiCallError, type Call } from '../../../../sdk/client/index.ts';
import { foldName, counted, didYouMean } from '../../../platform/lib/text/words.ts';
import { readAll } from '../lib/pages.ts';
import { fitChars } from './fit.ts';
import type { ImportContext } from './report.ts';
import { basename } from 'node:path';
import { addressKey } from '../../../platform/lib/address.ts';
import { CommandError, exitCodes } from '../lib/output.ts';
import { readRecords } from './formats/csv.ts';
import { requireFile, survey } from './survey.ts';

const nameCharsMax = 80;

interface KnownReferences {
  /** State with this name, or of the type that the name means; undefined for an unknown name. */
  state(teamKey: string, name: string): Promise<State | undefined>;
  /** Id of the member with this login, name or e-mail address; undefined if there is none. */
  member(name: string, as: 'assignee' | 'creator'): Promise<string | undefined>;
}

/** `team` and `label` return null, or the reason why the team or label cannot be used. */
export interface ReferenceResolver extends KnownReferences {
  /** @param name of the team in the file; two names never share one key */
  team(key: string, name: string): Promise<string | null>;
  label(name: string, teamKey: string): Promise<string | null>;
}

export function createReferenceResolver(context: ImportContext): ReferenceResolver {
  const { call, report } = context;
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
    ...createKnown(context),
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
        report.teams++;
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
      report.labels++;
      labels.add(labelPlace(null, name));
      return null;
    },
  };
}

/** Resolves states and members. A missing one is reported once and omitted. */
function createKnown({ call, note, left, people: mapped }: ImportContext): KnownReferences {
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

interface ImportMember {
  id: string;
  name: string;
  email: string | null;
}

/** Key of a person: the address where it is one, else the folded name. */
const personKey = (text: string): string => addressKey(text) ?? foldName(text);

const faultsNamedMax = 20;

/** Checks the whole file before anything is sent. @throws CommandError that names every bad line */
export async function readPeople(file: string, call: Call): Promise<ReadonlyMap<string, string>> {
  requireFile(file);
  await survey(file);
  const members = await readAll<ImportMember>(call, '/members');
  const byAddress = new Map(members.flatMap(({ id, email }) => (email ? [[personKey(email), id]] : [])));
  const people = new Map<string, string>();
  const faults: string[] = [];
  const told = { bad: (at: string, why: string) => void faults.push(`${at}: ${why}`), left: () => {} };
  for await (const { at, one } of readRecords(file, ['source', 'member'], told)) {
    const [source, email] = [one('source').trim(), one('member').trim()];
    const id = byAddress.get(personKey(email));
    const known = people.get(personKey(source));
    if (source === '') told.bad(at, 'source is empty; use a login, name or e-mail address from the file');
    else if (email === '') told.bad(at, 'member is empty; use the e-mail address of a member');
    else if (id === undefined) {
      const addresses = members.flatMap((member) => member.email ?? []);
      told.bad(
        at,
        `no member has the e-mail address ${email}; add the member or correct the address.${didYouMean(email, addresses)}`.replace(
          /\.$/,
          '',
        ),
      );
    } else if (known !== undefined && known !== id)
      told.bad(at, `${source} is mapped to another member above; list each source once`);
    else people.set(personKey(source), id);
  }
  if (faults.length === 0) return people;
  const more = faults.length - faultsNamedMax;
  const lines = [
    ...faults.slice(0, faultsNamedMax),
    ...(more > 0 ? [`and ${counted(more, 'more line')}`] : []),
  ];
  throw new CommandError(
    `${basename(file)} has errors, and nothing was imported. Correct these lines:`,
    exitCodes.failed,
    {
      lines,
    },
  );
}
