// Dialog that finds issues by title or identifier, and adds them to a release.
import { useQuery } from '@tanstack/react-query';
import type { Release } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { queryClient, useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { messageOf } from '../../parts/states.tsx';
import { StateIcon } from '../../parts/issue/symbols.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/planning.ts';
import { titlesQuery } from '../../data/directory.ts';

interface AddIssuesProps {
  readonly release: Release;
  readonly onClose: () => void;
}

/** It stays open, so that a person can add several issues. */
export default function AddIssues({ release, onClose }: AddIssuesProps): ReactNode {
  const client = useClient();
  const [input, setInput] = useState('');
  const asked = input.trim();
  const found = useQuery(titlesQuery(client, asked));
  const { add, message, problem } = useAdd(release);
  const issues = asked === '' ? [] : (found.data ?? []);
  const hasNone = asked !== '' && found.data?.length === 0;
  return (
    <Dialog title={text.addIssues} isOpen onClose={onClose}>
      <TextField
        label={text.titleOrIdentifier}
        value={input}
        onChange={({ target }) => setInput(target.value)}
        aria-describedby="add-problem"
        aria-invalid={problem !== ''}
      />
      <p id="add-problem" role="alert" hidden={problem === ''} className="notice problem">
        {problem}
      </p>
      {hasNone && <p className="soft">{common.noMatch}</p>}
      <ul aria-label={text.foundIssues} className="scroll-box">
        {issues.map(({ id, identifier, title, state }) => {
          const isAdded = release.issueIds.includes(id);
          const name = identifier ?? id;
          return (
            <li key={id} className="row">
              <StateIcon type={state.type} name={state.name} />
              <span className="grow cut">
                {identifier} {title}
              </span>
              <Button
                // A disabled button would lose the focus.
                aria-disabled={isAdded}
                aria-label={isAdded ? text.isAdded(name) : text.addOne(name)}
                onClick={() => isAdded || void add(id, name)}
              >
                {isAdded ? text.added : text.add}
              </Button>
            </li>
          );
        })}
      </ul>
      <p role="status" className="only-read">
        {message}
      </p>
      <div>
        <Button onClick={onClose}>{common.close}</Button>
      </div>
    </Dialog>
  );
}

function useAdd({ id }: Release) {
  const client = useClient();
  const [message, setMessage] = useState('');
  const [problem, setProblem] = useState('');
  const add = async (issueId: string, name: string): Promise<void> => {
    try {
      const release = await client.releases.issues.add(id, { issueIds: [issueId] });
      queryClient.setQueryData(['releases', id], release);
      setProblem('');
      setMessage(text.isAdded(name));
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return { add, message, problem };
}
