// Cost of authentication other than by API key: a read with an OAuth access token, a search over MCP, and reads while a hundred
// people at a time sign in with passwords.
import {
  Browser,
  authorizePath,
  consent,
  exchange,
  pkce,
  type Client,
} from '../../test/features/oauth/client.ts';
import type { LoadPlan, LoadResult } from '../load/load.ts';
import { judged, type Findings, type Ratio, type Side } from '../report.ts';
import { interleave, sideOf, type Effort } from '../rounds.ts';
import { callOf } from '../servers/catalogue.ts';
import { withServers, type Bench, type TatamiChild } from '../servers/start.ts';

const readsPerSecond = 500;
const crowd = 100;
const person = { email: 'bench@acme.example', password: 'thirty swans above the mill' };
const words = ['save dialog', 'another window', 'the disk', 'crashes when', 'nearly full'];

export function identity(effort: Effort): Promise<Findings> {
  return withServers(async (bench) => {
    const ours = await bench.tatami({ issues: 1_000 });
    const browser = await joined(ours);
    const app = await registered(ours);
    const [ofApi, ofAgents] = [
      await tokenOf(ours, app, browser, '/api/v1'),
      await tokenOf(ours, app, browser, '/api/mcp/streamable-http'),
    ];
    return {
      ratios: [
        await got(bench, effort, ours, ofApi),
        await searched(bench, effort, ours, ofAgents),
        await besideCrowd(bench, effort, ours),
      ],
    };
  });
}

/** Returns a browser session of a person who accepted an invitation as admin. */
async function joined(ours: TatamiChild): Promise<Browser> {
  const call = callOf(ours);
  const member = await call<{ id: string }>('POST', '/members', { name: 'Bench', role: 'admin' });
  const { url } = await call<{ url: string }>('POST', `/members/${member.id}/invitation`);
  const browser = new Browser(ours.url);
  const form = new URLSearchParams({ name: 'Bench', ...person });
  const { status } = await browser.post(new URL(url).pathname, form);
  if (status !== 303) throw new Error(`Accepting the invitation returned ${status}.`);
  return browser;
}

async function registered(ours: TatamiChild): Promise<Client> {
  const redirectUri = 'https://client.example/callback';
  const app = { name: 'Bench', redirectUris: [redirectUri] };
  const { id } = await callOf(ours)<{ id: string }>('POST', '/oauth-apps', app);
  return { id, secret: null, redirectUri };
}

/** Gets an access token through the consent page, as an app does. @param path path of the resource */
async function tokenOf(ours: TatamiChild, app: Client, browser: Browser, path: string): Promise<string> {
  const proof = pkce();
  const params = { scope: 'issues:read', resource: ours.url + path };
  const { searchParams } = await consent(browser, authorizePath(app, proof.challenge, params));
  const server = { url: ours.url, call: () => Promise.reject(new Error('The API is not called here.')) };
  const { status, json } = await exchange(server, app, searchParams.get('code'), proof);
  if (status !== 200) throw new Error(`The code exchange returned ${status}.`);
  return json.access_token;
}

const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });

async function got({ load }: Bench, effort: Effort, ours: TatamiChild, token: string): Promise<Ratio> {
  const requests = ours.issueIds.map((id) => ({ path: `/api/v1/issues/${id}` }));
  const plan = { method: 'GET', url: ours.url, requests, connections: 32, pid: ours.child.pid } as const;
  const sides = await interleave(load, effort, {
    ours: { ...plan, headers: bearer(token) },
    key: { ...plan, headers: ours.headers },
  });
  return speedOf('get one issue with an OAuth access token', sides.ours, sides.key, 0.95);
}

/** Version of MCP; the official client of this version sends the call in the same form. */
const protocol = '2026-07-28';
function searchCall(q: string, id: number): { path: string; body: string } {
  const about = 'io.modelcontextprotocol';
  return {
    path: '/api/mcp/streamable-http',
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id, method: 'tools/call' },
      params: {
        ...{ name: 'issues_search', arguments: { q } },
        _meta: {
          [`${about}/protocolVersion`]: protocol,
          [`${about}/clientInfo`]: { name: 'bench', version: '1.0.0' },
          [`${about}/clientCapabilities`]: {},
        },
      },
    }),
  };
}

async function searched({ load }: Bench, effort: Effort, ours: TatamiChild, token: string): Promise<Ratio> {
  const plan = { url: ours.url, connections: 8, pid: ours.child.pid };
  const headers = {
    ...bearer(token),
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': protocol,
    'Mcp-Method': 'tools/call',
    'Mcp-Name': 'issues_search',
  };
  await requireResults(ours, headers);
  const requests = words.map((q) => ({ path: `/api/v1/search?q=${encodeURIComponent(q)}&limit=20` }));
  const sides = await interleave(load, effort, {
    ours: { ...plan, method: 'POST', requests: words.map(searchCall), headers },
    rest: { ...plan, method: 'GET', requests, headers: ours.headers },
  });
  return speedOf('issues_search over MCP', sides.ours, sides.rest, 0.5);
}

/** Tool results have status 200 also for errors, so the content is checked. */
async function requireResults(ours: TatamiChild, headers: Record<string, string>): Promise<void> {
  const { path, body } = searchCall(words[0]!, 0);
  const answer = await fetch(ours.url + path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  const text = await answer.text();
  const { result } = JSON.parse(text) as { result?: { structuredContent?: { data?: unknown[] } } };
  if (result?.structuredContent?.data?.length !== 20) throw new Error(`The tool returned ${text}.`);
}

function speedOf(name: string, ours: Side, yardstick: Side, reach: number): Ratio {
  return judged({
    ...{ name, reach, bound: 'least', unit: '/s' },
    ...{ ours: ours.perSecond, yardstick: yardstick.perSecond },
    cpuRatio: yardstick.cpuUs / ours.cpuUs,
    sides: { ours, yardstick },
  });
}

/** Compares reads at a steady rate with and without concurrent sign-ins. */
async function besideCrowd({ load }: Bench, effort: Effort, ours: TatamiChild): Promise<Ratio> {
  const plan: LoadPlan = {
    ...{ method: 'GET', url: ours.url, headers: ours.headers, connections: 16, pid: ours.child.pid },
    requests: ours.issueIds.map((id) => ({ path: `/api/v1/issues/${id}` })),
    durationMs: effort.roundMs * 2,
    perSecond: readsPerSecond,
  };
  const results = { beside: [] as LoadResult[], without: [] as LoadResult[] };
  for (let round = -1; round < effort.rounds; round++)
    for (const name of ['beside', 'without'] as const) {
      const reading = load.ask<LoadResult>('run', plan);
      const result = name === 'beside' ? await whileSigningIn(ours, reading) : await reading;
      if (result.refused > 0) throw new Error(`${result.refused} reads were refused.`);
      if (round >= 0) results[name].push(result);
    }
  const [beside, without] = [sideOf(results.beside), sideOf(results.without)];
  return judged({
    name: `p99 of a read beside ${crowd} sign-ins at once`,
    ...{ ours: beside.p99Ms, yardstick: without.p99Ms, unit: 'ms', cpuRatio: null },
    ...{ reach: 1.5, bound: 'most' },
    sides: { 'beside them': beside, without },
  });
}

/** Signs in a hundred people at once, repeatedly, until `other` settles. */
async function whileSigningIn<T>(ours: TatamiChild, other: Promise<T>): Promise<T> {
  let isOver = false;
  const done = other.finally(() => (isOver = true));
  while (!isOver) await Promise.all(Array.from({ length: crowd }, () => signIn(ours.url)));
  return done;
}

async function signIn(url: string): Promise<void> {
  const body = new URLSearchParams(person);
  const headers = { origin: url };
  const { status } = await fetch(`${url}/sign-in`, { method: 'POST', body, headers, redirect: 'manual' });
  if (status !== 303) throw new Error(`Signing in returned ${status}.`);
}
