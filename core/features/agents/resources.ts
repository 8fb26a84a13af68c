// Issues, boards and projects as MCP resources, with the content of the REST API.
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { Refused, type Agent, type CallInput, type Json } from './agent.ts';

const scheme = 'tatami';
const pageMax = 50;

interface ResourceType {
  readonly title: string;
  readonly description: string;
  /** Name of the operation that lists the resources. */
  readonly list: string;
  readonly listQuery: Json;
  readonly nameOf: (item: Json) => { readonly id: string; readonly name: string };
  /** Name of the operation that reads a resource by the argument of its URI. */
  readonly get: string;
  readonly argument: string;
}

const byName = ({ id, name }: Json) => ({ id: String(id), name: String(name) });

/** In the order of `resources/list`. */
const resourceTypes = {
  boards: {
    title: 'Board',
    description: 'Columns of a board with their first cards, by board id.',
    list: 'boards.list',
    listQuery: {},
    nameOf: byName,
    get: 'boards.cards',
    argument: 'id',
  },
  projects: {
    title: 'Project',
    description: 'Project, by id.',
    list: 'projects.list',
    listQuery: {},
    nameOf: byName,
    get: 'projects.get',
    argument: 'id',
  },
  issues: {
    title: 'Issue',
    description: 'Issue, by identifier such as ENG-42 or by id.',
    list: 'issues.list',
    listQuery: { fields: 'identifier,title' },
    nameOf: ({ identifier, title }) => ({
      id: String(identifier),
      name: `${String(identifier)} ${String(title)}`,
    }),
    get: 'issues.get',
    argument: 'identifier',
  },
} as const satisfies Readonly<Record<string, ResourceType>>;
type ResourceTypeName = keyof typeof resourceTypes;
const resourceTypeNames = Object.keys(resourceTypes) as ResourceTypeName[];

/** URI host for the issues of a team in a state. */
const stateOf = 'teams';

export const templates = [
  ...resourceTypeNames.map((name) => {
    const { title, description, argument } = resourceTypes[name];
    const uriTemplate = `${scheme}://${name}/{${argument}}`;
    return { name, title, description, uriTemplate, mimeType: 'application/json' };
  }),
  {
    name: 'issues-in-state',
    title: 'Issues in a state',
    description: `Up to ${pageMax} issues of a team in a workflow state, highest priority first.`,
    uriTemplate: `${scheme}://${stateOf}/{team}/{state}`,
    mimeType: 'application/json',
  },
];

export const uriOf = (type: ResourceTypeName, id: string): string =>
  `${scheme}://${type}/${encodeURIComponent(id)}`;

interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
}

/**
 * Returns a page of the resources that the agent can read, type by type.
 * @throws Refused, ApiError invalid_cursor
 */
export async function listResources(
  agent: Agent,
  cursor: string | undefined,
): Promise<{ resources: ListedResource[]; nextCursor?: string }> {
  const seen = resourceTypeNames.filter(
    (name) => agent.may(resourceTypes[name].list) && agent.may(resourceTypes[name].get),
  );
  const [type, after] = positionOf(cursor, seen);
  if (type === undefined) return { resources: [] };
  const { list, listQuery, nameOf } = resourceTypes[type];
  const { json } = await agent.ask(list, {
    query: { ...listQuery, limit: pageMax, ...(after ? { after } : {}) },
  });
  const { data, pageInfo } = json as { data: Json[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
  const resources = data.map((item) => {
    const { id, name } = (nameOf as ResourceType['nameOf'])(item);
    return { uri: uriOf(type, id), name, mimeType: 'application/json' };
  });
  const next = pageInfo.hasNextPage ? type : seen[seen.indexOf(type) + 1];
  if (next === undefined) return { resources };
  const nextCursor = `${next}.${next === type ? pageInfo.endCursor : ''}`;
  // Empty pages are skipped, because some clients read only the first page.
  return resources.length > 0 ? { resources, nextCursor } : listResources(agent, nextCursor);
}

function positionOf(
  cursor: string | undefined,
  seen: readonly ResourceTypeName[],
): [ResourceTypeName | undefined, string] {
  if (cursor === undefined) return [seen[0], ''];
  const dot = cursor.indexOf('.');
  const type = seen.find((name) => name === cursor.slice(0, Math.max(0, dot)));
  if (type === undefined) throw new ApiError('invalid_cursor');
  return [type, cursor.slice(dot + 1)];
}

/** Returns the operation and parameters that read a resource; null for an unknown URI. */
export function behind(uri: string): (CallInput & { readonly operation: string }) | null {
  const [, type = '', first = '', second] =
    /^tatami:\/\/([a-z]+)\/([^/?#]{1,200})(?:\/([^/?#]{1,200}))?$/.exec(uri) ?? [];
  const [a, b] = [decoded(first), second === undefined ? undefined : decoded(second)];
  if (a === null || b === null) return null;
  if (type === stateOf && b !== undefined)
    return {
      operation: 'issues.list',
      query: { team: a, state: b, sort: '-priority', limit: pageMax, fields },
    };
  if (b !== undefined || !isResourceType(type)) return null;
  return { operation: resourceTypes[type].get, params: { id: a } };
}

const fields = 'identifier,title,state,priority,assignee,dueDate,updatedAt,url';
const isResourceType = (name: string): name is ResourceTypeName => Object.hasOwn(resourceTypes, name);

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

/**
 * @returns null if the resource does not exist or the agent cannot read it
 * @throws Refused
 */
export async function readResource(agent: Agent, uri: string): Promise<Json | null> {
  const request = behind(uri);
  if (!request) return null;
  try {
    const { operation, ...input } = request;
    return (await agent.ask(operation, input)).json;
  } catch (error) {
    // Invalid names count as unknown ones.
    if (error instanceof Refused && /^(not_found|validation_failed)$/.test(error.error.code)) return null;
    throw error;
  }
}
