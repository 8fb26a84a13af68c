// `tatami members list|invite|role|remove`: the members of a workspace, over its server.
import type { Call } from '../../../sdk/client/call.ts';
import { theOne, findAll } from './lib/lookup.ts';
import { printResult } from './lib/output.ts';
import { connect, readAll, type RemoteOptions } from './lib/remote.ts';
import { minuteOf, tableOf } from './lib/table.ts';

interface ListedMember {
  id: string;
  name: string;
  /** Absent, like the teams and the time, for guests, who see only names and roles. */
  email?: string | null;
  role: string;
  /** Keys of the teams that a guest sees. */
  teams?: readonly string[];
  joinedAt?: string | null;
}

export interface TeamsOptions extends RemoteOptions {
  /** Keys, comma-separated. */
  teams?: string;
}

/** Returns the request body, without options that were not given. */
const teamsOf = ({ teams }: TeamsOptions): { teams?: string[] } =>
  teams === undefined ? {} : { teams: teams.split(',').map((key) => key.trim()) };

const pathOf = ({ id }: ListedMember): string => `/members/${encodeURIComponent(id)}`;
const readMembers = (call: Call): Promise<ListedMember[]> => readAll<ListedMember>(call, '/members');
const namesOf = ({ name, email }: ListedMember): (string | null)[] => [email ?? null, name];

export async function listMembers(options: RemoteOptions): Promise<void> {
  printResult(await readMembers(connect(options)), options, (members) =>
    tableOf([['ID', 'NAME', 'E-MAIL', 'ROLE', 'TEAMS', 'JOINED'], ...members.map(rowOf)]).join('\n'),
  );
}

function rowOf({ id, name, email, role, teams, joinedAt }: ListedMember): string[] {
  const joined = joinedAt === undefined ? '-' : joinedAt === null ? 'not yet' : minuteOf(joinedAt);
  return [id, name, email ?? '-', role, teamsText(role, teams), joined];
}

/** A guest without teams sees no issue; every other role sees all teams. */
const teamsText = (role: string, teams: readonly string[] | undefined): string =>
  teams === undefined ? '-' : role === 'guest' ? teams.join(' ') || 'none' : 'all';

export async function setRole(given: string, role: string, options: TeamsOptions): Promise<void> {
  const call = connect(options);
  const found = theOne('member', given, await readMembers(call), namesOf);
  const changed = await call<ListedMember>('PATCH', pathOf(found), { role, ...teamsOf(options) });
  printResult(changed, options, (shown) => `${shown.name} (${shown.id}) is ${shown.role}`);
}

export async function removeMember(given: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const found = theOne('member', given, await readMembers(call), namesOf);
  await call('DELETE', pathOf(found));
  printResult({ removed: true, ...found }, options, ({ name, id }) => `${name} (${id}) is removed`);
}

export interface InviteOptions extends TeamsOptions {
  name?: string;
  role?: string;
}

interface Invitation {
  url: string;
  expiresAt: string;
  sentTo: string | null;
}

/** Creates a link with which a member creates an account; an unknown e-mail address adds a member. */
export async function invite(given: string, options: InviteOptions): Promise<void> {
  const call = connect(options);
  const member = await memberOf(call, given, options);
  const made = await call<Invitation>('POST', `${pathOf(member)}/invitation`);
  const { id, name, email, role } = member;
  printResult({ member: { id, name, email, role }, ...made }, options, (shown) =>
    [
      `member    ${shown.member.name} (${shown.member.id}), ${shown.member.role}`,
      `link      ${shown.url}   (shown only once, works once)`,
      `expires   ${shown.expiresAt}`,
      `sent to   ${shown.sentTo ?? 'nobody: share the link yourself'}`,
    ].join('\n'),
  );
}

/** The member exists already if the response to an earlier attempt was lost. */
async function memberOf(call: Call, given: string, options: InviteOptions): Promise<ListedMember> {
  const { name, role } = options;
  const all = await readMembers(call);
  const isNew = given.includes('@') && findAll(given, all, namesOf).length === 0;
  if (!isNew) return theOne('member', given, all, namesOf);
  return call<ListedMember>('POST', '/members', {
    name: name ?? given.slice(0, given.indexOf('@')),
    email: given,
    ...(role === undefined ? {} : { role }),
    ...teamsOf(options),
  });
}
