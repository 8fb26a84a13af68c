// `tatami members list|role|remove`: the people of a workspace, over its server.
import type { Call } from '../../../../sdk/client/call.ts';
import { theOne } from '../lib/chosen.ts';
import { printResult } from '../lib/output.ts';
import { connect, readAll, type RemoteOptions } from '../lib/remote.ts';
import { minuteOf, tableOf } from '../lib/table.ts';

export interface ListedMember {
  id: string;
  name: string;
  /** Absent, as the teams and the time are, for a caller who may not read it: guests see names and roles. */
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
export const teamsOf = ({ teams }: TeamsOptions): { teams?: string[] } =>
  teams === undefined ? {} : { teams: teams.split(',').map((key) => key.trim()) };

export const pathOf = ({ id }: Pick<ListedMember, 'id'>): string => `/members/${encodeURIComponent(id)}`;
export const readMembers = (call: Call): Promise<ListedMember[]> => readAll<ListedMember>(call, '/members');
export const namesOf = ({ name, email }: ListedMember): (string | null)[] => [email ?? null, name];

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
