// Facts of proposals: a purge removes texts of an issue without an event.
import { sameValue } from '../../kernel/changes/change.ts';
import { fact, storedIn, type SpecialFacts } from '../../kernel/checks.ts';
import type { Actor } from '../../kernel/events/event.ts';
import { titleOf } from './diff.ts';
import type { StoredEffect } from './model.ts';
import { purgedReason } from './forget.ts';

export const proposalFacts: SpecialFacts = {
  proposal: () => [
    // A purge removes the text from title and effects without an event.
    fact('title', ['title', 'diff_json', 'actor_json'], (row, { data }) => {
      const actor = storedIn(row, 'actor_json') as Actor;
      const diff = storedIn(row, 'diff_json') as StoredEffect[];
      return (
        row.title === data.title || row.title === titleOf(diff, actor.kind === 'plugin' ? actor.name : null)
      );
    }),
    fact('effects', ['diff_json'], (row, { data }) =>
      sameValue(
        (storedIn(row, 'diff_json') as StoredEffect[]).map(nameless),
        (data.effects as StoredEffect[]).map(nameless),
      ),
    ),
  ],
  inbox_item: () => [
    fact(
      'body',
      ['body', 'reason'],
      (row, { data }) => row.body === data.body || (row.reason === 'proposal' && row.body === purgedReason),
    ),
  ],
};

/** Returns the parts of an effect that a purge does not change. */
const nameless = ({ id, operation, kind, entityId, class: does, baseVersion, decision }: StoredEffect) => ({
  id,
  operation,
  kind,
  entityId,
  does,
  baseVersion,
  decision,
});
