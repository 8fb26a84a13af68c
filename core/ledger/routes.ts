import { defineRoute } from '../http/route.ts';
import { UsageShown } from './schema.ts';
import { getUsage } from './usage.ts';

export const usageRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/usage',
    name: 'usage.get',
    summary: 'What the workspace used in the last hour, and who asked for it',
    scope: 'workspace:read',
    limit: 'search',
    responses: { 200: UsageShown },
    read: (ctx) => getUsage(ctx),
  }),
];
