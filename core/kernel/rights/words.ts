// Describes scopes in sentences for consent pages.
import type { Contract } from '../contract/contract.ts';
import { contracts } from '../../features/contracts.ts';
import { listed } from '../../platform/lib/text/words.ts';
import { readScopeOf, type Rights } from './rights.ts';
import type { Membership } from './roles.ts';

/** Narrowing in the format of manifests and installations. */
export interface Narrowed {
  readonly fields?: readonly string[] | null | undefined;
  readonly where?: Readonly<Record<string, readonly string[]>> | null | undefined;
}

/** Sentences for scopes that are not about reading and writing the objects of a resource. */
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
 * Returns a sentence such as `Read issues, and write only their priority, of team ENG only.`, or for a full
 * write scope `Read issues, and create, change and delete them.`
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

/** Returns the verbs of a full write scope, such as `create, change and delete them`. */
function writingOf(scope: string): string {
  const own = ofScope(scope).find(({ path }) => `${path}:write` === scope);
  if (!own) return 'write all their fields';
  // A resource can have custom operations instead of the default ones; their events show which ones exist.
  const { events, operations } = own;
  const can = {
    create: operations.create ?? events.created,
    change: operations.update ?? events.updated,
    delete: operations.delete ?? events.deleted,
  };
  const verbs = Object.entries(can).flatMap(([verb, known]) => (known ? [verb] : []));
  return verbs.length === 0 ? 'write all their fields' : `${listed(verbs, 'and')} them`;
}

/**
 * Returns a warning, with a leading space, for objects that cannot be restored after deletion; '' for none.
 */
function lossOf(scope: string): string {
  const lost = ofScope(scope).filter(({ operations: { delete: gone, restore } }) => gone && !restore);
  const names = lost.map(({ path }) => path.replaceAll('-', ' '));
  return names.length === 0 ? '' : ` Deleted ${listed(names, 'and')} cannot be restored.`;
}

/** Returns a sentence for the consent page of an app, with a warning about deletions. */
export function consentSentenceOf(scope: string): string {
  return sentenceOf(scope, {}) + lossOf(scope);
}

interface Holder {
  readonly actor: { readonly kind: string };
  /** Membership of the member that the actor acts for. */
  readonly membership?: Membership | undefined;
}

/**
 * Returns the cause of a missing scope as a part of a sentence: the role of the member if none of the
 * member's tokens can have the scope, otherwise the token.
 */
export function holderOf({ actor, membership }: Holder, scope: string): string {
  if (membership && !holds(membership.rights, scope))
    return `the role ${membership.role} of ${membership.name}`;
  return actor.kind === 'plugin' ? "the plugin's grant" : 'the token';
}

function holds({ scopes, narrowed }: Rights, scope: string): boolean {
  return scopes.has(scope) || (narrowed?.has(scope) ?? false);
}
