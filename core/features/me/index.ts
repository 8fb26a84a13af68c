import { defineFeature } from '../../kernel/feature.ts';

export const me = defineFeature({
  name: 'me',
  tagGroup: 'People and access',
  tags: [
    {
      name: 'me',
      title: 'Me',
      doc: 'The caller: key, member and workspace of the request.',
    },
  ],
});

export { authorityGuards, rightsNow, roleGuard } from './rights-now.ts';
export { createMe } from './routes.ts';
