import type { Json } from '../../app.ts';
import type { Setting } from './all.ts';

export async function attachments({ did, issue }: Setting): Promise<void> {
  const path = `/api/v1/issues/${issue.id}/attachments/upload?name=crash.log`;
  const file: Json = await did('attachments.upload', path, 'Segmentation fault\n');
  await did('attachments.content', `/api/v1/attachments/${file?.id}/content`);
  await did('attachments.url', `/api/v1/attachments/${file?.id}/url`);
}
