// Facts of plugins, whose events do not fully describe their rows.
import { sameValue } from '../../kernel/changes/change.ts';
import { fact, storedIn, timeOf, type LastEvent, type SpecialFacts } from '../../kernel/checks.ts';
import type { Install } from './installs/model.ts';

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

export const pluginFacts: SpecialFacts = {
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
};
