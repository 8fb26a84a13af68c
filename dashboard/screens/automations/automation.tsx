import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { ApiCallError, type Automation } from '@tatami/sdk/client';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useClient, useMay } from '../../data/provider.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu, MenuItem } from '../../parts/overlay/menu.tsx';
import { Bar, FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/automations.ts';
import { Dialogs, type Open } from './dialogs.tsx';
import { isOnProbation, statusOf } from './status.ts';
import { DeletedRule, StoredRule } from './stored-rule.tsx';
import { useChanges } from './use-changes.ts';
import { useEdit, type Editing } from './use-edit.ts';

const Health = lazy(() => import('./health/health.tsx'));

const tabs = ['rule', 'health'] as const;
type Tab = (typeof tabs)[number];

export default function AutomationPage(): ReactNode {
  const { id } = useParams({ from: '/automations/$id' });
  // The changes of one automation must not appear in another.
  return <OneAutomation key={id} id={id} />;
}

const isMissing = (error: unknown): boolean => error instanceof ApiCallError && error.status === 404;

function OneAutomation({ id }: { readonly id: string }): ReactNode {
  const client = useClient();
  const editing = useEdit(id);
  const { data, error, refetch } = useQuery({
    queryKey: ['automations', id],
    queryFn: () => client.automations.get(id),
  });
  if (editing.edit && isMissing(error)) return <DeletedRule edit={editing.edit} editing={editing} />;
  if (error) return <FailedScreen error={error} retry={() => void refetch()} />;
  if (!data) return <Loading />;
  return <Loaded automation={data} editing={editing} />;
}

interface LoadedProps {
  readonly automation: Automation;
  readonly editing: Editing;
}

function Loaded({ automation, editing }: LoadedProps): ReactNode {
  const { tab: asked } = useSearch({ from: '/automations/$id' });
  const tab = tabs.find((one) => one === asked) ?? 'rule';
  const navigate = useNavigate();
  const [open, setOpen] = useState<Open | null>(null);
  const isEdited = editing.edit !== null;
  const leave = (): void => {
    editing.discard();
    void navigate({ to: '/automations' });
  };
  return (
    <Screen
      title={automation.name}
      actions={<Actions automation={automation} isEdited={isEdited} onOpen={setOpen} />}
      bars={<Tabs id={automation.id} tab={tab} />}
    >
      <div className="stack">
        <Status automation={automation} isEdited={isEdited} />
        {tab === 'rule' ? (
          <StoredRule automation={automation} editing={editing} />
        ) : (
          <Suspense fallback={<Loading />}>
            <Health automation={automation} />
          </Suspense>
        )}
      </div>
      <Dialogs open={open} onClose={() => setOpen(null)} onDeleted={leave} />
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
  /** True for a rule with changes that are not saved, which would not be enabled. */
  readonly isEdited: boolean;
  readonly onOpen: (open: Open) => void;
}

function Actions({ automation, isEdited, onOpen }: ActionsProps): ReactNode {
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
        <Button
          look="primary"
          disabled={isEdited}
          aria-describedby={isEdited ? saveFirstId : undefined}
          onClick={() => onOpen({ act: 'enable', automation })}
        >
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

/** Id of the reason why the button that enables is disabled. */
const saveFirstId = 'save-first';

interface StatusProps {
  readonly automation: Automation;
  readonly isEdited: boolean;
}

function Status({ automation, isEdited }: StatusProps): ReactNode {
  const { state, stateReason, owner } = automation;
  return (
    <p className={state === 'active' || state === 'paused' ? 'notice' : 'notice warning'} role="status">
      <strong>{statusOf(automation)}</strong> {state === 'paused' && stateReason}{' '}
      {isOnProbation(automation) && (
        <>
          {text.probationHint}{' '}
          <Link to="/proposals" search={{ install: automation.id }}>
            {text.proposals}
          </Link>{' '}
        </>
      )}
      {owner && text.ownedBy(owner.name)}{' '}
      {isEdited && state !== 'active' && <span id={saveFirstId}>{text.saveFirst}</span>}
    </p>
  );
}
