import type { ApiKey } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { usePages } from '../../data/pages.ts';
import { useClient } from '../../data/provider.tsx';
import { useRetained } from '../../data/retained.ts';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/overlay/confirm.tsx';
import { Menu, MenuItem } from '../../parts/overlay/menu.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Empty, Screen } from '../../parts/states.tsx';
import { Time } from '../../parts/issue/symbols.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/developers.ts';
import { NewKey, RollKey } from './key-forms.tsx';

type Named = Pick<ApiKey, 'id' | 'name'>;
type Open = { readonly kind: 'new' } | { readonly kind: 'roll' | 'revoke'; readonly key: Named };

export default function ApiKeys(): ReactNode {
  const client = useClient();
  const write = useWrite();
  const [open, setOpen] = useRetained<Open | null>('dialog', null);
  const close = (): void => setOpen(null);
  const keys = usePages(['api-keys', 'list'], async (after) => client.apiKeys.list({ limit: 100, ...after }));
  const revoke = async ({ id, name }: Named): Promise<void> => {
    await write((api) => api.apiKeys.delete(id), text.revoked(name));
    keys.reload();
  };
  return (
    <Screen
      title={text.apiKeys}
      actions={
        <Button look="primary" onClick={() => setOpen({ kind: 'new' })}>
          {text.newKey}
        </Button>
      }
    >
      <Paged pages={keys} empty={<Empty title={text.noKeys} hint={text.noKeysHint} />}>
        {(items) => <KeyTable keys={items} onOpen={setOpen} />}
      </Paged>
      {open?.kind === 'new' && <NewKey onClose={close} onDone={keys.reload} />}
      {open?.kind === 'roll' && <RollKey apiKey={open.key} onClose={close} onDone={keys.reload} />}
      {open?.kind === 'revoke' && (
        <Confirm
          title={text.revokeTitle(open.key.name)}
          hint={text.revokeHint}
          action={text.revoke}
          onClose={close}
          onConfirm={() => void revoke(open.key)}
        />
      )}
    </Screen>
  );
}

interface KeyTableProps {
  readonly keys: readonly ApiKey[];
  readonly onOpen: (open: Open) => void;
}

function KeyTable({ keys, onOpen }: KeyTableProps): ReactNode {
  return (
    <div className="wide-table">
      <table aria-label={text.apiKeys}>
        <thead>
          <tr>
            <th scope="col">{text.name}</th>
            <th scope="col">{text.prefix}</th>
            <th scope="col">{text.status}</th>
            <th scope="col">{text.owner}</th>
            <th scope="col">{text.scopes}</th>
            <th scope="col">{text.lastUsed}</th>
            <th scope="col">{text.expires}</th>
            <th scope="col">{text.actions}</th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <KeyRow key={key.id} apiKey={key} onOpen={onOpen} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function statusOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== null) return text.isRevoked;
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? text.isExpired : text.isActive;
}

function KeyRow({
  apiKey,
  onOpen,
}: {
  readonly apiKey: ApiKey;
  readonly onOpen: KeyTableProps['onOpen'];
}): ReactNode {
  const { id, name, prefix, scopes, member, lastUsedAt, expiresAt, revokedAt } = apiKey;
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        <code>ttm_{prefix}_…</code>
      </td>
      <td>{statusOf(apiKey)}</td>
      <td>{member.name}</td>
      <td>
        <details>
          <summary>{scopes.length}</summary>
          {scopes.join(', ')}
        </details>
      </td>
      <td>{lastUsedAt === null ? text.never : <Time at={lastUsedAt} />}</td>
      <td>{expiresAt === null ? text.never : <Time at={expiresAt} />}</td>
      <td>
        {revokedAt === null && (
          <Menu label={`${common.more}: ${name}`} button={<Icon name="more" />} look="plain">
            <MenuItem onSelect={() => onOpen({ kind: 'roll', key: { id, name } })}>{text.roll}</MenuItem>
            <MenuItem onSelect={() => onOpen({ kind: 'revoke', key: { id, name } })}>{text.revoke}</MenuItem>
          </Menu>
        )}
      </td>
    </tr>
  );
}
