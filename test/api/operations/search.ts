import type { Setting } from './all.ts';

export async function searchOperations({ did, issue }: Setting): Promise<void> {
  await did('search.query', `/api/v1/search?q=${encodeURIComponent(issue.title)}`);
  await did('issues.similar', `/api/v1/issues/${issue.id}/similar`);
  await did('triage.ask', '/api/v1/triage', {
    issues: [{ title: 'App crashes when I save', description: 'TypeError in save().' }],
  });
}
