import { queryOptions } from '@tanstack/react-query';
import type { Client } from '@tatami/sdk/client';

export const templatesQuery = (client: Client) =>
  queryOptions({
    queryKey: ['templates', 'all'],
    queryFn: () => Array.fromAsync(client.templates.list({ limit: 100 })),
  });
