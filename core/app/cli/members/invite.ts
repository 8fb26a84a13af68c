// `tatami members invite MEMBER`: a link by which a member makes an account and joins. Who is no member yet is added, by
// an address.
import type { Call } from '../../../../sdk/client/call.ts';
import { findAll, theOne } from '../lib/chosen.ts';
import { printResult } from '../lib/output.ts';
import { connect } from '../lib/remote.ts';
import { namesOf, pathOf, readMembers, teamsOf, type ListedMember, type TeamsOptions } from './members.ts';

export interface InviteOptions extends TeamsOptions {
  name?: string;
  role?: string;
}

interface Invitation {
  url: string;
  expiresAt: string;
  sentTo: string | null;
}

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

/** Asked again after an answer was lost, the member is there already. */
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
