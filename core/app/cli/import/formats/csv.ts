// Our own plain CSV: the columns repo, created_at and title, and where it has them label and body.
import { createHash } from 'node:crypto';
import { readRecords } from '../plan/records.ts';
import { timeIn, type Format } from './row.ts';

const needed = ['repo', 'created_at', 'title'];

export const csv: Format = {
  source: 'csv',
  async *read(file, { teamFrom = 'repo' }, told) {
    for await (const { at, one } of readRecords(file, [...new Set([...needed, teamFrom])], told)) {
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
