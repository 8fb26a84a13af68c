// `tatami members invite`: an invitation link for a member, over the server of the workspace.
import type { Call } from '../../../sdk/client/call.ts';
import { theOne, findAll } from './lib/lookup.ts';
import { printResult } from './lib/output.ts';
import { readAll } from './lib/pages.ts';
import { connect, type RemoteOptions } from './lib/remote.ts';

interface ListedMember {
  id: string;
  name: string;
  /** Absent for guests, who see only names and roles. */
  email?: string | null;
  role: string;
}

interface TeamsOptions extends RemoteOptions {
  /** Keys, comma-separated. */
  teams?: string;
}

/** Returns the request body, without options that were not given. */
const teamsOf = ({ teams }: TeamsOptions): { teams?: string[] } =>
  teams === undefined ? {} : { teams: teams.split(',').map((key) => key.trim()) };

const pathOf = ({ id }: ListedMember): string => `/members/${encodeURIComponent(id)}`;
const readMembers = (call: Call): Promise<ListedMember[]> => readAll<ListedMember>(call, '/members');
const namesOf = ({ name, email }: ListedMember): (string | null)[] => [email ?? null, name];

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
  if (!isNew) return theOne('member', 'members', given, all, namesOf);
  return call<ListedMember>('POST', '/members', {
    name: name ?? given.slice(0, given.indexOf('@')),
    email: given,
    ...(role === undefined ? {} : { role }),
    ...teamsOf(options),
  });
}
