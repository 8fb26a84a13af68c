// `POST /triage`: what issues are and how much they press, for anybody, without a token. A model that comes with Tatami answers, in the
// sandbox and in an isolate of its own; it sees the texts of the request and nothing else, and nothing of them is kept. Duplicates are
// found beside it, where the request names a workspace that opens that.
import { createHash } from 'node:crypto';
import { Type, type Static } from 'typebox';
import { defineRoute, type Route } from '../../http/route.ts';
import { ApiError, tooManyAtOnce } from '../../lib/errors.ts';
import { errorForLog } from '../../lib/failures.ts';
import { createLanes } from '../../lib/fairness/lanes.ts';
import { Shares } from '../../lib/fairness/shares.ts';
import type { Log } from '../../lib/log.ts';
import { partyOf, type Payer } from '../../lib/payer.ts';
import { Closed, enumeration, named } from '../../lib/schema.ts';
import type { CallAnswer, RunLimits, Sandbox } from '../../sandbox/supervisor.ts';
import { teamKeyGivenPattern } from '../../lib/issue-names.ts';
import { packFirstParty, publicTriage } from '../first-party.ts';
import type { SandboxOnDemand } from '../sandbox-on-demand.ts';

const issuesMax = 20;
const bodyBytesMax = 64 * 1024;
/** Requests that are answered, one at a time, or wait. One address or workspace has a quarter of the places at most. */
const placesMax = 32;
/** Twenty long issues take a part of it. */
const limits: RunLimits = {
  cpuMs: 5_000,
  entryMs: 5_000,
  wallMs: 15_000,
  memoryMb: 96,
  calls: 2,
  concurrentCalls: 1,
  logBytes: 0,
  logLines: 0,
  startupMs: 1_000,
};

const TriageRequest = named(
  'TriageRequest',
  Closed({
    issues: Type.Array(
      Closed({
        title: Type.String({ minLength: 1, maxLength: 500, description: 'What it is about.' }),
        description: Type.Optional(
          Type.String({ maxLength: 65_536, description: 'All there is to say of it.' }),
        ),
      }),
      { minItems: 1, maxItems: issuesMax, description: 'What is to be triaged.' },
    ),
    team: Type.Optional(
      Type.String({
        pattern: teamKeyGivenPattern,
        description: 'The team that they are for: duplicates are looked for there alone.',
      }),
    ),
    workspace: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'The id of the workspace that they are for. One that is closed, or is none, has no duplicates.',
      }),
    ),
  }),
);

const Triaged = named(
  'Triaged',
  Closed({
    kind: enumeration('TriageKind', ['bug', 'feature', 'question'], 'What it most likely is.'),
    priority: enumeration(
      'TriagePriority',
      ['low', 'medium', 'high', 'urgent'],
      'How much it presses, by its words.',
    ),
    labels: Type.Array(Type.String(), { description: 'Names of labels that suit it.' }),
    duplicates: Type.Array(
      named(
        'TriageDuplicate',
        Closed({
          identifier: Type.String({ description: 'What people call the issue.' }),
          title: Type.String({ description: 'What it is about.' }),
          score: Type.Number({
            minimum: 0,
            maximum: 1,
            description: 'From 0.6 on it is often the same thing.',
          }),
        }),
      ),
      {
        maxItems: 3,
        description:
          'Issues that it may repeat, the likest first: of teams that the workspace opens to strangers.',
      },
    ),
    confidence: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Of the kind: about the share of such answers that are right.',
    }),
    evidence: Type.Array(Type.String(), {
      description: 'What in the text speaks for it, the strongest first.',
    }),
  }),
);
const Answer = named(
  'Triage',
  Closed({ data: Type.Array(Triaged, { description: 'In the order of the request.' }) }),
);

type Asked = Static<typeof TriageRequest>;

interface Duplicates {
  readonly workspace: string;
  readonly team: string | undefined;
  readonly issues: readonly Issue[];
}
interface Issue {
  readonly title: string;
  readonly description: string;
}

export interface PublicTriageOptions {
  readonly sandbox: SandboxOnDemand;
  readonly log: Log;
  /** Of each issue in turn; none where the workspace does not open that. */
  readonly duplicatesOf: (asked: Duplicates) => Promise<readonly (readonly object[])[]>;
}

export function createPublicTriage({ sandbox, log, duplicatesOf }: PublicTriageOptions): Route {
  let packed: Promise<{ source: string; sha256: string; handlers: string[] }> | null = null;
  const places = new Shares(placesMax);
  const lane = createLanes(1, () => undefined);

  const codeOf = () =>
    (packed ??= packFirstParty(publicTriage).then(
      ({ code, manifest }) => ({
        source: code,
        sha256: createHash('sha256').update(code).digest('hex'),
        handlers: [...manifest.handlers],
      }),
      (error: unknown) => {
        packed = null;
        throw error;
      },
    ));

  const answer = async ({ workspace, team, issues: asked }: Asked, sender: Payer): Promise<unknown> => {
    const issues = asked.map(({ title, description = '' }) => ({ title, description }));
    const release = takePlace(places, sender);
    try {
      const answers = await lane.run(sender, async () => runOn(await sandbox.get(), await codeOf(), issues));
      const duplicates = workspace === undefined ? [] : await duplicatesOf({ workspace, team, issues });
      return answers.map((one, at) => ({ ...one, duplicates: duplicates[at] ?? [] }));
    } catch (error) {
      log('warn', 'public triage has no answer', { error: errorForLog(error) });
      throw new ApiError('unavailable', 'Triage cannot answer at the moment. Try again later.', {
        cause: error,
      });
    } finally {
      release();
    }
  };

  return defineRoute({
    method: 'POST',
    path: '/api/v1/triage',
    name: 'triage.ask',
    summary: 'Ask what issues are: kind, priority and labels, with evidence; no token is needed',
    description:
      'For anybody, so many times a minute for each address. Nothing of it is kept. With `workspace`, and where that opens it, issues that they may repeat.',
    scope: null,
    limit: 'search',
    body: TriageRequest,
    bodyBytesMax,
    example: { issues: [{ title: 'App crashes when I save', description: 'TypeError in save().' }] },
    responses: { 200: Answer },
    errors: ['unavailable'],
    raw: async ({ body }, sender) => ({
      contentType: 'application/json',
      body: JSON.stringify({ data: await answer(body, sender) }),
    }),
  });
}

/** @throws ApiError rate_limited for a sender that has its share of the places, unavailable where others have all of them */
function takePlace(places: Shares, sender: Payer): () => void {
  if (places.hasRoomFor(sender, 1)) return places.hold(sender, 1);
  if (places.taken(sender.workspaceId, partyOf(sender)) === 0)
    throw new ApiError('unavailable', 'All places in the queue are taken. Try again in a moment.');
  throw tooManyAtOnce('Too many of your requests wait for an answer. Send more when one is answered.');
}

/** The model's answers. @throws Error where it gave none */
async function runOn(
  sandbox: Sandbox,
  code: { source: string; sha256: string; handlers: string[] },
  given: readonly Issue[],
): Promise<object[]> {
  const taken: { answer?: object[] } = {};
  const call = async (op: string, args: string): Promise<CallAnswer> => {
    if (op === 'kv.get') return { ok: true, value: JSON.stringify(given) };
    if (op === 'kv.set') [, taken.answer] = JSON.parse(args) as [string, object[]];
    return { ok: true, value: 'null' };
  };
  const at = new Date(0).toISOString();
  const outcome = await sandbox.run({
    ...{
      runId: 'public-triage',
      workspaceId: '',
      installId: 'public-triage',
      partition: 0,
      code,
      limits,
      call,
    },
    handler: { kind: 'schedule', name: 'triage' },
    input: JSON.stringify({
      event: { schedule: 'triage', scheduledAt: at },
      run: {
        id: 'public-triage',
        attempt: 1,
        mode: 'commit',
        depth: 0,
        rootEventId: null,
        deadline: limits.wallMs,
      },
      ...{ settings: {}, nowMs: 0, seed: 'public-triage', scopes: [] },
    }),
  });
  if (outcome.status !== 'succeeded' || taken.answer?.length !== given.length)
    throw new Error('message' in outcome ? outcome.message : 'The model gave no answer.');
  return taken.answer;
}
