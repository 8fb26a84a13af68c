// Search for one issue, by identifier or words of the title.
import { Combobox } from '@base-ui/react/combobox';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useRef, useState, type ReactNode, type Ref } from 'react';
import { titlesQuery } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { text } from '../../text/common.ts';
import { Dialog } from '../overlay/dialog.tsx';
import styles from '../parts.module.css';
import type { FoundIssue, IssueDialogProps } from './issue-dialog.tsx';
import { StateIcon } from './symbols.tsx';

interface IssueSearchProps extends Omit<IssueDialogProps, 'onClose' | 'children'> {
  readonly ref: Ref<HTMLInputElement>;
}

function IssueSearch({ label, excluded = [], suggested = [], onPick, ref }: IssueSearchProps): ReactNode {
  const client = useClient();
  const [input, setInput] = useState('');
  const asked = useDeferredValue(input.trim());
  const titles = useQuery(titlesQuery(client, asked));
  const offered: readonly FoundIssue[] = asked === '' ? suggested : (titles.data ?? []);
  const found = offered.filter(({ id }) => !excluded.includes(id));
  /** The list still belongs to an earlier text. */
  const isStale = asked !== input.trim() || (asked !== '' && titles.isPlaceholderData);
  return (
    <Combobox.Root
      inline
      open
      autoHighlight
      items={found as FoundIssue[]}
      filter={null}
      inputValue={input}
      onInputValueChange={setInput}
      value={null as FoundIssue | null}
      onValueChange={(issue: FoundIssue | null) => issue && onPick(issue)}
      itemToStringLabel={({ title }: FoundIssue) => title}
    >
      <Combobox.Input
        aria-label={label}
        placeholder={text.findIssue}
        ref={ref}
        onKeyDown={(event) => isStale && event.key === 'Enter' && event.preventBaseUIHandler()}
      />
      {asked !== '' && !titles.isPending && found.length === 0 && <p className="soft">{text.noMatch}</p>}
      <Combobox.List aria-label={label}>
        {(issue: FoundIssue) => (
          <Combobox.Item key={issue.id} value={issue} className={styles.item}>
            <StateIcon type={issue.state.type} name={issue.state.name} />
            <span className="grow cut">
              {issue.identifier} {issue.title}
            </span>
            {issue.note !== undefined && <span className="soft">{issue.note}</span>}
          </Combobox.Item>
        )}
      </Combobox.List>
    </Combobox.Root>
  );
}

export default function OpenIssueDialog({ onClose, children, ...search }: IssueDialogProps): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  return (
    <Dialog title={search.label} isOpen onClose={onClose} initialFocus={input}>
      {children}
      <IssueSearch {...search} ref={input} />
    </Dialog>
  );
}
