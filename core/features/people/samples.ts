// Sample data of members and the workspace.
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { guardedClasses } from '../../platform/lib/guarded-classes.ts';
import { ana, type Samples } from '../../kernel/samples.ts';
import type { member } from './contract.ts';
import type { workspace } from './contract.ts';

export const peopleSamples: Samples = () => ({
  objects: {
    member: {
      ...ana,
      email: 'ana@acme.example',
      role: 'member',
      teams: [],
      joinedAt: null,
    } satisfies Partial<EntityResponse<typeof member>>,
    workspace: {
      id: '019b0000-0000-7000-8000-000000000002',
      name: 'Acme',
      publicTriage: null,
      guarded: [...guardedClasses],
    } satisfies Partial<EntityResponse<typeof workspace>>,
  },
  moments: {
    'member.updated': { now: { role: 'admin' }, previous: { role: 'member' } },
    'workspace.updated': { previous: { name: 'Acme Editors' } },
  },
});
