// Completes arguments of resources and prompts with objects that the agent can read. Without the scope there
// are no values.
import { foldName } from '../../platform/lib/text/words.ts';
import { Refused, type Agent, type Json } from './agent.ts';

const valuesMax = 50;

interface Typed {
  readonly agent: Agent;
  readonly value: string;
  /** Values of the other arguments. */
  readonly others: Readonly<Record<string, string>>;
}
type Completer = (typed: Typed) => Promise<readonly string[]>;

const itemsOf = async ({ agent }: Typed, operation: string, query: Json): Promise<Json[]> =>
  ((await agent.ask(operation, { query })).json as { data: Json[] }).data;

/** Returns a property of the items whose name contains the typed text or whose id starts with it. */
function matching(items: readonly Json[], value: string, property: 'id' | 'name'): string[] {
  const wanted = foldName(value);
  return items
    .filter(({ id, name }) => String(id).startsWith(value) || foldName(String(name)).includes(wanted))
    .map((item) => String(item[property]));
}

const identifier: Completer = async (typed) => {
  const { value } = typed;
  const [, team] = /^([a-z][a-z0-9]*)-\d*$/i.exec(value) ?? [];
  if (team === undefined && value.trim() !== '')
    return (await itemsOf(typed, 'search.query', { q: value, limit: 20 })).map(({ issue }) =>
      String((issue as Json).identifier),
    );
  const narrowed = team === undefined ? {} : { team };
  const issues = await itemsOf(typed, 'issues.list', {
    ...narrowed,
    sort: '-updatedAt',
    limit: 100,
    fields: 'identifier',
  });
  const wanted = value.toUpperCase();
  return issues.map((issue) => String(issue.identifier)).filter((one) => one.startsWith(wanted));
};
const teamKey: Completer = async (typed) => {
  const teams = await itemsOf(typed, 'teams.list', { limit: 100 });
  const wanted = foldName(typed.value);
  return teams
    .filter(
      ({ key, name }) => foldName(String(key)).startsWith(wanted) || foldName(String(name)).includes(wanted),
    )
    .map(({ key }) => String(key));
};
const state: Completer = async (typed) => {
  const team = typed.others.team ? { team: typed.others.team } : {};
  return [
    ...new Set(
      matching(await itemsOf(typed, 'workflows.list', { ...team, limit: 100 }), typed.value, 'name'),
    ),
  ];
};
const boardId: Completer = async (typed) =>
  matching(await itemsOf(typed, 'boards.list', { limit: 100 }), typed.value, 'id');
const projectId: Completer = async (typed) =>
  matching(await itemsOf(typed, 'projects.list', { limit: 100 }), typed.value, 'id');
const projectName: Completer = async (typed) =>
  matching(await itemsOf(typed, 'projects.list', { limit: 100 }), typed.value, 'name');

/** Completers by URI template or prompt, then by argument. */
const completers: Readonly<Record<string, Readonly<Record<string, Completer>>>> = {
  'tatami://issues/{identifier}': { identifier },
  'tatami://boards/{id}': { id: boardId },
  'tatami://projects/{id}': { id: projectId },
  'tatami://teams/{team}/{state}': { team: teamKey, state },
  triage_issue: { issue: identifier },
  plan_cycle: { team: teamKey },
  summarise_project: { project: projectName },
  release_notes: { team: teamKey },
};

export async function complete(
  agent: Agent,
  of: string,
  argument: { readonly name: string; readonly value: string },
  others: Readonly<Record<string, string>>,
): Promise<{ values: string[]; hasMore: boolean }> {
  const completer = Object.hasOwn(completers, of) ? completers[of]?.[argument.name] : undefined;
  if (!completer) return { values: [], hasMore: false };
  try {
    const values = await completer({ agent, value: argument.value.slice(0, 200), others });
    return { values: values.slice(0, valuesMax), hasMore: values.length > valuesMax };
  } catch (error) {
    if (error instanceof Refused) return { values: [], hasMore: false };
    throw error;
  }
}
