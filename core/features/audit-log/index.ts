import { defineFeature } from '../../kernel/feature.ts';
import { auditRoutes } from './routes.ts';

export const auditLog = defineFeature({
  name: 'audit-log',
  routes: auditRoutes,
  tagGroup: 'People and access',
  tags: [
    {
      name: 'audit-log',
      title: 'Audit log',
      doc: 'Changes with their author and the key or plugin that was used. Each entry is the event of the change.',
    },
  ],
});
