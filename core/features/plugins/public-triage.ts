// Implements `POST /triage`, which suggests kind, priority and labels of issues, without a token. The bundled
// model runs in a separate isolate of the sandbox and gets only the texts of the request; nothing is stored.
// Duplicates are searched separately, if the request names a workspace that allows it.
import { Type, type Static } from 'typebox';
import { defineRoute, type Route } from '../../kernel/http/route.ts';
import { ApiError, tooManyAtOnce } from '../../platform/lib/errors/errors.ts';
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import { createFairPool } from '../../platform/lib/fairness/fair-queue.ts';
import { FairQuota } from '../../platform/lib/fairness/fair-quota.ts';
import type { Log } from '../../platform/lib/log.ts';
import { partyOf, type BillingAccount } from '../../platform/lib/billing-account.ts';
import { Closed, enumeration, namedSchema } from '../../platform/lib/schema.ts';
import type { CallAnswer, RunLimits, Sandbox } from '../../platform/sandbox/supervisor.ts';
import { teamKeyInputPattern } from '../../platform/lib/ids.ts';
import { packFirstParty, publicTriage } from './packages.ts';
import type { SandboxOnDemand } from './sandbox.ts';

const issuesMax = 20;
const bodyBytesMax = 64 * 1024;
/** Limit of running and queued requests. One address or workspace gets at most a quarter of the slots. */
const queuedMax = 32;
/** Twenty long issues stay below these limits. */
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

const TriageRequest = namedSchema(
  'TriageRequest',
  Closed({
    issues: Type.Array(
      Closed({
        title: Type.String({ minLength: 1, maxLength: 500, description: 'Title of the issue.' }),
        description: Type.Optional(
          Type.String({ maxLength: 65_536, description: 'Description of the issue.' }),
        ),
      }),
      { minItems: 1, maxItems: issuesMax, description: 'Issues to triage.' },
    ),
    team: Type.Optional(
      Type.String({
        pattern: teamKeyInputPattern,
        description: 'Key of the team in which duplicates are searched; default all teams.',
      }),
    ),
    workspace: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'Id of the workspace in which duplicates are searched. No duplicates are returned if the workspace does not exist or does not allow public triage.',
      }),
    ),
  }),
);

const Triaged = namedSchema(
  'Triaged',
  Closed({
    kind: enumeration('TriageKind', ['bug', 'feature', 'question'], 'Most likely kind of the issue.'),
    priority: enumeration('TriagePriority', ['low', 'medium', 'high', 'urgent'], 'Suggested priority.'),
    labels: Type.Array(Type.String(), { description: 'Names of suggested labels.' }),
    duplicates: Type.Array(
      namedSchema(
        'TriageDuplicate',
        Closed({
          identifier: Type.String({ description: 'Identifier of the issue, such as `ENG-12`.' }),
          title: Type.String({ description: 'Title of the issue.' }),
          score: Type.Number({
            minimum: 0,
            maximum: 1,
            description: 'Similarity; from 0.6 the issues are often duplicates.',
          }),
        }),
      ),
      {
        maxItems: 3,
        description:
          'Possible duplicates, most similar first, from teams that the workspace opens to the public.',
      },
    ),
    confidence: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Confidence of `kind`: approximate share of correct answers at this value.',
    }),
    evidence: Type.Array(Type.String(), {
      description: 'Evidence in the text, strongest first.',
    }),
  }),
);
const Answer = namedSchema(
  'Triage',
  Closed({ data: Type.Array(Triaged, { description: 'Results, in the order of the request.' }) }),
);

type TriageInput = Static<typeof TriageRequest>;

interface Duplicates {
  readonly workspace: string;
  readonly team: string | undefined;
  readonly issues: readonly Issue[];
}
interface Issue {
  readonly title: string;
  readonly description: string;
}

interface PublicTriageOptions {
  readonly sandbox: SandboxOnDemand;
  readonly log: Log;
  /** Returns the duplicates of each issue; none if the workspace does not allow it. */
  readonly duplicatesOf: (requested: Duplicates) => Promise<readonly (readonly object[])[]>;
}

type PackedCode = Parameters<Sandbox['run']>[0]['code'];

export function createPublicTriage({ sandbox, log, duplicatesOf }: PublicTriageOptions): Route {
  let packed: Promise<PackedCode> | null = null;
  const quota = new FairQuota(queuedMax);
  const fairQueue = createFairPool(1, () => undefined);

  const codeOf = (): Promise<PackedCode> =>
    (packed ??= packFirstParty(publicTriage).then(
      ({ code, sha256, manifest }) => ({ source: code, sha256, handlers: [...manifest.handlers] }),
      (error: unknown) => {
        packed = null;
        throw error;
      },
    ));

  const answer = async (
    { workspace, team, issues: requested }: TriageInput,
    sender: BillingAccount,
  ): Promise<unknown> => {
    const issues = requested.map(({ title, description = '' }) => ({ title, description }));
    const release = takeSlot(quota, sender);
    try {
      const answers = await fairQueue.run(sender, async () =>
        runOn(await sandbox.get(), await codeOf(), issues),
      );
      const duplicates = workspace === undefined ? [] : await duplicatesOf({ workspace, team, issues });
      return answers.map((one, at) => ({ ...one, duplicates: duplicates[at] ?? [] }));
    } catch (error) {
      log('warn', 'public triage failed', { error: errorForLog(error) });
      throw new ApiError('unavailable', 'Triage is temporarily unavailable. Retry later.', {
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
    summary: 'Suggest kind, priority and labels of issues, without a token',
    description:
      'The route is public and limited per minute and client address. Nothing is stored. With `workspace`, the response also has possible duplicates, if the workspace allows it.',
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

/** @throws ApiError rate_limited for a sender that has used its share of the slots, unavailable if all slots are taken */
function takeSlot(quota: FairQuota, sender: BillingAccount): () => void {
  if (quota.hasCapacityFor(sender, 1)) return quota.reserve(sender, 1);
  if (quota.taken(sender.workspaceId, partyOf(sender)) === 0)
    throw new ApiError('unavailable', 'The queue is full. Retry in a moment.');
  throw tooManyAtOnce('Too many of your requests are queued. Retry when one of them has been answered.');
}

/** Returns the model's answers. @throws Error if there are none */
async function runOn(sandbox: Sandbox, code: PackedCode, input: readonly Issue[]): Promise<object[]> {
  const taken: { answer?: object[] } = {};
  const call = async (op: string, args: string): Promise<CallAnswer> => {
    if (op === 'kv.get') return { ok: true, value: JSON.stringify(input) };
    if (op === 'kv.set') [, taken.answer] = JSON.parse(args) as [string, object[]];
    return { ok: true, value: 'null' };
  };
  const at = new Date(0).toISOString();
  const outcome = await sandbox.run({
    runId: 'public-triage',
    workspaceId: '',
    installId: 'public-triage',
    partition: 0,
    code,
    limits,
    call,
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
      settings: {},
      nowMs: 0,
      seed: 'public-triage',
      scopes: [],
    }),
  });
  if (outcome.status !== 'succeeded' || taken.answer?.length !== input.length)
    throw new Error('message' in outcome ? outcome.message : 'The model gave no answer.');
  return taken.answer;
}
