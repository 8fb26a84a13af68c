// Our own plain CSV: the columns repo, created_at, label, title, body.
import { createHash } from 'node:crypto';
import { readRecords } from '../records.ts';
import { timeIn, type Format } from './row.ts';

const columns = ['repo', 'created_at', 'label', 'title', 'body'];

export const csv: Format = {
  source: 'csv',
  async *read(file, { teamFrom = 'repo' }, told) {
    for await (const { at, one } of readRecords(file, [...new Set([...columns, teamFrom])], told)) {
      const [repo, createdAt, title] = [one('repo'), one('created_at'), one('title')];
      yield {
        at,
        teamName: one(teamFrom),
        labels: [one('label').trim()].filter((label) => label !== ''),
        title,
        body: one('body'),
        ...timeIn(createdAt),
        links: [],
        comments: [],
        externalId: createHash('sha256')
          .update(JSON.stringify([repo, createdAt, title]))
          .digest('hex')
          .slice(0, 40),
      };
    }
  },
};
