// Creates and changes automations. A new or changed rule is backtested at once; enabling it waits for the
// backtest. An automation never gets scopes that the caller or its owner lacks.
import type { Change, ChangeSet } from '../../kernel/changes/change.ts';
import { sameValue } from '../../kernel/changes/change.ts';
import { getEntity, removed, requireVersion } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import type { Created, Patch } from '../../kernel/contract/contract.ts';
import { requireMember } from '../../kernel/rights/rights.ts';
import { expandScopes } from '../../kernel/rights/table.ts';
import { storedValuesOf } from '../../kernel/resource/input.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp, type Op } from '../../platform/store/store.ts';
import { callingMember, isAdmin, membershipOf } from '../people/index.ts';
import { requireSound } from './check.ts';
import { scopesOf } from './compile.ts';
import { automation, automationsMax } from './contract.ts';
import { automationModel, lastEvent, type Automation } from './model.ts';
import type { RuleRuntime } from './runtime.ts';
import { requireShape, ruleOf, type RuleParts } from './shape.ts';

/** Number of approved runs that end a probation. */
const probationRuns = 20;

type Probation = { readonly probation?: boolean };
export type AutomationInput = Created<typeof automation> & Probation;
export type AutomationPatch = Patch<typeof automation> & Probation;

const ruleFields = ['trigger', 'conditions', 'issues', 'actions'] as const;

const count = tenantStatement<{ count: number }>(
  'automations.count',
  'SELECT count(*) AS count FROM automations WHERE workspace_id = :ws AND deleted_at IS NULL',
);
/** Events that happened while an automation did not run are not delivered later. */
const startNow = tenantStatement(
  'automations.start_now',
  `UPDATE automations SET since_sequence = ${lastEvent}, due_json = NULL WHERE workspace_id = :ws AND id = :id`,
);

/**
 * Apps outlive neither their grant nor their member, but an automation would outlive both, so that a person
 * has to approve what an app requests.
 * @throws ApiError forbidden
 */
function requirePersonOrProposal({ authority, resolved }: Context): void {
  if (authority.actor.kind !== 'app' || resolved) return;
  throw new ApiError(
    'forbidden',
    'An app can only propose changes of automations. Send the request with `Tatami-Mode: propose`.',
  );
}

/** @throws ApiError forbidden unless the caller is the owner or an admin */
export async function requireOwner(ctx: Context, { ownerId }: Automation): Promise<void> {
  requirePersonOrProposal(ctx);
  if (ownerId !== null && ctx.authority.actor.memberId === ownerId) return;
  if (isAdmin(await callingMember(ctx))) return;
  throw new ApiError(
    'forbidden',
    'Only the owner of the automation or an admin can change it. Duplicate it to change a copy.',
  );
}

/**
 * Returns true if an owner who is not an admin gives the automation to another member. It then writes only once the
 * new owner has enabled it: otherwise anyone could have a rule act with the rights of others.
 * @throws ApiError validation_failed
 */
async function isGivenAway(ctx: Context, ownerId: string | null | undefined): Promise<boolean> {
  if (ownerId === undefined || ctx.authority.actor.memberId === ownerId) return false;
  if (ownerId === null)
    throw invalidField('ownerId', 'required', 'Give the id of the member who owns the automation.');
  return !isAdmin(await callingMember(ctx));
}
const givenAway = {
  state: 'paused',
  stateReason: 'The automation has a new owner, who has not enabled it yet.',
  due: null,
} as const;

/** Opens an address whose requests act with the rights of the automation. @throws ApiError forbidden */
export async function requireOpening(ctx: Context, rule: Automation, runtime: RuleRuntime): Promise<void> {
  await requireOwner(ctx, rule);
  await requireScopes(ctx, rule, runtime);
}

/**
 * Requires that the caller and the owner have the scopes of the rule.
 * @throws ApiError forbidden
 */
async function requireScopes(ctx: Context, after: Automation, runtime: RuleRuntime): Promise<void> {
  const scopes = [
    ...expandScopes([
      ...Object.keys(scopesOf(ruleOf(after))),
      ...(await scopesOfActions(ctx, after, runtime)),
    ]),
  ];
  const missing = scopes.filter((scope) => !ctx.scopes.has(scope));
  if (missing.length > 0)
    throw new ApiError(
      'forbidden',
      `The automation needs scopes that you do not have: ${missing.join(', ')}. Remove the actions that need them, or use another key.`,
    );
  const membership = after.ownerId === null ? null : await membershipOf(ctx.store, ctx.scope, after.ownerId);
  if (!membership)
    throw invalidField('ownerId', 'not_found', {
      why: 'The owner is no longer a member.',
      fix: 'Choose a member of the workspace as the owner.',
    });
  const lost = scopes.filter((scope) => !membership.rights.scopes.has(scope));
  if (lost.length > 0)
    throw new ApiError(
      'forbidden',
      `The owner ${membership.name} lacks scopes that the automation needs: ${lost.join(', ')}. Choose another owner.`,
    );
}

/** @throws ApiError conflict if the workspace has too many automations */
async function requireCapacity(ctx: Context): Promise<void> {
  const { count: existing = 0 } = (await ctx.store.readOne(ctx.scope, count, {})) ?? {};
  if (existing >= automationsMax)
    throw new ApiError(
      'conflict',
      `A workspace can have ${automationsMax} automations. Delete one that is no longer needed.`,
    );
}

async function checked(ctx: Context, after: Automation, runtime: RuleRuntime): Promise<void> {
  requireShape(after);
  await requireScopes(ctx, after, runtime);
  await requireSound(ctx, after, runtime);
}

/** Returns the scopes of the plugins whose actions a rule calls. @throws ApiError validation_failed */
async function scopesOfActions(ctx: Context, after: Automation, runtime: RuleRuntime): Promise<string[]> {
  const scopes: string[] = [];
  for (const [index, action] of ruleOf(after).actions.entries()) {
    if (action.type !== 'plugin') continue;
    const ofPlugin = await runtime.actionScopes(ctx, action.plugin, action.action);
    if (!ofPlugin)
      throw invalidField(`actions.${index}.action`, 'not_found', {
        why: `No active plugin ${action.plugin} has an action ${action.action}.`,
        fix: 'Use an action that GET /api/v1/plugins/{id}/actions lists.',
      });
    scopes.push(...ofPlugin);
  }
  return scopes;
}

const changeSet = (
  ctx: Context,
  change: (Change & { readonly after: Automation }) | null,
  after: Automation,
  more: { readonly ops?: readonly Op[]; readonly status?: 200 | 201 },
): ChangeSet => ({
  changes: change ? [change] : [],
  ops: more.ops ?? [],
  body: automationModel.toResponse(after, ctx),
  status: more.status ?? 200,
});

/**
 * Backtests a rule that is not stored.
 * @throws ApiError validation_failed, forbidden
 */
export async function previewAutomation(
  ctx: Context,
  { days, ...parts }: RuleParts & { readonly days?: number },
  runtime: RuleRuntime,
): Promise<ChangeSet> {
  const now = ctx.nowMs();
  const draft = {
    ...defaults,
    name: 'Preview',
    ...parts,
    id: ctx.ids.next(automation.id),
    ownerId: requireMember(ctx),
    probationLeft: 0,
    version: 1,
    createdAt: now,
    updatedAt: now,
  } as Automation;
  await checked(ctx, draft, runtime);
  const { backtest, ops } = await runtime.backtest(ctx, draft, days);
  return {
    changes: [],
    ops,
    body: backtest,
    status: 202,
    location: `${ctx.baseUrl}/api/v1/backtests/${backtest.id}`,
  };
}

/** @throws ApiError validation_failed, forbidden, conflict */
export async function createAutomation(
  ctx: Context,
  { probation, ...body }: AutomationInput,
  runtime: RuleRuntime,
): Promise<ChangeSet> {
  requirePersonOrProposal(ctx);
  // The people who approve a proposal see only values other than the default.
  if (probation === false && ctx.authority.actor.kind === 'app')
    throw new ApiError('forbidden', 'An app cannot propose an automation without probation. Leave it out.');
  await requireCapacity(ctx);
  const now = ctx.nowMs();
  const values = storedValuesOf(ctx, automation, 'create', body) as Partial<Automation>;
  const ownerId = requireMember(ctx);
  const draft: Omit<Automation, 'version'> = {
    ...defaults,
    ...values,
    id: ctx.ids.next(automation.id),
    ownerId,
    probationLeft: (probation ?? writesHere(body)) ? probationRuns : 0,
    createdAt: now,
    updatedAt: now,
  } as Omit<Automation, 'version'>;
  await checked(ctx, { ...draft, version: 1 }, runtime);
  const { backtest, ops } = await runtime.backtest(ctx, { ...draft, version: 1 });
  const change = automationModel.create({ ...draft, backtest });
  const set = changeSet(ctx, change, change.after, { ops, status: 201 });
  return { ...set, location: `${ctx.baseUrl}/api/v1/${automation.path}/${draft.id}` };
}

/** False for a rule that only sends requests or calls plugins, which a probation does not hold back. */
const writesHere = ({ actions }: { readonly actions: readonly { readonly type?: unknown }[] }): boolean =>
  actions.some(({ type }) => type !== 'http' && type !== 'plugin');

const defaults = {
  description: '',
  conditions: {},
  issues: null,
  mode: 'apply',
  stepDown: { share: 0.3, days: 14, least: 5 },
  state: 'paused',
  stateReason: 'The automation has not been enabled yet.',
  revision: 1,
  backtest: null,
  due: null,
  sinceSequence: 0,
  deletedAt: null,
} as const;

/**
 * A change of the rule starts a new revision with its own backtest. An enabled automation runs the new revision
 * at once, on probation if it writes without approval.
 * @throws ApiError not_found, validation_failed, forbidden, precondition_failed
 */
export async function updateAutomation(
  ctx: Context,
  id: string,
  { probation, ...body }: AutomationPatch,
  ifMatch: number | null,
  runtime: RuleRuntime,
): Promise<ChangeSet> {
  const before = await getEntity(ctx, automationModel, id);
  requireVersion(before, ifMatch);
  await requireOwner(ctx, before);
  const values = storedValuesOf(ctx, automation, 'update', body) as Partial<Automation>;
  const isOther = ruleFields.some((field) => field in values && !sameValue(values[field], before[field]));
  const isOtherOwner = values.ownerId !== undefined && values.ownerId !== before.ownerId;
  const draft: Automation = {
    ...before,
    ...values,
    probationLeft: probationAfter(before, probation),
    ...(isOther ? { revision: before.revision + 1, due: null } : {}),
    ...(isOtherOwner && (await isGivenAway(ctx, values.ownerId)) ? givenAway : {}),
  };
  if (isOther || isOtherOwner) await checked(ctx, draft, runtime);
  else if (isFreer(before, draft)) await requireScopes(ctx, draft, runtime);
  // The former owner knows the secret of the address, with which requests act as the new owner.
  const closing = isOtherOwner ? runtime.webhookOps(ctx, id) : [];
  if (!isOther) return applied(ctx, before, draft, runtime, closing);
  const { backtest, ops } = await runtime.backtest(ctx, draft);
  const needsProbation = probation === undefined && writesAtOnce(draft);
  return applied(
    ctx,
    before,
    { ...draft, backtest, ...(needsProbation ? { probationLeft: probationRuns } : {}) },
    runtime,
    [...ops, ...closing],
  );
}

const writesAtOnce = (rule: Automation): boolean =>
  rule.state === 'active' && rule.mode === 'apply' && writesHere(ruleOf(rule));

function probationAfter({ probationLeft }: Automation, asked: boolean | undefined): number {
  if (asked === undefined) return probationLeft;
  return asked ? probationRuns : 0;
}

const modesByEffect = ['simulate', 'propose', 'apply'];

/** Returns true if the automation writes with fewer approvals than before. */
function isFreer(before: Automation, after: Automation): boolean {
  return (
    modesByEffect.indexOf(after.mode) > modesByEffect.indexOf(before.mode) ||
    after.probationLeft < before.probationLeft
  );
}

/** @param ops committed with a change, and dropped if there is none */
async function applied(
  ctx: Context,
  before: Automation,
  after: Automation,
  runtime: RuleRuntime,
  ops: readonly Op[] = [],
): Promise<ChangeSet> {
  const change = automationModel.update(before, after, ctx.nowMs());
  const all = change ? [...ops, ...(await runtime.stateOps(ctx, change.after))] : [];
  return changeSet(ctx, change, change?.after ?? before, { ops: all });
}

/** @throws ApiError not_found, forbidden, precondition_failed */
export async function deleteAutomation(
  ctx: Context,
  id: string,
  ifMatch: number | null,
  runtime: RuleRuntime,
): Promise<ChangeSet> {
  const before = await getEntity(ctx, automationModel, id);
  await requireOwner(ctx, before);
  const set = removed(ctx, automationModel, before, ifMatch);
  const [change] = set.changes;
  return change ? { ...set, ops: await runtime.stateOps(ctx, change.after as Automation) } : set;
}

/**
 * Enables an automation, once the backtest of its revision has ended or with `force`.
 * @throws ApiError not_found, conflict, forbidden
 */
export async function enableAutomation(
  ctx: Context,
  id: string,
  { force = false }: { readonly force?: boolean },
  ifMatch: number | null,
  runtime: RuleRuntime,
): Promise<ChangeSet> {
  const before = await getEntity(ctx, automationModel, id);
  requireVersion(before, ifMatch);
  await requireOwner(ctx, before);
  await checked(ctx, before, runtime);
  if (!force && before.backtest?.status === 'queued')
    throw new ApiError(
      'conflict',
      'The backtest of this revision has not ended. Read its report first, or send `"force": true`.',
    );
  const after = { ...before, state: 'active', stateReason: null } as const;
  return applied(ctx, before, after, runtime, [tenantOp(ctx.scope, startNow, { id })]);
}

/** Anyone who can write automations may stop one. @throws ApiError not_found */
export async function disableAutomation(
  ctx: Context,
  id: string,
  ifMatch: number | null,
  runtime: RuleRuntime,
): Promise<ChangeSet> {
  const before = await getEntity(ctx, automationModel, id);
  requireVersion(before, ifMatch);
  const stateReason = `${ctx.actor.name} paused the automation.`;
  const after = before.state === 'paused' ? before : ({ ...before, state: 'paused', stateReason } as const);
  return applied(ctx, before, after, runtime);
}

/** Creates a paused copy that the caller owns. @throws ApiError not_found, conflict, forbidden */
export async function duplicateAutomation(
  ctx: Context,
  id: string,
  { name }: { readonly name?: string },
  runtime: RuleRuntime,
): Promise<ChangeSet> {
  const { description, trigger, conditions, issues, actions, mode, stepDown, ...original } = await getEntity(
    ctx,
    automationModel,
    id,
  );
  const copy = { description, trigger, conditions, issues, actions, mode, stepDown };
  return createAutomation(ctx, { ...copy, name: name ?? `${original.name} (copy)`.slice(0, 120) }, runtime);
}
