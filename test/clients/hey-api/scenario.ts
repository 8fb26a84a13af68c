// What an integrator does, with a client that `@hey-api/openapi-ts` made. Compiled and run by clients.test.ts.
import { committed, type Seen } from '../client-report.ts';
import { createClient } from './generated/client';
import {
  commentsCreate,
  issuesCreate,
  issuesList,
  issuesUpdate,
  webhooksCreate,
  type Comment,
  type Issue,
  type IssueCreate,
} from './generated';

export async function play(server: string, token: string, receiver: string): Promise<Seen> {
  const client = createClient({ baseUrl: server, auth: token });

  const body: IssueCreate = { team: 'ENG', title: 'Saving fails', priority: 'high', labels: ['bug'] };
  const create = () => issuesCreate({ client, body, headers: { 'Idempotency-Key': 'one' } });
  const first = await create();
  if (!first.data) throw new Error(first.error.error.message);
  const again = await create();
  for (const title of ['Search is empty', 'Logout hangs'])
    await issuesCreate({ client, body: { team: 'ENG', title, priority: 'low' } });

  const listed: Issue[] = [];
  let after: string | undefined;
  do {
    const { data, error } = await issuesList({ client, query: { team: 'ENG', limit: 2, after } });
    if (!data) throw new Error(error.error.message);
    listed.push(...data.data);
    after = data.pageInfo.hasNextPage ? (data.pageInfo.endCursor ?? undefined) : undefined;
  } while (after);
  const filter = JSON.stringify({ priority: 'high', label: 'bug' });
  const high = await issuesList({ client, query: { filter } });

  const path = { id: first.data.id };
  const headers = { 'If-Match': first.response?.headers.get('etag') ?? '' };
  const patched = await issuesUpdate({ client, path, headers, body: { priority: 'urgent' } });
  const stale = await issuesUpdate({ client, path, headers, body: { priority: 'none' } });
  const comment = await commentsCreate({ client, path, body: { body: 'I can reproduce this.' } });
  const webhook = await webhooksCreate({
    client,
    body: { url: receiver, events: ['issue.*'], filter: { priority: ['urgent'] } },
  });

  const refused = await issuesCreate({ client, body: { team: 'ENG', title: '' } });
  if (!refused.error) throw new Error('It has no title.');
  const { code, details } = refused.error.error;
  const titles = high.data?.data.map((issue) => issue.title) ?? [];
  return {
    identifier: committed(first.data).identifier,
    replayed: again.response?.headers.get('idempotent-replayed') === 'true' && again.data?.id === path.id,
    listed: listed.map((issue) => `${issue.team.key} ${issue.state.type} ${issue.title}`),
    high: titles,
    patched: patched.data ? committed(patched.data).priority : null,
    stale: stale.error?.error.code ?? null,
    comment: comment.data ? aboutOf(committed(comment.data)) : null,
    secret: webhook.data?.secret.slice(0, 6) ?? null,
    refused: code === 'validation_failed' ? details.map(({ path: at, issue }) => `${at} ${issue}`) : [],
  };
}

function aboutOf({ author, issue }: Comment): string {
  return `${author.kind} on ${issue.identifier}`;
}
