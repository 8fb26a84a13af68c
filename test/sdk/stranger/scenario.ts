// A typical first program with only the package. It runs in every runtime, and type-checks in a strict
// project without the types of Node or of a browser.
import { ApiCallError, createClient, type Client } from '@tatami/sdk';
import { validate } from '@tatami/sdk/validators';
import { receive } from './receiver.js';

export interface Setting {
  readonly server: string;
  readonly token: string;
  /** URL that receives deliveries. */
  readonly receiver: string;
  /** Name of the runtime. */
  readonly name: string;
}

export interface ScenarioResult {
  readonly isOnce: boolean;
  readonly titles: readonly string[];
  readonly streamed: string;
  readonly received: string;
  readonly forged: string;
  readonly unsent: string;
  readonly refused: string;
  readonly outdated: string;
}

export async function scenario({ server, token, receiver, name }: Setting): Promise<ScenarioResult> {
  const client = createClient({ server, token });
  const body = { team: 'ENG', title: `From ${name}`, description: undefined };
  const first = await client.issues.create(body, { idempotencyKey: name });
  const again = await client.issues.create(body, { idempotencyKey: name });

  await client.issues.bulk({
    issues: ['a', 'b', 'c'].map((title) => ({ team: 'ENG', title, externalSource: name, externalId: title })),
  });
  const titles: string[] = [];
  for await (const issue of client.issues.list({ filter: { externalSource: name }, limit: 2 }))
    titles.push(issue.title);

  const { payload, header, secret } = await delivered(client, first.id, receiver);
  return {
    isOnce: first.id === again.id,
    titles,
    streamed: await comment(client, first.id, `Seen by ${name}.`),
    received: await receive(payload, header, secret),
    forged: await receive(payload.replace('bug', 'bog'), header, secret),
    unsent: validate('issues.create', { team: 'ENG', title: '' })
      .map(({ path, issue }) => `${path} ${issue}`)
      .join(' '),
    refused: await codeOf(client.issues.create({ team: 'ENG', title: '' })),
    outdated: await codeOf(client.issues.update(first.id, { priority: 'high' }, { ifVersion: 1 })),
  };
}

/** Comments once the stream is open, and reads the comment from the stream. */
async function comment(client: Client, issueId: string, body: string): Promise<string> {
  const onOpen = (): void => void client.comments.create(issueId, { body });
  for await (const { event } of client.stream({ types: ['comment.added'], onOpen }))
    if (event.type === 'comment.added' && event.data.issue.id === issueId) return event.data.body;
  throw new Error('The stream ended.');
}

/** Labels an issue, and waits for the delivery. */
async function delivered(client: Client, issueId: string, url: string) {
  const { id, secret } = await client.webhooks.create({ url, events: ['issue.labeled'] });
  await client.issues.update(issueId, { labels: ['bug'] }, { ifVersion: 1 });
  for (let tries = 0; tries < 2000; tries++) {
    const [delivery] = (await client.webhooks.deliveries(id, { status: 'delivered' })).data;
    if (!delivery) continue;
    const { payload, attemptList } = await client.deliveries.get(delivery.id);
    const header = attemptList[0]?.requestHeaders['X-Webhook-Signature'] ?? '';
    return { payload, header, secret };
  }
  throw new Error('The delivery did not arrive.');
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'none';
  } catch (error) {
    if (!(error instanceof ApiCallError)) throw error;
    return [error.code, ...error.details.map(({ path, issue }) => `${path} ${issue}`)].join(' ');
  }
}
