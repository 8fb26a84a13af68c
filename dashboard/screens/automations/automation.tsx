import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { Automation } from '@tatami/sdk/client';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { queryClient, useClient, useMay } from '../../data/provider.tsx';
import { useRetained } from '../../data/retained.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu, MenuItem } from '../../parts/overlay/menu.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { Bar, FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/automations.ts';
import { Address } from './address.tsx';
import { Dialogs, type Open } from './dialogs.tsx';
import { RuleForm } from './rule-form.tsx';
import { changesOf, draftOf, isSame, type Draft } from './rule/rule.ts';
import { statusOf } from './status.ts';
import { refresh, useChanges } from './use-changes.ts';

const Health = lazy(() => import('./health/health.tsx'));

const tabs = ['rule', 'health'] as const;
type Tab = (typeof tabs)[number];

export default function AutomationPage(): ReactNode {
  const { id } = useParams({ from: '/automations/$id' });
  const { tab: asked } = useSearch({ from: '/automations/$id' });
  const tab = tabs.find((one) => one === asked) ?? 'rule';
  const client = useClient();
  const navigate = useNavigate();
  const [open, setOpen] = useState<Open | null>(null);
  const { data, error, refetch } = useQuery({
    queryKey: ['automations', id],
    queryFn: () => client.automations.get(id),
  });
  if (error) return <FailedScreen error={error} retry={() => void refetch()} />;
  if (!data) return <Loading />;
  return (
    <Screen
      title={data.name}
      actions={<Actions automation={data} onOpen={setOpen} />}
      bars={<Tabs id={id} tab={tab} />}
    >
      <div className="stack">
        <Status automation={data} />
        {tab === 'rule' ? (
          <StoredRule key={id} automation={data} />
        ) : (
          <Suspense fallback={<Loading />}>
            <Health automation={data} />
          </Suspense>
        )}
      </div>
      <Dialogs
        open={open}
        onClose={() => setOpen(null)}
        onDeleted={() => void navigate({ to: '/automations' })}
      />
    </Screen>
  );
}

function Tabs({ id, tab }: { readonly id: string; readonly tab: Tab }): ReactNode {
  return (
    <Bar label={text.tabList}>
      {tabs.map((one) => (
        <LinkButton
          key={one}
          to="/automations/$id"
          params={{ id }}
          search={one === 'rule' ? {} : { tab: one }}
          look={one === tab ? 'primary' : 'plain'}
          aria-current={one === tab ? 'page' : undefined}
        >
          {text.tabs[one]}
        </LinkButton>
      ))}
    </Bar>
  );
}

interface ActionsProps {
  readonly automation: Automation;
  readonly onOpen: (open: Open) => void;
}

function Actions({ automation, onOpen }: ActionsProps): ReactNode {
  const navigate = useNavigate();
  const mayWrite = useMay('automations:write');
  const { pause, duplicate } = useChanges();
  if (!mayWrite) return null;
  const copy = async (): Promise<void> => {
    const made = await duplicate(automation);
    if (made) void navigate({ to: '/automations/$id', params: { id: made.id } });
  };
  return (
    <>
      {automation.state === 'active' ? (
        <Button onClick={() => void pause(automation)}>{text.pause}</Button>
      ) : (
        <Button look="primary" onClick={() => onOpen({ act: 'enable', automation })}>
          {text.enable}
        </Button>
      )}
      <Menu button={<Icon name="more" />} label={common.more} look="plain">
        <MenuItem onSelect={() => onOpen({ act: 'run', automation })}>{text.runNow}</MenuItem>
        {automation.state === 'active' && (
          <MenuItem onSelect={() => onOpen({ act: 'enable', automation })}>{text.changeMode}</MenuItem>
        )}
        <MenuItem onSelect={() => onOpen({ act: 'settings', automation })}>{text.settings}</MenuItem>
        <MenuItem onSelect={() => void copy()}>{text.duplicate}</MenuItem>
        <MenuItem onSelect={() => onOpen({ act: 'delete', automation })}>{text.remove}</MenuItem>
      </Menu>
    </>
  );
}

function Status({ automation }: { readonly automation: Automation }): ReactNode {
  const { state, stateReason, owner } = automation;
  return (
    <p className={state === 'active' || state === 'paused' ? 'notice' : 'notice warning'} role="status">
      <strong>{statusOf(automation)}</strong> {state === 'paused' && stateReason}{' '}
      {owner && text.ownedBy(owner.name)}
    </p>
  );
}

/** Rule as the person began to edit it, and as it is now. */
interface Edited {
  readonly base: Draft;
  readonly draft: Draft;
}

function StoredRule({ automation }: { readonly automation: Automation }): ReactNode {
  const client = useClient();
  const [edited, setEdited] = useRetained<Edited | null>('rule', null);
  const stored = draftOf(automation);
  const { base, draft } = edited ?? { base: stored, draft: stored };
  const save = async (): Promise<void> => {
    const saved = await client.automations.update(automation.id, changesOf(base, draft));
    queryClient.setQueryData(['automations', automation.id], saved);
    setEdited(null);
    notify(text.saved);
    await refresh();
  };
  return (
    <>
      {stored.trigger.type === 'webhook' && <Address id={automation.id} />}
      <RuleForm
        draft={draft}
        onChange={(next) => setEdited({ base, draft: next })}
        submit={common.save}
        onSubmit={save}
        stored={automation.backtest && { rule: stored, id: automation.backtest.id }}
      >
        {!isSame(base, draft) && (
          <p className="row wrap" role="status">
            <span className="grow">{text.unsaved}</span>
            <Button onClick={() => setEdited(null)}>{text.discard}</Button>
          </p>
        )}
      </RuleForm>
    </>
  );
}
