// Rights of each role, and of apps on behalf of members; docs/roles.md is generated from this table. A token never has more rights
// than the role of its member. See docs/decisions/0070.
import type { roles } from '../identity/members/contract.ts';
import { commonRights, type Narrowing, type Rights } from './rights.ts';
import { allScopes, expandScopes } from './scopes.ts';

export type Role = (typeof roles)[number];

/** Current rights of a member. */
export interface Membership {
  /** Name of the member. */
  readonly name: string;
  readonly role: Role;
  readonly rights: Rights;
}

/** Part of a scope: objects of the guest's teams, the member's own objects, or only these fields. */
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

/** By namespace of scopes. Absent rights are not held. Owners and admins hold everything; limits on changes to owners are not scopes. */
export const roleTable: Readonly<Record<string, RoleRow>> = {
  issues: { member: write, guest: writeOfTeams, app: write },
  comments: { member: write, guest: writeOfTeams, app: write },
  attachments: { member: write, guest: writeOfTeams, app: write },
  labels: { member: write, guest: readOfTeams, app: write },
  cycles: { member: write, guest: readOfTeams, app: write },
  boards: { member: write, guest: readOfTeams, app: write },
  // Projects and shared views have no team and are visible to everybody; guests see only those issues in them that are in their teams.
  projects: { member: write, guest: read, app: write },
  views: { member: write, guest: read, app: write },
  // Release notes and issue lists reveal issues of all teams.
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
  // Workflows and teams affect everybody, so only admins change them.
  workflows: { member: read, guest: readOfTeams, app: write },
  teams: { member: read, guest: readOfTeams, app: write },
  workspace: { member: read, app: read },
  // Members write their own name and address, and admins those of others: that depends on roles, not scopes.
  members: { member: write, guest: { to: 'read', of: ['name', 'role'] }, app: read },
  inbox: { member: write, guest: write, app: write },
  // An app could use keys, apps or grants that it created after its own access is revoked.
  'api-keys': { member: writeOwn, guest: writeOwn },
  grants: { member: writeOwn, guest: writeOwn },
  'oauth-apps': { member: read },
  // Webhooks keep sending after their creator leaves, so only admins, and no apps, manage them.
  webhooks: {},
  // Installing a plugin is consent to third-party code, which only a person can give.
  plugins: { member: read, app: read },
  // The write scope lets plugins send requests to other servers: see the effects.
  automations: { member: write, app: write },
  // Backtests write nothing and reveal only what their caller may read.
  backtests: { member: write, app: write },
  proposals: { member: write, app: write },
  // Approvals are decisions of a person.
  approvals: { member: write },
  events: { member: read, guest: read, app: read },
  audit: { app: read },
  // Imports write on behalf of others.
  import: {},
  // Inboxes of other members.
  inboxes: {},
};

/** Returns the rights of a column of the table: full scopes and narrowed ones. */
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

/** @param teams keys of a guest's teams; ignored for other roles */
export function rightsOfRole(role: Role, teams: readonly string[]): Rights {
  if (role === 'owner' || role === 'admin') return everything;
  return role === 'member' ? ofMembers : rightsOfHolder('guest', teams);
}

/** Maximum scopes that an app can be granted, whoever consents. */
export const appScopes: readonly string[] = allScopes.filter((scope) => ofApps.scopes.has(scope));

/** Returns the part of the rights that an app can use. */
export function rightsForApp(rights: Rights): Rights {
  return commonRights(rights, ofApps);
}
