// Interface of a tool, helpers for its schemas and arguments, and guarded tools, whose output is either the
// result or the proposal that the write became.
import { Type, type TObject, type TSchema } from 'typebox';
import type { Route } from '../../../kernel/http/route.ts';
import { createComponents, type JsonObject } from '../../../kernel/http/openapi/components.ts';
import { alsoCalled, enumeration } from '../../../platform/lib/schema.ts';
import { type Agent, type Json, Refused, type Answered } from '../agent.ts';
import type { Decisions, Decided } from '../decisions.ts';
import { schemasOf } from '../../../kernel/contract/schemas.ts';
import { memberOf } from '../../../kernel/http/principal.ts';
import { proposal } from '../../proposals/contract.ts';

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** Description for agents: effect of the tool, and when to use it. */
  readonly description: string;
  /** True for a tool that changes nothing. */
  readonly isRead: boolean;
  /** True for a tool that may remove or overwrite data. */
  readonly isDestructive: boolean;
  /** True if a repeated call has no further effect. */
  readonly isIdempotent: boolean;
  /** Names of the operations that every call uses. The tool needs their scopes. */
  readonly operations: readonly string[];
  readonly input: TObject;
  readonly output: TObject;
  /** @throws Refused, ApiError */
  call(request: ToolRequest): Promise<Json>;
}

interface Waiter {
  readonly agent: Agent;
  readonly decisions: Decisions;
}

export interface ToolRequest extends Waiter {
  readonly args: Json;
}

export type RouteOf = (name: string) => Route;

/** @throws Error for a property that the schema does not have */
export function one(schema: TSchema | undefined, name: string): TSchema {
  const property = (schema as Partial<TObject> | undefined)?.properties?.[name];
  if (!property) throw new Error(`There is no property ${name}.`);
  return property;
}

/** Returns the named properties as optional ones. */
export function some(schema: TSchema | undefined, names: readonly string[]): Record<string, TSchema> {
  return Object.fromEntries(names.map((name) => [name, Type.Optional(one(schema, name))]));
}

/** Marks properties that are accepted but not listed, so that the list of tools stays short for agents. */
const isUnlisted: unique symbol = Symbol('unlisted');

/** Returns the named properties as optional ones that are accepted but not listed. */
export function unlisted(schema: TSchema | undefined, names: readonly string[]): Record<string, TSchema> {
  const hidden = (name: string): TSchema => Type.Optional({ ...one(schema, name), [isUnlisted]: true });
  return Object.fromEntries(names.map((name) => [name, hidden(name)]));
}

/**
 * Returns the named properties of a body as optional ones. An alias is listed, and its original name is
 * accepted as well.
 */
export function fieldsOf(body: TSchema | undefined, names: readonly string[]): Record<string, TSchema> {
  const fields = names.map((name): Record<string, TSchema> => {
    const { [alsoCalled]: of } = one(body, name) as { [alsoCalled]?: string };
    if (of === undefined) return some(body, [name]);
    return { [name]: Type.Optional({ ...one(body, of) }), ...unlisted(body, [of]) };
  });
  return Object.assign({}, ...fields) as Record<string, TSchema>;
}

export function listedInput({ properties, ...rest }: TObject): TObject {
  const listed = Object.entries(properties).filter(([, property]) => !(isUnlisted in property));
  return { ...rest, properties: Object.fromEntries(listed) };
}

export function responseFieldsOf({ responses }: Route): Record<string, TSchema> {
  const [schema] = Object.values(responses);
  return (schema as TObject).properties;
}

export const idempotencyKey = {
  idempotency_key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Unique key of this change, such as a UUID. After a lost response, repeat the call with the same key; the change is made only once.',
    }),
  ),
};

/**
 * Converts a schema to JSON Schema 2020-12 with shared definitions.
 * @param side `given` for input, `shown` for output
 */
export function jsonSchemaOf(schema: TObject, side: 'given' | 'shown'): JsonObject {
  const components = createComponents();
  const root = components.ref(schema, side) as JsonObject;
  const { schemas } = components;
  const parts = Object.keys(schemas).length > 0 ? { $defs: side === 'shown' ? bare(schemas) : schemas } : {};
  const text = JSON.stringify({ ...root, ...parts });
  return JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as JsonObject;
}

/**
 * Removes descriptions from output definitions, because they lengthen each list of tools that an agent reads.
 */
function bare(schemas: Readonly<Record<string, JsonObject>>): unknown {
  const isSaid = (value: unknown): boolean => typeof value === 'string';
  return JSON.parse(
    JSON.stringify(schemas, (name, value: unknown) =>
      name === 'description' && isSaid(value) ? undefined : value,
    ),
  );
}

/** Returns the arguments with these names, without undefined ones. */
export function pickArguments(args: Json, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.filter((name) => args[name] !== undefined).map((name) => [name, args[name]]),
  );
}

export function keyOf({ idempotency_key: key }: Json): { idempotencyKey?: string } {
  return typeof key === 'string' ? { idempotencyKey: key } : {};
}

const waitSecondsMax = 60;

const response = schemasOf(proposal).response;
const outcomes = ['done', 'proposed', 'approved', 'partly_approved', 'rejected', 'expired'] as const;

export const proposedOutput = {
  status: enumeration(
    'ToolOutcome',
    outcomes,
    '`done`: the change was made. `proposed`: nothing has changed until a person approves it; show them `url` and do not repeat the call. Other values: the decision that was made while the call waited.',
  ),
  proposalId: Type.Optional(Type.String({ description: 'Id of the proposal, for `proposals_get`.' })),
  url: Type.Optional(
    Type.String({ description: 'Page on which a person reviews the proposal and decides.' }),
  ),
  diff: Type.Optional(one(response, 'effects')),
  expiresAt: Type.Optional(one(response, 'expiresAt')),
  reason: Type.Optional(Type.String({ description: 'Reason for the rejection.' })),
};

export const waitInput = {
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: waitSecondsMax,
      description: `Seconds to wait for the decision if the change becomes a proposal, at most ${waitSecondsMax}, default 0. Use \`proposals_get\` to check later.`,
    }),
  ),
};

/**
 * Performs a write that may become a proposal.
 * @param response returns the output of a completed write
 */
export async function guardedWrite(
  { agent, args, decisions }: ToolRequest,
  baseUrl: string,
  write: () => Promise<Answered>,
  response: (answer: Json) => Json,
): Promise<Json> {
  const since = decisions.since(agent.principal.scope.workspaceId);
  const { status, json } = await write();
  if (status !== 202) return { status: 'done', ...response(json) };
  const proposalId = String(json.id);
  const proposed = {
    status: 'proposed',
    proposalId,
    url: urlOfProposal(baseUrl, proposalId),
    diff: json.effects,
    expiresAt: json.expiresAt,
  };
  const ms = secondsOf(args) * 1000;
  // The proposal of a retried call may be decided already.
  const earlier = ms > 0 ? await decisionOn(agent, proposalId) : null;
  const decided = earlier ?? (await decisionWithin({ agent, decisions }, proposalId, since, ms));
  if (!decided) return proposed;
  return {
    ...proposed,
    status: decided.status,
    ...(decided.reason === null ? {} : { reason: decided.reason }),
  };
}

/**
 * Waits for the decision on a proposal after an event sequence.
 * @returns null if there is no decision in time
 * @throws ApiError unauthorized if the token ends meanwhile
 */
export async function decisionWithin(
  { agent, decisions }: Waiter,
  proposalId: string,
  since: number,
  ms: number,
): Promise<Decided | null> {
  const { principal } = agent;
  const { tokenId, scope } = principal;
  const caller = { workspaceId: scope.workspaceId, tokenId, memberId: memberOf(principal) };
  const decided = await decisions.until({ ...caller, proposalId }, since, ms);
  if (ms > 0) await agent.refresh();
  return decided;
}

/** @returns null if there is no decision, or if the agent may not read the proposal */
export async function decisionOn(agent: Agent, id: string): Promise<Decided | null> {
  try {
    const { status, reason } = (await agent.ask('proposals.get', { params: { id } })).json;
    return status === 'open' ? null : { status: String(status), reason: reason as string | null };
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

export function secondsOf({ wait }: Json): number {
  return typeof wait === 'number' ? wait : 0;
}

export const urlOfProposal = (baseUrl: string, id: string): string => `${baseUrl}/proposals/${id}`;
