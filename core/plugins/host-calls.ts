// Which operation each host call is: the door then checks it by that operation's entry in the table of rights. The guest's
// side of this list is in core/sandbox/sidecar/guest/context.ts.

/** What an argument becomes: the `{id}` of the path, the query, the body, or the options beside it. */
type Argument = 'id' | 'query' | 'body' | 'options';

export interface HostCall {
  /** The name of a route. */
  readonly operation: string;
  readonly takes: readonly Argument[];
}

export const hostCalls: Readonly<Record<string, HostCall>> = {
  'issues.get': { operation: 'issues.get', takes: ['id'] },
  'issues.list': { operation: 'issues.list', takes: ['query'] },
  'issues.create': { operation: 'issues.create', takes: ['body'] },
  'issues.update': { operation: 'issues.update', takes: ['id', 'body', 'options'] },
  'comments.list': { operation: 'comments.list', takes: ['id', 'query'] },
  'comments.add': { operation: 'comments.create', takes: ['id', 'body'] },
  'comments.resolve': { operation: 'comments.resolve', takes: ['id'] },
  'labels.list': { operation: 'labels.list', takes: ['query'] },
  'projects.get': { operation: 'projects.get', takes: ['id'] },
  'projects.list': { operation: 'projects.list', takes: ['query'] },
};
