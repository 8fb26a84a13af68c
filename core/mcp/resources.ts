// Issues, boards and projects as resources. What stands behind an address is what the REST API shows of it.
import { ApiError } from '../lib/errors.ts';
import { Refused, type Agent, type Given, type Json } from './agent.ts';

const scheme = 'tatami';
const pageMax = 50;

interface Kind {
  readonly title: string;
  readonly description: string;
  /** How one is listed. */
  readonly list: string;
  readonly listQuery: Json;
  readonly nameOf: (item: Json) => { readonly id: string; readonly name: string };
  /** How one is read, by what stands in its address. */
  readonly get: string;
  readonly argument: string;
}

const byName = ({ id, name }: Json) => ({ id: String(id), name: String(name) });

/** In the order in which they are listed. */
const kinds = {
  boards: {
    title: 'Board',
    description: 'The columns of a board with their first cards, by its id.',
    list: 'boards.list',
    listQuery: {},
    nameOf: byName,
    get: 'boards.cards',
    argument: 'id',
  },
  projects: {
    title: 'Project',
    description: 'A project, by its id.',
    list: 'projects.list',
    listQuery: {},
    nameOf: byName,
    get: 'projects.get',
    argument: 'id',
  },
  issues: {
    title: 'Issue',
    description: 'An issue, by its identifier such as ENG-42, or its id.',
    list: 'issues.list',
    listQuery: { fields: 'identifier,title' },
    nameOf: ({ identifier, title }) => ({
      id: String(identifier),
      name: `${String(identifier)} ${String(title)}`,
    }),
    get: 'issues.get',
    argument: 'identifier',
  },
} as const satisfies Readonly<Record<string, Kind>>;
type KindName = keyof typeof kinds;
const kindNames = Object.keys(kinds) as KindName[];

/** Issues of a team that stand in a state. */
const stateOf = 'teams';

export const templates = [
  ...kindNames.map((name) => {
    const { title, description, argument } = kinds[name];
    const uriTemplate = `${scheme}://${name}/{${argument}}`;
    return { name, title, description, uriTemplate, mimeType: 'application/json' };
  }),
  {
    name: 'issues-in-state',
    title: 'Issues in a state',
    description: `Up to ${pageMax} issues of a team that stand in a state, the most urgent first.`,
    uriTemplate: `${scheme}://${stateOf}/{team}/{state}`,
    mimeType: 'application/json',
  },
];

export const uriOf = (kind: KindName, id: string): string => `${scheme}://${kind}/${encodeURIComponent(id)}`;

interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
}

/** A page of all that the agent sees: one kind after the other. @throws Refused, ApiError invalid_cursor */
export async function listResources(
  agent: Agent,
  cursor: string | undefined,
): Promise<{ resources: ListedResource[]; nextCursor?: string }> {
  const seen = kindNames.filter((name) => agent.may(kinds[name].list) && agent.may(kinds[name].get));
  const [kind, after] = placeOf(cursor, seen);
  if (kind === undefined) return { resources: [] };
  const { list, listQuery, nameOf } = kinds[kind];
  const { json } = await agent.ask(list, {
    query: { ...listQuery, limit: pageMax, ...(after ? { after } : {}) },
  });
  const { data, pageInfo } = json as { data: Json[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
  const resources = data.map((item) => {
    const { id, name } = (nameOf as Kind['nameOf'])(item);
    return { uri: uriOf(kind, id), name, mimeType: 'application/json' };
  });
  const next = pageInfo.hasNextPage ? kind : seen[seen.indexOf(kind) + 1];
  if (next === undefined) return { resources };
  const nextCursor = `${next}.${next === kind ? pageInfo.endCursor : ''}`;
  // Clients that read one page alone would take an empty one for all there is.
  return resources.length > 0 ? { resources, nextCursor } : listResources(agent, nextCursor);
}

function placeOf(cursor: string | undefined, seen: readonly KindName[]): [KindName | undefined, string] {
  if (cursor === undefined) return [seen[0], ''];
  const dot = cursor.indexOf('.');
  const kind = seen.find((name) => name === cursor.slice(0, Math.max(0, dot)));
  if (kind === undefined) throw new ApiError('invalid_cursor');
  return [kind, cursor.slice(dot + 1)];
}

/** How the API is asked for what stands behind an address; null for none of these. */
export function behind(uri: string): (Given & { readonly operation: string }) | null {
  const [, kind = '', first = '', second] =
    /^tatami:\/\/([a-z]+)\/([^/?#]{1,200})(?:\/([^/?#]{1,200}))?$/.exec(uri) ?? [];
  const [a, b] = [decoded(first), second === undefined ? undefined : decoded(second)];
  if (a === null || b === null) return null;
  if (kind === stateOf && b !== undefined)
    return {
      operation: 'issues.list',
      query: { team: a, state: b, sort: '-priority', limit: pageMax, fields },
    };
  if (b !== undefined || !isKind(kind)) return null;
  return { operation: kinds[kind].get, params: { id: a } };
}

const fields = 'identifier,title,state,priority,assignee,dueDate,updatedAt,url';
const isKind = (name: string): name is KindName => Object.hasOwn(kinds, name);

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

/** As JSON; null where there is nothing that the agent may see. @throws Refused */
export async function readResource(agent: Agent, uri: string): Promise<Json | null> {
  const asked = behind(uri);
  if (!asked) return null;
  try {
    const { operation, ...given } = asked;
    return (await agent.ask(operation, given)).json;
  } catch (error) {
    // A name that nothing can have is a name that nothing has.
    if (error instanceof Refused && /^(not_found|validation_failed)$/.test(error.error.code)) return null;
    throw error;
  }
}
