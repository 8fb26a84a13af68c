// Reactions, subscribers of issues, and the personal inbox.
import type { Setting } from './all.ts';

export async function inboxOperations({ app, did, issue, member }: Setting): Promise<void> {
  const v1 = '/api/v1';
  // Consequences of a step are committed before the next one, at another time.
  const rest = async (): Promise<void> => {
    await app.settled();
    app.clock.advance(10);
  };
  const comments = `${v1}/issues/${issue.id}/comments`;
  const { json: comment } = await app.call('POST', comments, { body: 'It is @Ana who knows.' });
  await rest();
  await app.call('PATCH', `${v1}/comments/${comment.id}`, { body: '@Ana Lindqvist knows **why**.' });
  await did('comments.get', `${v1}/comments/${comment.id}?include=bodyHtml`);
  await did('comments.history', `${v1}/comments/${comment.id}/history`);
  const thumb = await did('reactions.create', `${v1}/comments/${comment.id}/reactions`, { emoji: '👍' });
  await did('reactions.get', `${v1}/reactions/${thumb.id}`);
  await did('reactions.list', `${v1}/comments/${comment.id}/reactions`);
  await did('reactions.list-by-comment', `${v1}/issues/${issue.id}/comments/reactions?ids=${comment.id}`);
  await did('reactions.delete', `${v1}/reactions/${thumb.id}`);
  await did('reactions.create-on-issue', `${v1}/issues/${issue.id}/reactions`, { emoji: 'tada' });
  await did('reactions.list-on-issue', `${v1}/issues/${issue.id}/reactions`);
  await did('subscribers.add', `${v1}/subscribers/${issue.id}/${member.id}`);
  await did('subscribers.remove', `${v1}/subscribers/${issue.id}/me`);
  await did('subscribers.add', `${v1}/subscribers/${issue.id}/me`);
  await did('subscribers.list', `${v1}/issues/${issue.id}/subscribers`);
  await rest();
  const { json: key } = await app.call('POST', `${v1}/api-keys`, {
    name: 'ana',
    scopes: ['comments:write', 'issues:write'],
    memberId: member.id,
  });
  const ana = app.clientOf(key.key);
  await rest();
  await ana('POST', comments, { body: 'Only on Linux.' });
  await rest();
  await ana('PATCH', `${v1}/issues/${issue.id}`, { priority: 'high' });
  await rest();
  await ana('POST', comments, { body: '@Acme, can you look?' });
  await rest();
  const items = await did('inbox.list', `${v1}/inbox`);
  const item = `${v1}/inbox/${items.data[0].id}`;
  await did('inbox.get', item);
  await did('inbox.update', item, { read: true });
  await did('inbox.update', item, { snoozedUntil: '2027-01-04T08:00:00Z' });
  await did('inbox.update', item, { archived: true });
  await did('inbox.unread-count', `${v1}/inbox/unread-count`);
  await did('inbox.read-all', `${v1}/inbox/read-all`);
  await did('inbox.preferences.get', `${v1}/inbox/preferences`);
  await did('inbox.preferences.put', `${v1}/inbox/preferences`, { subscribed: false });
  await app.call('PUT', `${v1}/inbox/preferences`, {});
}
