// What each role lets a member do, and what an app may do on anybody's behalf: the one table, which docs/roles.md is generated from. A
// token never does more than the role of its member lets it. See docs/decisions/0070.
import type { roles } from '../identity/members/contract.ts';
import { commonRights, type Narrowing, type Rights } from './rights.ts';
import { allScopes, expandScopes } from './scopes.ts';

export type Role = (typeof roles)[number];

/** What a member may do now. */
export interface Standing {
  /** Of the member. */
  readonly name: string;
  readonly role: Role;
  readonly rights: Rights;
}

/** How much of what stands under a scope: that of the guest's teams, the member's own, or of everything only these fields. */
type Part = 'teams' | 'own' | readonly string[];

interface Right {
  readonly to: 'read' | 'write';
  /** Absent: all of it. */
  readonly of?: Part;
}

interface Row {
  readonly member?: Right;
  readonly guest?: Right;
  readonly app?: Right;
}

const read: Right = { to: 'read' };
const write: Right = { to: 'write' };
const readOfTeams: Right = { to: 'read', of: 'teams' };
const writeOfTeams: Right = { to: 'write', of: 'teams' };
const writeOwn: Right = { to: 'write', of: 'own' };

/** By namespace of scopes. What is absent is not held; owners and admins hold everything, and what they may not do to owners is no scope. */
export const roleTable: Readonly<Record<string, Row>> = {
  issues: { member: write, guest: writeOfTeams, app: write },
  comments: { member: write, guest: writeOfTeams, app: write },
  attachments: { member: write, guest: writeOfTeams, app: write },
  labels: { member: write, guest: readOfTeams, app: write },
  cycles: { member: write, guest: readOfTeams, app: write },
  boards: { member: write, guest: readOfTeams, app: write },
  // Projects and shared views belong to no team, and so to everybody; of their issues guests see those of their teams.
  projects: { member: write, guest: read, app: write },
  views: { member: write, guest: read, app: write },
  // Their notes, and which issues are in them, tell of the issues of every team.
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
  // How everybody works is the admins' to decide.
  workflows: { member: read, guest: readOfTeams, app: write },
  teams: { member: read, guest: readOfTeams, app: write },
  workspace: { member: read, app: read },
  // Members write their own name and address, and admins those of others: who may change whom is a matter of roles, not of scopes.
  members: { member: write, guest: { to: 'read', of: ['name', 'role'] }, app: read },
  inbox: { member: write, guest: write, app: write },
  // An app that made keys, apps or grants would go on in them once it is sent away.
  'api-keys': { member: writeOwn, guest: writeOwn },
  grants: { member: writeOwn, guest: writeOwn },
  'oauth-apps': { member: read },
  // What is sent out by itself goes on without whoever set it up, so that this is for admins, and for no app.
  webhooks: {},
  // To install one is to consent to code of others, which is for a person.
  plugins: { member: read, app: read },
  // To write is to have plugins send requests to other servers: see the effects.
  automations: { member: write, app: write },
  // It writes nothing, and shows nobody more than they may read.
  backtests: { member: write, app: write },
  proposals: { member: write, app: write },
  // What waits for a person is decided by a person.
  approvals: { member: write },
  events: { member: read, guest: read, app: read },
  audit: { app: read },
  // Whoever imports writes under the names of others.
  import: {},
  // The inboxes of others.
  inboxes: {},
};

/** The scopes in full that one holder of the table has, with how those in part are held. */
function heldBy(whose: keyof Row, teams: readonly string[]): Rights {
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
const ofMembers = heldBy('member', []);
const ofApps = heldBy('app', []);

/** @param teams the keys of the teams of a guest; of other roles they say nothing */
export function rightsOfRole(role: Role, teams: readonly string[]): Rights {
  if (role === 'owner' || role === 'admin') return everything;
  return role === 'member' ? ofMembers : heldBy('guest', teams);
}

/** The most that an app may be granted, whoever consents to it. */
export const appScopes: readonly string[] = allScopes.filter((scope) => ofApps.scopes.has(scope));

/** What is left of rights in the hands of an app. */
export function rightsForApp(rights: Rights): Rights {
  return commonRights(rights, ofApps);
}
