// Facts of plugins and proposals, whose events do not fully describe their rows.
import { sameValue } from '../../../kernel/changes/change.ts';
import type { LastEvent } from '../checks/rows/last-event.ts';
import { titleOf } from '../../../features/proposals/diff.ts';
import type { StoredEffect } from '../../../features/proposals/model.ts';
import type { Actor } from '../../../kernel/events/log/origin.ts';
import type { Install } from '../../../features/plugins/installs/schema.ts';
import { fact, storedIn, timeOf, type SpecialFacts } from './fact.ts';

interface InstallEventData {
  readonly state: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly scopes: readonly { readonly scope: string; readonly granted: boolean }[];
  readonly secrets: readonly { readonly name: string; readonly setAt: string | null }[];
  readonly pending: { readonly version: string; readonly sha256: string } | null;
  readonly probation: { readonly runsLeft: number } | null;
  readonly updatedAt: string;
  readonly previous?: object;
}
const eventData = ({ data }: LastEvent): Partial<InstallEventData> => data;

/** Public states of an install that is stored as active. */
const running = ['active', 'probation', 'needs_consent'];
const isRunning = (state: unknown): boolean => running.includes(String(state));

export const automationFacts: SpecialFacts = {
  plugin: () => [
    fact('state', ['state'], (row, event) => {
      const { state } = eventData(event);
      return row.state === (isRunning(state) ? 'active' : state);
    }),
    // A removal has no event type: a running plugin emits plugin.disabled, any other plugin an update without
    // changes.
    fact('deleted', ['deleted_at'], (row, event) => {
      const { state, updatedAt, previous = {} } = eventData(event);
      if (row.deleted_at === null) return event.type !== 'plugin.disabled' || !isRunning(state);
      return row.deleted_at === timeOf(updatedAt) && Object.keys(previous).length === 0;
    }),
    // Runs decrement the counter without an event.
    fact('probation', ['probation_left'], (row, event) => {
      const { probation } = eventData(event);
      if (probation === undefined) return true;
      const left = Number(row.probation_left);
      return probation === null ? left === 0 : left > 0 && left <= probation.runsLeft;
    }),
    fact('pending', ['pending_json'], (row, event) => {
      const { pending } = eventData(event);
      const stored = storedIn(row, 'pending_json') as Install['pending'];
      if (pending === undefined) return true;
      if (pending === null || stored === null) return pending === stored;
      return pending.version === stored.manifest.version && pending.sha256 === stored.sha256;
    }),
    fact('scopes', ['grant_json'], (row, event) => {
      const granted = eventData(event).scopes?.flatMap(({ scope, granted }) => (granted ? [scope] : []));
      const stored = storedIn(row, 'grant_json') as string[];
      return granted === undefined || sameValue(granted.toSorted(), stored.toSorted());
    }),
    // Events also contain the defaults of settings that are not set.
    fact('settings', ['settings_json'], (row, event) => {
      const { settings } = eventData(event);
      const stored = Object.entries(storedIn(row, 'settings_json') as Install['settings']);
      return settings === undefined || stored.every(([name, value]) => sameValue(settings[name], value));
    }),
    fact('secrets', ['secrets_set_json'], (row, event) => {
      const set = eventData(event).secrets?.flatMap(({ name, setAt }) =>
        setAt ? [[name, timeOf(setAt)]] : [],
      );
      const stored = Object.entries(storedIn(row, 'secrets_set_json') as Install['secretsSet']);
      return set === undefined || sameValue(set.toSorted(), stored.toSorted());
    }),
  ],
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
