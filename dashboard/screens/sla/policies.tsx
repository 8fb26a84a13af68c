// SLA policies: the list, and dialogs that create, change and delete them.
import { useQuery } from '@tanstack/react-query';
import type { SlaPolicy } from '@tatami/sdk/client';
import { lazy, Suspense, useRef, useState, type ReactNode } from 'react';
import { queryClient, useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/overlay/confirm.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/planning.ts';
import { durationOf, minuteMs } from './duration.ts';

const PolicyDialog = lazy(() => import('./policy-dialog.tsx'));

type Open = { readonly act: 'new' } | { readonly act: 'edit' | 'delete'; readonly policy: SlaPolicy };

const reload = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['sla-policies'] });

export function Policies(): ReactNode {
  const client = useClient();
  const [open, setOpen] = useState<Open | null>(null);
  const create = useRef<HTMLButtonElement>(null);
  const remove = useDelete(() => create.current?.focus());
  const { data } = useQuery({
    queryKey: ['sla-policies', 'all'],
    queryFn: () => Array.fromAsync(client.slaPolicies.list({ limit: 100 })),
  });
  const close = (): void => setOpen(null);
  return (
    <section className="stack">
      <div className="row">
        <h2 className="grow">{text.policies}</h2>
        <Button ref={create} onClick={() => setOpen({ act: 'new' })}>
          {text.newPolicy}
        </Button>
      </div>
      {data?.length === 0 && <p className="soft">{text.noPolicies}</p>}
      <ul aria-label={text.policies} className="stack">
        {data?.map((policy) => (
          <PolicyRow key={policy.id} policy={policy} onOpen={(act) => setOpen({ act, policy })} />
        ))}
      </ul>
      <Suspense>
        {open && open.act !== 'delete' && (
          <PolicyDialog
            policy={open.act === 'edit' ? open.policy : null}
            onClose={close}
            onSaved={() => void reload()}
          />
        )}
      </Suspense>
      {open?.act === 'delete' && (
        <Confirm
          title={text.deletePolicy(open.policy.name)}
          hint={text.deletePolicyHint}
          action={common.delete}
          onClose={close}
          onConfirm={() => void remove(open.policy)}
        />
      )}
    </section>
  );
}

/** @param onDeleted moves the focus, because the buttons of a deleted policy are gone */
function useDelete(onDeleted: () => void): (policy: SlaPolicy) => Promise<void> {
  const write = useWrite();
  return async ({ id, name }) => {
    const isDeleted = await write(async (client) => {
      await client.slaPolicies.delete(id);
      return true;
    });
    if (!isDeleted) return;
    onDeleted();
    notify(text.deleted(name));
    await reload();
  };
}

interface RowProps {
  readonly policy: SlaPolicy;
  readonly onOpen: (act: 'edit' | 'delete') => void;
}

function PolicyRow({ policy, onOpen }: RowProps): ReactNode {
  const { name, kind, targetMinutes, atRiskMinutes, calendar, enabled } = policy;
  return (
    <li className="row wrap">
      <span className="grow">{name}</span>
      <span>{text.clockKinds[kind]}</span>
      <span>
        {text.target}: {durationOf(targetMinutes * minuteMs)}
      </span>
      {atRiskMinutes !== null && <span>{text.warns(durationOf(atRiskMinutes * minuteMs))}</span>}
      {calendar && <span className="soft">{calendar.name}</span>}
      {!enabled && <span className="chip">{text.off}</span>}
      <Button look="plain" aria-label={`${common.edit} ${name}`} onClick={() => onOpen('edit')}>
        {common.edit}
      </Button>
      <Button look="plain" aria-label={`${common.delete} ${name}`} onClick={() => onOpen('delete')}>
        {common.delete}
      </Button>
    </li>
  );
}
