// Groups the operations of the OpenAPI document under tags. A contract describes the tag of its resource, and a
// feature describes its other tags.
import type { Contract } from '../kernel/contract/contract.ts';
import type { Feature } from '../kernel/feature.ts';
import type { Tag, TagGroup } from '../kernel/http/openapi/document.ts';
import { capital } from '../platform/lib/text/words.ts';
import { features } from './features.ts';

/** Titles that are not the path in other words. */
const titles: Readonly<Record<string, string>> = {
  'api-keys': 'API keys',
  'oauth-apps': 'OAuth apps',
  workflows: 'Workflow states',
};

const tagOf = ({ path, doc }: Contract): Tag => ({
  name: path,
  title: titles[path] ?? capital(path.replaceAll('-', ' ')),
  doc,
});

function tagsOf({ resources = [], contracts = [], tags = [] }: Feature): Tag[] {
  return [...resources.map(({ contract }) => contract), ...contracts].map(tagOf).concat(tags);
}

/** The document begins with the tracker, although its features depend on people and access. */
const groups: Readonly<Partial<Record<string, readonly Feature[]>>> = {
  Tracker: [],
  ...Object.groupBy(features, ({ tagGroup = 'Tracker' }) => tagGroup),
};

export const tagGroups: readonly TagGroup[] = Object.entries(groups).map(([name, group = []]) => ({
  name,
  tags: group.flatMap(tagsOf),
}));
