// What each role lets a member do. A token never does more than the role of its member lets it.
import type { roles } from '../identity/members/contract.ts';
import type { Rights } from './rights.ts';
import { allScopes, expandScopes } from './scopes.ts';

export type Role = (typeof roles)[number];

const everything: Rights = { scopes: expandScopes(allScopes), narrowed: null };
const byRole: Readonly<Record<Role, Rights>> = {
  guest: everything,
  member: everything,
  admin: everything,
  owner: everything,
};

export function rightsOfRole(role: Role): Rights {
  return byRole[role];
}
