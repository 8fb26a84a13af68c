import { fileCheck } from './checks.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { ana, sampleId, sampleIssue, timeAfter, type Samples } from '../../kernel/samples.ts';
import { resource } from './operations.ts';
import type { attachment } from './contract.ts';

const samples: Samples = ({ nowMs }) => {
  const at = timeAfter(nowMs, 0);
  const file: EntityResponse<typeof attachment> = {
    id: sampleId('att'),
    issue: sampleIssue,
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
  const moment = { now: { attachment: file } };
  return { moments: { 'issue.attachment_added': moment, 'issue.attachment_removed': moment } };
};

export const attachments = defineFeature({
  name: 'attachments',
  resources: [resource],
  samples,
  checks: [fileCheck],
});
