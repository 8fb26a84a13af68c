import { Link, useNavigate } from '@tanstack/react-router';
import type { Automation } from '@tatami/sdk/client';
import { useRef, useState, type ReactNode } from 'react';
import { usePages } from '../../data/pages.ts';
import { useClient, useMay } from '../../data/provider.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { useFilterChoices } from '../../parts/filter/choices.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu, MenuItem } from '../../parts/overlay/menu.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Empty, Screen } from '../../parts/states.tsx';
import { text } from '../../text/automations.ts';
import { Dialogs, type Open } from './dialogs.tsx';
import { sentenceOf } from './rule/sentence.ts';
import { draftOf } from './rule/rule.ts';
import { statusOf } from './status.ts';
import { Suggestions } from './start/suggestions.tsx';
import { Templates } from './start/templates.tsx';
import { useChanges } from './use-changes.ts';

export default function Automations(): ReactNode {
  const client = useClient();
  const mayWrite = useMay('automations:write');
  const create = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<Open | null>(null);
  const automations = usePages(['automations', 'list'], async (after) =>
    client.automations.list({ limit: 100, ...after }),
  );
  const newButton = mayWrite && (
    <LinkButton to="/automations/new" look="primary">
      {text.newAutomation}
    </LinkButton>
  );
  return (
    <Screen title={text.automations} actions={<div ref={create}>{newButton}</div>}>
      <div className="stack">
        <Paged pages={automations} empty={<Empty title={text.none} hint={text.noneHint} />}>
          {(items) => <AutomationTable automations={items} mayWrite={mayWrite} onOpen={setOpen} />}
        </Paged>
        {mayWrite && automations.items && (
          <>
            <Templates isFirst={automations.items.length === 0} />
            <Suggestions />
          </>
        )}
      </div>
      <Dialogs
        open={open}
        onClose={() => setOpen(null)}
        // The menu that had the focus is gone.
        onDeleted={() => create.current?.querySelector('a')?.focus()}
      />
    </Screen>
  );
}

interface TableProps {
  readonly automations: readonly Automation[];
  readonly mayWrite: boolean;
  readonly onOpen: (open: Open) => void;
}

function AutomationTable({ automations, mayWrite, onOpen }: TableProps): ReactNode {
  const names = useFilterChoices();
  return (
    <div className="wide-table">
      <table aria-label={text.automations}>
        <thead>
          <tr>
            <th scope="col">{text.name}</th>
            <th scope="col">{text.does}</th>
            <th scope="col">{text.status}</th>
            <th scope="col">{text.owner}</th>
            {mayWrite && <th scope="col">{text.actions}</th>}
          </tr>
        </thead>
        <tbody>
          {automations.map((automation) => (
            <tr key={automation.id}>
              <th scope="row">
                <Link to="/automations/$id" params={{ id: automation.id }}>
                  {automation.name}
                </Link>
              </th>
              <td>{sentenceOf(draftOf(automation), names)}</td>
              <td>
                <span className="chip" title={statusOf(automation)}>
                  <span className="cut">{statusOf(automation)}</span>
                </span>
              </td>
              <td>{automation.owner?.name}</td>
              {mayWrite && (
                <td>
                  <RowMenu automation={automation} onOpen={onOpen} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface MenuProps {
  readonly automation: Automation;
  readonly onOpen: (open: Open) => void;
}

function RowMenu({ automation, onOpen }: MenuProps): ReactNode {
  const navigate = useNavigate();
  const { pause, duplicate } = useChanges();
  const { id, name, state } = automation;
  return (
    <Menu button={<Icon name="more" />} label={text.menuOf(name)} look="plain">
      {state === 'active' ? (
        <MenuItem onSelect={() => void pause(automation)}>{text.pause}</MenuItem>
      ) : (
        <MenuItem onSelect={() => onOpen({ act: 'enable', automation })}>{text.enable}</MenuItem>
      )}
      <MenuItem onSelect={() => void navigate({ to: '/automations/$id', params: { id } })}>
        {text.edit}
      </MenuItem>
      <MenuItem onSelect={() => onOpen({ act: 'run', automation })}>{text.runNow}</MenuItem>
      <MenuItem onSelect={() => void duplicate(automation)}>{text.duplicate}</MenuItem>
      <MenuItem onSelect={() => onOpen({ act: 'delete', automation })}>{text.remove}</MenuItem>
    </Menu>
  );
}
