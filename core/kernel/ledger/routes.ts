import { defineRoute } from '../http/route.ts';
import { UsageResponse, getUsage } from './usage.ts';

export const usageRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/usage',
    name: 'usage.get',
    summary: 'Get the usage of the workspace in the last hour, by caller',
    scope: 'workspace:read',
    limit: 'search',
    responses: { 200: UsageResponse },
    read: (ctx) => getUsage(ctx),
  }),
];
