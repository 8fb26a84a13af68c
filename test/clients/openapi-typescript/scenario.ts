// What an integrator does, with a client that `openapi-typescript` made the types of. Compiled and run by clients.test.ts.
import createClient from 'openapi-fetch';
import { committed, type Seen } from '../client-report.ts';
import type { components, paths } from './schema.ts';

type Comment = components['schemas']['Comment'];
type Issue = components['schemas']['Issue'];
type IssueCreate = components['schemas']['IssueCreate'];

export async function play(server: string, token: string, receiver: string): Promise<Seen> {
  const client = createClient<paths>({ baseUrl: server, headers: { authorization: `Bearer ${token}` } });

  const body: IssueCreate = { team: 'ENG', title: 'Saving fails', priority: 'high', labels: ['bug'] };
  const create = () =>
    client.POST('/api/v1/issues', { params: { header: { 'Idempotency-Key': 'one' } }, body });
  const first = await create();
  if (!first.data) throw new Error(first.error.error.message);
  const again = await create();
  for (const title of ['Search is empty', 'Logout hangs'])
    await client.POST('/api/v1/issues', { body: { team: 'ENG', title, priority: 'low' } });

  const listed: Issue[] = [];
  let after: string | undefined;
  do {
    const { data, error } = await client.GET('/api/v1/issues', {
      params: { query: { team: 'ENG', limit: 2, ...(after ? { after } : {}) } },
    });
    if (!data) throw new Error(error.error.message);
    listed.push(...data.data);
    after = data.pageInfo.hasNextPage ? (data.pageInfo.endCursor ?? undefined) : undefined;
  } while (after);
  const high = await client.GET('/api/v1/issues', {
    params: { query: { filter: JSON.stringify({ priority: 'high', label: 'bug' }) } },
  });

  const path = { id: first.data.id };
  const etag = first.response.headers.get('etag') ?? '';
  const patch = (priority: 'urgent' | 'none') =>
    client.PATCH('/api/v1/issues/{id}', {
      params: { path, header: { 'If-Match': etag } },
      body: { priority },
    });
  const patched = await patch('urgent');
  const stale = await patch('none');
  const comment = await client.POST('/api/v1/issues/{id}/comments', {
    params: { path },
    body: { body: 'I can reproduce this.' },
  });
  const webhook = await client.POST('/api/v1/webhooks', {
    body: { url: receiver, events: ['issue.*'], filter: { priority: ['urgent'] } },
  });

  const refused = await client.POST('/api/v1/issues', { body: { team: 'ENG', title: '' } });
  if (!refused.error) throw new Error('It has no title.');
  const { code, details } = refused.error.error;
  const titles = high.data?.data.map((issue) => issue.title) ?? [];
  return {
    identifier: committed(first.data).identifier,
    replayed: again.response.headers.get('idempotent-replayed') === 'true' && again.data?.id === path.id,
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
