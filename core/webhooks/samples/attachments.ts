// Sample data: a file attached to the sample issue.
import type { EntityResponse } from '../../contract/contract.ts';
import type { attachment } from '../../tracker/attachments/contract.ts';
import { ana, idOf, type SampleMoment, type SampleSetting } from './fixtures.ts';

export function attachmentMoments({ nowMs }: SampleSetting): Readonly<Record<string, SampleMoment>> {
  const at = new Date(nowMs).toISOString();
  const file: EntityResponse<typeof attachment> = {
    id: idOf('att'),
    issue: { id: idOf('iss'), identifier: 'ENG-42' },
    kind: 'file',
    title: 'crash.log',
    url: null,
    contentType: 'text/plain',
    bytes: 18_204,
    sha256: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    creator: { kind: 'user', ...ana },
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  const moment: SampleMoment = { now: { attachment: file } };
  return { 'issue.attachment_added': moment, 'issue.attachment_removed': moment };
}
