// Describes scopes in sentences for consent: actions, objects and fields.
import type { Contract } from '../contract/contract.ts';
import { contracts } from '../contracts.ts';
import { listed } from '../lib/listed.ts';
import { readScopeOf, type Rights } from './rights.ts';
import type { Membership } from './roles.ts';

/** In the form of a manifest or an installation. */
export interface Narrowed {
  readonly fields?: readonly string[] | null | undefined;
  readonly where?: Readonly<Record<string, readonly string[]>> | null | undefined;
}

/** Scopes other than reading and writing objects. */
const special: Readonly<Record<string, string>> = {
  'approvals:write': 'Approve and reject proposals.',
  'audit:read': 'Read the audit log.',
  'automations:read': 'Read events of plugin runs, proposals and undos.',
  'automations:write':
    'Read events of plugin runs, proposals and undos, and call actions of plugins that send data to other servers.',
  'backtests:write': 'Backtest installed plugins on recorded events.',
  'import:write': 'Import issues on behalf of other members.',
  'inbox:write': 'Read the inbox, and change its items and preferences.',
  'proposals:write': 'Read proposals, and propose changes for approval.',
};

/**
 * Returns a sentence such as `Read issues, and write only their priority, of team ENG only.`, for a full write scope `…, and
 * create, change and delete them.`
 */
export function sentenceOf(scope: string, { fields, where }: Narrowed): string {
  const own = fields || where ? undefined : special[scope];
  if (own !== undefined) return own;
  const things = (scope.split(':')[0] ?? scope).replaceAll('-', ' ');
  const of = Object.entries(where ?? {}).map(([word, values]) => `${word} ${listed(values, 'or')}`);
  const rows = of.length > 0 ? `, of ${of.join(' and ')} only` : '';
  if (readScopeOf(scope) === scope)
    return fields
      ? `Read only ${listed(fields, 'and')} of ${things}${rows}.`
      : `Read ${things}, with all their fields${rows}.`;
  const written = fields ? `write only their ${listed(fields, 'and')}` : writingOf(scope);
  return `Read ${things}, and ${written}${rows}.`;
}

const ofScope = (scope: string): Contract[] =>
  contracts.filter(({ path, scope: shared = path }: Contract) => scope === `${shared}:write`);

/** Returns the verbs of a full write scope: `create, change and delete them`. */
function writingOf(scope: string): string {
  const own = ofScope(scope).find(({ path }) => `${path}:write` === scope);
  if (!own) return 'write all their fields';
  // Operations that the default behavior does not provide are found by their events.
  const { events, operations } = own;
  const can = {
    create: operations.create ?? events.created,
    change: operations.update ?? events.updated,
    delete: operations.delete ?? events.deleted,
  };
  const verbs = Object.entries(can).flatMap(([verb, known]) => (known ? [verb] : []));
  return verbs.length === 0 ? 'write all their fields' : `${listed(verbs, 'and')} them`;
}

/** Returns a warning for objects that cannot be restored after deletion: a sentence with a leading space, or nothing. */
function lossOf(scope: string): string {
  const lost = ofScope(scope).filter(({ operations: { delete: gone, restore } }) => gone && !restore);
  const names = lost.map(({ path }) => path.replaceAll('-', ' '));
  return names.length === 0 ? '' : ` Deleted ${listed(names, 'and')} cannot be restored.`;
}

/** Returns a sentence about what an app may do under a scope, for the member who is asked to grant it. */
export function consentSentenceOf(scope: string): string {
  return sentenceOf(scope, {}) + lossOf(scope);
}

interface Holder {
  readonly actor: { readonly kind: string };
  /** Membership of the member that it acts for. */
  readonly membership?: Membership | undefined;
}

/** Returns what lacks a scope, completing a sentence: the role of a member if no token of theirs could have it. */
export function holderOf({ actor, membership }: Holder, scope: string): string {
  if (membership && !holds(membership.rights, scope))
    return `the role ${membership.role} of ${membership.name}`;
  return actor.kind === 'plugin' ? "the plugin's grant" : 'the token';
}

function holds({ scopes, narrowed }: Rights, scope: string): boolean {
  return scopes.has(scope) || (narrowed?.has(scope) ?? false);
}
