import { useQuery } from '@tanstack/react-query';
import type { ApiKey, Scope } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { useRetained } from '../../data/retained.ts';
import { useWrite } from '../../data/writes.ts';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { Form, TextField } from '../../parts/fields.tsx';
import { SecretDialog } from '../../parts/overlay/secret-dialog.tsx';
import { scopeSentences } from '../../generated/scopes.ts';
import { text } from '../../text/developers.ts';

interface FormProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

interface KeyDraft {
  readonly name: string;
  /** Date; empty for a key without expiry. */
  readonly expires: string;
  readonly scopes: readonly string[];
}

export function NewKey({ onClose, onDone }: FormProps): ReactNode {
  const write = useWrite();
  const [draft, setDraft] = useRetained<KeyDraft>('new', { name: '', expires: '', scopes: [] });
  const [created, setCreated] = useState<string | null>(null);
  if (created !== null) return <SecretDialog title={text.keyCreated} secret={created} onClose={onClose} />;
  const create = async (): Promise<unknown> => {
    const made = await write((client) =>
      client.apiKeys.create({
        name: draft.name,
        scopes: draft.scopes as readonly Scope[],
        ...(draft.expires !== '' && { expiresAt: `${draft.expires}T00:00:00Z` }),
      }),
    );
    if (!made) return null;
    setCreated(made.key);
    onDone();
    return null;
  };
  return (
    <Dialog title={text.newKey} isOpen onClose={onClose}>
      <Form submit={text.newKey} onSubmit={create} onDone={onClose}>
        <TextField
          label={text.name}
          value={draft.name}
          onChange={({ target }) => setDraft({ ...draft, name: target.value })}
          required
        />
        <TextField
          label={text.expiryDate}
          type="date"
          value={draft.expires}
          onChange={({ target }) => setDraft({ ...draft, expires: target.value })}
        />
        <Scopes chosen={draft.scopes} onChange={(scopes) => setDraft({ ...draft, scopes })} />
      </Form>
    </Dialog>
  );
}

const accesses = ['read', 'write'] as const;

interface ScopesProps {
  readonly chosen: readonly string[];
  readonly onChange: (scopes: readonly string[]) => void;
}

/** Access per resource. A person can grant only scopes that they have. */
function Scopes({ chosen, onChange }: ScopesProps): ReactNode {
  const client = useClient();
  const [search, setSearch] = useState('');
  const { data = [] } = useQuery({
    queryKey: ['members', 'own-scopes'],
    queryFn: async () => (await client.me.get()).scopes,
  });
  const namespaces = [...new Set(data.map((scope) => scope.split(':')[0]!))].toSorted();
  const set = (namespace: string, access: string): void => {
    const others = chosen.filter((scope) => !scope.startsWith(`${namespace}:`));
    onChange(access === '' ? others : [...others, `${namespace}:${access}`]);
  };
  return (
    <fieldset className="stack">
      <legend>{text.scopes}</legend>
      <TextField
        label={text.searchScopes}
        type="search"
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      <ul className="scroll-box stack">
        {namespaces
          .filter((namespace) => namespace.includes(search.toLowerCase()))
          .map((namespace) => {
            const value = chosen.find((scope) => scope.startsWith(`${namespace}:`))?.split(':')[1] ?? '';
            return (
              <li key={namespace}>
                <label className="field">
                  <span>{namespace}</span>
                  <select value={value} onChange={({ target }) => set(namespace, target.value)}>
                    <option value="">{text.noAccess}</option>
                    {accesses
                      .map((access) => [access, `${namespace}:${access}` as Scope] as const)
                      .filter(([, scope]) => data.includes(scope))
                      .map(([access, scope]) => (
                        <option key={access} value={access}>
                          {scopeSentences[scope]}
                        </option>
                      ))}
                  </select>
                </label>
              </li>
            );
          })}
      </ul>
      {chosen.length === 0 ? (
        <p className="soft">{text.noScopes}</p>
      ) : (
        <ul aria-label={text.keyMay}>
          {chosen.map((scope) => (
            <li key={scope}>{scopeSentences[scope as Scope]}</li>
          ))}
        </ul>
      )}
    </fieldset>
  );
}

export function RollKey({
  apiKey,
  onClose,
  onDone,
}: FormProps & { readonly apiKey: Pick<ApiKey, 'id' | 'name'> }): ReactNode {
  const write = useWrite();
  const [hours, setHours] = useRetained('roll', '24');
  const [rolled, setRolled] = useState<string | null>(null);
  if (rolled !== null) return <SecretDialog title={text.keyCreated} secret={rolled} onClose={onClose} />;
  const roll = async (): Promise<unknown> => {
    const made = await write((client) => client.apiKeys.roll(apiKey.id, { graceHours: Number(hours) }));
    if (!made) return null;
    setRolled(made.key);
    onDone();
    return null;
  };
  return (
    <Dialog title={text.rollTitle(apiKey.name)} isOpen onClose={onClose}>
      <Form submit={text.roll} onSubmit={roll} onDone={onClose}>
        <p className="soft">{text.rollHint}</p>
        <TextField
          label={text.graceHours}
          type="number"
          min={0}
          max={168}
          value={hours}
          onChange={({ target }) => setHours(target.value)}
          required
        />
      </Form>
    </Dialog>
  );
}
