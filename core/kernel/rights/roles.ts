// Rights of each role, and of apps that act for members; docs/roles.md is generated from this table. A token
// never has more rights than the role of its member. docs/decisions/0070.
import type { roles } from '../../features/people/contract.ts';
import { commonRights, type Narrowing, type Rights } from './rights.ts';
import { allScopes, expandScopes } from './table.ts';
import { contracts } from '../../features/contracts.ts';

export type Role = (typeof roles)[number];

export interface Membership {
  readonly name: string;
  readonly role: Role;
  readonly rights: Rights;
}

/** Part of a scope: objects of the guest's teams, objects of the member, or the listed fields. */
type RightExtent = 'teams' | 'own' | readonly string[];

interface Right {
  readonly to: 'read' | 'write';
  /** Limit of the right; unrestricted if absent. */
  readonly of?: RightExtent;
}

interface RoleRow {
  readonly member?: Right;
  readonly guest?: Right;
  readonly app?: Right;
}

const read: Right = { to: 'read' };
const write: Right = { to: 'write' };
const readOfTeams: Right = { to: 'read', of: 'teams' };
const writeOfTeams: Right = { to: 'write', of: 'teams' };
const writeOwn: Right = { to: 'write', of: 'own' };

/** Rights that contracts state themselves. */
const rolesOfContracts = Object.fromEntries(
  contracts.flatMap(({ path, scope = path, roles = {} }): [string, RoleRow][] => {
    const row = Object.entries(roles).map(([whose, to]) => [whose, { to }]);
    return row.length > 0 ? [[scope, Object.fromEntries(row) as RoleRow]] : [];
  }),
);

/**
 * Rights by namespace of scopes; an absent entry gives no right. Owners and admins have all rights;
 * `people/roles.ts` decides who may change an owner.
 */
export const roleTable: Readonly<Record<string, RoleRow>> = {
  ...rolesOfContracts,
  issues: { member: write, guest: writeOfTeams, app: write },
  comments: { member: write, guest: writeOfTeams, app: write },
  attachments: { member: write, guest: writeOfTeams, app: write },
  labels: { member: write, guest: readOfTeams, app: write },
  cycles: { member: write, guest: readOfTeams, app: write },
  boards: { member: write, guest: readOfTeams, app: write },
  // Projects and shared views have no team, so everybody sees them. Guests see only issues of their teams in
  // them.
  projects: { member: write, guest: read, app: write },
  views: { member: write, guest: read, app: write },
  // Release notes and the issue lists of releases disclose issues of all teams, so guests do not see these
  // fields.
  releases: {
    member: write,
    guest: {
      to: 'read',
      of: [
        ...['name', 'tag', 'pipeline', 'stage', 'status', 'targetDate'],
        ...['publishedAt', 'rolledBackAt', 'rollbackReason'],
      ],
    },
    app: write,
  },
  // Workflows and teams affect everybody, so members only read them; admins change them.
  workflows: { member: read, guest: readOfTeams, app: write },
  teams: { member: read, guest: readOfTeams, app: write },
  workspace: { member: read, app: read },
  // `people/roles.ts` decides which members a caller may change: their own name and address, and as admin
  // those of others.
  members: { member: write, guest: { to: 'read', of: ['name', 'role'] }, app: read },
  inbox: { member: write, guest: write, app: write },
  // Apps have no right here, because keys, apps and grants that they create would outlive the revocation of
  // their access.
  'api-keys': { member: writeOwn, guest: writeOwn },
  grants: { member: writeOwn, guest: writeOwn },
  'oauth-apps': { member: read },
  // Webhooks continue to send after their creator has left, so only admins manage them, and no apps.
  webhooks: {},
  // An installation is a consent to third-party code, which only a person can give.
  plugins: { member: read, app: read },
  // With the write scope, plugins send requests to other servers (`effects.ts`).
  automations: { member: write, app: write },
  // Backtests write nothing, and disclose only data that the caller may read.
  backtests: { member: write, app: write },
  proposals: { member: write, app: write },
  // Approvals must be decisions of a person, so apps have no right here.
  approvals: { member: write },
  events: { member: read, guest: read, app: read },
  audit: { app: read },
  // Imports write on behalf of other members, so only admins have the right.
  import: {},
  // Covers the inboxes of other members, so only admins have the right.
  inboxes: {},
};

/** Returns the rights of one column of the table. */
function rightsOfHolder(whose: keyof RoleRow, teams: readonly string[]): Rights {
  const scopes = new Set<string>();
  const narrowed = new Map<string, Narrowing>();
  for (const [namespace, { [whose]: right }] of Object.entries(roleTable))
    for (const scope of right ? scopesOf(namespace, right) : []) {
      const narrowing = narrowingOf(right!, teams);
      if (narrowing) narrowed.set(scope, narrowing);
      else scopes.add(scope);
    }
  return { scopes, narrowed: narrowed.size === 0 ? null : narrowed };
}

function scopesOf(namespace: string, { to }: Right): string[] {
  const both = [`${namespace}:read`, `${namespace}:write`].filter((scope) => allScopes.includes(scope));
  return to === 'write' ? both : both.slice(0, 1);
}

function narrowingOf({ of }: Right, teams: readonly string[]): Narrowing | null {
  if (of === undefined) return null;
  if (of === 'teams') return { fields: null, teams };
  if (of === 'own') return { fields: null, teams: null, own: true };
  return { fields: of, teams: null };
}

const everything: Rights = { scopes: expandScopes(allScopes), narrowed: null };
const ofMembers = rightsOfHolder('member', []);
const ofApps = rightsOfHolder('app', []);

/** @param teams keys of the teams of a guest; ignored for other roles */
export function rightsOfRole(role: Role, teams: readonly string[]): Rights {
  if (role === 'owner' || role === 'admin') return everything;
  return role === 'member' ? ofMembers : rightsOfHolder('guest', teams);
}

/** Scopes that an app can be granted at most, even by an owner. */
export const appScopes: readonly string[] = allScopes.filter((scope) => ofApps.scopes.has(scope));

/** Returns the part of the rights that apps may use. */
export function rightsForApp(rights: Rights): Rights {
  return commonRights(rights, ofApps);
}
