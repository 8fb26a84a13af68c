// A small agent: it reads the issues of a workspace and proposes changes that people approve. Simple rules stand in
// for a model. Run: `bun examples/agent/main.ts [server URL]`
import {
  Client,
  InsufficientScopeError,
  OAuthError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { SignIn } from './sign-in.ts';

const [server = 'http://127.0.0.1:4700'] = process.argv.slice(2);

interface Issue {
  readonly identifier: string;
  readonly title: string;
  readonly priority: string;
}
interface Idea {
  readonly tool: 'issues_update' | 'issues_delete';
  readonly args: object;
  readonly why: string;
}

function ideaFor({ identifier: id, title, priority }: Issue): Idea | null {
  if (/^(test|asdf)\b/i.test(title))
    return { tool: 'issues_delete', args: { id }, why: `${id} “${title}” looks like a test: delete it` };
  if (/crash|lose|lost/i.test(title) && priority !== 'urgent') {
    const args = { id, priority: 'urgent' };
    return { tool: 'issues_update', args, why: `${id} “${title}” is severe: make it urgent` };
  }
  return null;
}

/**
 * The first attempt has no token. The 401 response names the authorization server; the client registers there and
 * asks for consent.
 */
async function connect(): Promise<Client> {
  const authProvider = new SignIn((url) => console.log(`Open this page and grant access:\n  ${url}`));
  for (;;) {
    const transport = new StreamableHTTPClientTransport(new URL('/api/mcp/streamable-http', server), {
      authProvider,
      // A scope that a person removed is not requested again.
      onInsufficientScope: 'throw',
    });
    const client = new Client({ name: 'tidy', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    try {
      await client.connect(transport);
      return client;
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      await transport.finishAuth(await authProvider.answer());
    }
  }
}

/** @throws Error with the error of the tool */
async function call<T>(client: Client, name: string, args: object): Promise<T> {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: { ...args } });
  if (isError) throw new Error(`${name}: ${JSON.stringify(content)}`);
  return structuredContent as T;
}

interface Outcome {
  readonly status: string;
  readonly proposalId: string;
  readonly url: string;
}
interface Decided {
  readonly proposal: {
    readonly status: string;
    readonly reason: string | null;
    readonly decidedBy: { readonly name: string } | null;
  };
}

/** Waits for the decision, which may take any time; each request waits at most a minute. */
async function decisionOn(client: Client, id: string): Promise<Decided['proposal']> {
  for (;;) {
    const { proposal } = await call<Decided>(client, 'proposals_get', { id, wait: 50 });
    if (proposal.status !== 'open') return proposal;
  }
}

async function pursue(client: Client, { tool, args, why }: Idea): Promise<void> {
  const { status, proposalId, url } = await call<Outcome>(client, tool, args);
  if (status === 'done') return console.log(`${why}: done`);
  console.log(`${why}? Decide here:\n  ${url}`);
  const { status: became, decidedBy, reason } = await decisionOn(client, proposalId);
  console.log(`${why}: ${became} by ${decidedBy?.name}${reason ? `, because “${reason}”` : ''}`);
}

async function tidy(client: Client): Promise<void> {
  const query = { limit: 50, sort: 'createdAt' };
  const { data } = await call<{ data: { issue: Issue }[] }>(client, 'issues_search', query);
  const ideas = data.flatMap(({ issue }) => ideaFor(issue) ?? []);
  console.log(`Read ${data.length} issues. ${ideas.length} suggestions.`);
  await Promise.all(ideas.map((idea) => pursue(client, idea)));
}

try {
  const client = await connect();
  await tidy(client);
  await client.close();
} catch (error) {
  if (error instanceof OAuthError) console.log(`Access denied: ${error.message}`);
  else if (error instanceof InsufficientScopeError) console.log(`Missing permission: ${error.requiredScope}`);
  else throw error;
  process.exit(1);
}
