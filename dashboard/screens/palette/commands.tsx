import { Combobox } from '@base-ui/react/combobox';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useMemo, useRef, useState, type ReactNode } from 'react';
import { titlesQuery } from '../../data/directory.ts';
import { useChangePreferences } from '../../data/preferences.ts';
import { useClient } from '../../data/provider.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { StateIcon } from '../../parts/issue/symbols.tsx';
import styles from '../../parts/parts.module.css';
import { screens } from '../../screens.ts';
import { text as shell } from '../../text/shell.ts';
import { text } from '../../text/palette.ts';
import { openCreate } from '../create/create.tsx';
import { objectsQuery } from './objects.ts';
import { matches, ordered } from './order.ts';

interface Command {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  readonly icon?: ReactNode;
  run(): void;
}

interface Group {
  readonly value: string;
  readonly items: readonly Command[];
}

interface CommandsProps {
  readonly onClose: () => void;
  readonly onShortcuts: () => void;
}

export default function Commands({ onClose, onShortcuts }: CommandsProps): ReactNode {
  const [input, setInput] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const groups = useGroups(input.trim(), onShortcuts);
  const items = groups.flatMap((group) => group.items);
  const run = (command: Command | null): void => {
    if (!command) return;
    onClose();
    command.run();
  };
  return (
    <Dialog title={text.title} isTitleHidden isOpen onClose={onClose} initialFocus={field}>
      <Combobox.Root
        inline
        open
        items={groups as Group[]}
        filter={null}
        autoHighlight
        inputValue={input}
        onInputValueChange={setInput}
        value={null as Command | null}
        onValueChange={run}
        itemToStringLabel={({ label }: Command) => label}
      >
        <Combobox.Input aria-label={text.input} placeholder={text.input} ref={field} />
        {items.length === 0 && <p className="soft">{text.nothing}</p>}
        <Combobox.List>
          {(group: Group) => (
            <Combobox.Group key={group.value} items={group.items as Command[]}>
              <Combobox.GroupLabel className="soft">{group.value}</Combobox.GroupLabel>
              <Combobox.Collection>
                {(command: Command) => (
                  <Combobox.Item key={command.id} value={command} className={styles.item}>
                    {command.icon}
                    <span className="grow cut">{command.label}</span>
                    <span className="soft">{command.hint}</span>
                  </Combobox.Item>
                )}
              </Combobox.Collection>
            </Combobox.Group>
          )}
        </Combobox.List>
      </Combobox.Root>
    </Dialog>
  );
}

function useGroups(input: string, onShortcuts: () => void): readonly Group[] {
  const commands = useCommands(onShortcuts).filter(({ label }) => matches(label, input));
  const issues = useIssues(input);
  const objects = useObjects(input);
  const found = ordered<Command>(input, {
    commands,
    objects: [...issues, ...objects],
    identifiers: issues.map(({ identifier }) => identifier),
  });
  return found.map(({ value, items }) => ({ value: text[value], items }));
}

function useCommands(onShortcuts: () => void): readonly Command[] {
  const navigate = useNavigate();
  const changePreferences = useChangePreferences();
  return useMemo(
    () => [
      { id: 'new', label: text.newIssue, hint: 'C', run: () => openCreate() },
      ...screens.map(({ to, label }) => ({
        id: to,
        label: text.goTo(label),
        run: () => void navigate({ to }),
      })),
      ...(['system', 'light', 'dark'] as const).map((theme) => ({
        id: `theme-${theme}`,
        label: text.theme(shell.themes[theme]),
        run: () => changePreferences({ theme }),
      })),
      { id: 'shortcuts', label: text.shortcuts, hint: '?', run: onShortcuts },
      { id: 'account', label: text.signOut, run: () => location.assign('/account') },
    ],
    [navigate, onShortcuts, changePreferences],
  );
}

function useIssues(input: string): readonly (Command & { readonly identifier: string | null })[] {
  const navigate = useNavigate();
  const client = useClient();
  const asked = useDeferredValue(input);
  const { data = [] } = useQuery(titlesQuery(client, asked));
  if (input === '') return [];
  return data.map(({ id, identifier, title, state }) => ({
    id,
    identifier,
    label: `${identifier} ${title}`,
    icon: <StateIcon type={state.type} name={state.name} />,
    run: () => void navigate({ to: '/issues/$identifier', params: { identifier: identifier ?? id } }),
  }));
}

const shownMax = 5;

function useObjects(input: string): readonly Command[] {
  const navigate = useNavigate();
  const { data = [] } = useQuery({ ...objectsQuery(useClient()), enabled: input !== '' });
  if (input === '') return [];
  return data
    .filter(({ name }) => matches(name, input))
    .slice(0, shownMax)
    .map(({ kind, id, name, to }) => ({
      id,
      label: name,
      hint: text.kinds[kind],
      run: () => void navigate({ to, params: { id } }),
    }));
}
