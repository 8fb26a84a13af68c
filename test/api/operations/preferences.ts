// Preferences and favorites of the calling member.
import type { Setting } from './all.ts';

export async function preferencesOperations({ app, did, issue, project }: Setting): Promise<void> {
  const v1 = '/api/v1';
  await did('me.preferences.get', `${v1}/me/preferences`);
  await did('me.preferences.put', `${v1}/me/preferences`, { theme: 'dark', density: 'compact' });
  await app.call('PUT', `${v1}/me/preferences`, {});
  const first = await did('favorites.create', `${v1}/favorites`, { type: 'issue', targetId: issue.id });
  const second = await did('favorites.create', `${v1}/favorites`, { type: 'project', targetId: project.id });
  await did('favorites.list', `${v1}/favorites`);
  await did('favorites.get', `${v1}/favorites/${first.id}`);
  await did('favorites.update', `${v1}/favorites/${second.id}`, { position: 0 });
  await did('favorites.delete', `${v1}/favorites/${second.id}`);
}
